// @effect-diagnostics strictEffectProvide:off -- files are needed by few commands, and provided where they are
/** `mcp-runtime call`: calls a tool. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpClient from "../../client/McpClient.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Application from "../Application.ts"
import * as CallResult from "../callResult.ts"
import type * as Command from "../Command.ts"
import { type Usage, usage } from "../Command.ts"
import { sharedOptions } from "../commandLine.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import * as Arguments from "../toolArguments.ts"

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

/** The text of a file that an argument names. */
const fileText = (path: string): Effect.Effect<string, Usage> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(path)
    return size > Screen.maxInput ? yield* Effect.fail("it is too large") : yield* fs.readFileString(path)
  }).pipe(
    Effect.catchTags({
      BadArgument: () => Effect.fail("it is no path"),
      SystemError: ({ reason }) => Effect.fail(reason === "NotFound" ? "there is no such file" : reason)
    }),
    Effect.catchAll((why) =>
      usage(`The file "${path}" cannot be read: ${why}.`, "A value that begins with @ is written @@.")
    ),
    Effect.provide(NodeFileSystem.layer)
  )

/** The arguments as one object, from `--args` or the standard input. */
const whole = (given: string | undefined, isPiped: boolean) =>
  Effect.gen(function*() {
    if (!isPiped) return given === undefined ? undefined : yield* Arguments.object(given, "--args")
    if (given !== undefined) {
      return yield* usage("Arguments are given with --args and on the standard input.", "Use one of them.")
    }
    const input = yield* Screen.piped
    return yield* Arguments.object(input.trim() === "" ? "{}" : input, "The standard input")
  })

type Build = (schema: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Usage>

/** Reads all arguments before a server is started, but for `--key value`, which only the schema can tell from options. */
const typed = ({ args, unknown, value }: Command.Invocation): Effect.Effect<Build, Usage, Screen.Screen> =>
  Effect.gen(function*() {
    const options = [...command.options, ...sharedOptions]
    const [, ...words] = args
    const toolOptions = new Set(Array.from(unknown, (at) => at - 1))
    const read = (schema: JsonRpc.JsonObject) =>
      Effect.flatMap(
        Arguments.readAll(words, toolOptions, schema, options),
        Effect.forEach((one) =>
          one.isFile ? Effect.map(fileText(one.value), (value) => ({ ...one, value })) : Effect.succeed(one)
        )
      )
    const base = yield* whole(value("args"), words.includes("-"))
    const early = unknown.size > 0 ? undefined : yield* read({})
    return (schema) =>
      Effect.flatMap(early ? Effect.succeed(early) : read(schema), (all) => Arguments.build(schema, all, base))
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

const perform = (
  { runtime }: Application.Application,
  { serverName: server, tool }: McpRuntime.RuntimeTool,
  args: JsonRpc.JsonObject,
  { shared: { json, timeout }, value }: Command.Invocation
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const result = yield* runtime.callTool({ server, tool: tool.name }, args, {
      origin: "person",
      totalTimeout: timeout,
      idleTimeout: timeout,
      outputMismatch: "keep",
      onProgress: (progress) => screen.progress(progressLine(progress))
    }).pipe(Effect.ensuring(Effect.sync(() => screen.progress(undefined))))
    const { isError, metadata, raw, structuredContent } = result
    const parts = CallResult.ofResult(result)
    const [format, out] = [value("output"), value("out")]
    if (out !== undefined && !isError) yield* CallResult.write(out, yield* CallResult.files(parts))
    if (json) {
      yield* screen.json(Called, {
        server: metadata.serverName,
        tool: metadata.toolName,
        isError,
        content: raw["content"] ?? [],
        structuredContent: structuredContent ?? null,
        milliseconds: Math.round(Duration.toMillis(metadata.duration)),
        attempts: metadata.attempts
      })
    } else if (format === "raw") yield* screen.jsonLine(Schema.Unknown, raw)
    else if (isError) {
      // the error text of a tool is no output of the program
      yield* screen.err(
        [{ text: "error: ", style: "bad" }, `${metadata.serverName}/${metadata.toolName} says:`],
        ...CallResult.lines(parts, format)
      )
    } else if (out === undefined) yield* screen.out(...CallResult.lines(parts, format))
    return isError ? ExitCode.tool : ExitCode.ok
  })

/** Asks for the tool and its arguments, on a terminal of its own. */
const guided: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [ref, ...words], shared, value } = invocation
    if ((yield* Application.Open).application !== undefined) return yield* usage("It asks on a terminal of its own.")
    if (!(yield* Screen.Screen).isInteractive) {
      const next = "Write the tool and its arguments; mcp-runtime show tells what it takes."
      return yield* usage("There is no terminal to ask at.", next)
    }
    if (words.length > 0 || value("args") !== undefined) {
      return yield* usage("The wizard asks for the arguments.", "Write them, or --wizard.")
    }
    return yield* Application.use(shared, Offered.choiceOf(ref ?? "", shared, { answers: true }), (application) =>
      Effect.gen(function*() {
        const wizard = yield* Effect.promise(() =>
          import("../wizard.ts")
        )
        const { args, found, isWanted } = yield* wizard.run(ref, application, shared)
        return isWanted ? yield* perform(application, found, args, invocation) : ExitCode.ok
      }))
  })

const run: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [ref = ""], isSet, shared } = invocation
    yield* CallResult.checkFormat(invocation)
    if (isSet("wizard")) return yield* guided(invocation)
    const build = yield* typed(invocation)
    return yield* Application.use(shared, Offered.choiceOf(ref, shared, { answers: true }), (application) =>
      Effect.gen(function*() {
        const found = yield* Offered.tool(ref, application)
        return yield* perform(application, found, yield* build(found.inputSchema), invocation)
      }))
  })

export const command: Command.Command = {
  description: [
    "An argument key=value is converted to the type in the schema of the tool. key:=json is any JSON, key=@file the text "
    + "of a file, key:=@file the JSON in it, and @@ stands for an @. a.b=1 sets a field of a; a repeated key makes a list. "
    + "A dash reads a JSON object from the standard input.",
    "--key value is the same as key=value for a key of the schema; an option of this command with that name wins. Options "
    + "end at --.",
    "If the server is named, only that one is started. Ctrl-C cancels the call at the server."
  ],
  args: [
    {
      name: "tool",
      about: "server/tool, or the tool alone where only one server has it.",
      required: true,
      unless: "wizard"
    },
    {
      name: "argument",
      about: "key=value, --key value, key:=json, key=@file, or - for the standard input.",
      required: false,
      repeated: true,
      takesOptions: true
    }
  ],
  options: [
    {
      name: "args",
      value: "JSON",
      about: "All arguments as one JSON object, which is not checked; key=value overrides it."
    },
    { name: "out", value: "FILE", about: "Write the images and other files of the result here, or else its text." },
    CallResult.output,
    { name: "wizard", about: "Ask for the tool and its arguments, and show the command line for them." }
  ],
  examples: [
    ["call github/create_issue title=Bug labels=a labels=b", "A text and a list of texts."],
    ["call github/create_issue --title Bug --output markdown", "The same with options, and the result as Markdown."],
    ["call db/query --args '{\"sql\":\"select 1\"}' --json", "Arguments and result as JSON."],
    ["call --wizard", "Step by step, on a terminal."],
    ["call files/write path=a.txt content=@a.txt --timeout 10s", "The content of a file, with a limit of 10 s."]
  ],
  run
}
