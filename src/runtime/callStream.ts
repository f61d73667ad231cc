/** Calls and resource subscriptions as streams. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as Permitted from "./permitted.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

/** The unread events of a call; a slower reader loses the oldest. */
const backlog = { capacity: 64, strategy: "sliding" } as const

export const make = (
  call: (
    more: Pick<McpRuntime.CallOptions, "onProgress" | "onTask">
  ) => Effect.Effect<ToolResult.ToolResult, McpError.RuntimeError>,
  options: McpRuntime.CallOptions | undefined
): Stream.Stream<McpClient.CallEvent, McpError.RuntimeError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const mailbox = yield* Mailbox.make<McpClient.CallEvent, McpError.RuntimeError>(backlog)
    const calling = call({
      onProgress: (progress) => {
        mailbox.unsafeOffer({ _tag: "Progress", progress })
        options?.onProgress?.(progress)
      },
      onTask: (update) => {
        mailbox.unsafeOffer({ _tag: "Task", update })
        options?.onTask?.(update)
      }
    })
    const whole = Effect.tap(calling, (result) => mailbox.offer({ _tag: "Result", result }))
    yield* Effect.forkScoped(Effect.onExit(whole, (exit) => mailbox.done(Exit.asVoid(exit))))
    return Mailbox.toStream(mailbox)
  }))

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
