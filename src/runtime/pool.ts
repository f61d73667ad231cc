/**
 * The links of an application by name: who they are may change, each of them does not.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as Hold from "../internal/hold.ts"
import { Listeners } from "../internal/listeners.ts"
import * as Mailbox from "../internal/mailbox.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Bars from "./bars.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import { essence } from "./essence.ts"
import * as Link from "./Link.ts"
import * as Plan from "./plan.ts"
import { mayFollow, ServerStatus } from "./ServerStatus.ts"
import type { Change } from "./ServerStatus.ts"
import * as Slots from "./slots.ts"

type SwitchedOff = ReturnType<Link.Link["switchedOff"]>

type Pool = ConnectionPool.ConnectionPool["Type"]

const liveOf = (
  server: string,
  { config }: Plan.Entry,
  { generation, session }: Link.Connected
): ConnectionPool.Live => ({ server, config, generation, session })

/** A launcher installs during a connect only: an established connection closes within the deadline. */
const isConnecting = (link: Link.Link): boolean => {
  const { _tag } = link.status()
  return _tag === "Connecting" || _tag === "Reconnecting"
}

/** How many changes a slow reader may leave unread. */
const backlog = 1_024

/** @internal */
export const make = (
  options: ConnectionPool.Options
): Effect.Effect<Pool, never, ConnectionPool.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const drain = Duration.decode(options.drainTimeout)
    const connector = yield* Connector.Connector
    const events = yield* McpEvent.McpEvents
    const health = yield* HealthCheck.HealthCheck
    const policy = yield* ReconnectPolicy.ReconnectPolicy
    const teardown = yield* Teardown.Teardown
    const slots = yield* Slots.make(options.batchSize)
    const reloads = yield* Effect.makeSemaphore(1)
    const bars = Bars.make()
    /** The number of the reload that these are the servers of. */
    let reloaded = 0
    // links run in what the layer was built in, not in what the first caller happened to be in
    // its fibers can be interrupted wherever the pool is made, in an acquisition too
    const runtime = yield* RuntimeLog.onStderr(Effect.interruptible(Effect.runtime()))

    let entries: ReadonlyMap<string, Plan.Entry> = new Map()
    let configs: ReadonlyArray<ServerConfig.ServerConfig> = []
    let generation = 0
    let closed = false
    const running = new Set<Fiber.RuntimeFiber<void>>()
    const links = new Set<Link.Link>()
    // a bug of whoever listens costs no server
    const listeners = new Listeners<Change>((cause) =>
      fork(RuntimeLog.error("a listener of status changes has thrown", cause))
    )
    const readers = Mailbox.readers<Change>(backlog)
    /** Those that only end what they have begun, and the names they had. */
    const leaving = new Map<Link.Link, Set<string>>()
    /** Those that are to take the place of others, and for which names. */
    const coming = new Map<Link.Link, ReadonlyArray<string>>()
    const hooks = new Set<(live: ConnectionPool.Live) => Effect.Effect<void, never, Scope.Scope>>()

    const tell = (change: Change): void => {
      events.publish(McpEvent.McpEvent.StatusChanged(change))
      listeners.tell(change)
      readers.tell(change)
    }

    /** Whom a link serves: what serves nobody yet, or no longer, is nobody's news. */
    const namesOf = (link: Link.Link | undefined) => Array.from(entries).filter(([, entry]) => entry.link === link)

    const attending = (live: ConnectionPool.Live) => Array.from(hooks, (run) => run(live))

    const makeLink = (config: ServerConfig.ServerConfig, down?: Link.Down) => {
      let own: Link.Link | undefined = undefined
      return Effect.map(
        Link.make({
          config,
          connector,
          reconnect: policy.for(config),
          health,
          down,
          closeWithin: teardown.options.deadline,
          inTurn: slots.within,
          nextGeneration: () => ++generation,
          onStatus: (status, previous) => {
            for (const [server] of namesOf(own)) tell({ server, status, previous })
          },
          onRetry: (attempt, delay, error) => {
            for (const [server] of namesOf(own)) {
              events.publish(McpEvent.McpEvent.Reconnecting({ server, attempt, delay, error }))
            }
          },
          // under each of its names, and with what is configured for that name now
          beside: (connected) => namesOf(own).flatMap(([server, entry]) => attending(liveOf(server, entry, connected)))
        }),
        (made) => own = made
      )
    }

    /** In the background; ends with the pool. */
    const fork = (self: Effect.Effect<void>): void => {
      const fiber = Runtime.runFork(runtime)(self)
      running.add(fiber)
      fiber.addObserver(() => running.delete(fiber))
    }

    const launch = (link: Link.Link): void => {
      // who comes when all is over has nothing to do but to say so
      if (closed) link.close()
      links.add(link)
      fork(Effect.ensuring(link.run, Effect.sync(() => links.delete(link))))
    }

    /** Ends what nobody uses any more, in the background: its calls in flight first. */
    const retire = (server: string, link: Link.Link): void => {
      for (const { link: used } of entries.values()) if (used === link) return
      const names = leaving.get(link)
      if (names !== undefined) return void names.add(server)
      leaving.set(link, new Set([server]))
      fork(Effect.ensuring(
        link.retire(drain),
        Effect.sync(() => {
          leaving.delete(link)
          link.close()
        })
      ))
    }

    const find = (server: string): Effect.Effect<Plan.Entry, McpError.NotFound> => {
      const entry = entries.get(server)
      return entry === undefined
        ? Effect.fail(
          new McpError.NotFound({ server, kind: "server", name: server, suggestions: Array.from(entries.keys()) })
        )
        : Effect.succeed(entry)
    }
    const withServer =
      <A, E>(f: (link: Link.Link) => Effect.Effect<A, E>) =>
      (server: string): Effect.Effect<A, E | McpError.NotFound> =>
        Effect.suspend(() => Effect.flatMap(find(server), ({ link }) => f(link)))

    const memberOf = (server: string, entry: Plan.Entry): ConnectionPool.Member => {
      const { config, link } = entry
      const connected = link.connected()
      return {
        config,
        status: link.status(),
        live: connected === undefined ? undefined : liveOf(server, entry, connected),
        // looked for only where there can be one: all members together are asked for with every list of tools
        sharedWith: options.shareIdentical ? namesOf(link).find(([name]) => name !== server)?.[0] : undefined,
        health: link.health(),
        reconnects: link.reconnects()
      }
    }

    /** From one step to the next, these are the servers. */
    const commit = (next: ReadonlyMap<string, Plan.Entry>): void => {
      const before = entries
      entries = next
      configs = Array.from(next.values(), ({ config }) => config)
      for (const [server, { link }] of next) {
        const old = before.get(server)
        if (old?.link === link) continue
        announce(server, link.status(), old?.link.status())
        attend(server)
      }
      for (const [server, { link }] of before) {
        if (!next.has(server)) announce(server, ServerStatus.Closed(), link.status())
        retire(server, link)
      }
      // what must not be used does not serve on, not even for those whose calls have begun
      const isBlocked = (name: string) => next.get(name)?.config.blocked !== undefined
      for (const [link, names] of leaving) if (Array.from(names).some(isBlocked)) link.close()
      closeSuccessors(isBlocked)
    }

    /** A successor makes no attempt if none of its servers may be used. */
    const closeSuccessors = (isOff: (name: string) => boolean): void => {
      for (const [link, names] of coming) if (names.every(isOff)) link.close()
    }

    /** What is to run beside a connection that was there before it served under this name. */
    const attend = (server: string): void => {
      const entry = entries.get(server)
      const connected = entry?.link.connected()
      if (entry === undefined || connected === undefined) return
      for (const run of attending(liveOf(server, entry, connected))) {
        fork(Effect.asVoid(Effect.forkIn(Scope.extend(run, connected.scope), connected.scope)))
      }
    }

    const announce = (server: string, status: ServerStatus, previous: ServerStatus | undefined): void => {
      // that another connects in its place is no news
      if (previous?._tag === "Connecting" && status._tag === "Connecting") return
      if (previous !== undefined && !mayFollow(previous, status)) {
        tell({ server, status: ServerStatus.Connecting(), previous })
        return tell({ server, status, previous: ServerStatus.Connecting() })
      }
      tell({ server, status, previous })
    }

    /**
     * Puts a successor in the place of servers that are the same but for their names, once it is ready; if its first
     * attempt fails, the old ones stay.
     */
    const replace = (changed: ReadonlyArray<ServerConfig.ServerConfig>, report: Plan.Report): Effect.Effect<void> =>
      Effect.uninterruptibleMask((restore) => {
        const configs = changed.filter(({ name }) => entries.get(name)?.config.blocked === undefined)
        // blocked since this was planned
        if (configs.length === 0) return Effect.void
        return Effect.flatMap(makeLink(configs[0]!), (successor) => {
          launch(successor)
          coming.set(successor, configs.map(({ name }) => name))
          const first = Effect.ensuring(successor.first, Effect.sync(() => coming.delete(successor)))
          return Effect.matchCauseEffect(restore(first), {
            onFailure: (cause) => {
              successor.close()
              const failure = Cause.failureOrCause(cause)
              if (Either.isRight(failure)) return Effect.failCause(failure.right)
              for (const { name: server } of configs) report.failed.push({ server, error: failure.left })
              return Effect.void
            },
            onSuccess: () =>
              Effect.gen(function*() {
                // closed before its attempt had ended, because all of its servers were switched off
                const isReady = successor.connected() !== undefined
                const next = new Map(entries)
                const fresh = new Set<Link.Link>()
                for (const config of configs) {
                  const old = entries.get(config.name)
                  // it was removed or blocked meanwhile
                  if (closed || old === undefined || old.config.blocked !== undefined) continue
                  const down = old.link.switchedOff()
                  const link = isReady && down === undefined ? successor : yield* makeLink(config, down)
                  if (link !== successor) fresh.add(link)
                  next.set(config.name, { config, link })
                  report.changed.push(config.name)
                }
                commit(next)
                for (const link of fresh) launch(link)
                if (namesOf(successor).length === 0) successor.close()
              })
          })
        })
      })

    /** Those that one successor can serve. */
    const alike = (configs: ReadonlyArray<ServerConfig.ServerConfig>) => {
      const groups = new Map<string, Array<ServerConfig.ServerConfig>>()
      for (const config of configs) {
        const key = options.shareIdentical ? essence(config) : config.name
        groups.set(key, [...groups.get(key) ?? [], config])
      }
      return Array.from(groups.values())
    }

    /** A name that is switched off leaves those alone that share its connection. */
    const stop = (why: NonNullable<SwitchedOff>) => (server: string): Effect.Effect<void, McpError.NotFound> =>
      Effect.suspend(() =>
        Effect.flatMap(find(server), (entry) => {
          const end = (link: Link.Link) => why === "disabled" ? link.disable : link.disconnect
          closeSuccessors((name) => name === server || entries.get(name)?.link.switchedOff() !== undefined)
          if (namesOf(entry.link).length === 1) return end(entry.link)
          return Effect.flatMap(makeLink(entry.config, why), (alone) =>
            Effect.sync(() => {
              commit(new Map(entries).set(server, { config: entry.config, link: alone }))
              launch(alone)
            }))
        })
      )

    /** Stops at once what must not be used, whatever reloads are under way; gives back what that was. */
    const block = (configs: ReadonlyArray<ServerConfig.ServerConfig>): Effect.Effect<ReadonlySet<string>> =>
      Effect.gen(function*() {
        const next = new Map(entries)
        const fresh = new Map<string, Link.Link>()
        for (const config of configs) {
          const old = entries.get(config.name)
          if (closed || old === undefined || old.config.blocked !== undefined) continue
          const link = yield* makeLink(config, old.link.switchedOff())
          next.set(config.name, { config, link })
          fresh.set(config.name, link)
        }
        if (fresh.size > 0) commit(next)
        for (const link of fresh.values()) launch(link)
        return new Set(fresh.keys())
      })

    const reload: Pool["reload"] = (given) =>
      Effect.suspend(() => {
        const { blocked, turn } = bars.raise(given)
        return Effect.flatMap(block(blocked), (stopped) =>
          reloads.withPermits(1)(Effect.suspend(() => {
            // one that was overtaken says nothing new
            if (closed || turn < reloaded) return Effect.succeed(Plan.emptyReport())
            reloaded = turn
            const configs = given.map((config) => bars.latest(turn, config))
            return Effect.flatMap(
              Plan.make({ configs, entries, stopped, share: options.shareIdentical, makeLink }),
              ({ fresh, next, report, warm }) => {
                commit(next)
                for (const link of fresh) launch(link)
                return Effect.as(
                  Effect.forEach(alike(warm), (same) => replace(same, report), {
                    concurrency: "unbounded",
                    discard: true
                  }),
                  report
                )
              }
            )
          })))
      })

    // Every server ends at the same time, so that many stubborn ones take no longer than one.
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        closed = true
        const began = yield* Clock.currentTimeMillis
        events.publish(McpEvent.McpEvent.TeardownBegan({ servers: links.size }))
        const limit = Teardown.bound(
          teardown.options,
          Array.from(links).filter(isConnecting).map(({ config }) => config)
        )
        for (const link of links) link.close()
        yield* BoundedWait.within(limit)(
          Effect.forEach(Array.from(running), Fiber.await, { concurrency: "unbounded", discard: true })
        )
        // what does not end in time is given up, and whoever waits for it is told
        for (const fiber of running) fiber.unsafeInterruptAsFork(FiberId.none)
        for (const [server, { link }] of entries) {
          const previous = link.status()
          if (previous._tag !== "Closed") tell({ server, status: ServerStatus.Closed(), previous })
        }
        readers.end()
        listeners.clear()
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        events.publish(McpEvent.McpEvent.TeardownComplete({ report: yield* teardown.report, took }))
      })
    )

    const use: Pool["use"] = (server, f) =>
      Effect.suspend(() => {
        const entry = entries.get(server)
        if (entry === undefined) return Effect.flatMap(find(server), () => use(server, f))
        let reached = false
        const used = entry.link.use((connected) => {
          reached = true
          return f(liveOf(server, entry, connected))
        })
        if (entry.link.connected() !== undefined) return used
        // who waits for a server waits for whatever takes its place, and not for what was replaced
        return Effect.catchIf(
          used,
          () => !reached && !closed && entries.has(server) && entries.get(server)?.link !== entry.link,
          () => use(server, f)
        )
      })

    return {
      use,
      line: (server) => {
        const entry = entries.get(server)
        const connected = entry?.link.connected()
        if (entry === undefined || connected === undefined) return undefined
        return { live: liveOf(server, entry, connected), begin: connected.begin, end: connected.end }
      },
      members: () => Array.from(entries, ([server, entry]) => memberOf(server, entry)),
      member: (server) => {
        const entry = entries.get(server)
        return entry === undefined ? undefined : memberOf(server, entry)
      },
      find: (server) => Effect.suspend(() => Effect.map(find(server), (entry) => memberOf(server, entry))),
      config: (server) => entries.get(server)?.config,
      configs: () => configs,
      isConnected: (server) => entries.get(server)?.link.connected() !== undefined,
      changes: readers.changes,
      onChange: (listener) => listeners.add(listener),
      onConnected: (run) =>
        Effect.suspend(() => {
          const own = (live: ConnectionPool.Live) => run(live)
          return Hold.make(() => hooks.add(own), () => hooks.delete(own))
        }),
      setTools: (server, tools) => entries.get(server)?.link.setTools(tools),
      connect: withServer((link) => link.connect),
      reconnect: withServer((link) => link.reconnect),
      disconnect: stop("disconnected"),
      enable: withServer((link) => link.enable),
      disable: stop("disabled"),
      disconnectAll: Effect.suspend(() => {
        closeSuccessors(() => true)
        return Effect.forEach(links, (link) => link.disconnect, {
          concurrency: "unbounded",
          discard: true
        })
      }),
      reload
    }
  })
