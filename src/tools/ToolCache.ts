/** The tools of each server: in memory, and between runs where the application wants that. */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as Scoped from "../scoped.ts"
import * as CachedList from "./CachedList.ts"
import * as Snapshot from "./snapshot.ts"
import type * as Tool from "./Tool.ts"

export interface Options {
  /** The lifetime of a list without a hint of its server. */
  readonly timeToLive: Duration.DurationInput
  /** The longest lifetime that a hint gives. */
  readonly maxTimeToLive: Duration.DurationInput
  /**
   * The lifetime for a hint below 30 s if the server declares `listChanged`, because servers of SDK 2.x send 0 by
   * default. Zero uses every hint unchanged.
   */
  readonly minTimeToLive: Duration.DurationInput
}

export interface PersistedOptions extends Options, Snapshot.Options {}

export const defaults: PersistedOptions = {
  timeToLive: Duration.minutes(5),
  maxTimeToLive: Duration.hours(24),
  minTimeToLive: Duration.minutes(5),
  maxSnapshotAge: Duration.days(30),
  maxSnapshotBytes: 4 * 1024 * 1024
}

/** The tools of a snapshot have no annotations, because a file must not relax a permission. */
export type Manifest = CachedList.Cached<Tool.ToolList>

export interface ServerTools extends CachedList.CachedList<Tool.ToolList> {
  /** Waits until the snapshot of an earlier run was read, at most 5 s. The server can be asked before. */
  readonly loaded: Effect.Effect<void>
}

/** Selects the tools of a snapshot that may be offered. */
type Recall = (tools: ReadonlyArray<Tool.Tool>) => Effect.Effect<ReadonlyArray<Tool.Tool>>

export class ToolCache extends Context.Tag("effect-mcp-runtime/tools/ToolCache")<ToolCache, {
  /**
   * The tools of a server, the same object as long as the name and the identity of the server (command, address,
   * environment, credentials) stay the same; another identity under the name forgets the one before. The first call begins
   * to read the snapshot; a failed read costs an event.
   */
  readonly open: (config: ServerConfig.ServerConfig, recall?: Recall) => ServerTools
  /**
   * Forgets a removed server, and its snapshot unless another name of the same server is open. Its list works on, but is
   * not kept any more.
   */
  readonly forget: (config: ServerConfig.ServerConfig) => Effect.Effect<void>
  readonly lifetime: CachedList.Options<Tool.ToolList>["lifetime"]
  /** Called synchronously when the tools of a server differ from before; returns a function that removes it. */
  readonly onChange: (listener: (config: ServerConfig.ServerConfig, tools: Manifest) => void) => () => void
}>() {}

const shortHint = Duration.toMillis("30 seconds")

/** How long a snapshot is waited for. */
const loadLimit = Duration.seconds(5)

interface Entry {
  readonly config: ServerConfig.ServerConfig
  readonly fingerprint: string
  readonly kept: Snapshot.Kept
  readonly tools: ServerTools
}

