/**
 * Tool lists that are kept between runs: their format, which lists may be kept, and the store.
 *
 * A snapshot is versioned JSON with a checksum. The checksum finds accidental damage, and snapshots of other servers. It
 * does not stop a process that can write to the store: therefore annotations are neither written nor read, everything is
 * decoded like the response of a server, and no permission depends on a snapshot.
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { sha256 } from "../json/canonical.ts"
import { isObject, type JsonObject } from "../json/Json.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Tool from "./Tool.ts"

/** The content of a list, whatever the order of its tools. */
export interface Content {
  /** Differs with any difference of the tools, or of the rejected ones. */
  readonly identity: string
  /** The definitions without their annotations. */
  readonly json: string
  readonly jsonHash: string
}

/** `undefined` if a definition is nested too deep to be written as JSON. */
export const contentOf = ({ rejected, tools }: Tools): Content | undefined => {
  const sorted = tools.toSorted((a, b) => a.name < b.name ? -1 : 1)
  try {
    const json = JSON.stringify(sorted.map(({ raw }) => withoutAnnotations(raw)))
    const jsonHash = sha256(json)
    const rest = JSON.stringify([sorted.map(({ raw }) => raw["annotations"] ?? null), rejected])
    return { identity: sha256(`${jsonHash}${rest}`), json, jsonHash }
  } catch {
    return undefined
  }
}

const withoutAnnotations = (raw: Tool.Tool["raw"]): Tool.Tool["raw"] => {
  if (!Object.hasOwn(raw, "annotations")) return raw
  const { annotations: _, ...rest } = raw
  return rest
}

export type Tools = Pick<Tool.ToolList, "tools" | "rejected">

export interface Snapshot<A> {
  /** The server, as `Fingerprint.of` its configuration. */
  readonly fingerprint: string
  readonly era: Transport.Era
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  readonly tools: A
}

const version = 1

const Envelope = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(version),
  fingerprint: Schema.String,
  era: Schema.Literal("session", "stateless"),
  fetchedAt: Schema.NonNegative.pipe(Schema.finite()),
  /** JSON in JSON, because a checksum is of a text. */
  tools: Schema.String,
  checksum: Schema.String
}))

const decodeEnvelope = Schema.decodeUnknownEither(Envelope)
const decodeTools = Schema.decodeUnknownEither(Schema.parseJson(Schema.Array(Schema.Unknown)))

// only the last of these can contain a space, because a fingerprint is compared before its checksum
const checksum = ({ era, fetchedAt, fingerprint, tools }: Snapshot<string>): string =>
  sha256([version, fingerprint, era, fetchedAt, tools].join(" "))

export const encode = (snapshot: Snapshot<string>): string =>
  JSON.stringify({ version, ...snapshot, checksum: checksum(snapshot) })

export interface DecodeOptions {
  readonly fingerprint: string
  /** Characters of the whole text. */
  readonly maxLength: number
  readonly maxTools: number
  readonly maxSchemaBytes: number
  /** Whether calls to a server of this era mirror parameters into headers. */
  readonly paramHeaders: (era: Transport.Era) => boolean
}

/** The snapshot and the hash of its definitions, or why it cannot be used. */
export const decode = (
  text: string,
  options: DecodeOptions
): Either.Either<Snapshot<Tools> & Pick<Content, "jsonHash">, string> => {
  if (text.length > options.maxLength) return Either.left("it is too large")
  const envelope = decodeEnvelope(text)
  if (Either.isLeft(envelope)) return Either.left("it is malformed, or of another version")
  const { era, fetchedAt, fingerprint, tools: written } = envelope.right
  if (fingerprint !== options.fingerprint) return Either.left("it is of another server")
  if (envelope.right.checksum !== checksum(envelope.right)) return Either.left("its checksum is wrong")
  const items = decodeTools(written)
  if (Either.isLeft(items)) return Either.left("its tools are malformed")
  if (items.right.length > options.maxTools) return Either.left("it has too many tools")
  const bare = items.right.map((item) => isObject(item) ? withoutAnnotations(item as JsonObject) : item // parsed from JSON
  )
  const tools = Tool.decodeAll(bare, {
    maxSchemaBytes: options.maxSchemaBytes,
    paramHeaders: options.paramHeaders(era)
  })
  return Either.right({ fingerprint, era, fetchedAt, tools, jsonHash: sha256(written) })
}

