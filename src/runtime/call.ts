/**
 * One call of a tool, from its begin to its end. A class with its state in fields, because many are under way at once and
 * what they are made of is most of what they cost.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Backoff from "../resilience/Backoff.ts"
import * as Deadline from "../resilience/Deadline.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"
import * as Gates from "./gates.ts"
import type * as Permitted from "./permitted.ts"

/**
 * What all calls of a runtime share.
 *
 * @internal
 */
export interface Surroundings {
  readonly clock: Clock.Clock
  readonly pool: ConnectionPool.ConnectionPool["Type"]
  readonly publish: (event: McpEvent.McpEvent) => void
  /** The definition of a tool, where it comes from the server itself. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
  /** Waits until the tools of a server are known, or fails with the reason. */
  readonly learn: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  readonly permitted: Permitted.Permitted
  /** The calls under way. */
  readonly running: Set<Call>
}

type Attempt = Effect.Effect<ToolResult.ToolResult, McpError.RuntimeError>

/** @internal */
export class Call implements CallSpan.Operation {
  readonly method = "tools/call"
  readonly server: string
  readonly tool: string
  readonly callId: string
  readonly origin: Permissions.Origin
  readonly config: ServerConfig.ServerConfig
  readonly meta: JsonRpc.JsonObject | undefined
  readonly began: number
  /** When it was last told that it still runs. */
  told: number
  readonly #surroundings: Surroundings
  readonly #gates: Gates.Gates
  readonly #restore: Gates.Restore
  readonly #args: McpClient.Arguments
  readonly #own: McpRuntime.CallOptions | undefined
  readonly #permit: Permissions.Permit | undefined
  #attempts = 0
  /** How many of the attempts may have reached the server. */
  #sent = 0
  #connected = false
  #connection: McpClient.McpClient | undefined = undefined
  #deadline: Deadline.Deadline | undefined = undefined
  #backoff: Backoff.Backoff<unknown, McpError.RuntimeError> | undefined = undefined
  /** The last failure of which the server may have had something. */
  #doubt: McpError.RuntimeError | undefined = undefined

  constructor(
    surroundings: Surroundings,
    gates: Gates.Gates,
    restore: Gates.Restore,
    callId: string,
    tool: string,
    args: McpClient.Arguments,
    own: McpRuntime.CallOptions | undefined,
    permit?: Permissions.Permit
  ) {
    this.server = gates.server
    this.tool = tool
    this.callId = callId
    this.origin = own?.origin ?? "program"
    this.config = gates.config
    this.meta = own?.meta
    this.began = this.told = surroundings.clock.unsafeCurrentTimeMillis()
    this.#surroundings = surroundings
    this.#gates = gates
    this.#restore = restore
    this.#args = args
    this.#own = own
    this.#permit = permit
  }

  connection(): McpClient.McpClient | undefined {
    return this.#connection
  }

  /** For the inside of the `uninterruptibleMask` that gave `restore`: whatever is begun is ended. */
  run(): Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError> {
    return Effect.matchCauseEffect(CallSpan.traced(this, (meta) => this.#begin(meta)), {
      onFailure: (cause) => {
        this.#end(failureOf(cause))
        return Effect.failCause(cause)
      },
      // field by field: to spread one object into another costs as much as all the gates together
      onSuccess: ({ content, isError, meta, raw, structuredContent }) => {
        const metadata = {
          callId: this.callId,
          serverName: this.server,
          toolName: this.tool,
          duration: this.#end(isError ? "ToolError" : "Success"),
          attempts: this.#attempts
        }
        return Effect.succeed<McpRuntime.CallResult>({ content, structuredContent, isError, meta, raw, metadata })
      }
    })
  }

