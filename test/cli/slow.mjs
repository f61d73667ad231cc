// A stdio server for the command line: node slow.mjs <journal>. It writes down that it has started, what it is asked and
// what is cancelled; `wait` makes progress and never ends.
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [journal] = process.argv.slice(2)
const record = (entry) => appendFileSync(journal, `${JSON.stringify({ pid: process.pid, ...entry })}\n`)
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

record({ started: true })

const typed = {
  type: "object",
  properties: {
    title: { type: "string", description: "What it is called." },
    count: { type: "integer", default: 1 },
    state: { enum: ["open", "closed"] },
    labels: { type: "array", items: { type: "string" } },
    at: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x"] }
  },
  required: ["title"],
  additionalProperties: false
}

const tools = [
  { name: "wait", description: "Never ends.", inputSchema: { type: "object" } },
  {
    name: "typed",
    description: "Gives back what it got.\nIn two lines, the last of which \u001b[31mlies\u001b[0m.",
    inputSchema: typed,
    annotations: { readOnlyHint: true }
  },
  { name: "picture", description: "Shows a picture.", inputSchema: { type: "object" } },
  { name: "fail", description: "Fails.", inputSchema: { type: "object" } }
]

const calls = {
  wait: (id, { _meta }) => {
    const progressToken = _meta?.progressToken
    if (progressToken === undefined) return
    const params = { progressToken, progress: 1, total: 4, message: "a quarter" }
    write({ method: "notifications/progress", params })
  },
  typed: (id, { arguments: args }) =>
    write({ id, result: { content: [{ type: "text", text: `${JSON.stringify(args)}\u001b]0;title\u0007` }] } }),
  picture: (id) => write({ id, result: { content: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }] } }),
  fail: (id) => write({ id, result: { content: [{ type: "text", text: "the file does not exist" }], isError: true } })
}

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "slow", version: "1" }
  }),
  "tools/list": () => ({ tools }),
  ping: () => ({})
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === "notifications/cancelled") record({ cancelled: params.requestId })
    if (id === undefined) return
    if (method === "tools/call") {
      record({ called: params.name, id })
      return calls[params.name](id, params)
    }
    const answer = results[method]
    write(answer === undefined ? { id, error: { code: -32601, message: "no such method" } } : { id, result: answer(params) })
  })
  .on("close", () => process.exit(0))
