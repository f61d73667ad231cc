/**
 * Which lists of tools are kept between runs, and what becomes of those that were.
 *
 * @internal
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Limits from "../../config/Limits.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import type * as McpEvent from "../../McpEvent.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as ToolCache from "../ToolCache.ts"
import type { Fetched } from "./serverTools.ts"
import * as Snapshot from "./snapshot.ts"
import * as SnapshotStore from "./snapshotStore.ts"

/**
 * What is kept of one server.
 *
 * @internal
 */
export interface Kept {
  /** What was kept by an earlier run. */
  readonly load: Effect.Effect<Option.Option<ToolCache.Manifest>>
  readonly keep: (fetched: Fetched) => void
  /** Removes it, and keeps nothing any more. */
  readonly forget: Effect.Effect<void>
}

/** @internal */
export type Persistence = (config: ServerConfig.ServerConfig, fingerprint: string) => Kept

/**
 * Nothing is kept.
 *
 * @internal
 */
export const none: Persistence = () => ({
  load: Effect.succeedNone,
  keep: () => undefined,
  forget: Effect.void
})

/** @internal */
export interface Options {
  /** Whether there is a known secret in a text. */
  readonly holdsSecret: (text: string) => boolean
  readonly store: KeyValueStore.KeyValueStore
  readonly events: McpEvent.McpEvents["Type"]
  readonly limits: Limits.Limits
  readonly now: () => number
  /** Of the definitions of one server. */
  readonly maxBytes: number
  readonly maxAge: number
}

/** A snapshot that says the same is written again after this time, so that one in use never grows too old. */
const renewAfter = 24 * 60 * 60 * 1000

/** What is in the store or will be; or was refused, and is not looked at again. */
interface Stored {
  readonly jsonHash: string
  readonly fetchedAt: number
}

/**
 * Whether all that decides who asks is part of the configuration, and so of the key. What a variable, a program or a
 * login gives is not.
 */
const isPrincipalKnown = (config: ServerConfig.ServerConfig): boolean =>
  "url" in config
    ? config.headers !== undefined && config.bearerTokenEnvVar === undefined && config.headersCommand === undefined
    : config.transport === "stdio" && (config.inheritEnv === undefined || config.inheritEnv === false)

const mirrorsHeaders = (config: ServerConfig.ServerConfig) => (era: Transport.Era): boolean =>
  era === "stateless" && "url" in config

/** @internal */
export const make = (options: Options): Effect.Effect<Persistence, never, Scope.Scope> =>
  Effect.map(SnapshotStore.make(options.store), (store) => (config, fingerprint) => {
    const { events, holdsSecret, limits, maxAge, maxBytes, now } = options
    const key = `tools-${fingerprint}`
    let stored: Stored | undefined = undefined
    let forgotten = false
    /** What the server has said is not to be undone by what was read meanwhile. */
    let heard = false

    const issue = (detail: string) => events.publish({ _tag: "CacheIssue", server: config.name, detail })
    const failed = (detail: string) => issue(`the tools are not kept for the next run: ${detail}`)

    const drop = (): void => {
      if (forgotten) return
      stored = undefined
      store.remove(key, (detail) => issue(`the snapshot of the tools cannot be removed: ${detail}`))
    }

    const decoded = (text: string): Option.Option<ToolCache.Manifest> => {
      const snapshot = Snapshot.decode(text, {
        fingerprint,
        // JSON in JSON takes a backslash more for each quote and backslash, so at most twice as much.
        maxLength: maxBytes * 2 + 1024,
        maxTools: limits.maxItems,
        maxSchemaBytes: limits.maxSchemaBytes,
        paramHeaders: mirrorsHeaders(config)
      })
      if (Either.isLeft(snapshot)) {
        issue(`the snapshot of the tools is not used: ${snapshot.left}`)
        drop()
        return Option.none()
      }
      const { fetchedAt, jsonHash, tools } = snapshot.right
      // One from the future is as useless as an old one: nobody could tell when it grows old.
      if (Math.abs(now() - fetchedAt) > maxAge) {
        drop()
        return Option.none()
      }
      stored = { jsonHash, fetchedAt }
      return Option.some({ source: "snapshot", ...tools, fetchedAt, generation: 0 })
    }

    return {
      load: Effect.map(store.get(key), (read) => {
        if (Either.isLeft(read)) {
          issue(`the snapshot of the tools cannot be read: ${read.left}`)
          return Option.none()
        }
        return heard ? Option.none() : Option.flatMap(read.right, decoded)
      }),
      keep: ({ content, era, fetchedAt, list }) => {
        heard = true
        if (forgotten) return
        if (list.cacheScope === "private" && !isPrincipalKnown(config)) return drop()
        if (content === undefined) {
          drop()
          return failed("a definition is nested too deep")
        }
        const { json, jsonHash } = content
        if (stored?.jsonHash === jsonHash && fetchedAt - stored.fetchedAt < renewAfter) return
        const entry: Stored = { jsonHash, fetchedAt }
        if (Buffer.byteLength(json) > maxBytes) {
          drop()
          failed(`their definitions have more than ${maxBytes} bytes`)
        } else if (holdsSecret(json)) {
          drop()
          failed("a secret of the connection is in their definitions")
        } else {
          store.put(key, () => Snapshot.encode({ fingerprint, era, fetchedAt, tools: json }), (detail) => {
            if (stored === entry) stored = undefined
            failed(detail)
          })
        }
        stored = entry
      },
      forget: Effect.suspend(() => {
        drop()
        forgotten = true
        return store.settled(key)
      })
    }
  })
