/** The group `servers` of the runtime: the status of each server, and the operations on one of them. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import * as Credentials from "../auth/Credentials.ts"
import * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import * as Fingerprint from "../config/Fingerprint.ts"
import * as Limits from "../config/Limits.ts"
import * as Resolution from "../config/Resolution.ts"
import type * as Scope from "../config/Scope.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as Bulkhead from "../resilience/Bulkhead.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as Deadline from "../resilience/Deadline.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as Scoped from "../scoped.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as CallTool from "./callTool.ts"
import type * as Link from "./Link.ts"
import * as Permitted from "./permitted.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/** One server as a person sees it. */
export interface ServerInfo {
  readonly name: string
  readonly title: string | undefined
  readonly status: ServerStatus.ServerStatus
  /** The tools that pass the filters; `undefined` until a list is known. */
  readonly toolCount: number | undefined
  /** The transport in use: an HTTP server may be connected over `sse`. */
  readonly transport: ServerConfig.ServerConfig["transport"]
  readonly era: Transport.Era | undefined
  readonly protocolVersion: string | undefined
  readonly serverInfo: McpClient.McpClient["serverInfo"]
  readonly instructions: string | undefined
  readonly error: McpError.ConnectError | undefined
  /** Milliseconds since 1970. */
  readonly connectedSince: number | undefined
  /** The end of the pause that the server asked for (`Retry-After`), in milliseconds since 1970. */
  readonly pausedUntil: number | undefined
  readonly breaker: CircuitBreaker.State
  readonly bulkhead: Bulkhead.State
  readonly health: ReturnType<Link.Link["health"]>
  readonly reconnects: number
  readonly callsInFlight: number
  /** The server whose connection this one uses, if they share one. */
  readonly sharedWith: string | undefined
  /** The users with a connection of their own (`RequestOptions.identity`). */
  readonly users: ReadonlyArray<{ readonly identity: string; readonly status: ServerStatus.ServerStatus }>
  /** The file that configures the server. */
  readonly provenance: Scope.Provenance | undefined
}

type OnLogin<A> = (
  server: string,
  options?: Servers.ConnectOptions
) => Effect.Effect<A, Servers.ConnectFailure>

