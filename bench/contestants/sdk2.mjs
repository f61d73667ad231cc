/** The raw client of `@modelcontextprotocol/client` 2.x, used as in its documentation. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { make } from "./promises.mjs"

export const contestant = make(async (server) => {
  const client = new Client({ name: "bench", version: "1.0.0" })
  const transport = server.kind === "stdio"
    ? new StdioClientTransport({
      command: server.command,
      args: server.args,
      stderr: "ignore",
      maxBufferSize: server.maxMessageBytes
    })
    : new StreamableHTTPClientTransport(new URL(server.url))
  await client.connect(transport)
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    tools: async () => (await client.listTools()).tools,
    close: async () => {
      if (server.kind === "http") await transport.terminateSession()
      await client.close()
    }
  }
})
