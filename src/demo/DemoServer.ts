// @effect-diagnostics nodeBuiltinImport:off -- this program does not use Effect
/**
 * A small MCP server over stdio: five tools, a resource and a prompt. `node dist/demo/DemoServer.js` serves it.
 *
 * It uses the server of `@modelcontextprotocol/sdk`, so that the demo connects to a server of another implementation.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Tool
} from "@modelcontextprotocol/sdk/types.js"
import { setTimeout as sleep } from "node:timers/promises"

const number = { type: "number" } as const

const tool = (name: string, description: string, properties: Record<string, object> = {}): Tool => ({
  name,
  description,
  inputSchema: { type: "object", properties, required: Object.keys(properties) },
  annotations: { readOnlyHint: true, idempotentHint: name !== "crash", openWorldHint: false }
})

const tools: ReadonlyArray<Tool> = [
  {
    ...tool("add", "Adds two numbers.", { a: number, b: number }),
    outputSchema: { type: "object", properties: { sum: number }, required: ["sum"] }
  },
  tool("echo", "Returns the text, and the trace context of the call.", { text: { type: "string" } }),
  tool("countdown", "Counts down to zero, ten steps per second, with progress.", {
    from: { type: "integer", minimum: 1, maximum: 100 }
  }),
  tool("greet", "Asks the user for a name, and returns a greeting."),
  tool("crash", "Exits the server process, like a crash.")
]

const poem = { uri: "demo://poem", name: "poem", description: "Three lines.", mimeType: "text/plain" }

const greeting = {
  name: "greeting",
  description: "Asks the model to greet a person.",
  arguments: [{ name: "name", description: "The name of the person.", required: true }]
}

const server = new Server({ name: "demo", version: "0.2.0" }, {
  capabilities: { tools: {}, resources: {}, prompts: {} },
  instructions: "A demo server. Its tools have no effect outside of it."
})

const text = (content: string): CallToolResult => ({ content: [{ type: "text", text: content }] })

const invalid = (message: string): McpError => new McpError(ErrorCode.InvalidParams, message)

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }))

server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification, signal }) => {
  const { a, b, from, text: words } = params.arguments ?? {}
  switch (params.name) {
    case "add": {
      if (typeof a !== "number" || typeof b !== "number") throw invalid("add takes two numbers, a and b")
      return { ...text(String(a + b)), structuredContent: { sum: a + b } }
    }
    case "echo": {
      if (typeof words !== "string") throw invalid("echo takes a string, text")
      // a traced server would use it as the parent of its spans (SEP-414)
      const traceparent = _meta?.["traceparent"]
      return { ...text(words), ...(traceparent === undefined ? {} : { _meta: { traceparent } }) }
    }
    case "countdown": {
      if (typeof from !== "number" || !(from >= 1 && from <= 100)) throw invalid("countdown takes from, 1 to 100")
      for (let done = 1; done <= from; done++) {
        await sleep(100, undefined, { signal })
        if (_meta?.progressToken === undefined) continue
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken: _meta.progressToken, progress: done, total: from, message: `${from - done} to go` }
        })
      }
      return text("Lift-off.")
    }
    case "greet": {
      if (server.getClientCapabilities()?.elicitation === undefined) return text("Hello, stranger.")
      const { action, content } = await server.elicitInput({
        message: "What is your name?",
        requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] }
      })
      return text(action === "accept" ? `Hello, ${String(content?.["name"])}.` : "Hello, stranger.")
    }
    case "crash":
      return process.exit(1)
    default:
      throw invalid(`unknown tool ${JSON.stringify(params.name)}`)
  }
})

server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [poem] }))

server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
  if (params.uri !== poem.uri) throw invalid("unknown resource")
  const lines = ["The server came up,", "answered what it was asked,", "and left nothing behind."]
  return { contents: [{ uri: poem.uri, mimeType: poem.mimeType, text: lines.join("\n") }] }
})

server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [greeting] }))

server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
  if (params.name !== greeting.name) throw invalid("unknown prompt")
  const content = { type: "text" as const, text: `Greet ${params.arguments?.["name"] ?? "all"} in one sentence.` }
  return { description: greeting.description, messages: [{ role: "user" as const, content }] }
})

await server.connect(new StdioServerTransport())
