/** Prompts for a tool and its arguments, and prints the resulting command line. */
import * as Effect from "effect/Effect"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import { isCredential } from "../text/credentialName.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as Form from "./form.ts"
import * as Offered from "./offered.ts"
import * as Screen from "./Screen.ts"
import * as Arguments from "./toolArguments.ts"

export interface Chosen {
  readonly found: McpRuntime.RuntimeTool
  readonly args: JsonRpc.JsonObject
  /** True if the tool is to be called now. */
  readonly isWanted: boolean
}

/** Asks for one of these names. */
const among = (screen: Screen.Screen["Type"], label: string, names: ReadonlyArray<readonly [string, string]>) => {
  const oneOf = names.map(([name, about]) => ({ const: name, title: about === "" ? name : `${name}  ${about}` }))
  const schema = { properties: { [label]: { oneOf } }, required: [label] }
  const asking = { screen, server: "", isSecret: () => false, words: new Set<string>() }
  return Effect.map(Form.complete(asking, schema), ([entry]) => entry?.[1])
}

const toolOf = (screen: Screen.Screen["Type"], { ask, runtime }: Application.Application) =>
  Effect.gen(function*() {
    const { missing, tools } = yield* ask(runtime.tools)
    yield* Offered.notes(missing)
    const servers = [...new Set(tools.map(({ serverName }) => serverName))]
    if (servers.length === 0) {
      return yield* new McpError.NotFound({ server: "", kind: "tool", name: "(any)", suggestions: [] })
    }
    const server = servers.length === 1 ? servers[0] : yield* among(screen, "server", servers.map((name) => [name, ""]))
    const ofServer = tools.filter(({ serverName }) => serverName === server)
    const name = yield* among(
      screen,
      "tool",
      ofServer.map(({ description, tool }) => [tool.name, Offered.summary({ description, title: tool.title })])
    )
    return ofServer.find(({ tool }) => tool.name === name)!
  })

/** The end of the input ends the program, like Ctrl-C. */
export const run = (
  ref: string | undefined,
  application: Application.Application,
  shared: Command.Shared
): Effect.Effect<Chosen, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const found = yield* ref === undefined ? toolOf(screen, application) : Offered.tool(ref, application)
    const { description, inputSchema, serverName: server, tool: { name: tool } } = found
    if (description !== undefined) yield* screen.err(...description.trim().split(/\r?\n/).slice(0, 12))
    const isSecret = ({ name }: { readonly name: string }) => isCredential(name)
    const entries = yield* Form.complete({ screen, server, isSecret, words: new Set() }, inputSchema)
    const secrets = new Set(entries.map(([name]) => name).filter(isCredential))
    const line = Arguments.commandLine({ server, tool }, inputSchema, entries, secrets, shared)
    yield* screen.err([{ text: "Command line:", style: "weak" }], [{ text: line, style: "strong" }])
    const answer = yield* screen.ask("Call it now? [Y/n] ")
    const isWanted = answer !== undefined && !/^no?$/i.test(answer.trim())
    return { found, args: Object.fromEntries(entries), isWanted }
  }).pipe(Effect.catchAll((error) => typeof error === "string" ? Effect.interrupt : Effect.fail(error)))
