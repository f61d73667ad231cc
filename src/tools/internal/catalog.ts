/**
 * The catalog over the pool and the cache. It holds nothing of its own but the index, which is made anew when something
 * that it was made of has changed.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as Hold from "../../internal/hold.ts"
import type * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as RuntimeMetrics from "../../observability/RuntimeMetrics.ts"
import * as ConnectionPool from "../../runtime/ConnectionPool.ts"
import * as Present from "../../runtime/present.ts"
import type * as ServerStatus from "../../runtime/ServerStatus.ts"
import * as ToolCache from "../ToolCache.ts"
import type * as ToolCatalog from "../ToolCatalog.ts"
import * as ToolIndex from "../ToolIndex.ts"
import * as ToolPins from "../ToolPins.ts"
import * as Vetting from "./pins/vetting.ts"

/** What is known of a server's tools. */
interface Loaded extends ToolCache.Opened {
  readonly config: ServerConfig.ServerConfig
  readonly stop: () => void
}

/** What an index was made of. It is looked at with every call by name, so a look must cost next to nothing. */
interface Made {
  readonly index: ToolIndex.ToolIndex
  readonly configs: ReadonlyArray<ServerConfig.ServerConfig>
  /** How often servers had been loaded or unloaded, or something was decided about their tools. */
  readonly loads: number
  readonly of: ReadonlyArray<Loaded | undefined>
  readonly manifests: ReadonlyArray<ToolCache.Manifest | undefined>
}

