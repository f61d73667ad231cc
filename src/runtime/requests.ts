/** The requests of callers other than tool calls: lists, reads, prompts, and subscriptions to resources. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Permitted from "./permitted.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

/** What needs a permission, and what the span shows. */
interface Request
  extends Pick<Permitted.Wanted, "kind" | "name" | "args">, Pick<CallSpan.Operation, "method" | "prompt" | "uri">
{}

interface Granted {
  readonly meta: JsonRpc.JsonObject | undefined
  /** The permitted arguments; `undefined` if the permission leaves them as they are. */
  readonly args: JsonRpc.JsonObject | undefined
}

/** Sends a request after its permission, with the arguments that were permitted. */
type Send = <A, E extends McpError.McpError, R>(
  server: string,
  request: Request,
  options: McpRuntime.RequestOptions | undefined,
  f: (live: Server.Live, granted: Granted) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | McpError.RuntimeError, R>

/** A request within the deadline of the server's lists, behind its breaker and its bulkhead. */
export type Ask = <A, E, R>(
  server: string,
  operation: string,
  f: (live: Server.Live) => Effect.Effect<A, E, R>,
  identity?: string
) => Effect.Effect<A, E | McpError.RuntimeError, R>

export const asking = (servers: Servers.Servers, use: Servers.Use): Ask => (name, operation, f, identity) =>
  Effect.flatMap(
    Effect.all([Effect.clock, servers.find(name, identity)]),
    ([clock, server]) =>
      Effect.uninterruptibleMask((restore) => {
        const total = server.limits.listTimeout
        const now = () => clock.unsafeCurrentTimeMillis()
        const begun = Deadline.make({ server: name, operation, idle: total, total, now, restore })
        return Effect.flatMap(begun, (deadline) =>
          use(name, f, { deadline, identity: server.identity }).pipe(
            server.bulkhead.withPermit(deadline),
            server.breaker.protect
          ))
      })
  )

/** Reads and prompts. The span of each includes the wait for a person, a permit and a connection. */
export const make =
  (servers: Servers.Servers, ask: Ask, permitted: Permitted.Permitted): Send => (server, request, options, f) =>
    Effect.flatMap(servers.find(server), ({ config }) => {
      const origin = options?.origin ?? "program"
      const client = undefined as McpClient.McpClient | undefined
      const wanted = { ...request, origin, config, server, identity: options?.identity, client }
      return CallSpan.traced(
        wanted,
        (meta) =>
          Effect.flatMap(permitted.authorize(wanted), (permit) =>
            ask(server, request.method, (live) => {
              wanted.client = live.session
              const waiting = permitted.before(live, wanted, permit)
              const asked = Effect.suspend(() => f(live, { meta, args: permit?.args }))
              return waiting === undefined ? asked : Effect.zipRight(waiting, asked)
            }, options?.identity))
      )
    })

/** Signals over all connections of a server, with one more after each reconnect, because changes in between are unknown. */
export const subscribing =
  (servers: Servers.Servers, permitted: Permitted.Permitted): McpRuntime.Service["subscribeResource"] =>
  (server, uri, { identity, origin = "program" } = {}) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const { config } = yield* servers.find(server)
      const wanted: Permitted.Wanted = { origin, config, identity, kind: "resource", server, name: uri }
      const permit = yield* permitted.authorize(wanted)
      const mailbox = yield* Mailbox.make<void, McpError.RuntimeError>({ capacity: 1, strategy: "sliding" })
      const signal = () => mailbox.unsafeOffer(undefined)
      /** Whether the connection is still in use after this error, which may show that it is lost. */
      const survives = ({ connection }: Server.Live, error: McpError.RuntimeError): boolean => {
        connection.begin()
        connection.end(Exit.fail(error))
        return servers.get(server, identity)?.link.connected() === connection
      }
      const follow = (before: boolean): Effect.Effect<void, McpError.RuntimeError> =>
        Effect.flatMap(servers.use(server, Effect.succeed, { identity }), (live) => {
          if (before) signal()
          const signals = Stream.runForEach(live.session.subscribeResource(uri), () => Effect.sync(signal))
          const following = Effect.zipRight(permitted.before(live, wanted, permit) ?? Effect.void, signals)
          return Effect.catchAll(live.connection.awake(following), (error) =>
            // only the end of its connection continues a subscription; any other error would repeat without a pause
            survives(live, error) ? Effect.fail(error) : follow(true))
        })
      const whole = Effect.suspend(() => follow(false))
      yield* Effect.forkScoped(Effect.onExit(whole, (exit) => mailbox.done(exit)))
      return Mailbox.toStream(mailbox)
    }))
