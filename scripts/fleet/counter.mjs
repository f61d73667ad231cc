/** A server with state: each `append` writes one line to the file LOG, so that every execution can be counted. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { appendFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"

const server = new Server(
  { name: "counter", version: "1.0.0" },
  { capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } }
)
const text = (text) => ({ content: [{ type: "text", text: String(text) }] })
const schema = { type: "object", properties: {} }
const tools = ["append", "ask", "echo", "large", "grow", "steps", "who"]
let count = 0

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map((name) => ({ name, inputSchema: schema }))
}))

server.setRequestHandler(CallToolRequestSchema, async ({ params: { _meta, arguments: args = {}, name } }, { sendNotification, signal }) => {
  switch (name) {
    // not idempotent
    case "append":
      await setTimeout(args.delay ?? 0, undefined, { signal })
      appendFileSync(process.env.LOG, `${args.line}\n`)
      return text(++count)
    case "ask":
      return text(JSON.stringify(await server.elicitInput({
        message: "Which name?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } } }
      })))
    case "echo":
      return text(args.text)
    case "large":
      return text("x".repeat(args.size))
    case "grow":
      tools.push(args.name)
      await server.sendToolListChanged()
      return text("")
    case "steps":
      for (let progress = 1; progress <= args.count; progress++) {
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken: _meta.progressToken, progress, total: args.count }
        })
      }
      return text("done")
    case "who":
      return text(process.pid)
    default:
      throw new Error(`no tool ${name}`)
  }
})

// a node that is killed leaves only the end of the pipe
process.stdin.once("end", () => process.exit())
await server.connect(new StdioServerTransport())
