/**
 * The commands that are run within the repl: they are written as outside, and go over the connections that are open.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as ToolSearch from "../../tools/ToolSearch.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Call from "../commands/Call.ts"
import * as Read from "../commands/Read.ts"
import * as Tools from "../commands/Tools.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"
import * as Calling from "./calling.ts"
import { owners, Read as Contents } from "./read.ts"
import { State, stateOf, styleOf } from "./serverState.ts"
import * as Table from "./table.ts"
import * as Arguments from "./toolArguments.ts"
import * as ToolFound from "./toolFound.ts"
import { format } from "./toolRef.ts"
import { shapeOf, ToolShape } from "./tools.ts"

type Run = (
  application: Application.Application,
  invocation: Command.Invocation
) => Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen>

const found = (tools: ReadonlyArray<McpRuntime.RuntimeTool>, words: string | undefined) =>
  Effect.gen(function*() {
    if (words === undefined) return tools
    const { index, search } = yield* ToolSearch.make()
    yield* index(tools)
    const byName = new Map(tools.map((one) => [one.name, one]))
    return (yield* search(words, { limit: 20 })).flatMap(({ name }) => byName.get(name) ?? [])
  })

/**
 * The line of `tools` with `--json`.
 *
 * @internal
 */
export const Listed = Schema.Struct({ tools: Schema.Array(ToolShape) })

const tools: Run = ({ discovery, runtime }, { args: [server], shared, value }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    if (server !== undefined) yield* Application.named([server], discovery)
    const listed = yield* runtime.tools
    const mine = listed.tools.filter((one) => server === undefined || one.server === server)
    const some = yield* found(mine, value("search"))
    const missing = listed.missing.filter((one) => server === undefined || one.server === server)
    if (shared.json) yield* screen.jsonLine(Listed, { tools: some.map(shapeOf) })
    else if (some.length > 0) {
      const rows = some.map(({ server, tool }): ReadonlyArray<Table.Cell> => [
        { text: format({ server, tool: tool.name }), style: "strong" },
        (tool.description ?? "").trim().split(/\r?\n/, 1)[0]!
      ])
      yield* screen.out(...Table.lines(["TOOL", "ABOUT"], rows, screen.columns))
    } else yield* screen.note("No tools were found.")
    for (const one of missing) yield* screen.note(`missing: ${ToolFound.reasonOf(one).message}`)
    return ExitCode.ok
  })

const call: Run = (application, { args: [ref = "", ...words], shared, value }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const assignments = yield* Effect.forEach(words, (word) => Arguments.read(word))
    if (assignments.some(({ isFile }) => isFile) || value("out") !== undefined) {
      return yield* new Usage({
        detail: "Files are neither read nor written here.",
        next: "Use mcp-runtime call, or write @@ for a value that begins with @."
      })
    }
    const given = value("args")
    const base = given === undefined ? undefined : yield* Arguments.object(given, "--args")
    const one = yield* ToolFound.tool(ref, application)
    const args = yield* Arguments.build(one.tool.inputSchema, assignments, base)
    const result = yield* Calling.perform(application, one, args, shared)
    if (shared.json) yield* screen.jsonLine(Calling.Called, Calling.documentOf(result))
    else yield* Calling.show(result)
    return Calling.exitCodeOf(result)
  })

const read: Run = ({ discovery, runtime }, { args: [uri = ""], shared, value }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    if (value("out") !== undefined) {
      return yield* new Usage({ detail: "Files are not written here.", next: "Use mcp-runtime read." })
    }
    yield* Application.named(shared.servers, discovery)
    const { resources, templates } = yield* Effect.all({
      resources: runtime.resources,
      templates: runtime.resourceTemplates
    })
    const [listed, ...others] = shared.servers[0] === undefined
      ? owners(uri, { resources: resources.items, templates: templates.items })
      : shared.servers
    if (listed === undefined || others.length > 0) {
      return yield* new Usage({
        detail: listed === undefined
          ? `No server lists the resource "${uri}".`
          : `More than one server has the resource "${uri}".`,
        next: "Name the server with --server."
      })
    }
    const contents = yield* runtime.readResource(listed, uri, { origin: "person" })
    if (shared.json) {
      yield* screen.jsonLine(Contents, {
        server: listed,
        uri,
        contents: contents.map((one) => ({
          uri: one.uri,
          mimeType: one.mimeType ?? null,
          text: one._tag === "Text" ? one.text : null,
          blob: one._tag === "Blob" ? one.blob : null
        }))
      })
    } else {
      for (const one of contents) {
        yield* screen.out(...one._tag === "Text" ? one.text.trimEnd().split(/\r?\n/) : [`[${one.mimeType ?? "data"}]`])
      }
    }
    return ExitCode.ok
  })

/**
 * The line of `status` with `--json`.
 *
 * @internal
 */
export const Status = Schema.Struct({
  servers: Schema.Array(Schema.Struct({
    name: Schema.String,
    state: State,
    tools: Schema.NullOr(Schema.Number),
    reconnects: Schema.Number
  }))
})

const status: Run = ({ discovery, runtime }, { shared }) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const infos = new Map((yield* runtime.servers).map((info) => [info.name, info]))
    const servers = discovery.servers.flatMap((found) => {
      const info = infos.get(found.name)
      return info === undefined ? [] : [{
        name: found.name,
        state: stateOf(found, info).state,
        tools: info.toolCount ?? null,
        reconnects: info.reconnects
      }]
    })
    if (shared.json) yield* screen.jsonLine(Status, { servers })
    else {
      const rows = servers.map(({ name, reconnects, state, tools }): ReadonlyArray<Table.Cell> => [
        { text: name, style: "strong" },
        { text: state, style: styleOf(state) },
        tools === null ? "-" : String(tools),
        String(reconnects)
      ])
      yield* screen.out(...Table.lines(["SERVER", "STATE", "TOOLS", "RECONNECTS"], rows, screen.columns))
    }
    return ExitCode.ok
  })

const reconnect: Run = ({ discovery, runtime }, { args: [server = ""] }) =>
  Effect.gen(function*() {
    yield* Application.named([server], discovery)
    yield* runtime.reconnect(server)
    return ExitCode.ok
  })

/**
 * The commands over an application.
 *
 * @internal
 */
export const make = (application: Application.Application): ReadonlyArray<Command.Command> => {
  const over = (command: Omit<Command.Command, "load">, run: Run): Command.Command => ({
    ...command,
    load: () => Promise.resolve({ run: (invocation) => run(application, invocation) })
  })
  return [
    over(Tools.command, tools),
    over(Call.command, call),
    over(Read.command, read),
    over({ name: "status", summary: "Tell how the servers are.", args: [], options: [], examples: [] }, status),
    over({
      name: "reconnect",
      summary: "Close the connection of a server, and open another.",
      args: [{ name: "server", about: "which server.", required: true }],
      options: [],
      examples: []
    }, reconnect)
  ]
}
