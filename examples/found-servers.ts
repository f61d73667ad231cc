/** Servers from configuration files: their sources, their errors, and their approval: `npm run example found-servers` */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Stream } from "effect"
import { ConfigDiscovery, McpRuntime, Trust } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

/** A cloned workspace with a configuration file. */
const cloned = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.makeTempDirectoryScoped()
  const server = fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))
  const mcpServers = {
    demo: { command: "node", args: [server], env: { LEVEL: "${LOG_LEVEL:-info}" } },
    typo: { command: ["node", 5] }
  }
  yield* fs.writeFileString(path.join(root, ".mcp.json"), JSON.stringify({ mcpServers }))
  return root
})

const program = Effect.gen(function*() {
  const runtime = yield* McpRuntime.McpRuntime
  const discovery = yield* (yield* ConfigDiscovery.ConfigDiscovery).current
  const trust = yield* Trust.Trust

  for (const { name, provenance, state } of discovery.servers) {
    yield* Console.log(`${name}: ${state._tag} (${provenance.scope}, line ${provenance.line})`)
  }
  for (const { message } of discovery.issues) yield* Console.log(message)

  for (const candidate of yield* trust.pending) {
    for (const { label, text } of Trust.consent(candidate)) yield* Console.log(`  ${label}: ${text}`)
    // an application asks the user here
    yield* trust.approve(candidate.fingerprint)
  }
  // the approved server starts without a further call
  yield* runtime.servers.changes.pipe(
    Stream.filter((servers) => servers.some(({ name, status }) => name === "demo" && status._tag === "Connected")),
    Stream.runHead
  )
  const sum = yield* runtime.callTool("mcp__demo__add", { a: 2, b: 40 })
  yield* Console.log(sum.structuredContent)
})

Effect.gen(function*() {
  const root = yield* cloned
  const config = { directory: root, root, enableUserConfig: false }
  const trust = { directory: `${root}/.decisions` }
  yield* Effect.provide(
    program,
    NodeMcpRuntime.layerConfigured({ config, trust })
  )
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
