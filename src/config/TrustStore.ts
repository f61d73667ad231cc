/** Decisions that are kept for the next run: documents in a store that may be slow, broken, or shared with other processes. */
import type * as PlatformError from "@effect/platform/Error"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { sha256 } from "../json/canonical.ts"
import * as McpEvent from "../McpEvent.ts"
import * as UntrustedText from "../text/UntrustedText.ts"

type Failure = PlatformError.PlatformError

/** A key-value store of texts. `NodeTrust.makeStore` keeps them in files. */
export class TrustStore extends Context.Tag("effect-mcp-runtime/config/TrustStore")<TrustStore, {
  /** Fails with the reason `InvalidData` for a text that this store did not write. */
  readonly get: (key: string) => Effect.Effect<Option.Option<string>, Failure>
  /** Tells the keys that have no text from those that may have one, by one look at the store. */
  readonly mayHave: Effect.Effect<(key: string) => boolean, Failure>
  readonly set: (key: string, value: string) => Effect.Effect<void, Failure>
  readonly remove: (key: string) => Effect.Effect<void, Failure>
  /** Keeps a copy of an unreadable text under another name. */
  readonly setAside: (key: string) => Effect.Effect<void, Failure>
  /** Runs an effect while no other process has the lock with this key. */
  readonly locked: (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Failure, R>
  /** The name of a key in a message, such as the path of its file. */
  readonly nameOf: (key: string) => string
}>() {}

type Store = TrustStore["Type"]

/** For this process only. */
export const makeMemory: Effect.Effect<Store> = Effect.map(Effect.makeSemaphore(1), (lock): Store => {
  const texts = new Map<string, string>()
  return {
    get: (key) => Effect.sync(() => Option.fromNullable(texts.get(key))),
    mayHave: Effect.succeed((key) => texts.has(key)),
    set: (key, text) => Effect.sync(() => void texts.set(key, text)),
    remove: (key) => Effect.sync(() => void texts.delete(key)),
    setAside: () => Effect.void,
    locked: () => lock.withPermits(1),
    nameOf: (key) => key
  }
})

export const layerMemory: Layer.Layer<TrustStore> = Layer.effect(TrustStore, makeMemory)

/** The parts of a document's name. The key in the store is their hash; the document itself repeats them for the check. */
export type DocumentName = ReadonlyArray<string>

/** A document that is stored, or the damage of one: the next decision replaces it and keeps a copy. */
export interface Found<A> {
  readonly value?: A
  readonly damage?: string
}

/** The store cannot be used, or does not answer. */
export class Unusable extends Data.TaggedError("Unusable")<{ readonly detail: string }> {}

/** The documents of one kind. No operation waits longer than `patience`. */
export interface Documents<A> {
  readonly get: (name: DocumentName) => Effect.Effect<Found<A>, Unusable>
  /** Those of several names, in their order, within one wait. A failure of the store is the damage of each that it concerns. */
  readonly getAll: (names: ReadonlyArray<DocumentName>) => Effect.Effect<ReadonlyArray<Found<A>>>
  /** Writes what `change` makes of the document, unless it is `undefined`. No other process writes in between. */
  readonly update: (name: DocumentName, change: (found: Found<A>) => A | undefined) => Effect.Effect<void, Unusable>
  readonly remove: (name: DocumentName) => Effect.Effect<void, Unusable>
}

/** Publishes each issue of a server once, because a review follows every change of a file or list. */
export const reporting = (publish: McpEvent.McpEvents["Type"]["publish"]) => {
  const reported = new Set<string>()
  return (server: string, detail: string): void => {
    const issue = JSON.stringify([server, detail])
    if (reported.has(issue) || reported.size > 1_000) return
    reported.add(issue)
    publish(McpEvent.McpEvent.TrustIssue({ server, detail }))
  }
}

/** Version 1 of the format stored a signature with each document. */
const version = 2

const patience = Duration.seconds(5)

const unusable = ({ message }: Failure): Unusable => new Unusable({ detail: UntrustedText.excerpt(message, 512) })

/** Detached, because a file system that hangs cannot be interrupted. */
const bounded = <A>(operation: Effect.Effect<A, Failure>): Effect.Effect<A, Unusable> =>
  operation.pipe(
    Effect.mapError(unusable),
    Effect.disconnect,
    Effect.timeoutFail({ duration: patience, onTimeout: () => new Unusable({ detail: "the store did not respond" }) }),
    Effect.catchAllDefect(() => new Unusable({ detail: "the store failed" }))
  )

export const documents = <A, I>(store: Store, kind: string, schema: Schema.Schema<A, I>): Documents<A> => {
  const Document = Schema.parseJson(Schema.Struct({
    version: Schema.Literal(version),
    place: Schema.Array(Schema.String),
    value: schema
  }))
  const decode = Schema.decodeUnknownEither(Document)
  const encode = Schema.encodeSync(Document)
  const keyOf = (name: DocumentName): string => `${kind}-${sha256(JSON.stringify(name))}`

  const damaged = (detail: string): Found<A> => ({
    damage: `${UntrustedText.excerpt(detail, 512)}; it is ignored, and the next decision replaces it`
  })

  const read = (name: DocumentName, mayHave = (_key: string) => true): Effect.Effect<Found<A>, Failure> => {
    const key = keyOf(name)
    return (mayHave(key) ? store.get(key) : Effect.succeedNone).pipe(
      Effect.map(Option.match({
        onNone: (): Found<A> => ({}),
        onSome: (text): Found<A> => {
          const document = decode(text)
          return Either.isRight(document) && keyOf(document.right.place) === key
            ? { value: document.right.value }
            : damaged(`${store.nameOf(key)} is damaged, or has another version than ${version}`)
        }
      })),
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "InvalidData",
        ({ message }) => Effect.succeed(damaged(message))
      )
    )
  }

  return {
    get: (name) => bounded(read(name)),
    getAll: (names) =>
      names.length === 0 ? Effect.succeed([]) : store.mayHave.pipe(
        Effect.flatMap((mayHave) =>
          Effect.forEach(
            names,
            (name) =>
              Effect.catchAll(read(name, mayHave), (error) => Effect.succeed({ damage: unusable(error).detail })),
            { concurrency: "unbounded" }
          )
        ),
        bounded,
        Effect.catchAll(({ detail }) => Effect.succeed(names.map(() => ({ damage: detail }))))
      ),
    update: (name, change) => {
      const key = keyOf(name)
      return Effect.gen(function*() {
        const found = yield* read(name)
        const value = change(found)
        if (value === undefined) return
        if (found.damage !== undefined) yield* store.setAside(key)
        yield* store.set(key, encode({ version, place: name, value }))
      }).pipe(store.locked(key), bounded)
    },
    remove: (name) => bounded(store.locked(keyOf(name))(store.remove(keyOf(name))))
  }
}