/** @internal */
export const make = (
  options: ToolCatalog.Options
): Effect.Effect<ToolCatalog.ToolCatalog["Type"], never, ToolCatalog.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const cache = yield* ToolCache.ToolCache
    const events = yield* McpEvent.McpEvents
    const metrics = yield* RuntimeMetrics.RuntimeMetrics
    const pins = yield* ToolPins.ToolPins
    const pool = yield* ConnectionPool.ConnectionPool
    const limits = yield* Limits.CurrentLimits
    const clock = yield* Effect.clock
    const scope = yield* Effect.scope
    const gate = Duration.toMillis(options.gate)
    const firstListWait = options.firstListWait === "settled" ? undefined : Duration.decode(options.firstListWait)
    const style = { style: options.style }

    // by server, and with the configuration for which it was looked up
    const loaded = new Map<string, Loaded>()
    let loads = 0
    const vetting = Vetting.make(pins, limits, () => loads)
    const unload = (server: string): void => {
      loaded.get(server)?.stop()
      loaded.delete(server)
      loads++
    }
    const beside = yield* FiberSet.makeRuntime<never, void>()
    yield* Hold.make(
      () =>
        pool.onChange(({ server }) => {
          const config = pool.config(server)
          const known = loaded.get(server)
          if (config === undefined) {
            unload(server)
            pins.release(server)
            if (known !== undefined) beside(cache.forget(known.config))
          } else if (known?.config !== config && config.blocked === undefined) {
            // what is kept between runs is read before somebody asks for it
            beside(Effect.asVoid(Effect.suspend(() => opened(config))))
          }
        }),
      (stop) => {
        stop()
        for (const server of Array.from(loaded.keys())) unload(server)
      }
    )
    /** What was kept from an earlier run counts as read when it was compared with what is pinned. */
    const recalling = (config: ServerConfig.ServerConfig, opened: ToolCache.Opened): ToolCache.Opened => {
      if (pins.mode !== "enforce") return opened
      let isRecalled = false
      const done = Deferred.unsafeMake<void>(FiberId.none)
      beside(Effect.ensuring(
        Effect.zipRight(opened.loaded, Effect.suspend(() => vetting.recall(config, opened.tools.current()))),
        Effect.sync(() => {
          isRecalled = true
          loads++
          Deferred.unsafeDone(done, Effect.void)
        })
      ))
      return { tools: opened.tools, isLoaded: () => isRecalled, loaded: Deferred.await(done) }
    }
    const opened = (config: ServerConfig.ServerConfig): Effect.Effect<ToolCache.Opened> =>
      Effect.suspend(() => {
        const known = loadedOf(config)
        if (known?.config === config) return Effect.succeed(known)
        return Effect.map(cache.open(config), (opened) => {
          const present = pool.config(config.name)
          const known = loaded.get(config.name)
          // it went, or became another, while it was looked up
          if (present === undefined || !Present.isSame(present, config)) {
            if (!Present.isSame(known?.config, config)) beside(cache.forget(config))
            return opened
          }
          loads++
          if (known?.tools === opened.tools) {
            const again = { ...known, config: present }
            loaded.set(config.name, again)
            return again
          }
          if (known !== undefined) {
            known.stop()
            if (!Present.isSame(known.config, config)) beside(cache.forget(known.config))
          }
          const stop = opened.tools.onChange((manifest) => {
            if (manifest.source !== "snapshot") tellRefreshed(config, manifest)
          })
          const fresh = { ...recalling(config, opened), config: present, stop }
          loaded.set(config.name, fresh)
          return fresh
        })
      })

    const tellRefreshed = (config: ServerConfig.ServerConfig, manifest: ToolCache.Manifest): void => {
      const counts = { tools: vetting.offered(config, manifest).length, rejected: manifest.rejected.length }
      events.publish(McpEvent.McpEvent.ToolsRefreshed({ server: config.name, ...counts }))
    }

    /** What was decided about tools is seen at once, without a new list. */
    yield* Hold.listen(() =>
      pins.onChange((server) => {
        loads++
        const known = loaded.get(server)
        const manifest = known?.tools.current()
        if (known === undefined || manifest?.source !== "server") return
        pool.setTools(server, index().ofServer(server).length)
        tellRefreshed(known.config, manifest)
      })
    )

    const loadedOf = (config: ServerConfig.ServerConfig): Loaded | undefined => {
      // nothing that a server has ever said is shown before somebody has agreed to it
      if (config.blocked !== undefined) return undefined
      const known = loaded.get(config.name)
      return known !== undefined && Present.isSame(known.config, config) ? known : undefined
    }

    /** What is known at once. */
    const peek = ({ config }: ConnectionPool.Member): ToolCache.Manifest | undefined =>
      loadedOf(config)?.tools.current()

    const makeIndex = (): Made => {
      const configs = pool.configs()
      const of = configs.map(loadedOf)
      const manifests = of.map((known) => known?.tools.current())
      const index = ToolIndex.make(
        configs.map((config, at) => {
          const { disabledTools, enabledTools, name: server } = config
          const manifest = manifests[at]
          const tools = manifest === undefined ? [] : vetting.offered(config, manifest)
          return { server, tools, enabledTools, disabledTools }
        }),
        style
      )
      return { index, configs, loads, of, manifests }
    }
    let made = makeIndex()

    const isCurrent = (): boolean =>
      made.configs === pool.configs() && made.loads === loads &&
      made.of.every((known, at) => known?.tools.current() === made.manifests[at])

    const index = (): ToolIndex.ToolIndex => {
      if (!isCurrent()) made = makeIndex()
      return made.index
    }

    const learn = (live: ConnectionPool.Live): Effect.Effect<void, McpError.RuntimeError> =>
      Effect.suspend(() => {
        if (!Present.isPresent(pool, live)) return Effect.void
        // reviewed before anybody gets it, by whoever fetches it for all
        const list = Effect.tap(live.session.tools, ({ tools }) => vetting.review(live, tools))
        return Effect.flatMap(opened(live.config), ({ tools }) =>
          Effect.map(
            tools.fetch({
              generation: live.generation,
              era: live.session.era,
              announcesChanges: Present.announcesChanges(live, "tools"),
              list
            }),
            () => pool.setTools(live.server, index().ofServer(live.server).length)
          ))
      })

    /** Asks a server that is connected, if what is known of it does not come from this connection, or is old. */
    const askNow = (server: string): Effect.Effect<void, McpError.RuntimeError> =>
      Effect.suspend(() => {
        const member = pool.member(server)
        return member?.live === undefined || isFresh(member) ? Effect.void : pool.use(server, learn)
      })

    /** A connection that breaks in the middle is not the server's answer; asking again does no harm. */
    const ask = (server: string, once: Effect.Effect<void, McpError.RuntimeError>) =>
      Effect.catchIf(once, (error) => error.countsForBreaker && error.outcome === "unknown", (error) =>
        Effect.zipRight(
          nextAttempt(server),
          Effect.suspend(() => pool.isConnected(server) ? pool.use(server, learn) : Effect.fail(error))
        ))

    /** Whether what is known comes from the connection that there is, if there is one, and is not old. */
    const isFresh = ({ config, live }: ConnectionPool.Member): boolean => {
      const tools = loadedOf(config)?.tools
      const generation = tools?.current()?.generation ?? 0
      return tools !== undefined && tools.isFresh() && (live === undefined || generation >= live.generation)
    }

    /** Waits until the next attempt to connect has ended, and never for a whole series of them. */
    const nextAttempt = (server: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const config = pool.config(server)
        if (config === undefined || pool.isConnected(server)) return Effect.void
        const { listTimeout, startupTimeout } = ServerConfig.limits(config, limits)
        return Effect.asVoid(Effect.timeoutOption(attempted(server), Duration.sum(startupTimeout, listTimeout)))
      })

    const attempted = (server: string): Effect.Effect<void> =>
      Effect.async<void>((resume) => {
        const isTrying = (status: ServerStatus.ServerStatus | undefined) =>
          status?._tag === "Reconnecting" || status?._tag === "Connecting"
        const status = pool.member(server)?.status
        let trying = isTrying(status)
        // `Connected` without a connection is about to change; every other status has no attempt ahead of it
        if (!trying && status?._tag !== "Connected") return resume(Effect.void)
        const stop = pool.onChange(({ server: changed, status }) => {
          if (changed !== server) return
          const goesOn = status._tag === "Connecting" || (status._tag === "Reconnecting" && !trying) ||
            (status._tag === "Connected" && !pool.isConnected(server))
          trying ||= isTrying(status)
          if (goesOn) return
          stop()
          resume(Effect.void)
        })
        return Effect.sync(stop)
      })

    /** Waits until a server is connected, or will not be for now. */
    const arrival = (server: string): Effect.Effect<void> =>
      Effect.async<void>((resume) => {
        const arrived = (status: ServerStatus.ServerStatus | undefined) =>
          status?._tag !== "Connecting" && status?._tag !== "Idle"
        if (arrived(pool.member(server)?.status)) return resume(Effect.void)
        const stop = pool.onChange((change) => {
          if (change.server !== server || !arrived(change.status)) return
          stop()
          resume(Effect.void)
        })
        return Effect.sync(stop)
      })

    /** Makes known what a server offers, or fails with why that is not possible now. */
    const discover = (server: string): Effect.Effect<void, McpError.RuntimeError> => {
      const status = pool.member(server)?.status._tag
      // one that is lost may not have been told so yet
      if (status === "Connected") return Effect.zipRight(nextAttempt(server), ask(server, askNow(server)))
      // whoever waits here does not wait for a second attempt; that the server is wanted is all it needs to begin
      const come = status === "Idle"
        ? Effect.raceFirst(pool.use(server, () => Effect.void), Effect.zipRight(arrival(server), Effect.void))
        : arrival(server)
      return Effect.zipRight(come, ask(server, askNow(server)))
    }

    const first = (server: string): Effect.Effect<void, McpError.RuntimeError> =>
      Effect.suspend(() => {
        const config = pool.config(server)
        if (config === undefined || config.blocked !== undefined) return Effect.void
        return Effect.flatMap(opened(config), ({ loaded, tools }) =>
          Effect.raceFirst(
            Effect.zipRight(loaded, Effect.suspend(() => tools.current() === undefined ? Effect.never : Effect.void)),
            discover(server)
          ))
      })

    const listed = Effect.fnUntraced(function*(wait: Duration.Duration | undefined) {
      const over = clock.unsafeCurrentTimeMillis() +
        (wait === undefined ? gate : Math.min(gate, Duration.toMillis(wait)))
      const withinGate = <A>(self: Effect.Effect<A>) =>
        Effect.suspend(() => Effect.timeoutOption(self, Duration.millis(over - clock.unsafeCurrentTimeMillis())))
      const failures = new Map<string, McpError.RuntimeError>()
      /** Not interrupted when the wait for it ends, because a late answer belongs in the next list. */
      const learning = (server: string): Effect.Effect<void> =>
        Effect.catchAll(discover(server), (error) =>
          Effect.sync(() => {
            failures.set(server, error)
          })).pipe(Effect.interruptible, Effect.forkIn(scope), Effect.flatMap(Fiber.await), Effect.asVoid)
      const soon: Array<Effect.Effect<void>> = []
      const late: Array<Effect.Effect<unknown>> = []
      for (const member of pool.members()) {
        const { config: { blocked, name: server }, status } = member
        if (blocked !== undefined) continue
        const { isLoaded, loaded, tools } = yield* opened(member.config)
        if (status._tag === "Connected" && isFresh(member)) {
          metrics.for(server).cacheHit()
          continue
        }
        if (!isLoaded()) {
          // who answers before the disk does is not kept waiting by it
          const known = isOnItsWay(status) ? Effect.raceFirst(loaded, learning(server)) : loaded
          const left = Effect.suspend(() => {
            const status = pool.member(server)?.status
            // a snapshot is nothing to offer before it was compared with what is pinned
            const has = tools.current()?.source === "server" || (isLoaded() && tools.current() !== undefined)
            if (status === undefined || failures.has(server) || !isDue(status, has)) return Effect.void
            if (has) return withinGate(learning(server))
            const read = Effect.zipRight(loaded, Effect.suspend(() => tools.current() ? Effect.void : Effect.never))
            return isLoaded() ? learning(server) : Effect.raceFirst(learning(server), read)
          })
          metrics.for(server).cacheMiss()
          // what has not been read when the gate is over is taken for unknown, until it is
          late.push(Effect.zipRight(withinGate(known), left))
          continue
        }
        const has = tools.current() !== undefined
        if (!isDue(status, has)) continue
        metrics.for(server).cacheMiss()
        ;(has ? soon : late).push(learning(server))
      }
      if (soon.length > 0) late.push(withinGate(Effect.all(soon, { concurrency: "unbounded", discard: true })))
      const all = Effect.all(late, { concurrency: "unbounded", discard: true })
      yield* wait === undefined ? all : Effect.timeoutOption(all, wait)
      return listing(failures, yield* pins.quarantined)
    })

    const listing = (
      failures: ReadonlyMap<string, McpError.RuntimeError>,
      changed: ReadonlyArray<ToolPins.Quarantined>
    ): ToolCatalog.Listing => {
      const offering = new Map<string, "Ready" | "Deferred">()
      const missing: Array<ToolCatalog.Missing> = []
      const rejected: Array<ToolCatalog.Listing["rejected"][number]> = []
      for (const member of pool.members()) {
        const { config: { name: server }, status } = member
        const manifest = peek(member)
        if (manifest === undefined || !isOffering(status)) {
          missing.push({
            server,
            status,
            error: failures.get(server) ?? errorOf(status) ?? Present.stillConnecting(server, status)
          })
          continue
        }
        offering.set(server, status._tag === "Connected" ? "Ready" : "Deferred")
        for (const tool of manifest.rejected) rejected.push({ server, ...tool })
      }
      const tools: Array<ToolCatalog.Offered> = []
      for (const entry of index().entries) {
        const _tag = offering.get(entry.server)
        if (_tag !== undefined) tools.push({ _tag, ...entry })
      }
      // elsewhere what has changed is used all the same
      const quarantined = pins.mode === "enforce" ? changed.filter(({ server }) => offering.has(server)) : []
      return { tools, missing, rejected, quarantined }
    }

    return {
      list: Effect.suspend(() => listed(firstListWait)),
      listWithin: (wait) => listed(Duration.decode(wait)),
      firstListWait,
      discover: first,
      index,
      isKnown: (server) => {
        const config = pool.config(server)
        const known = config === undefined ? undefined : loadedOf(config)
        const manifest = known?.tools.current()
        // a snapshot that was not compared with what is pinned offers nothing yet
        return manifest !== undefined && (manifest.source === "server" || known?.isLoaded() === true)
      },
      definition: (server, tool) => {
        const member = pool.member(server)
        const manifest = member === undefined ? undefined : peek(member)
        return manifest?.source === "server" ? index().find(server, tool)?.tool : undefined
      },
      refresh: (server) =>
        Effect.suspend(() => {
          loaded.get(server)?.tools.invalidate()
          return ask(server, pool.use(server, learn))
        }),
      learn,
      admit: (live, tool) => vetting.admit(live, tool, learn(live)),
      invalidate: (server) => loaded.get(server)?.tools.invalidate()
    }
  })

/** Whether a server can become connected by waiting or by asking. */
const mayCome = ({ _tag }: ServerStatus.ServerStatus): boolean =>
  _tag === "Idle" || _tag === "Connecting" || _tag === "Connected"

const isOnItsWay = ({ _tag }: ServerStatus.ServerStatus): boolean => _tag === "Connecting" || _tag === "Connected"

/** Whether a server is asked; one that is asleep is not woken for what is known of it. */
const isDue = (status: ServerStatus.ServerStatus, has: boolean): boolean =>
  mayCome(status) && !(status._tag === "Idle" && has)

/** Whether tools that are known are worth offering. */
const isOffering = (status: ServerStatus.ServerStatus): boolean => mayCome(status) || status._tag === "Reconnecting"

const errorOf = (status: ServerStatus.ServerStatus): McpError.ConnectError | undefined =>
  "error" in status ? status.error : undefined
