/**
 * Signed records over a store that may be slow, broken, or written to by somebody else.
 *
 * @internal
 */
import type * as PlatformError from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { sha256 } from "../../../json/canonical.ts"
import type * as Sealed from "../../Sealed.ts"
import { bounded } from "./bounded.ts"
import * as TrustKey from "./trustKey.ts"

const keyName = "key"

const version = 1

const Seal = Schema.Struct({
  version: Schema.Literal(version),
  nonce: Schema.String,
  mac: Schema.String
})

const decodeJson = Schema.decodeUnknownEither(Schema.parseJson())
const decodeSeal = Schema.decodeUnknownEither(Seal)

/** @internal */
export const make = <A, I extends object>(
  { key: given, kind, schema, store }: Sealed.Options<A, I>
): Sealed.Sealed<A> => {
  const decodeRecord = Schema.decodeUnknownEither(schema)
  const encodeRecord = Schema.encodeSync(schema)

  const key: Sealed.Sealed<A>["key"] = given === undefined
    ? Effect.map(
      bounded(store.get(keyName)),
      (kept) => Option.isSome(kept) && TrustKey.isKey(kept.value) ? Redacted.make(kept.value) : undefined
    )
    : bounded(given)

  const makeKey: Effect.Effect<Redacted.Redacted, PlatformError.PlatformError> = Effect.gen(function*() {
    const kept = yield* store.get(keyName)
    if (Option.isSome(kept) && !TrustKey.isKey(kept.value)) {
      yield* store.set(`aside-${keyName}`, kept.value)
      yield* store.remove(keyName)
    }
    // of many who begin at the same time, all get the key of one
    return Redacted.make(yield* store.create(keyName, yield* TrustKey.random))
  })

  // names and paths are not for everybody who can list the keys
  const named = (what: string, place: ReadonlyArray<string>): string => `${what}-${sha256(JSON.stringify(place))}`

  /** One way to write all that is signed, which no two records share. */
  const text = (place: ReadonlyArray<string>, fields: I, nonce: string): string =>
    JSON.stringify([kind, version, place, fields, nonce])

  const encode = (place: ReadonlyArray<string>, fields: I, nonce: string, key: Redacted.Redacted): string =>
    JSON.stringify({ version, ...fields, nonce, mac: TrustKey.sign(key, text(place, fields, nonce)) })

  const decode = (
    place: ReadonlyArray<string>,
    kept: string,
    key: Redacted.Redacted | undefined
  ): Sealed.Found<A> => {
    const json = decodeJson(kept)
    if (key === undefined || Either.isLeft(json)) return { _tag: "Broken" }
    const seal = decodeSeal(json.right)
    const record = decodeRecord(json.right)
    if (Either.isLeft(seal) || Either.isLeft(record)) return { _tag: "Broken" }
    const { mac, nonce } = seal.right
    return TrustKey.isSigned(key, text(place, encodeRecord(record.right), nonce), mac)
      ? { _tag: "Record", record: record.right, mac }
      : { _tag: "Broken" }
  }

  /** Keeps what was found in the place of a record, for whoever wants to know who wrote it. */
  const putAside = (place: ReadonlyArray<string>, key: Redacted.Redacted) =>
    Effect.flatMap(
      store.get(named(kind, place)),
      (kept) =>
        Option.isSome(kept) && decode(place, kept.value, key)._tag === "Broken"
          ? store.set(named("aside", [kind, ...place]), kept.value)
          : Effect.void
    )

  return {
    key,
    nameOf: (place) => named(kind, place),
    get: (place, current = key) =>
      Effect.flatMap(bounded(store.get(named(kind, place))), (kept) =>
        Option.isNone(kept)
          ? Effect.succeed<Sealed.Found<A>>({ _tag: "Nothing" })
          : Effect.map(current, (key) => decode(place, kept.value, key))),
    set: (place, record) =>
      bounded(Effect.gen(function*() {
        const signing = yield* given ?? makeKey
        yield* putAside(place, signing)
        const nonce = yield* TrustKey.random
        const fields = encodeRecord(record)
        yield* store.set(named(kind, place), encode(place, fields, nonce, signing))
      })),
    remove: (place) => bounded(store.remove(named(kind, place)))
  }
}
