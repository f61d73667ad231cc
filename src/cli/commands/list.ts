/** `mcp-runtime list`: the servers. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as McpError from "../../McpError.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as IssueShape from "../issueShape.ts"
import * as NoServers from "../noServers.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"
import { spanOf, State, stateOf } from "../serverState.ts"
import * as Table from "../table.ts"

/** The document of `list --json`. */
export const Servers = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    name: Schema.String,
    transport: Schema.NullOr(Schema.String),
    scope: Schema.String,
    state: State,
    /** Why it is blocked, disabled or invalid. */
    why: Schema.NullOr(Schema.String),
    /** The end of a pause that the server asks for (Retry-After), in milliseconds since 1970. */
    pausedUntil: Schema.NullOr(Schema.Number),
    tools: Schema.NullOr(Schema.Number),
    era: Schema.NullOr(Schema.String),
    protocolVersion: Schema.NullOr(Schema.String),
    from: Schema.Struct({
      provider: Schema.String,
      path: Schema.NullOr(Schema.String),
      line: Schema.NullOr(Schema.Number)
    }),
    error: Schema.NullOr(Schema.Struct({ tag: Schema.String, message: Schema.String })),
    /** The issues of its entry. */
    issues: Schema.Array(IssueShape.Issue)
  }))
})

type Server = typeof Servers.Type["servers"][number]

const serverOf = (
  found: ConfigDiscovery.Found,
  info: McpRuntime.ServerInfo | undefined,
  { issues }: ConfigDiscovery.Discovery
): Server => {
  const { state, why } = stateOf(found, info)
  const { line, path, provider, scope } = found.provenance
  return {
    name: found.name,
    transport: found.config?.transport ?? found.entry?.transport ?? null,
    scope,
    state,
    why: why ?? null,
    pausedUntil: info?.pausedUntil ?? null,
    tools: info?.toolCount ?? null,
    era: info?.era ?? null,
    protocolVersion: info?.protocolVersion ?? null,
    from: { provider, path: path ?? null, line: line ?? null },
    error: info?.error === undefined ? null : { tag: McpError.label(info.error), message: info.error.message },
    issues: IssueShape.ofServer(found, issues).map(IssueShape.of)
  }
}

const origin = (
  { provenance: { line, path, provider } }: ConfigDiscovery.Found,
  near: (path: string) => string
): string => path === undefined ? provider : `${near(path)}${line === undefined ? "" : `:${line}`}`

const rows = (
  servers: ReadonlyArray<Server>,
  found: ReadonlyArray<ConfigDiscovery.Found>,
  near: (path: string) => string
) =>
  servers.map((server, at): ReadonlyArray<Table.Cell> => [
    { text: server.name, style: "strong" },
    server.transport ?? "-",
    spanOf(server),
    server.tools === null ? "-" : String(server.tools),
    server.era ?? "-",
    server.scope,
    origin(found[at]!, near)
  ])

const header: ReadonlyArray<Table.Column> = [
  { title: "SERVER" },
  { title: "TRANSPORT", rank: 3 },
  { title: "STATE" },
  { title: "TOOLS", rank: 1 },
  { title: "ERA", rank: 4 },
  { title: "SCOPE", rank: 2 },
  { title: "FROM" }
]

const run: Command.Command["run"] = ({ shared }) =>
  Application.use(shared, () => Effect.succeed({}), ({ discovery, near, settled }) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const infos = new Map((yield* settled).map((info) => [info.name, info]))
      const found = discovery.servers.filter(({ name }) => shared.servers.length === 0 || shared.servers.includes(name))
      const servers = found.map((one) => serverOf(one, infos.get(one.name), discovery))
      if (shared.json) yield* screen.json(Servers, { servers })
      else if (servers.length === 0) {
        yield* NoServers.note
      } else {
        yield* screen.out(...Table.narrowed(header, rows(servers, found, near), screen.columns))
        yield* Offered.troubles(servers.flatMap(({ name }) => infos.get(name) ?? []))
        yield* screen.note(...IssueShape.unsetNotes(Array.from(infos.values()), discovery))
        const waiting = servers.filter(({ why }) => why === "untrusted").length
        if (waiting > 0) yield* screen.note(`${waiting} not started: agree to them with mcp-runtime approve.`)
      }
      return ExitCode.ok
    }))

export const command: Command.Command = {
  description: [
    "Every server that may be started is started, asked for its tools, and ended again. What nobody has agreed to is "
    + "shown, and not started."
  ],
  args: [],
  options: [],
  examples: [
    ["list", "The servers of this workspace and of this user."],
    ["list --import cursor --json", "Those of Cursor too, for a program to read."]
  ],
  run
}