  #begin(meta: JsonRpc.JsonObject | undefined): Attempt {
    const { callId, server, tool } = this
    const { publish, running } = this.#surroundings
    running.add(this)
    this.#gates.metrics.callBegan()
    publish(event.CallBegan({ callId, server, tool, origin: this.origin }))
    return this.#attempt(meta)
  }

  #end(outcome: RuntimeMetrics.Outcome): Duration.Duration {
    const { callId, server, tool } = this
    const { clock, publish, running } = this.#surroundings
    const millis = clock.unsafeCurrentTimeMillis() - this.began
    const took = Duration.millis(millis)
    // what could not even begin does not end
    if (running.delete(this)) {
      this.#gates.metrics.callEnded(outcome, millis)
      publish(event.CallEnded({ callId, server, tool, took, attempts: this.#attempts, outcome }))
    }
    return took
  }

  #attempt(meta: JsonRpc.JsonObject | undefined): Attempt {
    const { pool } = this.#surroundings
    this.#attempts++
    this.#connected = false
    const passage = Gates.enter(pool, this.#gates)
    if (passage === undefined) {
      const limits = this.#limits()
      const waiting = Gates.wait(pool, this.#gates, this.method, limits, (live) => this.#send(live, meta))
      return Effect.catchAll(this.#restore(waiting), (error) => this.#again(meta, error))
    }
    if (!(passage instanceof Gates.Passage)) return this.#again(meta, passage)
    return Effect.matchCauseEffect(this.#restore(this.#send(passage.live, meta)), {
      onFailure: (cause) => {
        passage.leave(Exit.failCause(cause))
        const failure = Cause.failureOrCause(cause)
        return Either.isLeft(failure) ? this.#again(meta, failure.left) : Effect.failCause(failure.right)
      },
      onSuccess: (result) => {
        const exit = Exit.succeed(result)
        passage.leave(exit)
        return exit
      }
    })
  }

  #send(live: ConnectionPool.Live, meta: JsonRpc.JsonObject | undefined): Attempt {
    this.#connected = true
    this.#connection = live.session
    const { permitted } = this.#surroundings
    if (this.#permit === undefined && permitted.isClear(live, this.tool, this.origin)) {
      return this.#dispatch(live, meta)
    }
    const waiting = permitted.before(live, this.#wanted(), this.#permit)
    return waiting === undefined
      ? this.#dispatch(live, meta)
      : Effect.flatMap(waiting, () => this.#dispatch(live, meta))
  }

  #wanted(): Permitted.Wanted {
    const { callId, config, server, tool } = this
    return {
      origin: this.#own?.origin ?? "program",
      config,
      callId,
      kind: "tool",
      server,
      name: tool,
      args: this.#args
    }
  }

  #dispatch({ session }: ConnectionPool.Live, meta: JsonRpc.JsonObject | undefined): Attempt {
    const own = this.#own
    // what has been waited so far is not to be had again
    const left = this.#deadline?.attempt(this.#surroundings.clock.unsafeCurrentTimeMillis())
    const onProgress = (progress: McpClient.Progress) => this.#progressed(progress)
    return session.callTool(
      this.tool,
      this.#args,
      own === undefined && left === undefined ? { meta, onProgress } : { ...own, ...left, meta, onProgress }
    )
  }

  #progressed(progress: McpClient.Progress): void {
    const { callId, server, tool } = this
    this.#surroundings.publish(event.CallProgress({ callId, server, tool, progress }))
    this.#own?.onProgress?.(progress)
  }

  #again(meta: JsonRpc.JsonObject | undefined, error: McpError.RuntimeError): Attempt {
    const { clock, definition, learn } = this.#surroundings
    if (error.outcome !== "not-sent") {
      this.#doubt = error
      this.#sent++
    }
    // the annotations of the tool decide on a second execution
    const isListed = this.#own?.idempotent !== undefined || definition(this.server, this.tool) !== undefined
    if (isListed || error._tag !== "SessionExpired" || this.#sent !== 1) return this.#decided(meta, error)
    const left = Duration.millis(this.#limits().left(clock.unsafeCurrentTimeMillis()))
    const listed = Effect.timeoutOption(Effect.ignore(learn(this.server)), left)
    return Effect.flatMap(this.#restore(listed), () => this.#decided(meta, error))
  }

  #decided(meta: JsonRpc.JsonObject | undefined, error: McpError.RuntimeError): Attempt {
    const { clock, definition } = this.#surroundings
    const tool = definition(this.server, this.tool)
    const decision = RetryPolicy.decide({
      error,
      attempts: this.#attempts,
      sent: this.#sent,
      connected: this.#connected,
      repetition: RetryPolicy.repetition(this.config.trusted, tool, this.#own?.idempotent)
    })
    // that the last attempt was not sent does not make an earlier one unsent
    const failed = Effect.suspend(() => Effect.fail(this.#explained(this.#doubt ?? error)))
    if (decision === "no") return failed
    return Effect.flatMap(this.#delay(error), (planned) => {
      if (Option.isNone(planned)) return failed
      const delay = decision === "now" ? Duration.zero : planned.value[0]
      const left = this.#limits().left(clock.unsafeCurrentTimeMillis())
      if (Duration.toMillis(delay) >= left) return failed
      return Effect.flatMap(this.#restore(Effect.sleep(delay)), () => this.#attempt(meta))
    })
  }

  #delay(error: McpError.RuntimeError) {
    if (this.#backoff !== undefined) return this.#backoff.next(error)
    return Effect.flatMap(Backoff.make(RetryPolicy.schedule(this.#gates.retry)), (backoff) => {
      this.#backoff = backoff
      return backoff.next(error)
    })
  }

  /** Says of a connection that was cut why it was. */
  #explained(error: McpError.RuntimeError): McpError.RuntimeError {
    const blocked = error._tag === "Closed" ? this.#surroundings.pool.config(this.server)?.blocked : undefined
    return error._tag === "Closed" && blocked !== undefined ? new McpError.Closed({ ...error, blocked }) : error
  }

  #limits(): Deadline.Deadline {
    return this.#deadline ??= Deadline.make({
      now: this.began,
      idle: millis(this.#own?.idleTimeout) ?? this.#gates.idle,
      total: millis(this.#own?.totalTimeout) ?? this.#gates.total
    })
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
const { CallBegan, CallEnded, CallProgress } = McpEvent.McpEvent
const event = { CallBegan, CallEnded, CallProgress }
