/** One call of a tool for a person, with its progress, and what is shown of its result. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as CallResult from "./callResult.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Screen from "./Screen.ts"

/** The document of `call --json`. */
export const Called = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  isError: Schema.Boolean,
  /** As it came. */
  content: Schema.Unknown,
  structuredContent: Schema.Unknown,
  milliseconds: Schema.Number,
  attempts: Schema.Number
})

const width = 24

const progressLine = ({ message, progress, total }: McpClient.Progress): Screen.Line => {
  const share = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total))
  const filled = Math.round((share ?? 0) * width)
  const bar = share === undefined
    ? `${progress}`
    : `[${"#".repeat(filled)}${"-".repeat(width - filled)}] ${Math.round(share * 100)} %`
  return [{ text: bar, style: "strong" }, message === undefined ? "" : ` ${message}`]
}

export const perform = (
  { runtime }: { readonly runtime: McpRuntime.McpRuntime["Type"] },
  { serverName: server, tool }: McpRuntime.RuntimeTool,
  args: JsonRpc.JsonObject,
  { timeout }: Pick<Command.Shared, "timeout">
) =>
  Effect.flatMap(Screen.Screen, (screen) =>
    runtime.callTool({ server, tool: tool.name }, args, {
      origin: "person",
      totalTimeout: timeout,
      idleTimeout: timeout,
      outputMismatch: "keep",
      onProgress: (progress) => screen.progress(progressLine(progress))
    }).pipe(Effect.ensuring(Effect.sync(() => screen.progress(undefined)))))

export const documentOf = (result: McpRuntime.CallResult): typeof Called.Type => ({
  server: result.metadata.serverName,
  tool: result.metadata.toolName,
  isError: result.isError,
  content: result.raw["content"] ?? [],
  structuredContent: result.structuredContent ?? null,
  milliseconds: Math.round(Duration.toMillis(result.metadata.duration)),
  attempts: result.metadata.attempts
})

export const exitCodeOf = ({ isError }: McpRuntime.CallResult): ExitCode.ExitCode =>
  isError ? ExitCode.tool : ExitCode.ok

/** In words: what a tool says of its failure is no output of the program. */
export const show = (result: McpRuntime.CallResult): Effect.Effect<void, never, Screen.Screen> =>
  Effect.flatMap(Screen.Screen, (screen) => {
    const { serverName, toolName } = result.metadata
    const lines = CallResult.lines(result)
    return result.isError
      ? screen.err([{ text: "error: ", style: "bad" }, `${serverName}/${toolName} says:`], ...lines)
      : screen.out(...lines)
  })
