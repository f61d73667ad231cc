/**
 * What is known of each server's tools: in memory, and between runs where the application wants it.
 *
 * @since 0.1.0
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Fingerprint from "../config/Fingerprint.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Redaction from "../safety/Redaction.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Persistence from "./internal/persistence.ts"
import * as serverTools from "./internal/serverTools.ts"
import type * as Tool from "./Tool.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long a list is believed where the server gives no hint of its own. */
  readonly timeToLive: Duration.DurationInput
  /** The most that a hint of a server is believed. */
  readonly maxTimeToLive: Duration.DurationInput
  /**
   * The time that a hint below 30 s counts as if the server declares `listChanged`, because servers of SDK 2.x send 0
   * by default. Zero uses every hint as it is.
   */
  readonly minTimeToLive: Duration.DurationInput
}

/**
 * The hint of a server about the lifetime of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hint {
  /** Milliseconds. */
  readonly ttlMs: number | undefined
  /** Whether the server has announced `listChanged` for this list. */
  readonly announcesChanges: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface PersistedOptions extends Options {
  /** How long a snapshot is used; one that is confirmed by the server stays young. */
  readonly maxSnapshotAge: Duration.DurationInput
  /** Bytes of the definitions of one server; more are not kept between runs. */
  readonly maxSnapshotBytes: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: PersistedOptions = {
  timeToLive: Duration.minutes(5),
  maxTimeToLive: Duration.hours(24),
  minTimeToLive: Duration.minutes(5),
  maxSnapshotAge: Duration.days(30),
  maxSnapshotBytes: 4 * 1024 * 1024
}

/**
 * The tools of a server, as they were at one time. Those of a `snapshot` were kept from an earlier run: they have no
 * annotations, because a file must not be able to relax a permission.
 *
 * @since 0.1.0
 * @category models
 */
export interface Manifest {
  readonly source: "server" | "snapshot"
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly rejected: ReadonlyArray<Tool.RejectedTool>
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  /** The generation of the connection that gave them; 0 for a snapshot. */
  readonly generation: number
}

/**
 * A connection that tools can be fetched from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly generation: number
  readonly era: Transport.Era
  /** True if the server has declared `listChanged` (default: false). */
  readonly announcesChanges?: boolean | undefined
  readonly list: Effect.Effect<Tool.ToolList, McpError.RuntimeError>
}

/**
 * The tools of one server.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerTools {
  /** What is known, however old. */
  readonly current: () => Manifest | undefined
  /** Whether what is known comes from the server, is not too old, and was not invalidated. */
  readonly isFresh: () => boolean
  /**
   * Fetches the list, once for all who ask at the same time. A caller who is interrupted takes the fetch from nobody
   * else. What an older fetch gives never replaces what a newer one gave.
   */
  readonly fetch: (source: Source) => Effect.Effect<Manifest, McpError.RuntimeError>
  /** From now on what is known is old. A fetch that has begun before does not make it fresh again. */
  readonly invalidate: () => void
  /** Called synchronously when other tools than before are known; returns how to stop. */
  readonly onChange: (listener: (manifest: Manifest) => void) => () => void
}

/**
 * The tools of a server, of which the server itself can be asked although what was kept has not been loaded yet.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opened {
  readonly tools: ServerTools
  readonly isLoaded: () => boolean
  readonly loaded: Effect.Effect<void>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolCache extends Context.Tag("effect-mcp-runtime/tools/ToolCache")<ToolCache, {
  /**
   * The tools of a server with this configuration, the same for all who ask. A change of its name or of what it is (its
   * command, address, environment, credentials) makes it another server. What was kept from an earlier run, under
   * whatever name, is loaded before this succeeds; that it cannot be read costs nothing but an event.
   */
  readonly for: (config: ServerConfig.ServerConfig) => Effect.Effect<ServerTools>
  /** The same at once, while what was kept may still be being loaded. */
  readonly open: (config: ServerConfig.ServerConfig) => Effect.Effect<Opened>
  /**
   * Forgets a server that is no longer configured, and its snapshot, unless the same is in use under another name. What
   * was handed out goes on, but is kept no more.
   */
  readonly forget: (config: ServerConfig.ServerConfig) => Effect.Effect<void>
  /** The lifetime of a list, in milliseconds. */
  readonly lifetime: (hint: Hint) => number
}>() {}

/** Hints below this time count as `minTimeToLive` if the server declares `listChanged`, in milliseconds. */
const shortHint = 30_000

interface Entry {
  readonly fingerprint: string
  readonly kept: Persistence.Kept
  readonly tools: serverTools.Offerable
  readonly loaded: Deferred.Deferred<void>
  readonly opened: Opened
  isLoaded: boolean
}

