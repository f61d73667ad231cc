// @effect-diagnostics strictEffectProvide:off -- the terminal of the wizard is needed by nothing else
// @effect-diagnostics nodeBuiltinImport:off -- it asks on the standard error, so that results alone are on the other
/** Asks for a tool and its arguments step by step, and says what one would have typed. */
import * as Prompt from "@effect/cli/Prompt"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Terminal from "@effect/platform/Terminal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import { isCredential } from "../text/credentialName.ts"
import { fitted } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as Form from "./form.ts"
import * as Offered from "./offered.ts"
import * as Redrawing from "./redrawing.ts"
import * as Screen from "./Screen.ts"
import * as Arguments from "./toolArguments.ts"
import { tool as find } from "./toolFound.ts"

const onStderr = Layer.map(NodeTerminal.layer, (context) => {
  const terminal = Context.get(context, Terminal.Terminal)
  return Context.make(Terminal.Terminal, {
    ...terminal,
    columns: Effect.sync(() => process.stderr.columns),
    rows: Effect.sync(() => process.stderr.rows),
    display: (text) => Effect.async<void>((resume) => void process.stderr.write(text, () => resume(Effect.void)))
  })
})

/** Where it asks: the terminal of this process, unless another is provided. */
export class Keys extends Context.Reference<Keys>()("effect-mcp-runtime/cli/wizard/Keys", {
  defaultValue: (): { readonly terminal: Layer.Layer<Terminal.Terminal> } => ({ terminal: onStderr })
}) {}

export interface Chosen {
  readonly found: McpRuntime.RuntimeTool
  readonly args: JsonRpc.JsonObject
  /** Whether it is to be called now. */
  readonly isWanted: boolean
}

/** One row, whatever a server has written: the wizard counts rows to draw again. */
const row = (text: string, columns: number): string =>
  fitted(UntrustedText.escape(text.trim().split(/\r?\n/, 1)[0]!), Math.max(10, columns))

const few = 12

const among = <A>(
  message: string,
  columns: number,
  choices: ReadonlyArray<{ readonly title: string; readonly about?: string | undefined; readonly value: A }>
) =>
  Prompt.select({
    message,
    maxPerPage: few,
    choices: choices.map(({ about, title, value }) => {
      const name = row(title, columns - 8)
      const room = columns - 10 - name.length
      return { title: name, value, ...(about === undefined || room < 12 ? {} : { description: row(about, room) }) }
    })
  })

interface Given {
  readonly value: JsonRpc.Json | undefined
  readonly isSecret: boolean
}

const left = "(leave out)"

const asked = (root: JsonRpc.JsonObject, field: Form.Field, columns: number) => {
  const { about, choices, initial, isList, kind, label, name, required } = field
  const isSecret = isCredential(name)
  const message = row(
    `${label} (${isList && choices.length === 0 ? `${kind}, with commas` : kind})${
      about === undefined ? "" : `: ${about}`
    }`,
    columns - 24
  )
  const nothing = required ? [] : [{ title: left, value: undefined }]
  const plain = (value: JsonRpc.Json | undefined): Given => ({ value, isSecret: false })
  if (choices.length > 0 && isList) {
    return Prompt.map(
      Prompt.multiSelect({
        message,
        maxPerPage: few,
        min: required ? 1 : 0,
        choices: choices.map(({ title, value }) => ({ title: row(title, columns - 8), value }))
      }),
      (values) => plain(values.length === 0 ? undefined : values)
    )
  }
  if (choices.length > 0) return Prompt.map(among(message, columns, [...choices, ...nothing]), plain)
  if (kind === "true or false") {
    const both = [{ title: "true", value: true }, { title: "false", value: false }]
    return Prompt.map(among<boolean | undefined>(message, columns, [...both, ...nothing]), plain)
  }
  const validate = (text: string): Effect.Effect<string, string> =>
    text === ""
      ? required && initial === undefined ? Effect.fail("It is needed.") : Effect.succeed(text)
      : Effect.flatMap(Form.read(root, field, text), (read) =>
        Either.isRight(read) ? Effect.succeed(text) : Effect.fail(row(read.left, columns - 4)))
  if (isSecret) {
    return Prompt.map(Prompt.password({ message, validate }), (text): Given => {
      const value = Redacted.value(text)
      return { value: value === "" ? undefined : value, isSecret: true }
    })
  }
  const preset = initial === undefined || initial === null
    ? {}
    : { default: UntrustedText.escape(Form.textOf(initial)) }
  return Prompt.map(Prompt.text({ message, validate, ...preset }), (text) => plain(text === "" ? undefined : text))
}

