/** Tool calls: the request with what its tool needs (headers, task), the result decoded once and held to the output schema. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import * as Json from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import * as DecodeResult from "../tools/decodeResult.ts"
import * as OutputCheck from "../tools/outputCheck.ts"
import { type Declaration, declarations, headersOf } from "../tools/paramHeaders.ts"
import * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Lists from "./lists.ts"
import type * as McpClient from "./McpClient.ts"
import * as Tasks from "./tasks.ts"

type Calls = Pick<McpClient.McpClient, "tools" | "callTool" | "callToolStream">

const headerMismatch = -32020

/** The unread events of a call; a slower reader loses the oldest. */
const backlog = { capacity: 64, strategy: "sliding" } as const

/** The calls over a connection; `report` receives the deviations of the server. */
export const make = (channel: McpClient.Channel, report: (detail: string) => void): Calls => {
  const { era, limits, server, tasks } = channel
  const mirrorsHeaders = era === "stateless" && channel.transport !== "stdio"
  const known = knownTools(channel, mirrorsHeaders, report)
  const check = OutputCheck.make({ server, tools: known, report })
  // only a server that has tasks can have tools that must be called as tasks, and only its list says which
  const mustList = Tasks.offersCalls(channel.capabilities)

  const invalid = ({ detail, path }: Json.Fault) =>
    Effect.fail(new McpError.InvalidArguments({ server, operation: "tools/call", path, detail }))

  /** Repeats some arguments in headers, as the definition of the tool says. */
  const mirrored = (
    name: string,
    args: JsonRpc.JsonObject,
    params: JsonRpc.JsonObject,
    own: McpClient.CallOptions | undefined
  ) => {
    const request = Effect.suspend(() => {
      const headers = headersOf(known.get(name)?.headers ?? [], args)
      return channel.request("tools/call", params, { ...own, headers })
    })
    // refused before it was executed, because the known definition of the tool is outdated, or missing
    return Effect.catchIf(
      request,
      (error) => error._tag === "RemoteError" && error.code === headerMismatch,
      (error) => Effect.zipRight(Effect.mapError(known.tools, () => error), request)
    )
  }

  const send = (
    name: string,
    args: JsonRpc.JsonObject,
    meta: JsonRpc.JsonObject | undefined,
    own: McpClient.CallOptions | undefined
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    const input = own?.passInput
    const params: JsonRpc.JsonObject = {
      name,
      arguments: args,
      ...(meta && { _meta: meta }),
      ...(input?.inputResponses !== undefined && era === "stateless" && { inputResponses: input.inputResponses }),
      ...(input?.requestState !== undefined && { requestState: input.requestState })
    }
    if (known.get(name)?.taskSupport === "required") {
      return tasks === undefined
        ? new McpError.CapabilityMissing({ server, capability: "tasks", operation: "tools/call" })
        : tasks.callTool(params, own)
    }
    return mirrorsHeaders ? mirrored(name, args, params, own) : channel.request("tools/call", params, own)
  }

  const callTool: Calls["callTool"] = (name, args = {}, own) =>
    Effect.suspend(() => {
      const plain = Json.toObject(args, limits.maxMessageBytes, "arguments")
      if (Either.isLeft(plain)) return invalid(plain.left)
      const meta = own?.meta && Json.toObject(own.meta, limits.maxMessageBytes, "_meta")
      if (meta !== undefined && Either.isLeft(meta)) return invalid(meta.left)
      const passInput = own?.passInput
      if (era === "session" && passInput?.requestState !== undefined) {
        return invalid({ path: "requestState", detail: "the server has given none" })
      }
      const called = mustList && !known.isListed()
        ? Effect.flatMap(known.ensure, () => send(name, plain.right, meta?.right, own))
        : send(name, plain.right, meta?.right, own)
      return Effect.flatMap(called, (raw) => {
        const decoded = DecodeResult.decode(raw, { era, passInput: passInput !== undefined })
        if (Either.isLeft(decoded)) return Effect.fail(OutputCheck.invalidResult(server, name, decoded.left))
        // a question has no structure to be checked
        return raw["resultType"] === "input_required" && passInput !== undefined
          ? Effect.succeed(decoded.right)
          : check(name, decoded.right, own?.outputMismatch ?? "fail")
      })
    })

  return {
    tools: known.tools,
    callTool,
    callToolStream: (name, args, own) => streamOf((more) => callTool(name, args, { ...own, ...more }), own)
  }
}

