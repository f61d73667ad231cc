/** The requests of one caller that are under way: bounded, each to be cancelled by its id, all to be waited for. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Signal from "./signal.ts"

/** @internal */
export interface Running {
  /** Begins at once, or says why it does not. */
  readonly begin: (id: JsonRpc.Id, work: Effect.Effect<void>) => "begun" | "duplicate" | "full"
  readonly cancel: (id: JsonRpc.Id) => void
  readonly size: () => number
  /** Waits for all of them, and interrupts those that are left then. */
  readonly drain: (limit: Duration.DurationInput) => Effect.Effect<void>
}

/** Why a request is not begun. */
export const refusals = {
  duplicate: new McpServer.Refusal({
    code: McpServer.codes.invalidRequest,
    message: "Invalid Request: a request with this id is under way"
  }),
  full: new McpServer.Refusal({ code: McpServer.codes.overloaded, message: "Too many requests at once" })
} as const

/** @internal */
export const make = (maxRequests: number): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime<never, void>()
    const fibers = new Map<JsonRpc.Id, Fiber.RuntimeFiber<void>>()
    /** With those that were cancelled and have not ended yet. */
    let alive = 0
    const signal = Signal.make()
    return {
      begin: (id, work) => {
        if (fibers.has(id)) return "duplicate"
        if (alive >= maxRequests) return "full"
        alive++
        const fiber = run(work)
        fibers.set(id, fiber)
        fiber.addObserver(() => {
          alive--
          if (fibers.get(id) === fiber) fibers.delete(id)
          signal.raise()
        })
        return "begun"
      },
      cancel: (id) => {
        const fiber = fibers.get(id)
        // it owes no answer from now on, so its id is free
        fibers.delete(id)
        fiber?.unsafeInterruptAsFork(fiber.id())
      },
      size: () => fibers.size,
      drain: (limit) =>
        Effect.zipRight(
          BoundedWait.within(Duration.decode(limit))(signal.until(() => fibers.size === 0)),
          Effect.suspend(() => Fiber.interruptAllAs(Array.from(fibers.values()), FiberId.none))
        )
    }
  })
