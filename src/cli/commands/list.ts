/** `mcp-runtime list`: lists servers. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as IssueShape from "../issueShape.ts"
import * as Layout from "../layout.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"

/** The document of `list --json`. */
export const Servers = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    name: Schema.String,
    transport: orNull(Schema.String),
    scope: Schema.String,
    state: View.State,
    /** Why it is blocked, disabled or invalid. */
    why: orNull(Schema.String),
    /** The end of a pause that the server requested (Retry-After), in milliseconds since 1970. */
    pausedUntil: orNull(Schema.Number),
    tools: orNull(Schema.Number),
    era: orNull(Schema.String),
    protocolVersion: orNull(Schema.String),
    from: Schema.Struct({
      provider: Schema.String,
      path: orNull(Schema.String),
      line: orNull(Schema.Number)
    }),
    error: orNull(View.Failure),
    /** The issues of its entry. */
    issues: Schema.Array(IssueShape.Issue)
  }))
})

const documentOf = (
  { document, found }: ReturnType<typeof View.all>[number],
  { issues }: ConfigDiscovery.Discovery
) => ({
  ...document,
  transport: View.transportOf(found),
  scope: found.provenance.scope,
  from: found.provenance,
  issues: IssueShape.ofServer(found, issues)
})

type Row = ReturnType<typeof documentOf>

const columnsOf = (near: (path: string) => string): ReadonlyArray<Layout.Column<Row>> => [
  { title: "SERVER", cell: ({ name }) => ({ text: name, style: "strong" }) },
  { title: "TRANSPORT", rank: 3, cell: ({ transport = "-" }) => transport },
  { title: "STATE", cell: ({ pausedUntil, state }) => View.span(state, pausedUntil) },
  { title: "TOOLS", rank: 1, cell: ({ tools = "-" }) => String(tools) },
  { title: "ERA", rank: 4, cell: ({ era = "-" }) => era },
  { title: "SCOPE", rank: 2, cell: ({ scope }) => scope },
  {
    title: "FROM",
    cell: ({ from: { line, path, provider } }) =>
      path === undefined ? provider : `${near(path)}${line === undefined ? "" : `:${line}`}`
  }
]

export const command: Command.Command = {
  description: [
    "Starts every approved server, lists its tools, and stops it again.",
    "Exits with 4 if a server is unavailable, unless it is disabled, not approved or not logged in."
  ],
  args: [],
  options: [View.allowMissing],
  examples: [
    ["list", "List the servers of the workspace and the user"],
    ["list --import cursor --json", "Include Cursor's servers, as JSON"]
  ],
  run: ({ isSet, shared }) =>
    Application.use(
      shared,
      () => Effect.succeed({ once: true }),
      ({ discovery, listed, near }) =>
        Effect.gen(function*() {
          const screen = yield* Screen.Screen
          const all = yield* listed
          const servers = View.all(all.servers, all.tools.missing, discovery, shared.servers)
          const documents = servers.map((server) => documentOf(server, discovery))
          if (shared.json) yield* screen.json(Servers, { servers: documents })
          else if (servers.length === 0) yield* NoServers.note
          else {
            yield* screen.out(...Layout.table(columnsOf(near), documents, screen.columns))
            yield* screen.note(...servers.flatMap(({ view }) => View.lines(view, screen.columns)))
          }
          return yield* View.conclude(servers.map(({ view }) => view), isSet)
        })
    )
}
