/**
 * The links of users. A caller with an identity uses a link of its own, with a session and a login that no other identity
 * has. The link connects when it is used, and is forgotten when it is idle.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as Link from "./Link.ts"
import * as Server from "./Server.ts"

/** The part of `Servers` that the links of users need. */
export interface Registry {
  readonly makeLink: (
    config: ServerConfig.ServerConfig,
    identity: string,
    options: Pick<Link.Options, "down" | "onStatus" | "beside">
  ) => Effect.Effect<Link.Link>
  /** What runs beside each connection. */
  readonly hooks: (live: Server.Live) => ReadonlyArray<Effect.Effect<void, never, Scope.Scope>>
  readonly serve: ReturnType<typeof Server.make>
  readonly current: (name: string) => Server.Server | undefined
  readonly start: (link: Link.Link) => void
  /** Drains a link. */
  readonly retire: (server: Server.Server) => void
}

export interface Users {
  /** The server with the link of this user, or `server` itself if all users share it. */
  readonly of: (server: Server.Server, identity: string) => Effect.Effect<Server.Server>
  /** Closes the links at once, and waits until their processes are gone. */
  readonly end: (server: Server.Server) => Effect.Effect<void>
  /** Keeps the links over a change that keeps the connection of the application, and drains them otherwise. */
  readonly move: (old: Server.Server, next: Server.Server | undefined) => void
}

/** The users of one server after which those without a connection are forgotten, the oldest first. */
const limit = 1_024

/** The link of a user is closed after this time without a call, unless the configuration has another. */
const idle = Duration.minutes(5)

/** Users with a connection, or on the way to one, stay. */
const forgetOldest = (users: Map<string, Server.Server>): void => {
  for (const [identity, { link, status }] of users) {
    if (status._tag !== "Failed" && status._tag !== "NeedsAuth") continue
    users.delete(identity)
    return link.close()
  }
}

export const make = ({ current, hooks, makeLink, retire, serve, start }: Registry): Users => {
  const of: Users["of"] = (server, identity) => {
    const { config, name, users } = server
    const known = users.get(identity)
    if (known !== undefined) return Effect.succeed(known)
    if (config.affinity === "shared") return Effect.succeed(server)
    if (users.size >= limit) forgetOldest(users)
    let link: Link.Link | undefined = undefined
    // a reload makes another server over the same link
    const user = (): Server.Server | undefined => {
      const user = current(name)?.users.get(identity)
      return user?.link === link ? user : undefined
    }
    const lazy = { ...config, lazy: true, required: false, idleTimeout: config.idleTimeout ?? idle }
    const isOff = Server.isOff(server)
    const made = makeLink(lazy, identity, {
      down: isOff ? server.link.switchedOff() ?? "configuration" : undefined,
      onStatus: (status) => {
        if (status._tag === "Connecting" || status._tag === "Connected" || "error" in status) return
        if (user() !== undefined) current(name)?.users.delete(identity)
        link?.close()
      },
      beside: (connected) => {
        const server = user()
        return server === undefined ? [] : hooks(Server.live(server, connected))
      }
    })
    return Effect.flatMap(made, (made) => {
      const present = current(name)
      // a reload, or another caller, was faster
      if (present !== undefined && (present !== server || users.has(identity))) return of(present, identity)
      link = made
      const ofUser = serve(config, made, server, identity)
      // a link that is off only refuses, so that no call passes to the connection of the application meanwhile
      if (isOff) {
        if (server.status._tag === "Closed") made.close()
        return Effect.succeed(ofUser)
      }
      users.set(identity, ofUser)
      start(made)
      return Effect.succeed(ofUser)
    })
  }
  const move: Users["move"] = (old, next) => {
    if (next === old) return
    for (const [identity, user] of old.users) {
      old.users.delete(identity)
      if (next?.link === old.link) next.users.set(identity, serve(next.config, user.link, user, identity))
      else retire(user)
    }
  }
  const end: Users["end"] = ({ users }) => {
    const links = Array.from(users.values(), ({ link }) => link)
    users.clear()
    for (const link of links) link.close()
    return Effect.forEach(links, ({ disconnect }) => disconnect, { discard: true })
  }
  return { of, end, move }
}
