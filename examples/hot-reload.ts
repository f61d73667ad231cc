/**
 * A host whose configuration file is changed while it runs: servers come, change and go, and a call that is under way
 * is not disturbed: `npm run example hot-reload`
 */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Fiber, Option, Stream } from "effect"
import { McpRuntime } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = (env: Readonly<Record<string, string>> = {}) => ({
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))],
  env
})

/** What an editor does when somebody saves: the file is never there in halves. */
const save = (file: string, mcpServers: object) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${file}.new`, JSON.stringify({ mcpServers }))
    yield* fs.rename(`${file}.new`, file)
  })

const host = (file: string) =>
  Effect.gen(function*() {
    const runtime = yield* McpRuntime.McpRuntime
    const names = Effect.map(runtime.servers.list, (servers) => servers.map(({ name }) => name).join(", "))
    const { tools } = yield* runtime.tools
    yield* Console.log(`servers: ${yield* names}; ${tools.length} tools`)

    const reloaded = yield* runtime.events.pipe(
      Stream.filterMap((event) => event._tag === "ConfigurationReloaded" ? Option.some(event.report) : Option.none()),
      Stream.runHead,
      Effect.fork
    )
    // two calls that take a second and a half, to a server that will change and to one that will go
    const calls = yield* Effect.forEach(["changes", "goes"], (server) =>
      Effect.fork(runtime.callTool({ server, tool: "countdown" }, { from: 15 })))
    yield* runtime.servers.changes.pipe(
      Stream.filter((servers) =>
        servers.filter(({ callsInFlight }) => callsInFlight > 0).length === calls.length
      ),
      Stream.runHead
    )

    yield* save(file, { stays: demo(), changes: demo({ LEVEL: "debug" }), comes: demo() })
    yield* Console.log("saved")
    const report = yield* Effect.flatten(Fiber.join(reloaded))
    yield* Console.log(`added ${report.added}, changed ${report.changed}, removed ${report.removed}`)
    for (const call of calls) {
      const { content, metadata } = yield* Fiber.join(call)
      for (const part of content) if (part._tag === "Text") yield* Console.log(`${metadata.serverName}: ${part.text}`)
    }

    const sum = yield* runtime.callTool({ server: "comes", tool: "add" }, { a: 2, b: 40 })
    yield* Console.log(`comes: ${JSON.stringify(sum.structuredContent)}`)
    yield* Console.log(`servers: ${yield* names}`)
  })

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* fs.makeTempDirectoryScoped(), "mcp-client.json")
  yield* save(file, { stays: demo(), changes: demo(), goes: demo() })
  // the application names the file, so nobody has to agree to its servers
  const config = { files: [{ path: file }], enableProjectConfig: false, enableUserConfig: false }
  yield* Effect.provide(
    host(file),
    NodeMcpRuntime.layerConfigured({
      config,
      // calls to a server that goes may still end; without it, they end with it
      teardown: { drainTimeout: "10 seconds" },
      cacheDirectory: "memory",
      logs: false
    })
  )
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