/** The progress and the tasks of a call, then its result. */
export const streamOf = <E>(
  call: (
    more: Required<Pick<McpClient.CallOptions, "onProgress" | "onTask">>
  ) => Effect.Effect<ToolResult.ToolResult, E>,
  options: McpClient.CallOptions | undefined
): Stream.Stream<McpClient.CallEvent, E> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const mailbox = yield* Mailbox.make<McpClient.CallEvent, E>(backlog)
    const calling = call({
      onProgress: (progress) => {
        mailbox.unsafeOffer({ _tag: "Progress", progress })
        options?.onProgress?.(progress)
      },
      onTask: (update) => {
        mailbox.unsafeOffer({ _tag: "Task", update })
        options?.onTask?.(update)
      }
    })
    const whole = Effect.tap(calling, (result) => mailbox.offer({ _tag: "Result", result }))
    yield* Effect.forkScoped(Effect.onExit(whole, (exit) => mailbox.done(Exit.asVoid(exit))))
    return Mailbox.toStream(mailbox)
  }))

/** What calls need of a tool. */
interface KnownTool extends Pick<Tool.Tool, "outputSchema" | "taskSupport"> {
  /** The arguments that are repeated in headers. */
  readonly headers: ReadonlyArray<Declaration>
}

const afterSuccess = 1_000
const afterFailure = 60_000

/** The tools that need something at a call, known once they were listed. */
const knownTools = (
  channel: McpClient.Channel,
  mirrorsHeaders: boolean,
  report: (detail: string) => void
) => {
  const lock = Effect.unsafeMakeSemaphore(1)
  let byName: ReadonlyMap<string, KnownTool> = new Map()
  // lists are numbered as they begin, because an old one may end late
  let begun = 0
  let listed = 0
  let outdatedAt = 0
  let notBefore = -Infinity
  channel.onNotification(({ method }) => {
    // a list that is under way may have been read before the change
    if (method === "notifications/tools/list_changed" || method === "$/resync") outdatedAt = begun + 1
  })

  const tools = Effect.suspend(() => {
    const number = ++begun
    return Effect.map(Lists.all({ ...channel, report }, Lists.tools), ({ cacheScope, items, ttlMs }): Tool.ToolList => {
      const decoded = Tool.decodeAll(items, {
        maxSchemaBytes: channel.limits.maxSchemaBytes,
        paramHeaders: mirrorsHeaders
      })
      for (const { detail, name, reason } of decoded.rejected.slice(0, 10)) {
        report(`the tool "${name}" cannot be offered (${reason}): ${detail}`)
      }
      if (number >= listed) {
        listed = number
        byName = new Map(decoded.tools.flatMap(({ inputSchema, name, outputSchema, taskSupport }) => {
          const headers = mirrorsHeaders ? Either.getOrElse(declarations(inputSchema), () => []) : []
          return outputSchema === undefined && taskSupport === "forbidden" && headers.length === 0
            ? []
            : [[name, { headers, outputSchema, taskSupport }] as const]
        }))
      }
      return { ...decoded, ttlMs, cacheScope }
    })
  })
  const isStale = () => outdatedAt > listed

  /** Lists if that was not done yet, or is outdated; one list at a time, and not again soon. */
  const ensure = lock.withPermits(1)(Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if ((listed > 0 && !isStale()) || now < notBefore) return Effect.void
    return Effect.match(tools, {
      onSuccess: () => {
        notBefore = now + afterSuccess
      },
      onFailure: (error) => {
        notBefore = now + afterFailure
        report(`the tools could not be listed (${error._tag}), so results are not checked for now`)
      }
    })
  }))

  return { tools, ensure, isStale, isListed: () => listed > 0, get: (name: string) => byName.get(name) }
}
