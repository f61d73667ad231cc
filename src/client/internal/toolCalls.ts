/**
 * The way of a tool call: the request with what its tool needs, the result decoded once, and checked.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Mailbox from "../../internal/mailbox.ts"
import { headersOf } from "../../internal/paramHeaders.ts"
import { argumentsFault, notJson, unchecked } from "../../json/Json.ts"
import * as McpError from "../../McpError.ts"
import type * as Tool from "../../tools/Tool.ts"
import * as ToolResult from "../../tools/ToolResult.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import type * as KnownTools from "./knownTools.ts"
import * as StructuredOutput from "./structuredOutput.ts"

/** @internal */
export interface Options {
  readonly channel: McpClient.Channel
  readonly request: McpClient.Channel["request"]
  readonly known: KnownTools.KnownTools
  readonly list: Effect.Effect<Tool.ToolList, McpError.CallError>
  readonly report: (detail: string) => void
}

const headerMismatch = -32020

/** How many events a slow reader of a call may leave unread. */
const backlog = 64

type Call = Effect.Effect<ToolResult.ToolResult, McpError.CallError>

/** @internal */
export const make = (options: Options): Pick<McpClient.McpClient, "callTool" | "callToolStream"> => {
  const { channel, known, list, request } = options
  const { era, limits, server } = channel
  const check = StructuredOutput.make({ ...options, server })
  const invalid = (path: string, detail: string) =>
    new McpError.InvalidArguments({ server, operation: "tools/call", path, detail })

  const settings = (
    own: McpClient.CallOptions | undefined
  ): Either.Either<McpClient.RequestOptions | undefined, McpError.InvalidArguments> => {
    if (own?.idleTimeout === undefined && own?.totalTimeout === undefined) {
      if (own?.passInput !== undefined) return Either.right({ onProgress: own.onProgress, passInput: own.passInput })
      return Either.right(own?.onProgress === undefined ? undefined : { onProgress: own.onProgress })
    }
    const idleTimeout = duration(own.idleTimeout)
    const totalTimeout = duration(own.totalTimeout)
    if (Option.isNone(idleTimeout)) return Either.left(invalid("idleTimeout", "a duration that is none"))
    if (Option.isNone(totalTimeout)) return Either.left(invalid("totalTimeout", "a duration that is none"))
    return Either.right({
      idleTimeout: idleTimeout.value,
      firstIdleTimeout: own.firstIdleTimeout,
      totalTimeout: totalTimeout.value,
      onProgress: own.onProgress,
      passInput: own.passInput
    })
  }

  const plainly = (
    name: string,
    args: JsonRpc.JsonObject,
    params: JsonRpc.JsonObject,
    own: McpClient.RequestOptions | undefined
  ) => {
    const send = () => {
      const tool = known.get(name)
      const headers = tool === undefined ? undefined : headersOf(tool.headers, args)
      return request("tools/call", params, headers === undefined ? own : { ...own, headers })
    }
    if (era !== "stateless") return send()
    // Refused before it was executed, because we knew an older definition of the tool, or none.
    return Effect.catchIf(
      send(),
      (error) => error._tag === "RemoteError" && error.code === headerMismatch,
      (error) => Effect.zipRight(Effect.mapError(known.learning(list), () => error), Effect.suspend(send))
    )
  }

  const asTask = (
    params: JsonRpc.JsonObject,
    own: McpClient.RequestOptions | undefined,
    onTask: (update: McpClient.TaskUpdate) => void
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    if (channel.tasks === undefined) {
      return Effect.fail(new McpError.CapabilityMissing({ server, capability: "tasks", operation: "tools/call" }))
    }
    const results = Stream.filterMap(
      Stream.tap(channel.tasks.callTool(params, own), (update) => Effect.sync(() => onTask(update))),
      (update) => update._tag === "Result" ? Option.some(update.result) : Option.none()
    )
    return Effect.flatMap(
      Stream.runLast(results),
      Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          Effect.fail(
            new McpError.ProtocolViolation({
              server,
              what: "a task that ended without a result",
              excerpt: "",
              outcome: "unknown",
              phase: "ready"
            })
          )
      })
    )
  }

  const finish = (name: string, raw: JsonRpc.JsonObject, own: McpClient.CallOptions | undefined): Call => {
    const decoded = ToolResult.decode(raw, { era, passInput: own?.passInput !== undefined })
    if (Either.isLeft(decoded)) {
      return Effect.fail(
        new McpError.ProtocolViolation({
          server,
          reason: "tool-result",
          outcome: "executed",
          tool: name,
          ...decoded.left
        })
      )
    }
    // a question has no structure to be checked
    return raw["resultType"] === "input_required" && own?.passInput !== undefined
      ? Effect.succeed(decoded.right)
      : check(name, decoded.right, own?.outputMismatch ?? "fail")
  }

  // Only a server that has tasks can have tools that must be called as tasks, and only its list tells which.
  const mayNeedTask = offersTasks(channel.capabilities)

  const call = (
    name: string,
    given: McpClient.Arguments,
    own: McpClient.CallOptions | undefined,
    onTask: (update: McpClient.TaskUpdate) => void
  ): Call =>
    Effect.suspend(() => {
      const meta = own?.meta
      const fault = argumentsFault(given, limits.maxMessageBytes) ??
        (meta === undefined ? undefined : notJson(meta, limits.maxMessageBytes, "_meta"))
      if (fault !== undefined) return Effect.fail(invalid(fault.path, fault.detail))
      const args = unchecked(given)
      const set = settings(own)
      if (Either.isLeft(set)) return Effect.fail(set.left)
      const plain: JsonRpc.JsonObject = meta === undefined
        ? { name, arguments: args }
        : { name, arguments: args, _meta: meta }
      const params = own?.passInput === undefined || era === "session"
        ? plain
        : { ...plain, ...answersOf(own.passInput) }
      if (era === "session" && own?.passInput?.requestState !== undefined) {
        return Effect.fail(invalid("requestState", "the server has given none"))
      }
      const send = () =>
        Effect.flatMap(
          known.get(name)?.taskSupport === "required"
            ? asTask(params, set.right, onTask)
            : plainly(name, args, params, set.right),
          (raw) => finish(name, raw, own)
        )
      return mayNeedTask && !known.listed() ? Effect.zipRight(known.ensure(list), Effect.suspend(send)) : send()
    })

  return {
    callTool: (name, args = {}, own) => call(name, args, own, own?.onTask ?? ignore),
    callToolStream: (name, args = {}, own) =>
      Stream.unwrapScoped(Effect.gen(function*() {
        const mailbox = Mailbox.make<McpClient.CallEvent, McpError.CallError>(backlog)
        const onProgress = (progress: McpClient.Progress): void => {
          mailbox.offer({ _tag: "Progress", progress })
          own?.onProgress?.(progress)
        }
        const onTask = (update: McpClient.TaskUpdate): void => {
          if (update._tag !== "Result") mailbox.offer({ _tag: "Task", update })
          own?.onTask?.(update)
        }
        yield* Effect.forkScoped(
          Effect.onExit(call(name, args, { ...own, onProgress }, onTask), (exit) =>
            Effect.sync(() => mailbox.end(Exit.map(exit, (result) => [{ _tag: "Result", result }]))))
        )
        return Mailbox.stream(mailbox)
      }))
  }
}

const ignore = (): void => undefined

const answersOf = ({ inputResponses, requestState }: McpClient.AnsweredInput): JsonRpc.JsonObject => ({
  ...(inputResponses === undefined ? {} : { inputResponses }),
  ...(requestState === undefined ? {} : { requestState })
})

const duration = (input: Duration.DurationInput | undefined): Option.Option<Duration.Duration | undefined> =>
  input === undefined ? Option.some(undefined) : Duration.decodeUnknown(input)

const offersTasks = (capabilities: JsonRpc.JsonObject): boolean => {
  const tasks = capabilities["tasks"]
  const requests = JsonRpc.isObject(tasks) ? tasks["requests"] : undefined
  const tools = JsonRpc.isObject(requests) ? requests["tools"] : undefined
  return JsonRpc.isObject(tools) && JsonRpc.isObject(tools["call"])
}
