/**
 * The MCP client of the Vercel AI SDK, used as in its documentation: a call is `execute` of a tool in its tool set.
 */
import { createMCPClient } from "@ai-sdk/mcp"
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio"
import { make } from "../contestants/promises.mjs"

export const contestant = make(async (server) => {
  const transport = server.kind === "stdio"
    ? new StdioTransport({ command: server.command, args: server.args, stderr: "ignore" })
    : { type: "http", url: server.url }
  const client = await createMCPClient({ transport })
  let calls = 0
  let tools = undefined
  return {
    call: async (name, args) => {
      tools ??= await client.tools()
      return tools[name].execute(args, { toolCallId: String(calls++), messages: [] })
    },
    tools: async () => (await client.listTools()).tools,
    close: () => client.close()
  }
})
