/** `mcp-runtime tools`: lists tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpRuntime from "../../McpRuntime.ts"
import type * as ToolPins from "../../tools/ToolPins.ts"
import * as ToolSearch from "../../tools/ToolSearch.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Layout from "../layout.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"

const hint = <Name extends string>(name: Name) => Schema.fromKey(orNull(Schema.Boolean), name)

/** A tool in the documents of `tools --json` and `show --json`. */
export const ToolShape = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** The name for a model. */
  name: Schema.String,
  title: orNull(Schema.String),
  description: orNull(Schema.String),
  inputSchema: Schema.Unknown,
  outputSchema: Schema.Unknown,
  annotations: Schema.Struct({
    readOnlyHint: hint("readOnly"),
    destructiveHint: hint("destructive"),
    idempotentHint: hint("idempotent"),
    openWorldHint: hint("openWorld")
  }),
  /** A person has to approve a call by a model. */
  requiresApproval: Schema.Boolean
})

/** The document of `tools --json`. */
export const Tools = Schema.Struct({
  tools: Schema.Array(ToolShape),
  /** The servers without tools. */
  missing: Offered.Missing,
  /** Tools that cannot be offered, that have changed, or that a rule denies. */
  withheld: Schema.Array(Schema.Struct({ server: Schema.String, tool: Schema.String, why: Schema.String }))
})

export const shapeOf = ({ serverName: server, tool, ...found }: McpRuntime.RuntimeTool): typeof ToolShape.Type => ({
  ...tool,
  ...found,
  server,
  tool: tool.name,
  outputSchema: tool.outputSchema ?? null
})

const withheldOf = ({ denied, quarantined, rejected }: McpRuntime.Tools): typeof Tools.Type["withheld"] => [
  ...rejected.map(({ name, reason, server }) => ({ server, tool: name, why: reason })),
  ...quarantined,
  ...denied.map(({ rule, server, tool }) => ({
    server,
    tool,
    why: rule === undefined ? "denied" : `denied by ${rule}`
  }))
]

/** Why a tool that may not have changed is quarantined. */
const quarantines: ReadonlyMap<string, string> = new Map<ToolPins.Why, string>([
  ["unreadable", "the approvals of its server cannot be read"],
  ["crowded", "its server has more tools than can be pinned"]
])

const matching = (tools: ReadonlyArray<McpRuntime.RuntimeTool>, words: string | undefined) =>
  Effect.gen(function*() {
    if (words === undefined) return tools
    const { index, search } = yield* ToolSearch.make()
    yield* index(tools.map(({ name, serverName, tool }) => ({ name, server: serverName, tool })))
    const byName = new Map(tools.map((one) => [one.name, one]))
    return (yield* search(words, { limit: 20 })).flatMap(({ name }) => byName.get(name) ?? [])
  })

const withheldLines = (tools: McpRuntime.Tools): ReadonlyArray<string> => {
  const unpinned = tools.quarantined.find(({ why }) => why !== "changed")
  return [
    ...withheldOf(tools).map(({ server, tool, why }) =>
      `withheld: ${Offered.format({ server, tool })} (${quarantines.get(why) ?? why})`
    ),
    ...(unpinned === undefined
      ? []
      : [`Review and approve each one: mcp-runtime approve --tool ${Offered.format(unpinned)}`])
  ]
}

/** The name is never cut, because it is typed next. */
const columns: ReadonlyArray<Layout.Column<McpRuntime.RuntimeTool>> = [
  { title: "TOOL", cell: (found) => ({ text: Offered.format(Offered.identityOf(found)), style: "strong" }) },
  { title: "DESCRIPTION", cell: ({ description, tool: { title } }) => Offered.summary({ description, title }) }
]

export const command: Command.Command = {
  args: [{ name: "server", about: "List only the tools of this server", required: false }],
  options: [
    { name: "search", value: "WORDS", about: "Search names and descriptions; best match first" },
    View.allowMissing
  ],
  examples: [
    ["tools", "List all tools"],
    ["tools github --search \"open a pull request\"", "Search the tools of one server"]
  ],
  run: ({ args: [server], isSet, shared, value }) => {
    const names = server === undefined ? shared.servers : [server]
    return Application.use(
      shared,
      Offered.choice(server, shared, { once: true }),
      ({ discovery, listed }) =>
        Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const all = yield* listed
          const { missing } = all.tools
          // the error of the only server is the error of the command
          if (server !== undefined && missing[0] !== undefined && !isSet(View.allowMissing.name)) {
            return yield* View.reasonOf(missing[0])
          }
          const tools = yield* matching(all.tools.tools, value("search"))
          const views = View.all(all.servers, missing, discovery, names).map(({ view }) => view)
          if (shared.json) {
            yield* screen.json(Tools, {
              tools: tools.map(shapeOf),
              missing: Offered.missingOf(missing),
              withheld: withheldOf(all.tools)
            })
          } else {
            if (tools.length > 0) yield* screen.out(...Layout.table(columns, tools, screen.columns, { whole: true }))
            else yield* NoServers.or("No tools were found.", discovery)
            yield* screen.note(...views.flatMap((view) => View.lines(view, screen.columns, `${view.state}: `)))
            yield* screen.note(...withheldLines(all.tools))
          }
          return yield* View.conclude(views, isSet)
        })
    )
  }
}
