/** Puts the reference application together, over the SDK's server. */
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import { askingTools, states } from "./asking.mjs"
import { complete, prompts } from "./prompts.mjs"
import { registerResources } from "./resources.mjs"
import { changingTools, noArguments, text, tools } from "./tools.mjs"

const info = { name: "conformance-reference", version: "1.0.0" }

const minute = 60 * 1000
const forAll = { ttlMs: minute, cacheScope: "public" }

/** Over HTTP each request has its own server, so constant parts are compiled once. */
const compiled = new WeakMap()
const schemaOf = (schema) => {
  const known = compiled.get(schema) ?? fromJsonSchema(schema)
  compiled.set(schema, known)
  return known
}

const registerTools = (server, byName) => {
  for (const [name, { description, inputSchema = noArguments, run }] of Object.entries(byName)) {
    server.registerTool(name, { description, inputSchema: schemaOf(inputSchema) }, async (given, context) =>
      run(given, context))
  }
}

const registerPrompts = (server) => {
  for (const [name, { argsSchema, description, run }] of Object.entries(prompts)) {
    if (argsSchema === undefined) server.registerPrompt(name, { description }, (context) => run({}, context))
    else server.registerPrompt(name, { description, argsSchema: schemaOf(argsSchema) }, run)
  }
}

/** The tools, prompts and resources that come and go, with the notifications to connected clients. */
const follow = (server, changes, { era, requestInfo }) => {
  const tool = server.registerTool(
    "test_dynamic_tool",
    { description: "Is there at times", inputSchema: schemaOf(noArguments) },
    () => text("I am there")
  )
  const prompt = server.registerPrompt("test_dynamic_prompt", { description: "Is there at times" }, () => ({
    messages: [{ role: "user", content: { type: "text", text: "I am there" } }]
  }))
  if (!changes.now.tool) tool.disable()
  if (!changes.now.prompt) prompt.disable()

  const subscribed = new Set()
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  // the server of one request ends before a change, so the HTTP handler notifies its listeners
  if (requestInfo !== undefined) return
  const onclose = changes.listen({
    tools: () => tool.update({ enabled: changes.now.tool }),
    prompts: () => prompt.update({ enabled: changes.now.prompt }),
    resource: (uri) => {
      // on a connection of the stateless era the serving entry knows who asked for what
      if (era === "legacy" && !subscribed.has(uri)) return
      // clients that have disconnected need no notification
      server.server.sendResourceUpdated({ uri }).catch(() => undefined)
    }
  })
  Object.assign(server.server, { onclose })
}

/** Makes servers: one for each connection or, over HTTP in the stateless era, one for each request. */
export const makeServers = (changes) => (context) => {
  const server = new McpServer(info, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {}
    },
    cacheHints: {
      "tools/list": forAll,
      "prompts/list": forAll,
      "resources/list": forAll,
      "resources/templates/list": forAll,
      "server/discover": forAll
    },
    requestState: { verify: states.verify }
  })
  registerTools(server, tools)
  registerTools(server, changingTools(changes))
  registerTools(server, askingTools(() => server.server.getClientCapabilities()))
  registerPrompts(server)
  registerResources(server, changes)
  server.server.setRequestHandler("completion/complete", ({ params }) => complete(params))
  follow(server, changes, context)
  return server
}