/** What was typed is a text until the schema says what it is. */
const valueOf = (root: JsonRpc.JsonObject, field: Form.Field, { value }: Given) =>
  typeof value !== "string" || field.choices.length > 0
    ? Effect.succeed(value)
    : Effect.map(Form.read(root, field, value), Either.getOrElse((): JsonRpc.Json => value))

const toolOf = (
  ref: string | undefined,
  application: Application.Application,
  shared: Command.Shared,
  columns: number
) =>
  Effect.gen(function*() {
    if (ref !== undefined) return yield* find(ref, application, shared)
    const { missing, tools } = yield* Offered.asking(Effect.zipRight(application.settled, application.runtime.tools))
    yield* Offered.notes(missing)
    const servers = [...new Set(tools.map(({ serverName }) => serverName))]
    const [first] = servers
    if (first === undefined) {
      return yield* new McpError.NotFound({ server: "", kind: "tool", name: "(any)", suggestions: [] })
    }
    const server = servers.length === 1 ? first : yield* among(
      "Which server?",
      columns,
      servers.map((value) => {
        const count = tools.filter((one) => one.serverName === value).length
        return { title: value, value, about: `${count} ${count === 1 ? "tool" : "tools"}` }
      })
    )
    const own = tools.filter((one) => one.serverName === server)
    return yield* among(
      "Which tool?",
      columns,
      own.map((value) => ({ title: value.tool.name, value, about: value.description ?? value.tool.title }))
    )
  })

/** What was asked last stays, with the cursor below it. */
const screenIsClean = Effect.flatMap(Terminal.Terminal, ({ display }) => Effect.ignore(display(`${Redrawing.show}\n`)))

/** Ctrl-C and Ctrl-D end it, and the program with it. */
export const run = (
  ref: string | undefined,
  application: Application.Application,
  shared: Command.Shared
): Effect.Effect<Chosen, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const columns = yield* Effect.flatMap(Terminal.Terminal, (terminal) => terminal.columns)
    const found = yield* toolOf(ref, application, shared, columns)
    const { description, inputSchema, serverName, tool: { name } } = found
    if (description !== undefined) yield* screen.err(...description.trim().split(/\r?\n/).slice(0, few))
    const fields = Form.fields(inputSchema)
    const optional = fields.filter(({ required }) => !required)
    const wanted = optional.length <= 3 ? optional : yield* Prompt.multiSelect({
      message: "Which of the others do you want to give?",
      maxPerPage: few,
      choices: optional.map((value) => ({ title: row(`${value.label} (${value.kind})`, columns - 8), value }))
    })
    const entries: Array<readonly [name: string, value: JsonRpc.Json]> = []
    const secrets = new Set<string>()
    for (const field of fields) {
      if (!field.required && !wanted.includes(field)) continue
      const given = yield* asked(inputSchema, field, columns)
      const value = yield* valueOf(inputSchema, field, given)
      if (value === undefined) continue
      entries.push([field.name, value])
      if (given.isSecret) secrets.add(field.name)
    }
    const line = Arguments.commandLine({ server: serverName, tool: name }, inputSchema, entries, secrets, shared)
    yield* screen.err([{ text: "The same without questions:", style: "weak" }], [{ text: line, style: "strong" }])
    const isWanted = yield* Prompt.confirm({ message: "Call it now?", initial: true })
    return { found, args: Object.fromEntries(entries), isWanted }
  }).pipe(
    Effect.catchTag("QuitException", () => Effect.zipRight(screenIsClean, Effect.interrupt)),
    Effect.provide(
      Layer.mergeAll(
        Layer.unwrapEffect(Effect.map(Keys, ({ terminal }) => terminal)),
        NodeFileSystem.layer,
        NodePath.layer
      )
    )
  )