/** The servers of a runtime: their status, and the operations on one of them. */
export interface McpServers extends Servers.Switches {
  readonly list: Effect.Effect<ReadonlyArray<ServerInfo>>
  readonly get: (server: string) => Effect.Effect<ServerInfo, McpError.NotFound>
  /** The list now, and again after each change of a status or of a circuit breaker. */
  readonly changes: Stream.Stream<ReadonlyArray<ServerInfo>>
  /** Replaces the configuration. Servers whose configuration is the same keep their connection. */
  readonly reload: (servers: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport>
  /** Opens the circuit breaker, which lets no call through until `resetBreaker`. */
  readonly isolate: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly resetBreaker: (server: string) => Effect.Effect<void, McpError.NotFound>
  /**
   * Asks a person to log in to a remote server, or gets a token for the program itself, and reconnects. No other operation
   * asks a person, unless `Credentials` allows calls to.
   */
  readonly login: OnLogin<void>
  /** Deletes the login, has the authorization server revoke its tokens, and reconnects without it. */
  readonly logout: OnLogin<Credentials.Logout>
  readonly loginStatus: OnLogin<Credentials.Status>
}

/** The tools that configurations approve for a model, each rule for the tools of its own server. */
export const approvals = (
  servers: ReadonlyArray<Pick<ServerConfig.ServerConfig, "name" | "autoApprove">>
): ReadonlyArray<PermissionRule.Input> =>
  servers.flatMap(({ autoApprove = [], name }) =>
    autoApprove.map((tool) => ({ decision: "allow" as const, server: name, tool, source: "user" as const }))
  )

const isRemote = (config: ServerConfig.ServerConfig): config is RemoteHeaders.RemoteServer =>
  config.transport !== "stdio" && config.transport !== "docker"

/** The logins of servers, by their names. */
export const logins = (servers: Servers.Servers) =>
  Effect.gen(function*() {
    const credentials = yield* Credentials.Credentials
    const limits = yield* Limits.CurrentLimits
    const { resolve } = yield* Resolution.Resolution

    /** The resolved configuration of a server that a login is for. A blocked server is neither resolved nor contacted. */
    const remote = Effect.fnUntraced(function*(server: string) {
      const { config } = yield* servers.find(server)
      const { blocked } = config
      if (blocked !== undefined) return yield* new McpError.ServerUnavailable({ server, why: blocked })
      const limit = ServerConfig.limits(config, limits).startupTimeout
      const resolved = !isRemote(config) ? config : (yield* Effect.timeoutFail(resolve(config), {
        duration: limit,
        onTimeout: () => new McpError.ConnectTimeout({ server, limit, phase: "spawn", stderrTail: undefined })
      })).config
      if (isRemote(resolved)) return resolved
      const detail = "stdio servers do not use OAuth"
      return yield* new McpError.AuthorizationFailed({ server, reason: "not-interactive", detail })
    })

    /** A shared server has one login for all users. */
    const withLogin =
      <A>(f: (config: RemoteHeaders.RemoteServer) => Effect.Effect<A, McpError.ConnectError>): OnLogin<A> =>
      (server, options) =>
        Effect.flatMap(remote(server), (config) => {
          const identity = config.affinity === "shared" ? undefined : options?.identity
          return Effect.provideService(f(config), Connector.Identity, identity)
        })

    const onCall = withLogin(credentials.onCall)

    /**
     * Waits for a connection. A server that refuses to connect without a login is tried again if there is another login since,
     * or a person logs in for the call; the deadline pauses meanwhile.
     */
    const connected: Servers.Await = (name, options) => {
      const { deadline, identity } = options ?? {}
      const connect = servers.switches.connect(name, { identity })
      const again = deadline === undefined ? connect : Deadline.boundWait(deadline, () => ({}), connect)
      return Effect.catchIf(
        servers.connected(name, options),
        (error) => error._tag === "AuthorizationFailed" && error.reason === "unauthorized",
        (error) =>
          Effect.flatMap(
            Permitted.asking(deadline, onCall(name, { identity })),
            (isLoggedIn) => isLoggedIn ? again : Effect.fail(error)
          )
      )
    }

    return {
      use: servers.using(connected),
      authorize: withLogin(credentials.authorize),
      logout: withLogin(credentials.logout),
      status: withLogin(credentials.status)
    }
  })

export type Logins = Effect.Effect.Success<ReturnType<typeof logins>>

export const make = (
  servers: Servers.Servers,
  catalog: ToolCatalog.ToolCatalog["Type"],
  calls: CallTool.Calls,
  logins: Logins
) =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const permissions = yield* Permissions.Permissions

    const infoOf = (server: Server.Server): Effect.Effect<ServerInfo> => {
      const { config, link, live, status } = server
      const client = live?.session
      return Effect.map(server.breaker.state, (breaker) => ({
        name: config.name,
        users: Array.from(server.users, ([identity, { status }]) => ({ identity, status })),
        title: config.title,
        status,
        toolCount: catalog.isKnown(config.name) ? catalog.index().ofServer(config.name).length : undefined,
        transport: client?.transport === "sse" ? "sse" : config.transport,
        era: client?.era,
        protocolVersion: client?.protocolVersion,
        serverInfo: client?.serverInfo,
        instructions: client?.instructions,
        error: "error" in status ? status.error : undefined,
        connectedSince: status._tag === "Connected" ? status.since : undefined,
        pausedUntil: status._tag === "Connected" ? status.pausedUntil : undefined,
        breaker,
        bulkhead: server.bulkhead.state(),
        health: link.health(),
        reconnects: link.reconnects(),
        callsInFlight: calls.inFlight(config.name),
        sharedWith: servers.all().find((other) => other.link === link && other !== server)?.name,
        provenance: config.provenance
      }))
    }
    const list = Effect.suspend(() => Effect.forEach(servers.all(), infoOf))

