/** The servers of an application by name, each with the link that connects it. Links may change, names stay. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as Deadline from "../resilience/Deadline.ts"
import { onExitSync, uninterruptibleMask } from "../resilience/onExitSync.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Link from "./Link.ts"
import * as Reload from "./reload.ts"
import * as Server from "./Server.ts"
import { mayFollow, ServerStatus } from "./ServerStatus.ts"

export interface Options {
  /** How many servers connect at once. */
  readonly batchSize: number
  /** Whether servers that differ only in names, titles and filters share a connection. */
  readonly shareIdentical: boolean
  /** The time that calls in flight have on a connection that a reload replaces. */
  readonly drainTimeout: Duration.DurationInput
}

export const defaults: Options = { batchSize: 3, shareIdentical: false, drainTimeout: Duration.seconds(30) }

/** Why a server could not be connected. */
export type ConnectFailure = Link.UseError | McpError.NotFound

export interface ConnectOptions {
  /** The wait ends with the first attempt that fails (default), or when no other attempt follows. */
  readonly until?: Link.Until | undefined
  /** The user whose connection and login it is (default: the application), as in `RequestOptions`. */
  readonly identity?: string | undefined
}

type Connect = (server: string, options?: ConnectOptions) => Effect.Effect<void, ConnectFailure>

export interface UseOptions {
  /** Bounds the wait for a connection, and makes the use as interruptible as the caller. */
  readonly deadline?: Deadline.Deadline | undefined
  readonly identity?: string | undefined
  /** Default: `"settled"`. */
  readonly until?: Link.Until | undefined
}

/** Waits for a connection of a server. */
export type Await = (
  name: string,
  options?: UseOptions
) => Effect.Effect<void, ConnectFailure | McpError.RequestTimeout>

export type Use = <A, E, R>(
  name: string,
  f: (live: Server.Live) => Effect.Effect<A, E, R>,
  options?: UseOptions
) => Effect.Effect<A, E | ConnectFailure | McpError.RequestTimeout, R>

type Switch = (server: string) => Effect.Effect<void, McpError.NotFound>

/** The operations that a person has on the connection of a server. */
export interface Switches {
  /** Connects now, unless the server is connected. */
  readonly connect: Connect
  /** Ends the connection, forgets its failures, and connects again. */
  readonly reconnect: Connect
  /** Ends the connection and opens no other until `connect` or `reconnect`. */
  readonly disconnect: Switch
  readonly disconnectAll: Effect.Effect<void>
  readonly enable: Switch
  /** Ends the connection and opens no other until `enable`. */
  readonly disable: Switch
}