const over = (
  options: Options,
  persistence: Persistence.Persistence
): Effect.Effect<ToolCache["Type"], never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const scope = yield* Effect.scope
    /** One for each name: of a server that has become another, only the new one is of use. */
    const entries = new Map<string, Entry>()
    const now = () => clock.unsafeCurrentTimeMillis()
    const timeToLive = Duration.toMillis(options.timeToLive)
    const maxTimeToLive = Duration.toMillis(options.maxTimeToLive)
    const minTimeToLive = Duration.toMillis(options.minTimeToLive)

    const lifetime: ToolCache["Type"]["lifetime"] = ({ announcesChanges, ttlMs }) => {
      if (ttlMs === undefined) return timeToLive
      const believed = announcesChanges && ttlMs < shortHint ? Math.max(ttlMs, minTimeToLive) : ttlMs
      return Math.min(believed, maxTimeToLive)
    }

    const load = (entry: Entry): Effect.Effect<void> =>
      Effect.map(Effect.exit(Effect.interruptible(entry.kept.load)), (snapshot) => {
        if (Exit.isSuccess(snapshot) && Option.isSome(snapshot.value)) entry.tools.offer(snapshot.value.value)
        entry.isLoaded = true
        Deferred.unsafeDone(entry.loaded, Effect.void)
      })

    const open: ToolCache["Type"]["open"] = (config) =>
      Effect.suspend(() => {
        const fingerprint = Fingerprint.of(config)
        const found = entries.get(config.name)
        if (found?.fingerprint === fingerprint) return Effect.succeed(found.opened)
        const kept = persistence(config, fingerprint)
        const loaded = Deferred.unsafeMake<void>(FiberId.none)
        const tools = serverTools.make({
          server: config.name,
          scope,
          now,
          lifetime,
          onFetched: kept.keep
        })
        const opened: Opened = {
          tools,
          isLoaded: () => entry.isLoaded,
          loaded: Deferred.await(loaded)
        }
        const entry: Entry = { fingerprint, kept, tools, loaded, opened, isLoaded: false }
        entries.set(config.name, entry)
        // In a fiber of its own, so that others get it too if the first who asks is interrupted.
        return Effect.as(Effect.uninterruptible(Effect.forkIn(load(entry), scope)), opened)
      })

    return {
      open,
      lifetime,
      for: (config) => Effect.flatMap(open(config), ({ loaded, tools }) => Effect.as(loaded, tools)),
      forget: (config) =>
        Effect.suspend(() => {
          const fingerprint = Fingerprint.of(config)
          const entry = entries.get(config.name)
          const kept = entry?.fingerprint === fingerprint ? entry.kept : persistence(config, fingerprint)
          if (entry?.kept === kept) entries.delete(config.name)
          for (const other of entries.values()) if (other.fingerprint === fingerprint) return Effect.void
          return kept.forget
        })
    }
  })

/**
 * Lists are kept in memory, until the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<ToolCache["Type"], never, Scope.Scope> =>
  over({ ...defaults, ...options }, Persistence.none)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<ToolCache> => Layer.scoped(ToolCache, make(options))

/**
 * Lists are also kept between runs, without their annotations, each under the fingerprint of its configuration. What a
 * server calls private is kept only if its credentials are part of the configuration, and so of that fingerprint.
 *
 * Nothing waits for a list to be written; when the scope closes, what is not yet written is, for two seconds at most.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makePersisted = (
  options?: Partial<PersistedOptions>
): Effect.Effect<ToolCache["Type"], never, KeyValueStore.KeyValueStore | McpEvent.McpEvents | Scope.Scope> =>
  Effect.gen(function*() {
    const all = { ...defaults, ...options }
    const clock = yield* Effect.clock
    const { known } = yield* Redaction.Redaction
    const persistence = yield* Persistence.make({
      holdsSecret: (text) => known(text) !== text,
      store: yield* KeyValueStore.KeyValueStore,
      events: yield* McpEvent.McpEvents,
      limits: yield* Limits.CurrentLimits,
      now: () => clock.unsafeCurrentTimeMillis(),
      maxBytes: all.maxSnapshotBytes,
      maxAge: Duration.toMillis(all.maxSnapshotAge)
    })
    return yield* over(all, persistence)
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layerPersisted = (
  options?: Partial<PersistedOptions>
): Layer.Layer<ToolCache, never, KeyValueStore.KeyValueStore | McpEvent.McpEvents> =>
  Layer.scoped(ToolCache, makePersisted(options))
