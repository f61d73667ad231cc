// @effect-diagnostics strictEffectProvide:off -- files are needed by few commands, and provided where they are
/** `mcp-runtime call`: calls a tool. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import type * as ToolResult from "../../tools/ToolResult.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Application from "../Application.ts"
import * as Calling from "../calling.ts"
import * as CallResult from "../callResult.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as OutFile from "../outFile.ts"
import * as Screen from "../Screen.ts"
import * as Arguments from "../toolArguments.ts"
import { choice, tool as find } from "../toolFound.ts"
import { Usage } from "../Usage.ts"

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

const write = (file: string, result: ToolResult.ToolResult) => {
  const blobs = CallResult.blobs(result)
  const contents = blobs.length === 0
    ? Effect.succeed([new TextEncoder().encode(CallResult.text(result))])
    : Effect.forEach(
      blobs,
      ({ data }) =>
        Effect.mapError(Encoding.decodeBase64(data), () => new Usage({ detail: "What the tool gave is no base64." }))
    )
  return Effect.flatMap(contents, (contents) => OutFile.write(file, contents))
}

/** What a tool asks while it runs is for whoever has called it. */
const answering = (ref: string, shared: Command.Shared) => (discovery: ConfigDiscovery.Discovery) =>
  Effect.map(choice(ref, discovery, shared), (one): Application.Choice => ({ ...one, answers: true }))

const done = (
  application: Application.Application,
  found: McpRuntime.RuntimeTool,
  args: JsonRpc.JsonObject,
  { shared, value }: Command.Invocation
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const result = yield* Calling.perform(application, found, args, shared)
    const out = value("out")
    if (out !== undefined && !result.isError) yield* write(out, result)
    if (shared.json) yield* screen.json(Calling.Called, Calling.documentOf(result))
    else if (result.isError || out === undefined) yield* Calling.show(result)
    return Calling.exitCodeOf(result)
  })

/** Arguments that were typed would be asked for once more. */
const guided: Command.Command["run"] = (invocation) =>
  Effect.gen(function*() {
    const { args: [ref, ...words], shared, value } = invocation
    const screen = yield* Screen.Screen
    const { application: open } = yield* Application.Open
    if (!screen.isInteractive || open !== undefined) {
      return yield* new Usage({
        detail: open === undefined ? "Nobody is at a terminal to be asked." : "It asks on a terminal of its own.",
        next: open === undefined ? "Write the tool and its arguments; mcp-runtime show tells what it takes." : undefined
      })
    }
    if (words.length > 0 || value("args") !== undefined) {
      return yield* new Usage({ detail: "The wizard asks for the arguments.", next: "Write them, or --wizard." })
    }
    const choose = (discovery: ConfigDiscovery.Discovery): Effect.Effect<Application.Choice, Command.Failure> =>
      ref === undefined
        ? Effect.succeed({ answers: true, consent: shared.servers.length > 0 })
        : answering(ref, shared)(discovery)
    return yield* Application.use(shared, choose, (application) =>
      Effect.gen(function*() {
        const wizard = yield* Effect.promise(() => import("../wizard.ts"))
        const { args, found, isWanted } = yield* wizard.run(ref, application, shared)
        return isWanted ? yield* done(application, found, args, invocation) : ExitCode.ok
      }))
  })

const run: Command.Command["run"] = (invocation) => {
  const { args: [ref = ""], isSet, shared } = invocation
  return isSet("wizard") ? guided(invocation) : Effect.flatMap(
    typed(invocation),
    ({ assignments, base }) =>
      Application.use(shared, answering(ref, shared), (application) =>
        Effect.gen(function*() {
          const found = yield* find(ref, application, shared)
          const args = yield* Arguments.build(found.inputSchema, assignments, base)
          return yield* done(application, found, args, invocation)
        }))
  )
}

export const command: Command.Command = {
  description: [
    "An argument is key=value, read as the schema of the tool says: a number, a boolean, one of a list, a text. "
    + "key:=json is any JSON, key=@file the text of a file, key:=@file the JSON in it, and @@ is an @. a.b=1 is within "
    + "a; a key given more than once is a list. A dash reads a JSON object from the standard input.",
    "Only the server of the tool is started, if its name is given. Ctrl-C cancels the call at the server."
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
      about: "key=value, key:=json, key=@file, or - for the standard input.",
      required: false,
      repeated: true
    }
  ],
  options: [
    {
      name: "args",
      value: "JSON",
      about: "All arguments as one JSON object, sent as it is; key=value is put over it."
    },
    { name: "out", value: "FILE", about: "Write the text, or the images and other files, of the result here." },
    { name: "wizard", about: "Ask for the tool and its arguments, and tell what one would type for that." }
  ],
  examples: [
    ["call github/create_issue title=Bug labels=a labels=b", "A text and a list of texts."],
    ["call db/query --args '{\"sql\":\"select 1\"}' --json", "Arguments and result as JSON."],
    ["call --wizard", "Step by step, on a terminal."],
    ["call files/write path=a.txt content=@a.txt --timeout 10s", "The content of a file, and no more than 10 s."]
  ],
  run
}