export interface Servers {
  /** Waits for the attempt under way, or for one that this starts. The errors have the outcome `not-sent`. */
  readonly connected: Await
  /** Uses the connection of a server, after a wait where there is none. */
  readonly use: Use
  /** The same, with another wait. */
  readonly using: (connected: Await) => Use
  /** In the order of their configurations; the same array until a reload or a switch changes it. */
  readonly all: () => ReadonlyArray<Server.Server>
  /** The server with the link of this user, if there is one, or of the application. */
  readonly get: (name: string, identity?: string) => Server.Server | undefined
  /** The same, with a link that is opened when it is used. */
  readonly find: (name: string, identity?: string) => Effect.Effect<Server.Server, McpError.NotFound>
  /** True from the beginning of the teardown. */
  readonly isClosed: () => boolean
  /** Runs this, and nothing else, beside each connection from now on, in the scope of the connection. */
  readonly onConnected: (run: (live: Server.Live) => Effect.Effect<void, never, Scope.Scope>) => void
  readonly switches: Switches
  /** Makes these the servers. New ones start at once, and only the successors of connections are waited for. */
  readonly reload: (configs: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport>
}

const waitedFor = (server: Server.Server | undefined): Deadline.WaitedFor => ({
  waitedFor: "connection",
  ...(server !== undefined && "error" in server.status ? { lastError: server.status.error } : {})
})

/** The users of one server after which one without a connection is forgotten. */
const maxUsers = 1_024

/** The link of a user is closed after this time without a call, unless the configuration has another. */
const userIdle = Duration.minutes(5)

/** Forgets the oldest user without a connection, and not on the way to one. */
const forgetFailed = (users: Map<string, Server.Server>): void => {
  for (const [identity, { link, status }] of users) {
    if (status._tag !== "Failed" && status._tag !== "NeedsAuth") continue
    users.delete(identity)
    return link.close()
  }
}

/** True for a server that has no connection and begins none. */
const isOff = ({ status: { _tag } }: Server.Server): boolean =>
  _tag === "Disabled" || _tag === "Blocked" || _tag === "Closed"

/** A launcher installs only while it connects; a connection closes within the deadline. */
const isConnecting = ({ status }: Link.Link): boolean => {
  const { _tag } = status()
  return _tag === "Connecting" || _tag === "Reconnecting"
}

/** No servers yet; `reload` adds them. */
export const make = (options?: Partial<Options>) =>
  Effect.gen(function*() {
    const { batchSize, drainTimeout, shareIdentical } = { ...defaults, ...options }
    const drain = Duration.decode(drainTimeout)
    const cache = yield* ToolCache.ToolCache
    const events = yield* McpEvent.McpEvents
    const pins = yield* ToolPins.ToolPins
    const teardown = yield* Teardown.Teardown
    const makeLink = yield* Link.making(batchSize)
    // links run in the context of the layer, and can be interrupted even if it is built in an uninterruptible region
    const runtime = yield* RuntimeLog.onStderr(Effect.interruptible(Effect.runtime()))

    let servers: ReadonlyMap<string, Server.Server> = new Map()
    let all: ReadonlyArray<Server.Server> = []
    let closed = false
    const fibers = new Set<Fiber.RuntimeFiber<void>>()
    /** The links that run. */
    const links = new Set<Link.Link>()
    /** The links that only drain, with the names that they have served. */
    const retiring = new Map<Link.Link, Set<string>>()
    /** The links that make their first attempt, with the names that they are to serve. */
    const successors = new Map<Link.Link, ReadonlyArray<string>>()
    let beside: (live: Server.Live) => Effect.Effect<void, never, Scope.Scope> = () => Effect.void

    /** Runs in the background until the servers close. */
    const fork = (self: Effect.Effect<void>): void => {
      const fiber = Runtime.runFork(runtime)(self)
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
    }

    /** The servers that a link serves: one of a user, or one or more of the application. */
    const servedBy = (link: Link.Link): ReadonlyArray<Server.Server> =>
      all.flatMap((server) => [server, ...server.users.values()]).filter((server) => server.link === link)

    const find: Servers["find"] = (name, identity) =>
      Effect.suspend(() => {
        const server = servers.get(name)
        if (server !== undefined) return Effect.succeed(identity === undefined ? server : ofUser(server, identity))
        return Effect.fail(
          new McpError.NotFound({ server: name, kind: "server", name, suggestions: Array.from(servers.keys()) })
        )
      })

    const get: Servers["get"] = (name, identity) => {
      const server = servers.get(name)
      return identity === undefined || server?.config.affinity === "shared" ? server : server?.users.get(identity)
    }

    const connected: Await = (name, options) => {
      const { deadline, identity, until = "settled" } = options ?? {}
      const wait: ReturnType<Await> = Effect.flatMap(find(name, identity), ({ link }) => {
        // callers that wait for a link that is replaced wait for its successor
        const isServed = () => get(name, identity)?.link === link
        const wasServed = isServed()
        const isReplaced = () => wasServed && !closed && servers.has(name) && !isServed()
        return Effect.catchIf(link.wanted(until), isReplaced, () => wait)
      })
      return deadline === undefined ? wait : Deadline.boundWait(deadline, () => waitedFor(get(name, identity)), wait)
    }

    const using: Servers["using"] = (connected) => {
      const use: Use = (name, f, options) =>
        uninterruptibleMask((masked) => {
          const live = get(name, options?.identity)?.live
          if (live === undefined) return masked(Effect.zipRight(connected(name, options), use(name, f, options)))
          live.connection.begin()
          const restore = options?.deadline?.restore ?? masked
          return onExitSync(restore(Effect.suspend(() => f(live))), live.connection.end)
        })
      return use
    }

    const serve = yield* Server.make(get)

    const newServer = (config: ServerConfig.ServerConfig, link: Link.Link): Server.Server =>
      serve(config, link, servers.get(config.name))

    const publish = (server: Server.Server, status: ServerStatus, previous: ServerStatus | undefined): void => {
      events.publish(McpEvent.McpEvent.StatusChanged({ server: server.name, status, previous }))
      server.changed(status, previous)
    }

    const newLink = (config: ServerConfig.ServerConfig, down?: Link.Down, identity?: string): Link.Link => {
      // a link that serves no server yet, or none any more, publishes nothing
      const link: Link.Link = makeLink(config, {
        down,
        identity,
        onStatus: (status, previous) => {
          for (const server of servedBy(link)) {
            if (server.identity === undefined) publish(server, status, previous)
            else forgetAtRest(server)
          }
        },
        beside: () => servedBy(link).flatMap(({ live }) => live === undefined ? [] : [beside(live)])
      })
      return link
    }

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

    /** Runs what belongs beside a connection that is older than its name. */
    const attend = ({ live }: Server.Server): void => {
      if (live === undefined) return
      const { scope } = live.connection
      fork(Effect.asVoid(Effect.forkIn(Scope.extend(beside(live), scope), scope)))
    }

    /** The link of a user is forgotten when it has no connection and needs none. */
    const forgetAtRest = (user: Server.Server): void => {
      if (user.status._tag !== "Idle" && !isOff(user)) return
      servers.get(user.name)?.users.delete(user.identity ?? "")
      user.link.close()
    }

    /** The server with the link of this user, or the server itself if all users share it. */
    const ofUser = (server: Server.Server, identity: string): Server.Server => {
      const { config, link, users } = server
      const known = users.get(identity)
      if (known !== undefined || config.affinity === "shared") return known ?? server
      const lazy = { ...config, lazy: true, required: false, idleTimeout: config.idleTimeout ?? userIdle }
      const down = isOff(server) ? link.switchedOff() ?? "configuration" : undefined
      const user = serve(config, newLink(lazy, down, identity), server, identity)
      if (isOff(server)) {
        // a link that is off only refuses, so that no call passes to the connection of the application meanwhile
        if (server.status._tag === "Closed") user.link.close()
        return user
      }
      if (users.size >= maxUsers) forgetFailed(users)
      users.set(identity, user)
      start(user.link)
      return user
    }

    /** Keeps the links of users over a change that keeps the connection of the application, and drains them otherwise. */
    const moveUsers = (old: Server.Server, next: Server.Server | undefined): void => {
      if (next === old) return
      for (const [identity, user] of old.users) {
        old.users.delete(identity)
        if (next?.link === old.link) next.users.set(identity, serve(next.config, user.link, user, identity))
        else retire(user)
      }
    }

    /** Closes the links of users at once, and waits until their processes are gone. */
    const endUsers = ({ users }: Server.Server): Effect.Effect<void> => {
      const links = Array.from(users.values(), ({ link }) => link)
      users.clear()
      for (const link of links) link.close()
      return Effect.forEach(links, ({ disconnect }) => disconnect, { discard: true })
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
        const { name, status } = old
        moveUsers(old, next.get(name))
        if (!next.has(name)) {
          announce(old, ServerStatus.Closed(), status)
          fork(cache.forget(old.config))
          pins.release(name)
        }
        retire(old)
      }
      // blocked servers do not drain
      const isBlocked = (name: string) => next.get(name)?.config.blocked !== undefined
      for (const [link, names] of retiring) if (Array.from(names).some(isBlocked)) link.close()
      endSuccessors(isBlocked)
      for (const { link } of next.values()) if (!links.has(link)) start(link)
    }

    const reload = Reload.make({
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

    const ask = (how: "connect" | "reconnect"): Connect => (name, { identity, until } = {}) =>
      Effect.flatMap(find(name, identity), ({ link }) => link[how](until))

    const isSwitchedOff = (name: string): boolean => servers.get(name)?.link.switchedOff() !== undefined

    /** Switches one name off. A shared link serves its other names on, and this one gets a link of its own. */
    const switchOff = (why: "disabled" | "disconnected"): Switch => (name) =>
      Effect.flatMap(find(name), (server) => {
        const { config, link } = server
        endSuccessors((other) => other === name || isSwitchedOff(other))
        const usersEnded = endUsers(server)
        if (servedBy(link).length === 1) {
          return Effect.zipRight(why === "disabled" ? link.disable : link.disconnect, usersEnded)
        }
        commit(new Map(servers).set(name, newServer(config, newLink(config, why))))
        return usersEnded
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

    const service: Servers = {
      connected,
      use: using(connected),
      using,
      all: () => all,
      get,
      find,
      isClosed: () => closed,
      onConnected: (run) => {
        beside = run
      },
      reload,
      switches: {
        connect: ask("connect"),
        reconnect: ask("reconnect"),
        disconnect: switchOff("disconnected"),
        disconnectAll: Effect.suspend(() => {
          endSuccessors(() => true)
          return Effect.forEach(links, (link) => link.disconnect, { concurrency: "unbounded", discard: true })
        }),
        enable: (name) => Effect.flatMap(find(name), ({ link }) => link.enable),
        disable: switchOff("disabled")
      }
    }
    return service
  })