const over = Effect.fnUntraced(function*(options: Options, snapshots: Snapshot.Snapshots) {
  const clock = yield* Effect.clock
  const scope = yield* Effect.scope
  const fork = yield* FiberSet.makeRuntime<never, void>()
  const entries = new Map<string, Entry>()
  const listeners = new Set<(config: ServerConfig.ServerConfig, tools: Manifest) => void>()
  const timeToLive = Duration.toMillis(options.timeToLive)
  const maxTimeToLive = Duration.toMillis(options.maxTimeToLive)
  const minTimeToLive = Duration.toMillis(options.minTimeToLive)

  const lifetime: ToolCache["Type"]["lifetime"] = ({ announcesChanges, ttlMs }) => {
    if (ttlMs === undefined) return timeToLive
    const believed = announcesChanges && ttlMs < shortHint ? Math.max(ttlMs, minTimeToLive) : ttlMs
    return Math.min(believed, maxTimeToLive)
  }

  const make = (config: ServerConfig.ServerConfig, kept: Snapshot.Kept, recall: Recall): ServerTools => {
    /** Computed when there is another list to compare with, because it takes time that a start does not have. */
    let identity: () => string | undefined = () => undefined
    const tell = (tools: Manifest): void => listeners.forEach((listener) => listener(config, tools))
    const list = CachedList.make<Tool.ToolList>({
      server: config.name,
      operation: "tools/list",
      scope,
      clock,
      lifetime,
      onFetched: (tools, { era }) => {
        const content = Snapshot.contentOf(tools)
        const before = identity()
        identity = () => content?.identity
        kept.keep(tools, content, { era, fetchedAt: tools.fetchedAt })
        if (before === undefined || before !== content?.identity) tell(tools)
      }
    })
    const restore = ({ fetchedAt, tools: { rejected, tools } }: Snapshot.Snapshot<Snapshot.Tools>) =>
      Effect.map(recall(tools), (tools) => {
        list.restore({ tools, rejected, ttlMs: undefined, cacheScope: undefined }, fetchedAt)
        const restored = list.current()
        if (restored?.source !== "snapshot") return
        identity = () => Snapshot.contentOf(restored)?.identity
        tell(restored)
      })
    const done = Deferred.unsafeMake<void>(FiberId.none)
    fork(kept.load.pipe(
      Effect.flatMap(Option.match({ onNone: () => Effect.void, onSome: restore })),
      Effect.ensuring(Deferred.succeed(done, undefined))
    ))
    return { ...list, loaded: Effect.asVoid(Effect.timeoutOption(Deferred.await(done), loadLimit)) }
  }

  const forget: ToolCache["Type"]["forget"] = (config) =>
    Effect.suspend(() => {
      const fingerprint = Fingerprint.of(config)
      const entry = entries.get(config.name)
      const isOpen = entry?.fingerprint === fingerprint
      if (isOpen) entries.delete(config.name)
      for (const other of entries.values()) if (other.fingerprint === fingerprint) return Effect.void
      return isOpen ? entry.kept.forget : snapshots(config, fingerprint).forget
    })

  return ToolCache.of({
    lifetime,
    open: (config, recall = Effect.succeed) => {
      const fingerprint = Fingerprint.of(config)
      const found = entries.get(config.name)
      if (found?.fingerprint === fingerprint) return found.tools
      if (found !== undefined) fork(forget(found.config))
      const kept = snapshots(config, fingerprint)
      const tools = make(config, kept, recall)
      entries.set(config.name, { config, fingerprint, kept, tools })
      return tools
    },
    forget,
    onChange: (listener) => Scoped.addListener(listeners, listener)
  })
})

/** Keeps lists in memory, until the scope closes. */
export const make = (options?: Partial<Options>): Effect.Effect<ToolCache["Type"], never, Scope.Scope> =>
  over({ ...defaults, ...options }, Snapshot.none)

export const layer = (options?: Partial<Options>): Layer.Layer<ToolCache> => Layer.scoped(ToolCache, make(options))

/**
 * Keeps lists between runs too, without their annotations, under the fingerprint of the configuration. A list with
 * `cacheScope: "private"` is kept only if its credentials are part of the configuration, and so of that fingerprint.
 *
 * No caller waits for a write. The end of the scope waits for pending writes, 2 s at most.
 */
export const makePersisted = (
  options?: Partial<PersistedOptions>
): Effect.Effect<ToolCache["Type"], never, KeyValueStore.KeyValueStore | McpEvent.McpEvents | Scope.Scope> =>
  Effect.flatMap(
    Snapshot.make({ ...defaults, ...options }),
    (snapshots) => over({ ...defaults, ...options }, snapshots)
  )

export const layerPersisted = (
  options?: Partial<PersistedOptions>
): Layer.Layer<ToolCache, never, KeyValueStore.KeyValueStore | McpEvent.McpEvents> =>
  Layer.scoped(ToolCache, makePersisted(options))
