/**
 * What somebody has agreed to for longer than one call.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Sealed from "../config/Sealed.ts"
import * as TrustStore from "../config/TrustStore.ts"
import * as McpError from "../McpError.ts"
import type * as PermissionRule from "./PermissionRule.ts"

/**
 * What a grant is for: `identity` is that of the server's configuration, so that another server of the same name has none
 * of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place {
  readonly identity: string
  readonly server: string
  readonly kind: PermissionRule.Subject["kind"]
  readonly name: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  /** The digest of the arguments, if it is for these only. */
  readonly args: string | undefined
  /** The pin of the tool that was agreed to; another definition is another tool. */
  readonly pin: string | undefined
  /** Milliseconds since 1970. */
  readonly until: number | undefined
  readonly at: number
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Grants extends Context.Tag("effect-mcp-runtime/safety/Grants")<Grants, {
  /** What cannot be read or believed is not there. */
  readonly find: (place: Place) => Effect.Effect<ReadonlyArray<Grant>>
  /** Takes the place of the one for the same arguments. */
  readonly add: (place: Place, grant: Grant) => Effect.Effect<void, McpError.TrustNotKept>
  readonly remove: (place: Place) => Effect.Effect<void, McpError.TrustNotKept>
}>() {}

/** No more for one tool than somebody could have meant; the oldest give way. */
const maxGrants = 64

/**
 * Grants with one more, of which there is one for the same arguments.
 *
 * @since 0.1.0
 * @category combinators
 */
export const added = (grants: ReadonlyArray<Grant>, grant: Grant): ReadonlyArray<Grant> => [
  ...grants.filter(({ args }) => args !== grant.args).slice(1 - maxGrants),
  grant
]

/**
 * For this process only.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory = (): Grants["Type"] => {
  const all = new Map<string, ReadonlyArray<Grant>>()
  const keyOf = ({ identity, kind, name, server }: Place): string => JSON.stringify([identity, server, kind, name])
  return {
    find: (place) => Effect.sync(() => all.get(keyOf(place)) ?? []),
    add: (place, grant) =>
      Effect.sync(() => {
        all.set(keyOf(place), added(all.get(keyOf(place)) ?? [], grant))
      }),
    remove: (place) =>
      Effect.sync(() => {
        all.delete(keyOf(place))
      })
  }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Grants> = Layer.sync(Grants, makeMemory)

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The key that grants are signed with, for example from a keyring (default: a random one, beside the grants). */
  readonly key: Sealed.Key | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { key: undefined }

const Kept = Schema.Struct({
  grants: Schema.Array(Schema.Struct({
    args: Schema.NullOr(Schema.String),
    pin: Schema.NullOr(Schema.String),
    until: Schema.NullOr(Schema.Number),
    at: Schema.Number
  }))
})

/**
 * Kept for the next run, signed, where decisions about trust are kept.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<Grants["Type"], never, TrustStore.TrustStore> =>
  Effect.gen(function*() {
    const store = yield* TrustStore.TrustStore
    const turn = yield* Effect.makeSemaphore(1)
    const kept = Sealed.make({ store, key: options?.key, kind: "grants", schema: Kept })
    const wordsOf = ({ identity, kind, name, server }: Place) => [identity, server, kind, name]
    const unkept = ({ server }: Place) => ({ detail }: Sealed.Unusable) => new McpError.TrustNotKept({ server, detail })
    const read = (place: Place): Effect.Effect<ReadonlyArray<Grant>, Sealed.Unusable> =>
      Effect.map(
        kept.get(wordsOf(place)),
        (found) =>
          found._tag !== "Record" ? [] : found.record.grants.map(({ args, at, pin, until }) => ({
            args: args ?? undefined,
            pin: pin ?? undefined,
            until: until ?? undefined,
            at
          }))
      )
    return {
      find: (place) => Effect.orElseSucceed(read(place), () => []),
      add: (place, grant) =>
        turn.withPermits(1)(Effect.flatMap(read(place), (before) => {
          const grants = added(before, grant).map(({ args = null, at, pin = null, until = null }) => ({
            args,
            pin,
            until,
            at
          }))
          return kept.set(wordsOf(place), { grants })
        })).pipe(Effect.mapError(unkept(place))),
      remove: (place) => turn.withPermits(1)(kept.remove(wordsOf(place))).pipe(Effect.mapError(unkept(place)))
    }
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Grants, never, TrustStore.TrustStore> =>
  Layer.effect(Grants, make(options))
