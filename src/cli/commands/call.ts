// @effect-diagnostics strictEffectProvide:off -- few commands need files
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
  /** As sent by the server. */
  content: Schema.Unknown,
  structuredContent: Schema.Unknown,
  milliseconds: Schema.Number,
  attempts: Schema.Number
})

/** Reads the file of `key=@file`. */
const fileText = (path: string): Effect.Effect<string, Usage> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(path)
    return size > Screen.maxInput ? yield* Effect.fail("too large") : yield* fs.readFileString(path)
  }).pipe(
    Effect.catchTags({
      BadArgument: () => Effect.fail("invalid path"),
      SystemError: ({ reason }) => Effect.fail(reason === "NotFound" ? "no such file" : reason)
    }),
    Effect.catchAll((why) => usage(`cannot read the file "${path}": ${why}`, "If the value starts with @, write @@.")),
    Effect.provide(NodeFileSystem.layer)
  )

/** The JSON object of `--args` or stdin. */
const whole = (given: string | undefined, isPiped: boolean) =>
  Effect.gen(function*() {
    if (!isPiped) return given === undefined ? undefined : yield* Arguments.object(given, "--args")
    if (given !== undefined) {
      return yield* usage("--args and - cannot be used together")
    }
    const input = yield* Screen.piped
    return yield* Arguments.object(input.trim() === "" ? "{}" : input, "stdin")
  })

type Build = (schema: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Usage>

/** Parses all arguments before a server is started, except `--key value`, which needs the schema. */
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
      // the error of a tool is not a result
      yield* screen.err(
        [{ text: "error: ", style: "bad" }, `${metadata.serverName}/${metadata.toolName} failed:`],
        ...CallResult.lines(parts, format)
      )
    } else if (out === undefined) yield* screen.out(...CallResult.lines(parts, format))
    return isError ? ExitCode.tool : ExitCode.ok
  })

/** `--wizard` */
const guided: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [ref, ...words], shared, value } = invocation
    if ((yield* Application.Open).application !== undefined) return yield* usage("--wizard does not work in the repl")
    if (!(yield* Screen.Screen).isInteractive) {
      const next = "Pass the tool and its arguments; `mcp-runtime show TOOL` lists them."
      return yield* usage("--wizard needs a terminal", next)
    }
    if (words.length > 0 || value("args") !== undefined) {
      return yield* usage("--wizard cannot be used with tool arguments")
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
    "key=value converts the value to the type in the tool's schema. key:=json takes any JSON, key=@file the text of a "
    + "file and key:=@file the JSON in a file; write @@ for a leading @. a.b=1 sets field b of object a, and a repeated key "
    + "makes a list. - reads a JSON object from stdin.",
    "--key value is the same as key=value if the schema has that key and this command has no such option. -- ends the "
    + "options.",
    "SERVER/TOOL starts only that server. Ctrl-C cancels the call at the server."
  ],
  args: [
    {
      name: "tool",
      about: "SERVER/TOOL, or TOOL if only one server has it",
      required: true,
      unless: "wizard"
    },
    {
      name: "argument",
      about: "key=value, --key value, key:=json, key=@file, or - for stdin",
      required: false,
      repeated: true,
      takesOptions: true
    }
  ],
  options: [
    {
      name: "args",
      value: "JSON",
      about: "Arguments as a JSON object, sent without validation; key=value overrides it"
    },
    { name: "out", value: "FILE", about: "Write the images and files of the result here, or its text if it has none" },
    CallResult.output,
    { name: "wizard", about: "Prompt for the tool and its arguments, and print the resulting command line" }
  ],
  examples: [
    ["call github/create_issue title=Bug labels=a labels=b", "Pass a string and a list"],
    ["call github/create_issue --title Bug --output markdown", "Pass an argument as an option, and print Markdown"],
    ["call db/query --args '{\"sql\":\"select 1\"}' --json", "Pass arguments and print the result as JSON"],
    ["call files/write path=a.txt content=@a.txt --timeout 10s", "Pass the content of a file, with a 10 s limit"]
  ],
  run
}