    const changes = Stream.unwrapScoped(Effect.gen(function*() {
      // one pending signal is enough, because each element is the list at the time it is read
      const signals = yield* Mailbox.make<void>({ capacity: 1, strategy: "sliding" })
      yield* Scoped.listen(() =>
        events.onEvent(({ _tag }) => {
          if (_tag === "StatusChanged" || _tag === "BreakerChanged") signals.unsafeOffer(undefined)
          if (_tag === "TeardownComplete" && servers.isClosed()) signals.unsafeDone(Exit.void)
        })
      )
      signals.unsafeOffer(undefined)
      if (servers.isClosed()) signals.unsafeDone(Exit.void)
      return Stream.mapEffect(Mailbox.toStream(signals), () => list)
    }))

    const withBreaker = (server: string, f: (breaker: CircuitBreaker.Breaker) => Effect.Effect<void>) =>
      Effect.flatMap(servers.find(server), ({ breaker }) => f(breaker))

    const approve = (configs: Parameters<typeof approvals>[0]) => permissions.configure("servers", approvals(configs))

    /** During a reload a server that becomes another keeps only the approvals that both configurations have. */
    const approvedMeanwhile = (config: ServerConfig.ServerConfig) => {
      const { autoApprove, name } = config
      const present = servers.get(name)?.config
      if (present === undefined || Fingerprint.isSame(present, config)) return config
      return { name, autoApprove: autoApprove?.filter((tool) => present.autoApprove?.includes(tool) === true) }
    }

    const group: McpServers = {
      list,
      get: (server) => Effect.flatMap(servers.find(server), infoOf),
      changes,
      ...servers.switches,
      reload: (configs) =>
        Effect.suspend(() => approve(configs.map(approvedMeanwhile))).pipe(
          Effect.zipRight(servers.reload(configs)),
          Effect.ensuring(Effect.suspend(() => approve(servers.all().map(({ config }) => config)))),
          Effect.tap((report) => Effect.sync(() => events.publish(McpEvent.McpEvent.ConfigurationReloaded({ report }))))
        ),
      isolate: (server) => withBreaker(server, ({ isolate }) => isolate),
      resetBreaker: (server) => withBreaker(server, ({ reset }) => reset),
      login: (...of) => Effect.zipRight(logins.authorize(...of), servers.switches.reconnect(...of)),
      logout: (...of) => Effect.zipLeft(logins.logout(...of), Effect.ignore(servers.switches.reconnect(...of))),
      loginStatus: logins.status
    }
    return group
  })

const sandboxCapability = "codex/sandbox-state"

/** Sends the last sandbox state to each connection whose server declares the capability: once, now or when it connects. */
export const sandboxState = (servers: Servers.Servers) => {
  let state: JsonRpc.JsonObject | undefined = undefined
  const sent = new WeakMap<McpClient.McpClient, JsonRpc.JsonObject>()

  const send = ({ server, session }: Server.Live): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (state === undefined || sent.get(session) === state) return Effect.void
      if (session.experimental(sandboxCapability) === undefined) return Effect.void
      sent.set(session, state)
      return Effect.catchAll(session.notify(`${sandboxCapability}/update`, state), ({ _tag }) =>
        Effect.annotateLogs(RuntimeLog.debug(`the sandbox state could not be sent to the server: ${_tag}`), { server }))
    })

  return {
    send,
    notify: (next: JsonRpc.JsonObject) =>
      Effect.suspend(() => {
        // a copy, because the same object given twice is sent twice
        state = { ...next }
        const users = servers.all().flatMap(({ users }) => Array.from(users.values()))
        const connections = servers.all().concat(users).flatMap(({ live }) => live === undefined ? [] : [live])
        return Effect.forEach(connections, send, { concurrency: "unbounded", discard: true })
      })
  }
}
