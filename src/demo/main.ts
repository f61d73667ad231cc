// @effect-diagnostics nodeBuiltinImport:off -- the path of the package is known only from the URL of this module
// @effect-diagnostics strictEffectProvide:off -- this is an entry point
/** `npm run demo [file]`: connects to the demo server or to the servers of a file, and prints what happens. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Trust from "../config/Trust.ts"
import * as McpError from "../McpError.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as NodeMcpRuntime from "../node/NodeMcpRuntime.ts"
import * as Teardown from "../resilience/Teardown.ts"
import { excerpt } from "../text/UntrustedText.ts"
import * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

// in `src`, because the compiler does not copy JSON files
const demoFile = fileURLToPath(new URL("../../src/demo/.mcp.json", import.meta.url))
const [file = demoFile] = process.argv.slice(2)

// a reader such as `head` may close the pipe early; the servers are still closed
process.stdout.on("error", () => undefined)

const row = (label: string, text: string) => Console.log(`  ${label.padEnd(9)} ${text}`)
const milliseconds = (duration: Duration.DurationInput): string => `${Math.round(Duration.toMillis(duration))} ms`

const json = (value: JsonRpc.Json | undefined): string => value === undefined ? "" : JSON.stringify(value)

const call = (tool: string, args: JsonRpc.JsonObject = {}) =>
  Effect.gen(function*() {
    const { callTool } = yield* McpRuntime.McpRuntime
    yield* row("call", `${tool} ${json(args)}`)
    const result = yield* callTool({ server: "demo", tool }, args)
    const shown = `${ToolResult.text(result)}   structured ${json(result.structuredContent)}`
    yield* row("result", `${excerpt(shown, 240)}   (${milliseconds(result.metadata.duration)})`)
  })

/** A call, a crash during another call, and a call that waits for the restart. */
const tryDemoServer = Effect.gen(function*() {
  yield* call("add", { a: 2, b: 40 })
  yield* Effect.catchAll(
    call("crash"),
    (error) => row("failed", `${McpError.label(error)}; it may have run (${error.outcome}), so it is not retried`)
  )
  yield* call("add", { a: 4, b: 3 })
  yield* row("recovery", "the server restarted, and the call waited for it")
})

const visit = (info: McpRuntime.ServerInfo, { missing, tools }: McpRuntime.Tools, began: number) =>
  Effect.gen(function*() {
    const { connectedSince = began, era, name, protocolVersion, serverInfo, transport } = info
    yield* Console.log(name)
    const absent = missing.find(({ server }) => server === name)
    if (absent !== undefined) return yield* absent.error ?? row("failed", absent.status._tag)
    const took = milliseconds(connectedSince - began)
    yield* row("status", `connected over ${transport} in ${took}, protocol ${protocolVersion} (${era} era)`)
    yield* row("server", excerpt(`${serverInfo?.name ?? "anonymous"} ${serverInfo?.version ?? ""}`, 80))
    const offered = tools.filter(({ serverName }) => serverName === name)
    yield* row("tools", `${offered.length}`)
    for (const { tool } of offered) {
      yield* row("", `${excerpt(tool.name, 64).padEnd(12)}${excerpt(tool.description ?? "", 80)}`)
    }
    // calls only the tools of the demo server, which are known to be safe
    if (file === demoFile) yield* tryDemoServer
  }).pipe(Effect.tapError((error) => row("failed", McpError.label(error))))

/** Only the servers of the file, which are trusted because the user named the file. */
const discovery = ConfigDiscovery.layerFiles({
  files: [{ path: file }],
  enableProjectConfig: false,
  enableUserConfig: false
}).pipe(Layer.provide([ConfigFiles.layer, Trust.layerAll()]))

const report = ({ servers }: Teardown.Report) =>
  Effect.zipRight(
    Console.log("teardown"),
    Effect.forEach(servers, ({ exit, how, killed, server, took }) => {
      const end = exit === undefined ? "" : `, ${exit.signal ?? `exit code ${exit.code}`}`
      return row(server, `${how} in ${milliseconds(took)}${end}${killed.length === 0 ? "" : `, killed: ${killed}`}`)
    })
  )

const program = Effect.gen(function*() {
  const { configs, issues } = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
  for (const { line, message } of issues) {
    yield* row("config", `${line === undefined ? "" : `line ${line}: `}${message}`)
  }
  const fault = issues.find(({ severity }) => severity === "error")
  if (configs.length === 0 && fault !== undefined) {
    return yield* new McpError.ConfigurationError({ server: "", path: file, detail: fault.message })
  }
  yield* Console.log(`${configs.length} server${configs.length === 1 ? "" : "s"} in ${file}`)
  const teardown = yield* Teardown.make()
  const began = yield* Clock.currentTimeMillis
  const visits = Effect.gen(function*() {
    const { servers, tools } = yield* McpRuntime.McpRuntime
    const offered = yield* tools
    return yield* Effect.validateAll(yield* servers.list, (info) => visit(info, offered, began), { discard: true })
  })
  yield* visits.pipe(
    Effect.provide(
      NodeMcpRuntime.layer({ servers: configs, cacheDirectory: "memory", logs: false }).pipe(
        NodeMcpRuntime.using(Layer.succeed(Teardown.Teardown, teardown))
      )
    ),
    Effect.ensuring(Effect.flatMap(teardown.report, report))
  )
})

program.pipe(
  Effect.tapErrorCause((cause) => {
    const errors = Array.from(Cause.failures(cause)).flat()
    const text = errors.map((error) => `${McpError.label(error)}: ${error.message}`).join("\n")
    return Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(text || Cause.pretty(cause))
  }),
  Effect.provide(Layer.provideMerge(discovery, NodeContext.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
