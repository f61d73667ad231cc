/**
 * A connector whose connections live at their homes in the fleet. Catalog, permissions, guard and breaker stay on the
 * calling node; only the operations of `McpClient.Channel` cross the network.
 */
import type { Sharding } from "@effect/cluster/Sharding"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import * as InputHandlers from "../client/InputHandlers.ts"
import * as McpClient from "../client/McpClient.ts"
import { textOf } from "../client/messages.ts"
import * as Reporting from "../client/reporting.ts"
import * as Requests from "../client/requests.ts"
import * as ServerRequests from "../client/serverRequests.ts"
import * as Tasks from "../client/tasks.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as Deadline from "../resilience/Deadline.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Attachment from "./Attachment.ts"
import * as FleetServer from "./FleetServer.ts"

export interface Options extends Attachment.Options {
  /** The user of connections that are opened for none (`Connector.Identity`). */
  readonly identity: string | undefined
}

export const defaults: Options = { ...Attachment.defaults, identity: undefined }

/** How much longer than the home a caller waits for a result, in milliseconds. */
const margin = 100

/** The channel of a connection at its home. */
const channelOf = (
  attachment: Attachment.Attachment,
  opened: FleetServer.Opened,
  { limits, report, server }: {
    readonly server: string
    readonly limits: Limits.Limits
    readonly report: Reporting.Reporting
  }
): Effect.Effect<McpClient.Channel> =>
  Effect.map(Effect.clock, (clock) => {
    const { onEnded, onNotification, onPaused } = attachment
    const deadlineOf = Requests.deadlines(server, limits, () => clock.unsafeCurrentTimeMillis())

    const within = <A>(operation: string, limit: Duration.Duration, effect: Effect.Effect<A, McpError.CallError>) =>
      Requests.within(server, operation, Duration.sum(limit, margin))(effect)

    const request: McpClient.Channel["request"] = (method, params, options) =>
      Effect.suspend(() => {
        const begun = deadlineOf(method, options)
        if (Either.isLeft(begun)) return begun.left
        const deadline: Deadline.Deadline = begun.right
        const left = deadline.left()
        if (left <= 0) return deadline.expired("not-sent")
        const called = attachment.call({
          _tag: "Request",
          method,
          params,
          idleTimeout: deadline.idle,
          totalTimeout: left,
          headers: options?.headers,
          passInput: options?.passInput?.capabilities
        }, (progress) => {
          deadline.touch()
          options?.onProgress?.(progress)
        })
        const overdue = () => deadline.expired("unknown", { kind: "total" })
        return Number.isFinite(left)
          ? Effect.timeoutFail(called, { duration: left + margin, onTimeout: overdue })
          : called
      })

    const ended: McpClient.Channel["ended"] = Effect.async((resume) => {
      const remove = onEnded((error) => resume(Effect.succeed(error)))
      return Effect.sync(remove)
    })
    const { capabilities, era, instructions, protocolVersion, serverInfo, transport } = opened
    return {
      server,
      transport,
      limits,
      era,
      protocolVersion,
      serverInfo,
      capabilities,
      instructions,
      request,
      notify: (method, params) =>
        Effect.asVoid(within(method, limits.listTimeout, attachment.call({ _tag: "Notify", method, params }))),
      onNotification,
      watch: (filter) => attachment.watch(filter),
      setLogLevel: (level) => within("logging/setLevel", limits.listTimeout, attachment.setLogLevel(level)),
      // a server that is asleep answers when it is needed
      health: Effect.suspend(() =>
        attachment.isAsleep
          ? Effect.void
          : Effect.asVoid(within("ping", limits.pingTimeout, attachment.call({ _tag: "Health" })))
      ),
      ended,
      onEnded,
      onPaused,
      stderrTail: attachment.call({ _tag: "StderrTail" }).pipe(
        Effect.timeout(limits.pingTimeout),
        Effect.map(({ text }) => textOf(text)),
        Effect.catchAll(() => Effect.succeed(undefined))
      ),
      tasks: era === "session"
        ? Tasks.make({ server, limits, report, engine: { onNotification } }, { deadlineOf, request }, capabilities)
        : undefined
    }
  })

/** The connector of a calling node. A server of the stateless era over HTTP keeps nothing, so it is connected directly. */
export const make = (
  given: Partial<Options> = {}
): Effect.Effect<Connector.Connector["Type"], never, Connector.Connector | Sharding> =>
  Effect.gen(function*() {
    const options: Options = { ...defaults, ...given }
    const direct = yield* Connector.Connector
    const client = yield* FleetServer.FleetServer.client
    const built = yield* InputHandlers.InputHandlers
    const base = yield* Limits.CurrentLimits
    /** The servers that are known to be of the stateless era over HTTP. */
    const stateless = new Set<string>()

    const directly = (config: ServerConfig.ServerConfig) =>
      Effect.provideService(Connector.open(config), Connector.Connector, direct)

    const attach = (config: ServerConfig.ServerConfig) =>
      Effect.gen(function*() {
        const server = config.name
        const handlers = yield* ServerRequests.current(built)
        const redaction = yield* Redaction.Redaction
        const caller = `${yield* Clock.currentTimeMillis}-${yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)}`
        const id = FleetServer.idOf({
          server,
          identity: config.affinity === "shared" ? undefined : (yield* Connector.Identity) ?? options.identity,
          session: config.affinity === "session" ? caller : undefined
        })
        const peer = { server, caller, home: client(id), handlers, text: redaction.text }
        const attachment = yield* Attachment.make(peer, options)
        const opened = yield* attachment.open
        return { attachment, opened, redaction, server }
      })

    const connect = (config: ServerConfig.ServerConfig): Effect.Effect<
      McpClient.McpClient,
      McpError.ConnectError,
      Scope.Scope
    > =>
      Effect.gen(function*() {
        if (stateless.has(config.name)) return yield* directly(config)
        const events = Option.getOrUndefined(yield* Effect.serviceOption(McpEvent.McpEvents))
        const publish = (event: McpEvent.McpEvent) => events?.publish(event)
        const { name: server, transport } = config
        publish(McpEvent.McpEvent.Connecting({ server, transport }))
        const [took, { attachment, opened, redaction }] = yield* Effect.timed(attach(config))
        if (opened.era === "stateless" && opened.transport === "streamable-http") {
          stateless.add(server)
          yield* attachment.close
          return yield* directly(config)
        }
        const report = Reporting.make({ server, redaction, publish })
        const limits = ServerConfig.limits(config, base)
        const channel = yield* channelOf(attachment, opened, { server, limits, report })
        const { era, protocolVersion } = opened
        publish(McpEvent.McpEvent.Connected({ server, transport: opened.transport, era, protocolVersion, took }))
        channel.onEnded((error) => {
          if (error._tag !== "Closed") publish(McpEvent.McpEvent.Disconnected({ server, error }))
        })
        return yield* McpClient.make(channel)
      })

    return { connect, isRemote: true }
  })

/** Replaces the connector of a runtime: `NodeMcpRuntime.layer(…).pipe(NodeMcpRuntime.using(FleetConnector.layer()))`. */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<Connector.Connector, never, Connector.Connector | Sharding> =>
  Layer.effect(Connector.Connector, make(options))