/** The snapshot of one server. */
export interface Kept {
  readonly load: Effect.Effect<Option.Option<Snapshot<Tools>>>
  /** Keeps a list for the next run, where that is possible and it differs from the snapshot. */
  readonly keep: (
    list: Tool.ToolList,
    content: Content | undefined,
    at: Pick<Snapshot<Tools>, "era" | "fetchedAt">
  ) => void
  /** Removes the snapshot, and keeps no list from now on. */
  readonly forget: Effect.Effect<void>
}

export type Snapshots = (config: ServerConfig.ServerConfig, fingerprint: string) => Kept

/** Keeps nothing. */
export const none: Snapshots = () => ({ load: Effect.succeedNone, keep: () => undefined, forget: Effect.void })

export interface Options {
  /** How long a snapshot is used. One that the server confirms is renewed. */
  readonly maxSnapshotAge: Duration.DurationInput
  /** Larger lists are not kept between runs, in bytes of the definitions of one server. */
  readonly maxSnapshotBytes: number
}

/** An unchanged snapshot is written again after this time, so that one in use never expires. */
const renewAfter = Duration.toMillis("1 day")

/**
 * Whether the configuration, and so the key, includes everything that identifies the principal. A variable, a program or
 * a login may identify another one in the next run.
 */
const isPrincipalConfigured = (config: ServerConfig.ServerConfig): boolean =>
  "url" in config
    ? config.headers !== undefined && config.bearerTokenEnvVar === undefined && config.headersCommand === undefined
    : config.transport === "stdio" && (config.inheritEnv === undefined || config.inheritEnv === false)

/** Keeps the lists of the servers in the store. No list waits for a write; the end of the scope does, 2 s at most. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const clock = yield* Effect.clock
  const { publish } = yield* McpEvent.McpEvents
  const limits = yield* Limits.CurrentLimits
  const { known } = yield* Redaction.Redaction
  const kept = yield* KeyValueStore.KeyValueStore
  const store = yield* makeStore(kept)
  const maxAge = Duration.toMillis(options.maxSnapshotAge)
  const maxBytes = options.maxSnapshotBytes

  const snapshots: Snapshots = (config, fingerprint) => {
    const key = `tools-${fingerprint}`
    /** What the store has or will have; a refused list counts too, so that it is reported once. */
    let stored: { readonly jsonHash: string; readonly fetchedAt: number } | undefined = undefined
    let isForgotten = false
    let hasList = false

    const issue = (detail: string) => publish({ _tag: "CacheIssue", server: config.name, detail })
    const notKept = (detail: string) => issue(`the tools are not stored for the next run: ${detail}`)

    const drop = (): void => {
      if (isForgotten) return
      stored = undefined
      store.write(key, kept.remove(key), (detail) => issue(`the snapshot of the tools cannot be removed: ${detail}`))
    }

    const refuse = (detail: string): void => {
      drop()
      notKept(detail)
    }

    const decoded = (text: string): Option.Option<Snapshot<Tools>> => {
      const snapshot = decode(text, {
        fingerprint,
        // JSON in JSON escapes each quote and backslash, which at most doubles it
        maxLength: maxBytes * 2 + 1024,
        maxTools: limits.maxItems,
        maxSchemaBytes: limits.maxSchemaBytes,
        paramHeaders: (era) => era === "stateless" && "url" in config
      })
      if (Either.isLeft(snapshot)) issue(`the snapshot of the tools is not used: ${snapshot.left}`)
      // one from the future would never expire
      if (Either.isLeft(snapshot) || Math.abs(clock.unsafeCurrentTimeMillis() - snapshot.right.fetchedAt) > maxAge) {
        drop()
        return Option.none()
      }
      stored = snapshot.right
      return Option.some(snapshot.right)
    }

    return {
      load: Effect.map(store.get(key), (read) => {
        if (Either.isLeft(read)) {
          issue(`the snapshot of the tools cannot be read: ${read.left}`)
          return Option.none()
        }
        // a late read must not drop or replace what the server has listed meanwhile
        return hasList ? Option.none() : Option.flatMap(read.right, decoded)
      }),
      keep: ({ cacheScope }, content, { era, fetchedAt }) => {
        hasList = true
        if (isForgotten) return
        if (cacheScope === "private" && !isPrincipalConfigured(config)) return drop()
        if (content === undefined) return refuse("a definition is nested too deep")
        const { json, jsonHash } = content
        if (stored?.jsonHash === jsonHash && fetchedAt - stored.fetchedAt < renewAfter) return
        const written = { jsonHash, fetchedAt }
        if (Buffer.byteLength(json) > maxBytes) refuse(`their definitions have more than ${maxBytes} bytes`)
        else if (known(json) !== json) refuse("a secret of the connection is in their definitions")
        else {
          const set = Effect.suspend(() => kept.set(key, encode({ fingerprint, era, fetchedAt, tools: json })))
          store.write(key, set, (detail) => {
            if (stored === written) stored = undefined
            notKept(detail)
          })
        }
        stored = written
      },
      forget: Effect.suspend(() => {
        drop()
        isForgotten = true
        return store.settled(key)
      })
    }
  }
  return snapshots
})

