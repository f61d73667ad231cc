/**
 * The tools of our own: what a model is told of them, and how they are asked.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as McpError from "../../McpError.ts"
import * as McpRuntime from "../../McpRuntime.ts"
import * as OutputGuard from "../../safety/OutputGuard.ts"
import * as Permissions from "../../safety/Permissions.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as AgentTools from "../AgentTools.ts"
import type * as ToolHandler from "../ToolHandler.ts"
import * as Commands from "./commands.ts"
import * as Instructions from "./instructions.ts"
import * as Resources from "./resources.ts"

type Service = AgentTools.AgentTools["Type"]

const describe = (
  name: AgentTools.Name,
  description: string,
  properties: JsonRpc.JsonObject,
  required: ReadonlyArray<string>
): ToolHandler.Definition => ({
  name,
  title: undefined,
  description,
  inputSchema: { type: "object", properties, required, additionalProperties: false },
  requiresApproval: false,
  annotations: { readOnlyHint: true, openWorldHint: false },
  server: undefined,
  deferred: false
})

const offset = { type: "integer", minimum: 0, description: "Where to begin, as an answer before has told (default 0)" }

const listing = describe(
  "list_mcp_resources",
  "Lists the resources of MCP servers, and the templates that URIs of more resources can be made from. Read one with " +
    "read_mcp_resource.",
  { server: { type: "string", description: "Only those of the server with this name" }, offset },
  []
)

const reading = describe(
  "read_mcp_resource",
  "Reads a resource of an MCP server.",
  {
    uri: { type: "string", description: "The URI, as it is listed or made from a template" },
    server: { type: "string", description: "The name of the server whose it is, where several have it" }
  },
  ["uri"]
)

const paging = describe(
  "mcp_read_output",
  "Reads on in an output that was too long to be shown whole.",
  {
    handle: { type: "string", description: "The handle that stands in the output that was cut" },
    offset: { ...offset, description: "The character to begin at (default 0)" },
    limit: { type: "integer", minimum: 1, description: "How many characters at most" }
  },
  ["handle"]
)

const Whole = Schema.Union(Schema.Number, Schema.NumberFromString)

/** Models write `null`, and numbers as texts, where they mean nothing and numbers. */
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const decodeListing = Schema.decodeUnknownEither(Schema.Struct({ server: maybe(Schema.String), offset: maybe(Whole) }))
const decodeReading = Schema.decodeUnknownEither(Schema.Struct({ uri: Schema.String, server: maybe(Schema.String) }))
const decodePaging = Schema.decodeUnknownEither(
  Schema.Struct({ handle: Schema.String, offset: maybe(Whole), limit: maybe(Whole) })
)

const natural = (value: number | null | undefined): number | undefined =>
  typeof value !== "number" || !(value >= 0) ? undefined : Math.floor(Math.min(value, Number.MAX_SAFE_INTEGER))

const named = (value: string | null | undefined): string | undefined =>
  value === null || value === "" ? undefined : value

const tool = <A, E>(
  definition: ToolHandler.Definition,
  decode: (args: unknown) => Either.Either<A, E>,
  run: (args: A) => Effect.Effect<AgentTools.Answer, McpError.RuntimeError>
): AgentTools.AgentTool => ({
  definition,
  run: (args) =>
    Either.match(decode(args), {
      onLeft: () => {
        const required = JSON.stringify(definition.inputSchema["required"])
        const detail = `${definition.name} does not take these; it needs ${required}, each a string`
        return new McpError.InvalidArguments({ server: "", operation: definition.name, path: "", detail })
      },
      onRight: run
    })
})

/** @internal */
export const make = (options: AgentTools.Options): Effect.Effect<Service, never, AgentTools.Requirements> =>
  Effect.gen(function*() {
    const guard = yield* OutputGuard.OutputGuard
    const permissions = yield* Permissions.Permissions
    const runtime = yield* McpRuntime.McpRuntime
    const resources = Resources.make({ guard, permissions, runtime, pageSize: Math.max(1, options.pageSize) })

    const list = tool(
      listing,
      decodeListing,
      ({ offset, server }) => resources.list(named(server), natural(offset) ?? 0)
    )
    const read = tool(reading, decodeReading, ({ server, uri }) => resources.read(named(server), uri))
    const page = tool(
      paging,
      decodePaging,
      ({ handle, limit, offset }) =>
        guard.renderPage(handle, { offset: natural(offset), limit: natural(limit) }).pipe(
          Effect.map(({ attachments, text }) => ({ text, attachments, isError: false })),
          Effect.catchTag("SpillError", ({ reason }) => Effect.succeed(unread[reason]))
        )
    )

    const offered = [list, read, page].filter(({ definition }) => isOn(options.tools, definition.name))
    /** Rules may change while it runs. */
    const asked = (tool: AgentTools.AgentTool): AgentTools.AgentTool =>
      tool === read && !permissions.isOpen("model")
        ? { ...tool, definition: { ...tool.definition, requiresApproval: true } }
        : tool

    return {
      tools: () => offered.map(asked),
      commands: Commands.make({ guard, permissions, runtime }),
      instructions: Instructions.make({ guard, permissions, runtime, options })
    }
  })

const isOn = (tools: AgentTools.Options["tools"], name: string): boolean =>
  Object.entries(tools).some(([key, on]) => key === name && on)

const unreadable = (what: string): AgentTools.Answer => ({
  text: `Error (SpillError): ${what}`,
  attachments: [],
  isError: true
})

const unread = {
  malformed: unreadable("That is no handle. Copy the handle as it stands in the output that was cut."),
  missing: unreadable("What was kept under this handle is gone. Call the tool again, and ask it for less."),
  refused: unreadable("What was kept under this handle cannot be trusted. Call the tool again, and ask it for less."),
  unreadable: unreadable("What was kept under this handle cannot be read. Call the tool again, and ask it for less.")
}
