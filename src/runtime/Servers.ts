/** The servers of an application by name, each with the link that connects it. Links may change, names stay. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Broadcast from "../broadcast.ts"
import * as Connector from "../client/Connector.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Scoped from "../scoped.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Link from "./Link.ts"
import * as Lists from "./lists.ts"
import * as Reload from "./reload.ts"
import * as Server from "./Server.ts"
import { mayFollow, ServerStatus } from "./ServerStatus.ts"
import type { Change } from "./ServerStatus.ts"
import * as Users from "./users.ts"

export interface Options {
  /** How many servers connect at once. */
  readonly batchSize: number
  /** Whether servers that differ only in names, titles and filters share a connection. */
  readonly shareIdentical: boolean
  /** The time that calls in flight have on a connection that a reload replaces. */
  readonly drainTimeout: Duration.DurationInput
}

export const defaults: Options = { batchSize: 3, shareIdentical: false, drainTimeout: Duration.seconds(30) }

type Connected = Effect.Effect<void, Link.UseError | McpError.NotFound>

type Switch = (name: string) => Effect.Effect<void, McpError.NotFound>

export interface Servers {
  /**
   * Uses the connection of a server, or waits for the attempt under way, or starts one. Errors of the wait have the
   * outcome `not-sent`.
   */
  readonly use: Server.Use
  /** In the order of their configurations; the same array until a reload or a switch changes it. */
  readonly all: () => ReadonlyArray<Server.Server>
  /** The server with the link of this user, if there is one, or of the application. */
  readonly get: (name: string, identity?: string) => Server.Server | undefined
  /** The same, with a link that is opened when it is used. */
  readonly find: (name: string, identity?: string) => Effect.Effect<Server.Server, McpError.NotFound>
  /** Every change of a status from now on, in order; ends with the servers. */
  readonly changes: Stream.Stream<Change>
  /** Calls the listener synchronously with every change; returns how to stop. */
  readonly onChange: (listener: (change: Change) => void) => () => void
  /** Runs beside each connection from now on, in the scope of the connection. */
  readonly onConnected: (
    run: (live: Server.Live) => Effect.Effect<void, never, Scope.Scope>
  ) => Effect.Effect<void, never, Scope.Scope>
  readonly connect: (name: string, options?: Link.ConnectOptions) => Connected
  /** Ends the connection, forgets its failures, and connects again. */
  readonly reconnect: (name: string, identity?: string) => Connected
  /** Ends the connection until `connect` or `reconnect`. */
  readonly disconnect: Switch
  readonly enable: Switch
  readonly disable: Switch
  readonly disconnectAll: Effect.Effect<void>
  /** Makes these the servers. New ones start at once, and only the successors of connections are waited for. */
  readonly reload: (configs: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport>
}

export type Requirements =
  | CircuitBreaker.CircuitBreaker
  | Connector.Connector
  | McpEvent.McpEvents
  | ReconnectPolicy.ReconnectPolicy
  | RuntimeMetrics.RuntimeMetrics
  | Teardown.Teardown
  | ToolCache.ToolCache
  | ToolPins.ToolPins

/** The changes that a slow subscriber may leave unread. */
const backlog = 1_024

/** The time until a connect gives its slot to the next: a process has started by then, and the rest is waiting. */
const slotTime = Duration.millis(500)

/** Limits how many connects start at once. */
const connectSlots = (size: number) =>
  Effect.map(
    Effect.makeSemaphore(Math.max(1, size)),
    (slots) => <A, E, R>(connect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(slots.take(1)), () => {
          let isHeld = true
          const giveBack = Effect.suspend(() => {
            if (!isHeld) return Effect.void
            isHeld = false
            return Effect.asVoid(slots.release(1))
          })
          return Effect.acquireUseRelease(
            Effect.fork(Effect.interruptible(Effect.zipRight(Effect.sleep(slotTime), giveBack))),
            () => restore(connect),
            (timer) => Effect.zipRight(Fiber.interrupt(timer), giveBack)
          )
        })
      )
  )

