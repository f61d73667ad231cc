/**
 * The program that the official suite runs as a client: an application of `McpRuntime`, with a person that agrees to
 * everything. It does what an agent would: lists, and calls what is listed, with arguments by the tool's schema.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as McpRuntime from "effect-mcp-runtime/McpRuntime"
import * as ServerConfig from "effect-mcp-runtime/config/ServerConfig"
import * as InputHandlers from "effect-mcp-runtime/connection/InputHandlers"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ""
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}")
const url = process.argv.at(-1)

const person = InputHandlers.layer({
  roots: () => Effect.succeed([{ uri: "file:///tmp" }]),
  elicit: () => Effect.succeed({ action: "accept", content: {} }),
  sample: () => Effect.succeed({ role: "assistant", model: "none", content: { type: "text", text: "well" } })
})

/** What an agent might say to a parameter of this kind. */
const valueOf = (schema) => {
  if (schema?.default !== undefined) return schema.default
  if (Array.isArray(schema?.enum)) return schema.enum[0]
  switch (schema?.type) {
    case "number":
    case "integer":
      return 5
    case "boolean":
      return true
    case "array":
      return []
    case "object":
      return {}
    default:
      return "text"
  }
}

const argumentsOf = ({ inputSchema }) =>
  Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => [key, valueOf(schema)]))

const program = Effect.gen(function*() {
  const runtime = yield* McpRuntime.McpRuntime
  const { tools } = yield* runtime.tools
  const echo = tools.find(({ tool }) => tool.name === "json_schema_echo")
  const calls = context.toolCalls ?? tools.map(({ tool }) => ({
    name: tool.name,
    // what the suite asks of it is to say the schema of the other tool as it was heard
    arguments: tool === echo?.tool ? { schema: tools.find((other) => other !== echo).tool.inputSchema } : argumentsOf(tool)
  }))
  for (const call of calls) {
    const answer = yield* runtime.callTool({ server: "suite", tool: call.name }, call.arguments)
    console.log(call.name, JSON.stringify(answer.content))
  }
})

const layer = NodeMcpRuntime.layer({
  servers: [ServerConfig.http({ name: "suite", url, required: true })],
  cacheDirectory: "memory",
  replace: person
})

const exit = await Effect.runPromiseExit(Effect.provide(program, layer))
if (exit._tag === "Failure") {
  console.error(scenario, String(exit.cause))
  process.exitCode = 1
}
