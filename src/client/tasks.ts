/** Tasks of the session era (2025-11-25): tool calls that the server runs on its own, followed by polling. */
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Engine from "./engine.ts"
import * as Lists from "./lists.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, progressOf, textOf } from "./messages.ts"
import type * as Reporting from "./reporting.ts"
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

export interface TaskOptions extends McpClient.RequestOptions {
  readonly onUpdate?: ((update: TaskUpdate) => void) | undefined
}

export interface Tasks {
  /** Creates a task for a tool call, follows it, and gives its result. Interruption cancels the task. */
  readonly callTool: (
    params: JsonRpc.JsonObject,
    options?: TaskOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly get: (taskId: string) => Effect.Effect<Task, McpError.CallError>
  /** Waits for the end of the task and gives the result of its request. */
  readonly result: (taskId: string) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly cancel: (taskId: string) => Effect.Effect<Task, McpError.CallError>
  readonly list: Effect.Effect<ReadonlyArray<Task>, McpError.CallError>
}

export interface Options {
  readonly server: string
  readonly limits: Limits.Limits
  readonly capabilities: JsonRpc.JsonObject
  readonly request: Requests.Request
  readonly onNotification: McpClient.Channel["onNotification"]
  readonly report: Pick<Reporting.Reporting, "diagnostic" | "text">
}

const method = {
  get: "tasks/get" satisfies Sdk.GetTaskRequest["method"],
  result: "tasks/result" satisfies Sdk.GetTaskPayloadRequest["method"],
  cancel: "tasks/cancel" satisfies Sdk.CancelTaskRequest["method"],
  list: "tasks/list" satisfies Sdk.ListTasksRequest["method"],
  status: "notifications/tasks/status" satisfies Sdk.TaskStatusNotification["method"]
} as const

/** The pause between two polls where the server proposes none. */
const defaultPollInterval = 1_000

/** The statuses in which `tasks/result` says how the task goes on or has ended. */
const settled: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "input_required"])

let tokens = 0

const decode = (raw: unknown): Task | undefined => {
  const task = objectOf(raw)
  const { pollInterval, status, statusMessage, taskId } = task
  return typeof taskId !== "string" || typeof status !== "string" ? undefined : {
    taskId,
    status,
    statusMessage: textOf(statusMessage),
    pollInterval: typeof pollInterval === "number" ? pollInterval : undefined,
    raw: task
  }
}

/** Whether the server runs tool calls as tasks. */
export const offersCalls = (capabilities: JsonRpc.JsonObject): boolean =>
  JsonRpc.isObject(objectOf(objectOf(objectOf(capabilities["tasks"])["requests"])["tools"])["call"])

/** `undefined` for a server that does not declare tasks. */
export const make = (options: Options): Tasks | undefined => {
  const { capabilities, limits, report, request, server } = options
  if (!JsonRpc.isObject(capabilities["tasks"])) return undefined

  const asked = (name: "get" | "cancel") => (taskId: string): Effect.Effect<Task, McpError.CallError> =>
    Effect.flatMap(request(method[name], { taskId }), (raw) => {
      const task = decode(raw)
      return task === undefined
        ? new McpError.ProtocolViolation({
          server,
          what: `\`${method[name]}\`: no task in the answer`,
          outcome: "executed"
        })
        : Effect.succeed(task)
    })
  const get = asked("get")
  const cancel = asked("cancel")
  // the server answers when the task has ended, so only the limit of calls applies
  const result = (taskId: string, limit = limits.toolTimeout) =>
    request(method.result, { taskId }, { idleTimeout: limit, totalTimeout: limit })

  const follow = (created: Task, until: number, onUpdate: (update: TaskUpdate) => void) =>
    Effect.gen(function*() {
      const { taskId } = created
      const changed = yield* Effect.makeLatch(false)
      yield* Engine.listen(options, (notification) => {
        if (notification.method === method.status && notification.params["taskId"] === taskId) changed.unsafeOpen()
      })
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
      return yield* result(taskId, Duration.millis(Math.max(1, until - (yield* Clock.currentTimeMillis))))
    })

  return {
    get,
    cancel,
    result: (taskId) => result(taskId),
    list: Effect.map(
      Lists.all({ ...options, report: (detail) => report.diagnostic({ kind: "lenient", detail }) }, {
        method: method.list,
        field: "tasks",
        key: "taskId",
        capability: "tasks"
      }),
      ({ items }) => items.flatMap((item) => decode(item) ?? [])
    ),
    callTool: (params, { onProgress, onUpdate = () => undefined, ...own } = {}) =>
      Effect.scoped(Effect.gen(function*() {
        const limit = own.totalTimeout ?? limits.toolTimeout
        const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(limit)
        // the token stays valid until the task has ended, and not only until the request is answered
        const progressToken = `task-${++tokens}`
        yield* Engine.listen(options, ({ method, params }) => {
          if (method !== "notifications/progress") return
          const progress = progressOf(params, report.text)
          if (params["progressToken"] === progressToken && progress !== undefined) onProgress?.(progress)
        })
        const answer = yield* request("tools/call", { ...params, task: {} }, { ...own, progressToken })
        const task = decode(answer["task"])
        // a server may run the call at once
        if (task === undefined) return answer
        onUpdate({ _tag: "Created", taskId: task.taskId, status: task.status })
        const left = until - (yield* Clock.currentTimeMillis)
        return yield* follow(task, until, onUpdate).pipe(
          Effect.mapError(McpError.partlySent),
          Effect.timeoutFail({
            duration: Duration.millis(Math.max(1, left)),
            onTimeout: () => Engine.overdue(server, "tools/call", limit)
          }),
          Effect.onExit((exit) =>
            exit._tag === "Failure" && (exit.cause._tag !== "Fail" || exit.cause.error._tag === "RequestTimeout")
              ? Effect.ignore(BoundedWait.within(limits.pingTimeout)(cancel(task.taskId)))
              : Effect.void
          )
        )
      }))
  }
}