/** A launcher installs only while it connects; a connection closes within the deadline. */
const isConnecting = ({ status }: Link.Link): boolean => {
  const { _tag } = status()
  return _tag === "Connecting" || _tag === "Reconnecting"
}

/** No servers yet; `reload` adds them. */
export const make = (options?: Partial<Options>): Effect.Effect<Servers, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const { batchSize, drainTimeout, shareIdentical } = { ...defaults, ...options }
    const drain = Duration.decode(drainTimeout)
    const cache = yield* ToolCache.ToolCache
    const clock = yield* Effect.clock
    const connector = yield* Connector.Connector
    const events = yield* McpEvent.McpEvents
    const health = yield* HealthCheck.HealthCheck
    const pins = yield* ToolPins.ToolPins
    const policy = yield* ReconnectPolicy.ReconnectPolicy
    const teardown = yield* Teardown.Teardown
    const inTurn = yield* connectSlots(batchSize)
    // links run in the context of the layer, and can be interrupted even if it is built in an uninterruptible region
    const runtime = yield* RuntimeLog.onStderr(Effect.interruptible(Effect.runtime()))

    let servers: ReadonlyMap<string, Server.Server> = new Map()
    let all: ReadonlyArray<Server.Server> = []
    let generation = 0
    let closed = false
    const fibers = new Set<Fiber.RuntimeFiber<void>>()
    /** The links that run. */
    const links = new Set<Link.Link>()
    /** The links that only drain, with the names that they have served. */
    const retiring = new Map<Link.Link, Set<string>>()
    /** The links that make their first attempt, with the names that they are to serve. */
    const successors = new Map<Link.Link, ReadonlyArray<string>>()
    /** The breakers of removed servers, which a reload that adds them again must find isolated. */
    const isolated = new Map<string, CircuitBreaker.Breaker>()
    const hooks = new Set<(live: Server.Live) => Effect.Effect<void, never, Scope.Scope>>()
    const changes = yield* Broadcast.make<Change>({
      capacity: backlog,
      onThrow: (thrown) => fork(RuntimeLog.error("a listener of status changes has thrown", thrown))
    })

    /** Runs in the background until the servers close. */
    const fork = (self: Effect.Effect<void>): void => {
      const fiber = Runtime.runFork(runtime)(self)
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
    }

    const servedBy = (link: Link.Link | undefined): ReadonlyArray<Server.Server> =>
      all.filter((server) => server.link === link)

    const find: Servers["find"] = (name, identity) =>
      Effect.suspend(() => {
        const server = servers.get(name)
        if (server !== undefined) return identity === undefined ? Effect.succeed(server) : users.of(server, identity)
        return Effect.fail(
          new McpError.NotFound({ server: name, kind: "server", name, suggestions: Array.from(servers.keys()) })
        )
      })

    const get: Servers["get"] = (name, identity) => {
      const server = servers.get(name)
      return identity === undefined || server?.config.affinity === "shared" ? server : server?.users.get(identity)
    }

    const use: Server.Use = (name, f, options) =>
      Effect.flatMap(find(name, options?.identity), (server) => {
        const { link } = server
        let hasBegun = false
        const used = link.use((connected) => {
          hasBegun = true
          return f(Server.live(server, connected))
        }, options?.until)
        if (link.connected() !== undefined) return used
        // callers that wait for a link that is replaced wait for its successor
        const isServed = () => get(name, options?.identity)?.link === link
        const wasServed = isServed()
        const isReplaced = () => wasServed && !hasBegun && !closed && servers.has(name) && !isServed()
        return Effect.catchIf(used, isReplaced, () => use(name, f, options))
      })

    const serve = Server.make({
      limits: yield* Limits.CurrentLimits,
      breakers: yield* CircuitBreaker.CircuitBreaker,
      bulkhead: yield* Bulkhead.Bulkhead,
      metrics: yield* RuntimeMetrics.RuntimeMetrics,
      publish: events.publish,
      lists: Lists.make({ cache, clock, pins, scope: yield* Effect.scope }),
      isolated: (name) => isolated.get(name),
      get,
      use,
      sharedWith: ({ link, name }) =>
        shareIdentical ? servedBy(link).find((other) => other.name !== name)?.name : undefined
    })

    const newServer = (config: ServerConfig.ServerConfig, link: Link.Link): Server.Server =>
      serve(config, link, servers.get(config.name))

    const publish = (server: Server.Server, status: ServerStatus, previous: ServerStatus | undefined): void => {
      const change = { server: server.name, status, previous }
      events.publish(McpEvent.McpEvent.StatusChanged(change))
      server.changed(status, previous)
      changes.publish(change)
    }

    const linkOptions = (config: ServerConfig.ServerConfig) => ({
      config,
      connector,
      reconnect: policy.for(config),
      health,
      closeWithin: teardown.options.deadline,
      inTurn,
      nextGeneration: () => ++generation
    })

    const newLink = (config: ServerConfig.ServerConfig, down?: Link.Down): Effect.Effect<Link.Link> => {
      // a link that serves no name yet, or none any more, publishes nothing
      let link: Link.Link | undefined = undefined
      const made = Link.make({
        ...linkOptions(config),
        down,
        onStatus: (status, previous, at) => {
          for (const server of servedBy(link)) {
            publish(server, status, previous)
            if (status._tag !== "Reconnecting") continue
            const { attempt, error, until } = status
            // the storm rule moves an attempt that is already reported
            if (previous._tag === "Reconnecting" && previous.attempt === attempt) continue
            const delay = Duration.millis(until - at)
            events.publish(McpEvent.McpEvent.Reconnecting({ server: server.name, attempt, delay, error }))
          }
        },
        beside: (connected) => servedBy(link).flatMap((server) => runHooks(Server.live(server, connected)))
      })
      return Effect.map(made, (made) => link = made)
    }

    const runHooks = (live: Server.Live) => Array.from(hooks, (run) => run(live))

    const start = (link: Link.Link): void => {
      if (closed) link.close()
      links.add(link)
      fork(Effect.ensuring(link.run, Effect.sync(() => links.delete(link))))
    }

    /** Drains a link that serves no name any more. */
    const retire = ({ link, name }: Server.Server): void => {
      if (servedBy(link).length > 0) return
      const names = retiring.get(link)
      if (names !== undefined) return void names.add(name)
      retiring.set(link, new Set([name]))
      fork(Effect.ensuring(
        link.retire(drain),
        Effect.sync(() => {
          retiring.delete(link)
          link.close()
        })
      ))
    }

    /** Runs the hooks for a connection that is older than its name. */
    const attend = (server: Server.Server): void => {
      const connected = server.link.connected()
      if (connected === undefined) return
      for (const run of runHooks(Server.live(server, connected))) {
        fork(Effect.asVoid(Effect.forkIn(Scope.extend(run, connected.scope), connected.scope)))
      }
    }

    const announce = (server: Server.Server, status: ServerStatus, previous: ServerStatus | undefined): void => {
      // another link that connects is no change
      if (previous?._tag === "Connecting" && status._tag === "Connecting") return
      if (previous === undefined || mayFollow(previous, status)) return publish(server, status, previous)
      publish(server, ServerStatus.Connecting(), previous)
      publish(server, status, ServerStatus.Connecting())
    }

    /** Ends the first attempts of links none of whose names may be used any more. */
    const endSuccessors = (isOff: (name: string) => boolean): void => {
      for (const [link, names] of successors) if (names.every(isOff)) link.close()
    }

    const commit = (next: ReadonlyMap<string, Server.Server>): void => {
      if (closed) return
      const before = servers
      servers = next
      all = Array.from(next.values())
      for (const server of next.values()) {
        const old = before.get(server.name)
        if (old?.link === server.link) continue
        announce(server, server.status, old?.status)
        attend(server)
      }
      for (const old of before.values()) {
        const { breaker, name, status } = old
        users.move(old, next.get(name))
        if (!next.has(name)) {
          announce(old, ServerStatus.Closed(), status)
          fork(cache.forget(old.config))
          pins.release(name)
          if (breaker.isIsolated()) isolated.set(name, breaker)
          else isolated.delete(name)
        }
        retire(old)
      }
      // blocked servers do not drain
      const isBlocked = (name: string) => next.get(name)?.config.blocked !== undefined
      for (const [link, names] of retiring) if (Array.from(names).some(isBlocked)) link.close()
      endSuccessors(isBlocked)
      for (const { link } of next.values()) if (!links.has(link)) start(link)
    }

    const users = Users.make({
      makeLink: (config, identity, options) =>
        Link.make({
          ...linkOptions(config),
          ...options,
          inTurn: (connect) => inTurn(Effect.provideService(connect, Connector.Identity, identity))
        }),
      hooks: runHooks,
      serve,
      current: (name) => servers.get(name),
      start,
      retire
    })

    const reload = yield* Reload.make({
      shareIdentical,
      current: () => servers,
      isClosed: () => closed,
      newLink,
      newServer,
      commit,
      firstAttempt: (link, names) =>
        Effect.suspend(() => {
          start(link)
          successors.set(link, names)
          return Effect.ensuring(link.first, Effect.sync(() => successors.delete(link)))
        })
    })

    const isOff = (name: string): boolean => servers.get(name)?.link.switchedOff() !== undefined

    /** Switches one name off. A shared link serves its other names on, and this one gets a link of its own. */
    const switchOff = (why: "disabled" | "disconnected"): Switch => (name) =>
      Effect.flatMap(find(name), (server) => {
        const { config, link } = server
        endSuccessors((other) => other === name || isOff(other))
        const usersEnded = users.end(server)
        if (servedBy(link).length === 1) {
          return Effect.zipRight(why === "disabled" ? link.disable : link.disconnect, usersEnded)
        }
        return Effect.flatMap(newLink(config, why), (alone) => {
          commit(new Map(servers).set(name, newServer(config, alone)))
          return usersEnded
        })
      })

    // all links close at once, so that many stubborn servers take no longer than one
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        closed = true
        const began = yield* Clock.currentTimeMillis
        events.publish(McpEvent.McpEvent.TeardownBegan({ servers: links.size }))
        const installing = Array.from(links).filter(isConnecting).map(({ config }) => config)
        for (const link of links) link.close()
        yield* BoundedWait.within(Teardown.bound(teardown.options, installing))(
          Effect.forEach(Array.from(fibers), Fiber.await, { concurrency: "unbounded", discard: true })
        )
        for (const fiber of fibers) fiber.unsafeInterruptAsFork(FiberId.none)
        for (const server of servers.values()) {
          const { status } = server
          if (status._tag !== "Closed") publish(server, ServerStatus.Closed(), status)
        }
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        events.publish(McpEvent.McpEvent.TeardownComplete({ report: yield* teardown.report, took }))
      })
    )

    return {
      use,
      all: () => all,
      get,
      find,
      changes: changes.stream,
      onChange: changes.onEvent,
      onConnected: (run) =>
        Effect.suspend(() => {
          const hook = (live: Server.Live) => run(live)
          return Scoped.acquire(() => hooks.add(hook), () => hooks.delete(hook))
        }),
      connect: (name, options) => Effect.flatMap(find(name), ({ link }) => link.connect(options)),
      reconnect: (name, identity) => Effect.flatMap(find(name, identity), ({ link }) => link.reconnect),
      disconnect: switchOff("disconnected"),
      enable: (name) => Effect.flatMap(find(name), ({ link }) => link.enable),
      disable: switchOff("disabled"),
      disconnectAll: Effect.suspend(() => {
        endSuccessors(() => true)
        return Effect.forEach(links, (link) => link.disconnect, { concurrency: "unbounded", discard: true })
      }),
      reload
    }
  })
