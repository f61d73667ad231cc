/** The life of a tool call, outside in: permission, deadline, retries, breaker, bulkhead, connection. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as McpClient from "../client/McpClient.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as CallSpan from "../observability/CallSpan.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as Deadline from "../resilience/Deadline.ts"
import type { Restore } from "../resilience/onExitSync.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Permitted from "./permitted.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

export type Calls = Effect.Effect.Success<ReturnType<typeof make>>

/** A call that is under way: what its caller wants, what its span shows, and its attempts. */
interface Call extends Permitted.Wanted, CallSpan.Operation, RetryPolicy.Attempts {
  readonly server: string
  readonly config: ServerConfig.ServerConfig
  readonly tool: string
  readonly callId: string
  /** The permitted copy after the permission. */
  args: McpClient.Arguments
  began: number
  reportedAt: number
  /** The client that was used last. */
  client: McpClient.McpClient | undefined
}

// made once, because each access makes a new constructor
const { CallBegan, CallEnded } = McpEvent.McpEvent

/** The `CallProgress` of one call in a second; `onProgress` of the caller gets the others, too. */
const maxProgressEvents = 100

const shortestLook = Duration.millis(25)

/** `use` may have a person log in, where calls ask. */
export const make = (
  servers: Servers.Servers,
  use: Servers.Use,
  catalog: ToolCatalog.ToolCatalog["Type"],
  permitted: Permitted.Permitted
) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const { publish } = yield* McpEvent.McpEvents
    const retry = yield* RetryPolicy.RetryPolicy
    const now = () => clock.unsafeCurrentTimeMillis()
    const running = new Set<Call>()
    let ids = 0

    /** Lists an unlisted tool of an expired session first, because its annotations may forbid a second execution. */
    const repetition = (
      error: McpError.RuntimeError,
      { config, name }: Server.Server,
      tool: string,
      idempotent: boolean | undefined,
      deadline: Deadline.Deadline
    ): Effect.Effect<RetryPolicy.Repetition> => {
      const known = Effect.sync(() =>
        RetryPolicy.repetition(config.trusted, catalog.definition(name, tool), idempotent)
      )
      const isUnlisted = error._tag === "SessionExpired" && idempotent === undefined &&
        catalog.definition(name, tool) === undefined
      if (!isUnlisted) return known
      return Effect.zipRight(
        Effect.timeoutOption(Effect.ignore(catalog.refresh(name)), Math.max(0, deadline.left())),
        known
      )
    }

    /** Adds to `Closed` why the server is blocked, if a block closed its connection. */
    const explained = (error: McpError.RuntimeError): McpError.RuntimeError => {
      const blocked = error._tag === "Closed" ? servers.get(error.server)?.config?.blocked : undefined
      return error._tag === "Closed" && blocked !== undefined ? new McpError.Closed({ ...error, blocked }) : error
    }

    /**
     * Runs a call with its span, events and metrics, and describes it beside the result. The call is one uninterruptible
     * region, and its waits are as interruptible as the caller.
     */
    const observed = (
      { config: { maxResultChars }, metrics }: Server.Server,
      call: Call,
      self: (
        meta: JsonRpc.JsonObject | undefined,
        restore: Restore
      ) => Effect.Effect<ToolResult.ToolResult, McpError.RuntimeError>
    ): Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError> => {
      const { began, callId, origin, server, tool } = call
      const ended = (outcome: RuntimeMetrics.Outcome): Duration.Duration => {
        const millis = now() - began
        const took = Duration.millis(millis)
        const { attempts } = call
        running.delete(call)
        metrics.callEnded(outcome, millis)
        publish(CallEnded({ callId, server, tool, took, attempts, isError: outcome !== "Success", outcome }))
        return took
      }
      return CallSpan.traced(call, (meta) =>
        Effect.uninterruptibleMask((restore) => {
          running.add(call)
          metrics.callBegan()
          publish(CallBegan({ callId, server, tool, origin }))
          return Effect.matchCauseEffect(self(meta, restore), {
            onFailure: (cause) => {
              ended(outcomeOf(cause))
              return Exit.failCause(Cause.map(cause, explained))
            },
            onSuccess: (result) => {
              const duration = ended(result.isError ? "ToolError" : "Success")
              const { attempts } = call
              const metadata = { callId, serverName: server, toolName: tool, duration, attempts, maxResultChars }
              // first, because V8 adds a property to a spread object fifteen times more slowly than it spreads into one
              return Exit.succeed({ metadata, ...result })
            }
          })
        }))
    }

    /** The pipeline of a permitted call. The permit is checked again when the request is sent. */
    const run = (
      server: Server.Server,
      call: Call,
      permit: Permissions.Permit | undefined,
      options: McpRuntime.CallOptions | undefined
    ): ReturnType<typeof callTool> =>
      observed(server, call, (meta, restore) => {
        const { limits, name } = server
        const { callId, tool } = call
        const begun = Deadline.make({
          server: name,
          operation: "tools/call",
          idle: options?.idleTimeout ?? limits.requestTimeout,
          total: options?.totalTimeout ?? limits.toolTimeout,
          now,
          restore
        })
        if (Either.isLeft(begun)) return begun.left
        const deadline = begun.right
        let since = 0
        let events = 0
        const onProgress = (progress: McpClient.Progress): void => {
          if (now() - since >= 1000) {
            since = now()
            events = 0
          }
          events++
          if (events <= maxProgressEvents) {
            publish(McpEvent.McpEvent.CallProgress({ callId, server: name, tool, progress }))
          }
          options?.onProgress?.(progress)
        }
        const { onTask, outputMismatch, passInput } = options ?? {}
        const own = { deadline, meta, onProgress, onTask, outputMismatch, passInput } satisfies Required<
          Omit<McpClient.CallOptions, "idleTimeout" | "totalTimeout">
        >
        return use(name, (live) => {
          call.isConnected = true
          call.client = live.session
          const send = () => live.session.callTool(tool, call.args, own)
          const verified = permitted.before(live, call, permit, deadline)
          return verified === undefined ? send() : Effect.flatMap(verified, send)
        }, { deadline, identity: server.identity }).pipe(
          server.bulkhead.withPermit(deadline),
          server.breaker.protect,
          RetryPolicy.retryWhenSafe({
            call,
            deadline,
            options: retry,
            repetition: (error) => repetition(error, server, tool, options?.idempotent, deadline)
          })
        )
      })

    /** Refuses a call before anything of it is built. It counts, and publishes no event. */
    const refusing = ({ metrics }: Server.Server, refused: McpError.Overloaded) => {
      metrics.callBegan()
      metrics.callEnded(refused._tag, 0)
      return Effect.fail(refused)
    }

    const callTool = (
      name: string,
      tool: string,
      args: McpClient.Arguments,
      options: McpRuntime.CallOptions | undefined
    ): Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError> =>
      Effect.flatMap(servers.find(name, options?.identity), (server) => {
        if (!server.offers(tool)) {
          return Effect.fail(new McpError.NotFound({ server: name, kind: "tool", name: tool, suggestions: [] }))
        }
        const refused = server.bulkhead.refusal()
        if (refused !== undefined) return refusing(server, refused)
        const call: Call = {
          origin: options?.origin ?? "program",
          identity: options?.identity,
          kind: "tool",
          method: "tools/call",
          server: name,
          config: server.config,
          name: tool,
          tool,
          args,
          callId: options?.callId ?? `call-${++ids}`,
          meta: options?.meta,
          began: 0,
          reportedAt: 0,
          attempts: 0,
          isConnected: false,
          client: undefined
        }
        return Effect.flatMap(permitted.authorize(call), (permit) => {
          // an approval takes time, after which the name may stand for another server
          if (servers.get(name)?.config !== server.config) return callTool(name, tool, args, options)
          call.began = call.reportedAt = now()
          if (permit?.args !== undefined) call.args = permit.args
          return run(server, call, permit, options)
        })
      })

    return {
      callTool,
      /** The number of calls of a server that have begun and not ended. */
      inFlight: (server: string) => Array.from(running).filter((call) => call.server === server).length,
      /** Publishes `CallRunning` for each call every `interval`. Never ends. */
      reportRunning: (interval: Duration.Duration): Effect.Effect<never> =>
        Effect.forever(Effect.zipRight(
          // four looks per interval, so that a report is late by a quarter of it at most; bounded, because zero would spin
          Effect.sleep(Duration.max(Duration.times(interval, 1 / 4), shortestLook)),
          Effect.sync(() => {
            const time = now()
            for (const call of running) {
              if (time - call.reportedAt < Duration.toMillis(interval)) continue
              call.reportedAt = time
              const { began, callId, server, tool } = call
              publish(McpEvent.McpEvent.CallRunning({ callId, server, tool, since: Duration.millis(time - began) }))
            }
          })
        ))
    }
  })

const outcomeOf = (cause: Cause.Cause<McpError.RuntimeError>): RuntimeMetrics.Outcome => {
  if (cause._tag === "Fail") return cause.error._tag
  return Cause.isInterrupted(cause) ? "Interrupted" : "Defect"
}
