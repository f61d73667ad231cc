/** The requests in flight of one caller, or of all callers without a session at one endpoint. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"
import * as SessionEra from "./sessionEra.ts"
import * as StatelessEra from "./statelessEra.ts"

export interface Conversation {
  /** The version of the session, from the `initialize` request on. */
  readonly protocolVersion: () => string | undefined
  /** True once the handshake of the session has succeeded. */
  readonly isOpen: () => boolean
  /** Handles a message. Requests and most notifications continue after it returns. */
  readonly receive: (message: Messages.Received, arrival: Exchange.Arrival) => Effect.Effect<void>
  /** Interrupts the request with this id or key. An interrupted request gets no response. */
  readonly cancel: (key: unknown) => void
  readonly isIdle: () => boolean
  /** Ends the subscriptions of the stateless era gracefully. */
  readonly end: Effect.Effect<void>
  /** Ends the subscriptions, fails the open questions, and waits for the requests in flight up to `drainTimeout`. */
  readonly drain: Effect.Effect<void>
}

const duplicate = McpServer.refusal("invalidRequest", "Invalid Request: a request with this id is in flight")
const full = McpServer.refusal("overloaded", "Too many requests at once")
const bug = McpServer.refusal("internal", "Internal error")

const died = (method: string, cause: Cause.Cause<never>): Effect.Effect<void> =>
  RuntimeLog.error(`The handler of ${method.slice(0, 128)} failed with a defect`, cause)

/** Sends the response of a handler, unless it is interrupted. Defects are logged and not sent. */
const answer = (
  request: Exchange.Request,
  handle: (request: Exchange.Request, current: Exchange.CurrentRequest) => Exchange.Result
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { id, method, output } = request
    let current: Exchange.Request | undefined = request
    return Effect.suspend(() => handle(request, () => current)).pipe(
      Effect.map((result): JsonRpc.Success => ({ jsonrpc: "2.0", id, result })),
      Effect.catchAllCause((cause) =>
        Either.match(Cause.failureOrCause(cause), {
          onLeft: (refusal) => Effect.succeed(Messages.failure(id, refusal)),
          onRight: (cause) => Effect.as(died(method, cause), Messages.failure(id, bug))
        })
      ),
      Effect.flatMap((message) => {
        current = undefined
        return output.send(message)
      })
    )
  })

export const make = (serving: Exchange.Serving): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { drainTimeout, maxRequests } = serving.limits
    const session = yield* SessionEra.make(serving)
    const stateless = yield* StatelessEra.make(serving)
    /** All handlers, including those of notifications and of cancelled requests that have not ended. */
    const running = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(running)<never>()
    const requests = new Map<unknown, Fiber.RuntimeFiber<void>>()

    const begin = (request: Exchange.Request): Effect.Effect<void> =>
      Effect.flatMap(FiberSet.size(running), (size) => {
        const { era, id, key = id, output } = request
        const done = Effect.sync(request.done)
        const refusal = requests.has(key) ? duplicate : size >= maxRequests ? full : undefined
        if (refusal !== undefined) return Effect.ensuring(output.send(Messages.failure(id, refusal)), done)
        const { handle } = era === "stateless" || StatelessEra.includes(request) ? stateless : session
        const fiber = fork(Effect.ensuring(answer(request, handle), done))
        requests.set(key, fiber)
        fiber.addObserver(() => {
          if (requests.get(key) === fiber) requests.delete(key)
        })
        return Effect.void
      })

    const cancel = (key: unknown): void => {
      const fiber = requests.get(key)
      // a cancelled request has no response, so its id can be used again at once
      requests.delete(key)
      fiber?.unsafeInterruptAsFork(fiber.id())
    }

    const notified = (method: string, params: JsonRpc.JsonObject): Effect.Effect<void> =>
      Effect.map(FiberSet.size(running), (size) => {
        if (method === "notifications/cancelled") cancel(params["requestId"])
        else if (size < maxRequests) {
          fork(Effect.catchAllCause(session.notified(method, params), (cause) => died(method, cause)))
        }
      })

    const receive = (message: Messages.Received, arrival: Exchange.Arrival): Effect.Effect<void> => {
      const done = Effect.sync(arrival.done)
      switch (message._tag) {
        case "Request":
          return begin({ ...message, ...arrival })
        case "Invalid":
          return Effect.ensuring(arrival.output.send(Messages.failure(message.id, message.refusal)), done)
        case "Response":
          return Effect.zipRight(Effect.sync(() => session.answered(message.message)), done)
        case "Notification":
          return Effect.zipRight(done, notified(message.method, message.params))
      }
    }

    const drained = Effect.zipRight(
      BoundedWait.within(Duration.decode(drainTimeout))(FiberSet.awaitEmpty(running)),
      Effect.suspend(() => Fiber.interruptAll(requests.values()))
    )
    return {
      protocolVersion: session.protocolVersion,
      isOpen: session.isOpen,
      receive,
      cancel,
      isIdle: () => requests.size === 0,
      end: stateless.end,
      drain: stateless.end.pipe(Effect.zipRight(Effect.sync(session.close)), Effect.zipRight(drained))
    }
  })
