/** Calls and resource subscriptions as streams. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
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
export const subscription = (
  servers: Servers.Servers,
  server: string,
  signals: (live: Server.Live) => Stream.Stream<void, McpError.RuntimeError>,
  identity?: string
): Stream.Stream<void, McpError.RuntimeError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const mailbox = yield* Mailbox.make<void, McpError.RuntimeError>({ capacity: 1, strategy: "sliding" })
    const signal = () => mailbox.unsafeOffer(undefined)
    /** Counts as a use of the connection without holding a lease, which would delay drains and probes. */
    const use = (live: Server.Live, exit: Exit.Exit<never, McpError.RuntimeError>): boolean => {
      const connected = () => servers.get(server, identity)?.link.connected()
      const lease = connected()
      if (lease?.generation !== live.generation) return false
      lease.begin()
      lease.end(exit)
      return connected()?.generation === live.generation
    }
    const keepAwake = (live: Server.Live): Effect.Effect<never> => {
      // that of the link, because the link of a user has a limit without one in the configuration
      const idleTimeout = servers.get(server, identity)?.link.config.idleTimeout
      return idleTimeout === undefined ? Effect.never : Effect.forever(Effect.zipRight(
        Effect.sleep(Duration.times(idleTimeout, 1 / 2)),
        // an interruption, because no message has arrived
        Effect.sync(() => use(live, Exit.interrupt(FiberId.none)))
      ))
    }

    const follow = (before: boolean): Effect.Effect<void, McpError.RuntimeError> =>
      Effect.flatMap(servers.use(server, Effect.succeed, { identity }), (live) => {
        if (before) signal()
        const following = Stream.runForEach(signals(live), () => Effect.sync(signal))
        return Effect.catchAll(Effect.raceFirst(following, keepAwake(live)), (error) =>
          // only the end of its connection continues a subscription; any other error would repeat without a pause
          use(live, Exit.fail(error)) ? Effect.fail(error) : follow(true))
      })
    const whole = Effect.suspend(() => follow(false))
    yield* Effect.forkScoped(Effect.onExit(whole, (exit) => mailbox.done(exit)))
    return Mailbox.toStream(mailbox)
  }))
