/**
 * The way of a call, outside in: deadline, repetition, breaker, places, connection. What is in order costs a comparison;
 * only what has to wait, or has failed, costs more.
 *
 * @internal
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import { observed } from "../internal/observed.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Bulkhead from "../resilience/Bulkhead.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as Tool from "../tools/Tool.ts"
import { Call } from "./call.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import * as Gates from "./gates.ts"
import type * as Permitted from "./permitted.ts"

/** @internal */
export interface Options extends Gates.Options {
  readonly clock: Clock.Clock
  readonly publish: (event: McpEvent.McpEvent) => void
  /** The definition of a tool, where it comes from the server itself. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
  /** Waits until the tools of a server are known, or fails with the reason. */
  readonly learn: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  readonly permitted: Permitted.Permitted
}

/** @internal */
export interface CallPath {
  readonly call: (
    server: string,
    tool: string,
    args: McpClient.Arguments,
    options: McpRuntime.CallOptions | undefined
  ) => Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError>
  /** Anything else that is asked of a server. */
  readonly ask: <A, E extends McpError.McpError, R>(
    server: string,
    operation: string,
    f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | McpError.RuntimeError, R>
  /** Lets go of what it keeps of a server. */
  readonly forget: (server: string) => void
  readonly bulkhead: (server: string) => Bulkhead.State
  /** How many calls of a server are under way. */
  readonly inFlight: (server: string) => number
  /** Tells of the calls that take long. Never ends. */
  readonly tellRunning: (interval: Duration.Duration) => Effect.Effect<never>
}

/** @internal */
export const make = (options: Options): CallPath => {
  const { clock, definition, learn, pool, publish } = options
  const { find: gatesOf, forget } = Gates.lookup(options)
  const running = new Set<Call>()
  const { permitted } = options
  const surroundings = { clock, pool, publish, definition, learn, permitted, running }
  let ids = 0

  /** Only the pool can tell which servers there are; one that has come since is asked after all. */
  const unknown = <A, E, R>(server: string, again: () => Effect.Effect<A, E, R>) =>
    Effect.flatMap(pool.find(server), again)

  const call: CallPath["call"] = (server, tool, args, own) =>
    Effect.uninterruptibleMask((restore) => {
      const gates = gatesOf(server)
      if (gates === undefined) return restore(unknown(server, () => call(server, tool, args, own)))
      if (!gates.offers(tool)) {
        return Effect.fail(new McpError.NotFound({ server, kind: "tool", name: tool, suggestions: [] }))
      }
      const callId = own?.callId ?? `call-${++ids}`
      const origin = own?.origin ?? "program"
      if (permitted.isOpen(origin)) return new Call(surroundings, gates, restore, callId, tool, args, own).run()
      const { config } = gates
      const wanted = { origin, config, callId, kind: "tool" as const, server, name: tool, args }
      return Effect.flatMap(restore(permitted.authorize(wanted)), (permit) =>
        // somebody may have taken a while to agree to it, and it may be another server by now
        gatesOf(server) === gates
          ? new Call(surroundings, gates, restore, callId, tool, permit?.args ?? args, own, permit).run()
          : restore(call(server, tool, args, own)))
    })

  const ask: CallPath["ask"] = (server, operation, f) =>
    Effect.uninterruptibleMask((restore) => {
      const gates = gatesOf(server)
      if (gates === undefined) return restore(unknown(server, () => ask(server, operation, f)))
      const passage = Gates.enter(pool, gates)
      if (passage === undefined) {
        const total = gates.listTotal
        const deadline = Deadline.make({ now: clock.unsafeCurrentTimeMillis(), idle: total, total })
        return restore(Gates.wait(pool, gates, operation, deadline, f))
      }
      if (!(passage instanceof Gates.Passage)) return Effect.fail(passage)
      // somebody's own code, which may throw before it is an Effect
      return observed(restore(Effect.suspend(() => f(passage.live))), (exit) => passage.leave(exit))
    })

  const tell = (interval: number): void => {
    const now = clock.unsafeCurrentTimeMillis()
    for (const one of running) {
      if (now - one.told < interval) continue
      one.told = now
      const { began, callId, server, tool } = one
      publish(McpEvent.McpEvent.CallRunning({ callId, server, tool, since: Duration.millis(now - began) }))
    }
  }

  return {
    call,
    ask,
    forget,
    bulkhead: (server) => gatesOf(server)?.permits.state() ?? { active: 0, queued: 0 },
    inFlight: (server) => {
      let count = 0
      for (const one of running) if (one.server === server) count++
      return count
    },
    tellRunning: (interval) =>
      Effect.forever(Effect.zipRight(
        // looked at more often than told, so that nobody is told much later than after the interval
        Effect.sleep(Duration.times(interval, 1 / 4)),
        Effect.sync(() => tell(Duration.toMillis(interval)))
      ))
  }
}
