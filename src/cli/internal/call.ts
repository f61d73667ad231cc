// @effect-diagnostics strictEffectProvide:off -- files are needed by few commands, and provided where they are
/**
 * What `mcp-runtime call` does.
 *
 * @internal
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import type * as Connector from "../../connection/Connector.ts"
import type * as ToolResult from "../../tools/ToolResult.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"
import * as CallResult from "./callResult.ts"
import * as Arguments from "./toolArguments.ts"
import { choice, tool as find } from "./toolFound.ts"

/**
 * The document of `call --json`.
 *
 * @internal
 */
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

/** Arguments are sent in one message, and larger ones are not taken. */
const most = 16 * 1024 * 1024

const readFile = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const wrong = (why: string) =>
    new Usage({
      detail: `The file "${path}" cannot be read: ${why}.`,
      next: "A value that begins with @ is written @@."
    })
  const read = Effect.gen(function*() {
    const { size } = yield* fs.stat(path)
    return size > most ? yield* wrong("it is too large") : yield* fs.readFileString(path)
  })
  return yield* Effect.catchTags(read, {
    BadArgument: () => Effect.fail(wrong("it is no path")),
    SystemError: ({ reason }) => Effect.fail(wrong(reason === "NotFound" ? "there is no such file" : reason))
  })
})

interface Typed {
  readonly assignments: ReadonlyArray<Arguments.Assignment>
  readonly base: JsonRpc.JsonObject | undefined
}

/** All that was typed, piped and in files, before any server is started. */
const typed = ({ args, value }: Command.Invocation) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const words = args.slice(1)
    const given = value("args")
    const isPiped = words.includes("-")
    if (isPiped && given !== undefined) {
      return yield* new Usage({
        detail: "Arguments are given with --args and on the standard input.",
        next: "Use one of them."
      })
    }
    let base = given === undefined ? undefined : yield* Arguments.object(given, "--args")
    if (isPiped) {
      const input = yield* screen.input(most)
      if (input === undefined) return yield* new Usage({ detail: "The standard input is too large." })
      base = yield* Arguments.object(input.trim() === "" ? "{}" : input, "The standard input")
    }
    const read = yield* Effect.forEach(words.filter((word) => word !== "-"), (word) => Arguments.read(word))
    const assignments = yield* Effect.forEach(read, (one) =>
      one.isFile ? Effect.map(readFile(one.value), (text) => ({ ...one, value: text })) : Effect.succeed(one))
    return { assignments, base } satisfies Typed
  }).pipe(Effect.provide(NodeFileSystem.layer))

const width = 24

const progressLine = ({ message, progress, total }: Connector.Progress): Screen.Line => {
  const share = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total))
  const filled = Math.round((share ?? 0) * width)
  const bar = share === undefined
    ? `${progress}`
    : `[${"#".repeat(filled)}${"-".repeat(width - filled)}] ${Math.round(share * 100)} %`
  return [{ text: bar, style: "strong" }, message === undefined ? "" : ` ${message}`]
}

/** `picture.png`, `picture-2.png`, … */
const nameOf = (file: string, at: number): string =>
  at === 0 ? file : file.replace(/(?<=[^/\\.])(\.[^./\\]+)?$/, (ending) => `-${at + 1}${ending}`)

const write = (file: string, result: ToolResult.ToolResult) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const screen = yield* Screen.Screen
    const blobs = CallResult.blobs(result)
    const contents = blobs.length === 0
      ? [new TextEncoder().encode(CallResult.text(result))]
      : yield* Effect.forEach(blobs, ({ data }) =>
        Effect.mapError(Encoding.decodeBase64(data), () =>
          new Usage({ detail: "What the tool gave is no base64." })))
    yield* Effect.forEach(contents, (content, at) =>
      Effect.zipRight(
        Effect.mapError(fs.writeFile(nameOf(file, at), content), ({ message }) =>
          new Usage({ detail: `The result cannot be written: ${message}` })),
        screen.note(`wrote ${nameOf(file, at)} (${content.length} bytes)`)
      ))
  }).pipe(Effect.provide(NodeFileSystem.layer))

/** @internal */
export const run: Command.Program["run"] = (invocation) => {
  const { args: [ref = ""], shared, value } = invocation
  return Effect.flatMap(
    typed(invocation),
    ({ assignments, base }) =>
      Application.use(shared, (discovery) => choice(ref, discovery, shared), (application) =>
        Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const { server, tool } = yield* find(ref, application)
          const args = yield* Arguments.build(tool.inputSchema, assignments, base)
          const result = yield* application.runtime.callTool({ server, tool: tool.name }, args, {
            origin: "person",
            totalTimeout: shared.timeout,
            idleTimeout: shared.timeout,
            outputMismatch: "keep",
            onProgress: (progress) => screen.progress(progressLine(progress))
          })
          screen.progress(undefined)
          const out = value("out")
          if (out !== undefined && !result.isError) yield* write(out, result)
          if (shared.json) {
            yield* screen.json(Called, {
              server,
              tool: tool.name,
              isError: result.isError,
              content: result.raw["content"] ?? [],
              structuredContent: result.structuredContent ?? null,
              milliseconds: Math.round(Duration.toMillis(result.metadata.duration)),
              attempts: result.metadata.attempts
            })
          } else if (result.isError) {
            yield* screen.err(
              [{ text: "error: ", style: "bad" }, `${server}/${tool.name} says:`],
              ...CallResult.lines(result)
            )
          } else if (out === undefined) yield* screen.out(...CallResult.lines(result))
          return result.isError ? ExitCode.tool : ExitCode.ok
        }))
  )
}
