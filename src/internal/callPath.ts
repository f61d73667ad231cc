/**
 * The way of a call, outside in: deadline, repetition, breaker, places, connection. What is in order costs a comparison;
 * only what has to wait, or has failed, costs more.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as Session from "../connection/Session.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import type * as Bulkhead from "../resilience/Bulkhead.ts"
import type * as CallPolicy from "../resilience/CallPolicy.ts"
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import { observed } from "./observed.ts"

/** @internal */
export interface Options {
  readonly clock: Clock.Clock
  readonly limits: Limits.Limits
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly breakers: CircuitBreaker.CircuitBreaker["Type"]
  readonly bulkhead: Bulkhead.Bulkhead["Type"]
  readonly policy: CallPolicy.CallPolicy["Type"]
  readonly metrics: RuntimeMetrics.RuntimeMetrics["Type"]
  readonly publish: (event: McpEvent.McpEvent) => void
  /** The definition of a tool, where it comes from the server itself. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
}

/** Where nothing may be interrupted: what may all the same. */
type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A call under way. */
interface Running {
  readonly callId: string
  readonly server: string
  readonly tool: string
  readonly began: number
  told: number
  attempts: number
}

type Attempt = Effect.Effect<ToolResult.ToolResult, McpError.RuntimeError>

/** @internal */
export interface CallPath {
  readonly call: (
    server: string,
    tool: string,
    args: JsonRpc.JsonObject,
    options: McpRuntime.CallOptions | undefined
  ) => Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError>
  /** Anything else that is asked of a server. */
  readonly ask: <A, E extends McpError.McpError, R>(
    server: string,
    operation: string,
    f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | McpError.RuntimeError, R>
  /** How many calls of a server are under way. */
  readonly inFlight: (server: string) => number
  /** Tells of the calls that take long. Never ends. */
  readonly tellRunning: (interval: Duration.Duration) => Effect.Effect<never>
}

/** What a call of one server needs, looked up once per configuration. */
interface Gates {
  readonly config: ServerConfig.ServerConfig
  readonly breaker: CircuitBreaker.Breaker
  readonly places: Bulkhead.Places
  readonly policy: ReturnType<CallPolicy.CallPolicy["Type"]["for"]>
  readonly metrics: RuntimeMetrics.ServerMetrics
  readonly idle: number
  readonly total: number
  readonly listTotal: number
}

/** @internal */
export const make = (options: Options): CallPath => {
  const { breakers, bulkhead, clock, limits, metrics, policy, pool, publish } = options
  const known = new Map<string, Gates>()
  const running = new Set<Running>()
  let ids = 0

  const gatesOf = (server: string): Gates | undefined => {
    const config = pool.config(server)
    const gates = known.get(server)
    if (config === undefined || gates?.config === config) return config === undefined ? undefined : gates
    const inForce = ServerConfig.limits(config, limits)
    const made: Gates = {
      config,
      breaker: breakers.for(server),
      places: bulkhead.for(config),
      policy: policy.for(config),
      metrics: metrics.for(server),
      idle: Duration.toMillis(inForce.requestTimeout),
      total: Duration.toMillis(inForce.toolTimeout),
      listTotal: Duration.toMillis(inForce.listTimeout)
    }
    known.set(server, made)
    return made
  }

  /**
   * Through the breaker and a place to the connection. Where nothing has to be waited for, that is one step from outside
   * to inside, and one back; otherwise each of them waits as it does, and all of it is bounded until it has come there.
   */
  const pass = <A, E extends McpError.McpError, R>(
    restore: Restore,
    server: string,
    { breaker, places }: Gates,
    operation: string,
    deadline: () => Deadline.Deadline,
    f: (live: ConnectionPool.Live) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | McpError.RuntimeError, R> => {
    const line = pool.line(server)
    if (line === undefined || !places.hasRoom()) {
      return restore(
        Deadline.untilArrived(deadline(), server, operation)((arrived) =>
          breaker.protect(places.within(pool.use(server, (live) => {
            arrived()
            return f(live)
          })))
        )
      )
    }
    const admitted = breaker.admit()
    if (typeof admitted !== "number") return Effect.fail(admitted)
    places.take()
    line.begin()
    return observed(restore(f(line.live)), (exit) => {
      line.end(exit)
      places.give()
      breaker.settle(admitted, exit)
    })
  }

  /** Only the pool can tell which servers there are. */
  const unknown = (server: string): Effect.Effect<never, McpError.RuntimeError> =>
    Effect.zipRight(pool.find(server), Effect.never)

  const call: CallPath["call"] = (server, tool, args, own) =>
    Effect.uninterruptibleMask((restore) => {
      const gates = gatesOf(server)
      if (gates === undefined) return restore(unknown(server))
      const began = clock.unsafeCurrentTimeMillis()
      const one: Running = { callId: own?.callId ?? `call-${++ids}`, server, tool, began, told: began, attempts: 0 }
      const { callId } = one
      let connection: Session.Session["connection"] | undefined = undefined
      let deadline: Deadline.Deadline | undefined = undefined
      const deadlineOf = () =>
        deadline ??= Deadline.make({
          now: began,
          idle: millis(own?.idleTimeout) ?? gates.idle,
          total: millis(own?.totalTimeout) ?? gates.total
        })
      const onProgress: NonNullable<Session.CallOptions["onProgress"]> = (progress) => {
        publish(event.CallProgress({ callId, server, tool, progress }))
        own?.onProgress?.(progress)
      }

      const attempt = (meta: JsonRpc.JsonObject | undefined): Attempt => {
        one.attempts++
        let connected = false
        const tried = pass(restore, server, gates, "tools/call", deadlineOf, (live) => {
          connected = true
          connection = live.session.connection
          // what has been waited so far is not to be had again
          const left = deadline === undefined ? undefined : deadline.attempt(clock.unsafeCurrentTimeMillis())
          const changed = own === undefined && left === undefined
            ? { meta, onProgress }
            : { ...own, ...left, meta, onProgress }
          return live.session.callTool(tool, args, changed)
        })
        return Effect.catchAll(tried, (error) => again(meta, error, connected))
      }

      const again = (
        meta: JsonRpc.JsonObject | undefined,
        error: McpError.RuntimeError,
        connected: boolean
      ): Attempt => {
        const { attempts } = one
        const definition = options.definition(server, tool)
        const delay = gates.policy.again({ error, attempts, connected, tool: definition, replay: own?.replay })
        const left = deadlineOf().left(clock.unsafeCurrentTimeMillis())
        if (delay === undefined || Duration.toMillis(delay) >= left) return Effect.fail(error)
        return Effect.flatMap(restore(Effect.sleep(delay)), () => attempt(meta))
      }

      const end = (outcome: RuntimeMetrics.Outcome): Duration.Duration => {
        running.delete(one)
        const millis = clock.unsafeCurrentTimeMillis() - began
        const took = Duration.millis(millis)
        gates.metrics.callEnded(outcome, millis)
        publish(event.CallEnded({ callId, server, tool, took, attempts: one.attempts, outcome }))
        return took
      }

      const operation: CallSpan.Operation = {
        server,
        method: "tools/call",
        tool,
        callId,
        config: gates.config,
        connection: () => connection,
        meta: own?.meta
      }
      return Effect.matchCauseEffect(
        Effect.suspend(() => {
          running.add(one)
          gates.metrics.callBegan()
          publish(event.CallBegan({ callId, server, tool }))
          return CallSpan.traced(operation, attempt)
        }),
        {
          onFailure: (cause) => {
            end(failureOf(cause))
            return Effect.failCause(cause)
          },
          // field by field: to spread one object into another costs as much as all the gates together
          onSuccess: ({ content, isError, meta, raw, structuredContent }) => {
            const duration = end(isError ? "ToolError" : "Success")
            const metadata = { callId, serverName: server, toolName: tool, duration, attempts: one.attempts }
            return Effect.succeed<McpRuntime.CallResult>({ content, structuredContent, isError, meta, raw, metadata })
          }
        }
      )
    })

  const ask: CallPath["ask"] = (server, operation, f) =>
    Effect.uninterruptibleMask((restore) => {
      const gates = gatesOf(server)
      if (gates === undefined) return restore(unknown(server))
      const now = clock.unsafeCurrentTimeMillis()
      const total = gates.listTotal
      const deadline = () => Deadline.make({ now, idle: total, total })
      return pass(restore, server, gates, operation, deadline, (live) => Effect.suspend(() => f(live)))
    })

  const tell = (interval: number): void => {
    const now = clock.unsafeCurrentTimeMillis()
    for (const one of running) {
      if (now - one.told < interval) continue
      one.told = now
      const { began, callId, server, tool } = one
      publish(event.CallRunning({ callId, server, tool, since: Duration.millis(now - began) }))
    }
  }

  return {
    call,
    ask,
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

/** A duration that is none is the session's to refuse. */
const millis = (input: Duration.DurationInput | undefined): number | undefined =>
  input === undefined ? undefined : Option.getOrUndefined(Option.map(Duration.decodeUnknown(input), Duration.toMillis))

const failureOf = (cause: Cause.Cause<McpError.RuntimeError>): RuntimeMetrics.Outcome => {
  if (cause._tag === "Fail") return cause.error._tag
  return Cause.isInterrupted(cause) ? "Interrupted" : "Defect"
}

// A constructor is made anew each time that it is looked up.
const { CallBegan, CallEnded, CallProgress, CallRunning } = McpEvent.McpEvent
const event = { CallBegan, CallEnded, CallProgress, CallRunning }
