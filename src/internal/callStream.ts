/**
 * Calls and subscriptions as streams.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as Session from "../connection/Session.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import * as Mailbox from "./mailbox.ts"

/** How many events a slow reader of a call may leave unread. */
const backlog = 64

/** @internal */
export const make = (
  call: (
    more: Pick<McpRuntime.CallOptions, "onProgress" | "onTask">
  ) => Effect.Effect<ToolResult.ToolResult, McpError.RuntimeError>,
  own: McpRuntime.CallOptions | undefined
): Stream.Stream<Session.CallEvent, McpError.RuntimeError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const mailbox = Mailbox.make<Session.CallEvent, McpError.RuntimeError>(backlog)
    const calling = call({
      onProgress: (progress) => {
        mailbox.offer({ _tag: "Progress", progress })
        own?.onProgress?.(progress)
      },
      onTask: (update) => {
        if (update._tag !== "Result") mailbox.offer({ _tag: "Task", update })
        own?.onTask?.(update)
      }
    })
    yield* Effect.forkScoped(Effect.onExit(calling, (exit) =>
      Effect.sync(() =>
        mailbox.end(Exit.map(exit, (result) => [{ _tag: "Result" as const, result }]))
      )))
    return Mailbox.stream(mailbox)
  }))

/**
 * Signals over all the connections of a server: after a loss there is one signal more, because nobody was told of what
 * has changed meanwhile.
 *
 * @internal
 */
export const subscription = (
  pool: ConnectionPool.ConnectionPool["Type"],
  server: string,
  signals: (session: Session.Session) => Stream.Stream<void, McpError.CallError>
): Stream.Stream<void, McpError.RuntimeError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const mailbox = Mailbox.make<void, McpError.RuntimeError>(1)
    const signal = () => mailbox.offer(undefined)
    let followed: number | undefined = undefined
    const follow = (before: number | undefined): Effect.Effect<void, McpError.RuntimeError> => {
      const following = pool.use(server, ({ generation, session }) => {
        followed = generation
        if (before !== undefined) signal()
        return Stream.runForEach(signals(session), () => Effect.sync(signal))
      })
      return Effect.catchAll(following, (error) =>
        // what ended with its connection goes on with the next; anything else would only fail again, and without a pause
        followed === before || pool.member(server)?.live?.generation === followed
          ? Effect.fail(error)
          : follow(followed))
    }
    const whole = Effect.suspend(() => follow(undefined))
    yield* Effect.forkScoped(Effect.onExit(whole, (exit) => Effect.sync(() => mailbox.end(Exit.map(exit, () => [])))))
    return Mailbox.stream(mailbox)
  }))
