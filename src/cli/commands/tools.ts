/** `mcp-runtime tools`: what can be called. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpRuntime from "../../McpRuntime.ts"
import type * as ToolPins from "../../tools/ToolPins.ts"
import * as ToolSearch from "../../tools/ToolSearch.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as IssueShape from "../issueShape.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import * as Table from "../table.ts"
import { reasonOf, usable } from "../toolFound.ts"
import { format } from "../toolRef.ts"

/** A tool in the documents of `tools --json` and `show --json`. */
export const ToolShape = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** What a model calls it by. */
  name: Schema.String,
  title: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  inputSchema: Schema.Unknown,
  outputSchema: Schema.Unknown,
  annotations: Schema.Struct({
    readOnly: Schema.NullOr(Schema.Boolean),
    destructive: Schema.NullOr(Schema.Boolean),
    idempotent: Schema.NullOr(Schema.Boolean),
    openWorld: Schema.NullOr(Schema.Boolean)
  }),
  /** Whether somebody has to agree before a model may call it. */
  requiresApproval: Schema.Boolean
})

/** The document of `tools --json`. */
export const Tools = Schema.Struct({
  tools: Schema.Array(ToolShape),
  /** The servers whose tools are not there. */
  missing: Schema.Array(Schema.Struct({ server: Schema.String, tag: Schema.String, message: Schema.String })),
  /** Tools that cannot be offered, that have changed, or that a rule denies. */
  withheld: Schema.Array(Schema.Struct({ server: Schema.String, tool: Schema.String, why: Schema.String }))
})

export const shapeOf = (
  { description, inputSchema, name, requiresApproval, serverName, tool }: McpRuntime.RuntimeTool
): typeof ToolShape.Type => {
  const { annotations, outputSchema, title } = tool
  return {
    server: serverName,
    tool: tool.name,
    name,
    title: title ?? null,
    description: description ?? null,
    inputSchema,
    outputSchema: outputSchema ?? null,
    annotations: {
      readOnly: annotations.readOnlyHint ?? null,
      destructive: annotations.destructiveHint ?? null,
      idempotent: annotations.idempotentHint ?? null,
      openWorld: annotations.openWorldHint ?? null
    },
    requiresApproval
  }
}

const withheld = ({ denied, quarantined, rejected }: McpRuntime.Tools): typeof Tools.Type["withheld"] => [
  ...rejected.map(({ name, reason, server }) => ({ server, tool: name, why: reason })),
  ...quarantined.map(({ server, tool, why }) => ({ server, tool, why })),
  ...denied.map(({ rule, server, tool }) => ({
    server,
    tool,
    why: rule === undefined ? "denied" : `denied by ${rule}`
  }))
]

/** Why a tool is quarantined that may not have changed. */
const quarantines: ReadonlyMap<string, string> = new Map<ToolPins.Why, string>([
  ["unreadable", "the decisions on the tools of its server cannot be read"],
  ["crowded", "its server has more tools than are pinned"]
])

/** A list has room for what a tool does, and not for how. */
const firstLine = (text: string): string => text.trim().split(/\r?\n/, 1)[0]!

const found = (tools: ReadonlyArray<McpRuntime.RuntimeTool>, words: string | undefined) =>
  Effect.gen(function*() {
    if (words === undefined) return tools
    const { index, search } = yield* ToolSearch.make()
    yield* index(tools.map(({ name, serverName, tool }) => ({ name, server: serverName, tool })))
    const byName = new Map(tools.map((one) => [one.name, one]))
    return (yield* search(words, { limit: 20 })).flatMap(({ name }) => byName.get(name) ?? [])
  })

const run: Command.Command["run"] = ({ args, shared, value }) =>
  Application.use(
    shared,
    (discovery) =>
      Effect.gen(function*() {
        const names = args[0] === undefined ? shared.servers : [args[0]]
        const chosen = yield* Application.named(names, discovery)
        for (const one of chosen) yield* usable(one, discovery)
        return { servers: names.length === 0 ? undefined : names, consent: true }
      }),
    ({ discovery, runtime, settled }) =>
      Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const listed = yield* Offered.asking(Effect.zipRight(settled, runtime.tools))
        const [only] = listed.missing
        // whoever asks one server wants to know why it does not answer
        if (args[0] !== undefined && only !== undefined) return yield* reasonOf(only)
        const tools = yield* found(listed.tools, value("search"))
        if (shared.json) {
          yield* screen.json(Tools, {
            tools: tools.map(shapeOf),
            missing: listed.missing.map((one) => {
              const { _tag, message } = reasonOf(one)
              return { server: one.server, tag: _tag, message }
            }),
            withheld: withheld(listed)
          })
          return ExitCode.ok
        }
        const rows = tools.map(({ description, serverName, tool }): ReadonlyArray<Table.Cell> => [
          { text: format({ server: serverName, tool: tool.name }), style: "strong" },
          firstLine(description ?? tool.title ?? "")
        ])
        if (rows.length > 0) yield* screen.out(...Table.lines(["TOOL", "ABOUT"], rows, screen.columns))
        else yield* NoServers.or("No tools were found.", discovery)
        yield* Offered.notes(listed.missing)
        const absent = new Set(listed.missing.map(({ server }) => server))
        const present = (yield* runtime.servers.list).filter(({ name }) => !absent.has(name))
        yield* screen.note(...IssueShape.unsetNotes(present, discovery))
        const withheldTools = withheld(listed)
        for (const { server, tool, why } of withheldTools) {
          yield* screen.note(`withheld: ${format({ server, tool })} (${quarantines.get(why) ?? why})`)
        }
        const unpinned = listed.quarantined.find(({ why }) => why !== "changed")
        if (unpinned !== undefined) {
          yield* screen.note(`Look at each one and approve it: mcp-runtime approve --tool ${format(unpinned)}`)
        }
        return ExitCode.ok
      })
  )

export const command: Command.Command = {
  args: [{ name: "server", about: "Only the tools of this server.", required: false }],
  options: [{ name: "search", value: "WORDS", about: "Only tools that fit these words, the best first." }],
  examples: [
    ["tools", "Everything that can be called."],
    ["tools github --search \"open a pull request\"", "What one server has for a task."]
  ],
  run
}
