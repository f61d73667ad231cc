/** Tasks of the session era (2025-11-25): tool calls that the server runs on its own, followed by polling. */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import type * as Deadline from "../resilience/Deadline.ts"
import * as Scoped from "../scoped.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Handshake from "./handshake.ts"
import * as Lists from "./lists.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, progressOf, withToken } from "./messages.ts"
import type * as Requests from "./requests.ts"

export interface Task {
  readonly taskId: string
  /** `working`, `input_required`, `completed`, `failed` or `cancelled`. */
  readonly status: string
  readonly statusMessage: string | undefined
  /** Milliseconds between two polls, as the server proposes. */
  readonly pollInterval: number | undefined
  readonly raw: JsonRpc.JsonObject
}

export type TaskUpdate =
  | { readonly _tag: "Created"; readonly taskId: string; readonly status: string }
  | { readonly _tag: "Status"; readonly taskId: string; readonly status: string; readonly message?: string | undefined }

export interface Tasks {
  /** Creates a task for a tool call, follows it, and gives its result. Interruption cancels the task. */
  readonly callTool: (
    params: JsonRpc.JsonObject,
    options?: McpClient.CallOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly get: (taskId: string) => Effect.Effect<Task, McpError.CallError>
  /** Waits for the end of the task and gives the result of its request. */
  readonly result: (taskId: string) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly cancel: (taskId: string) => Effect.Effect<Task, McpError.CallError>
  readonly list: Effect.Effect<ReadonlyArray<Task>, McpError.CallError>
}

const method = {
  get: "tasks/get" satisfies Sdk.GetTaskRequest["method"],
  result: "tasks/result" satisfies Sdk.GetTaskPayloadRequest["method"],
  cancel: "tasks/cancel" satisfies Sdk.CancelTaskRequest["method"],
  status: "notifications/tasks/status" satisfies Sdk.TaskStatusNotification["method"]
} as const

/** The pause between two polls where the server proposes none. */
const defaultPollInterval = 1_000

/** The statuses in which `tasks/result` says how the task goes on or has ended. */
const settled: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "input_required"])

let tokens = 0

/** Whether the server runs tool calls as tasks. */
export const offersCalls = (capabilities: JsonRpc.JsonObject): boolean =>
  JsonRpc.isObject(objectOf(objectOf(objectOf(capabilities["tasks"])["requests"])["tools"])["call"])

/** `undefined` for a server that does not declare tasks. */
export const make = (
  connection: Pick<Handshake.Connection, "server" | "limits" | "report"> & {
    readonly engine: Pick<McpClient.Channel, "onNotification">
  },
  { deadlineOf, request }: Pick<Requests.Requests, "deadlineOf" | "request">,
  capabilities: JsonRpc.JsonObject
): Tasks | undefined => {
  const { engine, limits, report, server } = connection
  if (!JsonRpc.isObject(capabilities["tasks"])) return undefined

  const asked = (name: "get" | "cancel") => (taskId: string): Effect.Effect<Task, McpError.CallError> =>
    Effect.flatMap(request(method[name], { taskId }), (raw) =>
      Either.fromNullable(
        Lists.tasks.decode(raw),
        () => Lists.violation(server, method[name], "no task in the answer")
      ))
  const get = asked("get")
  const cancel = asked("cancel")
  // the server answers when the task has ended, so only the limit of calls applies
  const result = (taskId: string, limit = limits.toolTimeout) =>
    request(method.result, { taskId }, { idleTimeout: limit, totalTimeout: limit })

  const left = (deadline: Deadline.Deadline) => Duration.millis(Math.max(1, deadline.left()))

  const follow = (created: Task, deadline: Deadline.Deadline, onUpdate: (update: TaskUpdate) => void) =>
    Effect.gen(function*() {
      const { taskId } = created
      const changed = yield* Effect.makeLatch(false)
      yield* Scoped.listen(() =>
        engine.onNotification((notification) => {
          if (notification.method === method.status && notification.params["taskId"] === taskId) changed.unsafeOpen()
        })
      )
      let task = created
      while (!settled.has(task.status)) {
        const interval = Math.max(1, task.pollInterval ?? defaultPollInterval)
        yield* Effect.timeoutOption(changed.await, Duration.millis(interval))
        changed.unsafeClose()
        const next = yield* get(taskId)
        if (next.status !== task.status || next.statusMessage !== task.statusMessage) {
          onUpdate({ _tag: "Status", taskId, status: next.status, message: next.statusMessage })
        }
        task = next
      }
      if (task.status === "cancelled") {
        return yield* new McpError.Cancelled({
          server,
          operation: "tools/call",
          detail: report.text(task.statusMessage ?? "the server cancelled the task"),
          outcome: "unknown"
        })
      }
      // `input_required` included: the server asks while it is waited on for the result
      return yield* result(taskId, left(deadline))
    })

  return {
    get,
    cancel,
    result: (taskId) => result(taskId),
    list: Effect.map(
      Lists.all({ server, limits, capabilities, request, report: report.lenient }, Lists.tasks),
      ({ items }) => items
    ),
    callTool: (params, { onProgress, onTask: onUpdate = () => undefined, ...own } = {}) =>
      Effect.scoped(Effect.gen(function*() {
        const deadline = yield* deadlineOf("tools/call", own)
        // the token stays valid until the task has ended, and not only until the request is answered
        const token = `task-${++tokens}`
        yield* Scoped.listen(() =>
          engine.onNotification(({ method, params }) => {
            if (method !== "notifications/progress" || params["progressToken"] !== token) return
            const progress = progressOf(params, report.text)
            if (progress !== undefined) onProgress?.(progress)
          })
        )
        const options = { ...own, deadline, progress: false }
        const answer = yield* request("tools/call", { ...withToken(params, token), task: {} }, options)
        const task = Lists.tasks.decode(answer["task"])
        // a server may run the call at once
        if (task === undefined) return answer
        const { status, taskId } = task
        onUpdate({ _tag: "Created", taskId, status })
        return yield* follow(task, deadline, onUpdate).pipe(
          Effect.mapError(Outcome.partlySent),
          Effect.timeoutFail({
            duration: left(deadline),
            onTimeout: () => deadline.expired("unknown", { kind: "total" })
          }),
          Effect.onExit((exit) =>
            exit._tag === "Failure" && (exit.cause._tag !== "Fail" || exit.cause.error._tag === "RequestTimeout")
              ? Effect.ignore(BoundedWait.within(connection.limits.pingTimeout)(cancel(taskId)))
              : Effect.void
          )
        )
      }))
  }
}