/** How long the store may answer no operation at all; under load each operation waits for the others. */
const stallLimit = Duration.toMillis("5 seconds")
const attempts = 3
const flushLimit = Duration.seconds(2)
const writesAtOnce = 8

const noAnswer = { message: "the store did not respond" }

/** Operations that end although the store hangs. */
const answering = (clock: Clock.Clock) => {
  let answeredAt = clock.unsafeCurrentTimeMillis()
  const answered = Effect.sync(() => {
    answeredAt = clock.unsafeCurrentTimeMillis()
  })
  const stalled = (began: number): Effect.Effect<never, typeof noAnswer> =>
    Effect.suspend(() => {
      const left = Math.max(began, answeredAt) + stallLimit - clock.unsafeCurrentTimeMillis()
      return left <= 0 ? Effect.fail(noAnswer) : Effect.zipRight(Effect.sleep(left), stalled(began))
    })
  return <A, E extends { readonly message: string }>(
    operation: Effect.Effect<A, E>
  ): Effect.Effect<Either.Either<A, string>> =>
    // detached, because a file system that hangs cannot be interrupted
    Effect.suspend(() =>
      Effect.raceFirst(
        Effect.disconnect(Effect.ensuring(operation, answered)),
        stalled(clock.unsafeCurrentTimeMillis())
      )
    ).pipe(
      Effect.retry({ times: attempts - 1, while: (error) => error === noAnswer }),
      Effect.map(Either.right),
      Effect.catchAllCause((cause) => {
        const detail = Option.map(Cause.failureOption(cause), ({ message }) => UntrustedText.excerpt(message, 256))
        return Effect.succeed(Either.left(Option.getOrElse(detail, () => "the store failed")))
      })
    )
}

interface Write {
  readonly key: string
  readonly operation: Effect.Effect<unknown, { readonly message: string }>
  readonly onFault: (detail: string) => void
  readonly done: Deferred.Deferred<void>
}

/** Reads that see every write before them; writes in the background, some at once, the newest of a key alone. */
const makeStore = ({ get }: KeyValueStore.KeyValueStore) =>
  Effect.gen(function*() {
    const attempted = answering(yield* Effect.clock)
    const queue = yield* Queue.unbounded<Write>()
    /** The newest unfinished write of each key. */
    const newest = new Map<string, Write>()
    let isOpen = true

    const finish = (write: Write): void => {
      if (newest.get(write.key) === write) newest.delete(write.key)
      Deferred.unsafeDone(write.done, Effect.void)
    }
    const perform = (write: Write) =>
      newest.get(write.key) === write
        ? Effect.map(attempted(write.operation), (outcome) => {
          if (Either.isLeft(outcome)) write.onFault(outcome.left)
          finish(write)
        })
        : Effect.sync(() => finish(write))
    yield* Queue.takeBetween(queue, 1, writesAtOnce).pipe(
      Effect.flatMap(Effect.forEach(perform, { concurrency: "unbounded", discard: true })),
      Effect.forever,
      Effect.interruptible,
      Effect.forkScoped
    )
    const settled = (key: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const write = newest.get(key)
        return write === undefined ? Effect.void : Deferred.await(write.done)
      })
    yield* Effect.addFinalizer(() => {
      isOpen = false
      const flushed = Effect.suspend(() => Effect.forEach(Array.from(newest.keys()), settled, { discard: true }))
      return Effect.map(BoundedWait.within(flushLimit)(flushed), () => Array.from(newest.values()).forEach(finish))
    })
    return {
      get: (key: string) => Effect.zipRight(settled(key), attempted(get(key))),
      settled,
      write: (key: string, operation: Write["operation"], onFault: Write["onFault"]): void => {
        if (!isOpen) return
        const write = { key, operation, onFault, done: Deferred.unsafeMake<void>(FiberId.none) }
        newest.set(key, write)
        queue.unsafeOffer(write)
      }
    }
  })
