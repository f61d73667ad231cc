/** A configuration file that changes while calls are in flight, which still succeed: `npm run example hot-reload` */
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

/** Replaces the file in one step, as editors do, so that it is never read half-written. */
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
    // two slow calls: to the server that will change, and to the server that will be removed
    const calls = yield* Effect.forEach(["changed", "removed"], (server) =>
      Effect.fork(runtime.callTool({ server, tool: "countdown" }, { from: 15 })))
    yield* runtime.servers.changes.pipe(
      Stream.filter((servers) =>
        servers.filter(({ callsInFlight }) => callsInFlight > 0).length === calls.length
      ),
      Stream.runHead
    )

    yield* save(file, { kept: demo(), changed: demo({ LEVEL: "debug" }), added: demo() })
    yield* Console.log("saved")
    const report = yield* Effect.flatten(Fiber.join(reloaded))
    yield* Console.log(`added ${report.added}, changed ${report.changed}, removed ${report.removed}`)
    for (const call of calls) {
      const { content, metadata } = yield* Fiber.join(call)
      for (const part of content) if (part._tag === "Text") yield* Console.log(`${metadata.serverName}: ${part.text}`)
    }

    const sum = yield* runtime.callTool({ server: "added", tool: "add" }, { a: 2, b: 40 })
    yield* Console.log(`added: ${JSON.stringify(sum.structuredContent)}`)
    yield* Console.log(`servers: ${yield* names}`)
  })

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* fs.makeTempDirectoryScoped(), "mcp-client.json")
  yield* save(file, { kept: demo(), changed: demo(), removed: demo() })
  // servers of a file that the application names need no approval
  const config = { files: [{ path: file }], enableProjectConfig: false, enableUserConfig: false }
  yield* Effect.provide(
    host(file),
    NodeMcpRuntime.layerConfigured({
      config,
      // calls in flight to a removed server may take this long
      teardown: { drainTimeout: "10 seconds" }
    })
  )
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
