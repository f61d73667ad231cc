// @effect-diagnostics nodeBuiltinImport:off -- the package's own place on disk is known from this module's URL only
// @effect-diagnostics strictEffectProvide:off -- this is an entry point
/** `npm run demo [file]`: a runtime over the demo server, or over the servers of a file, and what there is to see of it. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Trust from "../config/Trust.ts"
import * as McpError from "../McpError.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as NodeMcpRuntime from "../node/NodeMcpRuntime.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

const demoFile = fileURLToPath(new URL("../../src/demo/.mcp.json", import.meta.url))
const [file = demoFile] = process.argv.slice(2)

// A reader such as `head` may leave early; the servers are closed all the same.
process.stdout.on("error", () => undefined)

const styled = (stream: NodeJS.WriteStream, style: number, text: string): string =>
  stream.isTTY && stream.hasColors() ? `\u001b[${style}m${text}\u001b[0m` : text

const heading = (text: string) => Console.log(styled(process.stdout, 1, text))
const row = (label: string, text: string) => Console.log(`  ${label.padEnd(9)} ${text}`)
const milliseconds = (duration: Duration.DurationInput): string => `${Math.round(Duration.toMillis(duration))} ms`

const shown = ({ content, structuredContent }: ToolResult.ToolResult): string => {
  const texts = content.map((part) => part._tag === "Text" ? part.text : `(${part._tag})`)
  const structured = structuredContent === undefined ? [] : [`structured ${JSON.stringify(structuredContent)}`]
  return UntrustedText.excerpt([...texts, ...structured].join("   "), 240)
}

const invocation = (tool: string, args: JsonRpc.JsonObject): string => `${tool} ${JSON.stringify(args)}`

const call = (server: string, tool: string, args: JsonRpc.JsonObject = {}) =>
  Effect.gen(function*() {
    const { callTool } = yield* McpRuntime.McpRuntime
    yield* row("call", invocation(tool, args))
    const result = yield* callTool({ server, tool }, args)
    yield* row("result", `${shown(result)}   (${milliseconds(result.metadata.duration)})`)
  })

/** A call, a crash of the server in the middle of another, and a call that waits until the server is back. */
const tryDemoServer = (server: string) =>
  Effect.gen(function*() {
    yield* call(server, "add", { a: 2, b: 40 })
    yield* Effect.catchAll(
      call(server, "crash"),
      (error) =>
        row("failed", `${McpError.label(error)}; it may have run (${error.outcome}), so it is not called again`)
    )
    yield* call(server, "add", { a: 4, b: 3 })
    yield* row("recovery", "the server was started again, and the call waited for it")
  })

const visit = (info: McpRuntime.ServerInfo, { missing, rejected, tools }: McpRuntime.Tools, began: number) =>
  Effect.gen(function*() {
    const { connectedSince, era, name, protocolVersion, serverInfo, transport } = info
    yield* heading(name)
    const absent = missing.find(({ server }) => server === name)
    if (absent !== undefined) return yield* absent.error ?? row("failed", absent.status._tag)
    const took = milliseconds((connectedSince ?? began) - began)
    const version = serverInfo === undefined ? "anonymous" : `${serverInfo.name} ${serverInfo.version}`
    yield* row("status", `connected over ${transport} in ${took}, protocol ${protocolVersion} (${era} era)`)
    yield* row("server", UntrustedText.excerpt(version, 80))
    const offered = tools.filter(({ serverName }) => serverName === name)
    const refused = rejected.filter(({ server }) => server === name)
    yield* row(
      "tools",
      refused.length === 0 ? `${offered.length}` : `${offered.length}, and ${refused.length} rejected`
    )
    for (const { tool } of offered) {
      const description = UntrustedText.excerpt(tool.description ?? "", 80)
      yield* row("", `${UntrustedText.excerpt(tool.name, 64).padEnd(12)}${description}`)
    }
    // Only the tools of the demo server are known to be harmless.
    if (file === demoFile) yield* tryDemoServer(name)
  }).pipe(Effect.tapError((error) => row("failed", McpError.label(error))))

/** The servers of the file alone, trusted because the person names the file. */
const discovery = ConfigDiscovery.layerFiles({
  files: [{ path: file }],
  enableProjectConfig: false,
  enableUserConfig: false
}).pipe(Layer.provide([ConfigFiles.layer, Trust.layerAll()]))

const program = Effect.gen(function*() {
  const { discover } = yield* ConfigDiscovery.ConfigDiscovery
  const { configs, issues } = yield* discover
  for (const { line, message } of issues) {
    yield* row("config", line === undefined ? message : `line ${line}: ${message}`)
  }
  const fault = issues.find(({ severity }) => severity === "error")
  if (configs.length === 0 && fault !== undefined) {
    return yield* new McpError.ConfigurationError({ server: "(file)", path: file, detail: fault.message })
  }
  yield* heading(`${configs.length} server${configs.length === 1 ? "" : "s"} in ${file}`)
  const teardown = yield* Teardown.make()
  const report = Effect.gen(function*() {
    yield* heading("teardown")
    for (const { exit, how, killed, server, took } of (yield* teardown.report).servers) {
      const end = exit === undefined ? "" : `, ${exit.signal ?? `exit code ${exit.code}`}`
      yield* row(
        server,
        `${how} in ${milliseconds(took)}${end}${killed.length === 0 ? "" : `, killed: ${killed.join(" ")}`}`
      )
    }
  })
  const runtime = NodeMcpRuntime.layer({ servers: configs, cacheDirectory: "memory", logs: false }).pipe(
    NodeMcpRuntime.using(Layer.succeed(Teardown.Teardown, teardown))
  )
  const began = yield* Clock.currentTimeMillis
  const visits = Effect.gen(function*() {
    const { servers, tools } = yield* McpRuntime.McpRuntime
    const offered = yield* tools
    return yield* Effect.forEach(yield* servers.list, (info) => Effect.either(visit(info, offered, began)))
  })
  const errors = Array.getLefts(yield* visits.pipe(Effect.provide(runtime), Effect.ensuring(report)))
  if (Array.isNonEmptyReadonlyArray(errors)) return yield* Effect.fail(errors)
})

const describe = (cause: Cause.Cause<McpError.McpError | ReadonlyArray<McpError.McpError>>): string =>
  Either.match(Cause.failureOrCause(cause), {
    onLeft: (errors) => [errors].flat().map((error) => `${McpError.label(error)}: ${error.message}`).join("\n"),
    onRight: Cause.pretty
  })

program.pipe(
  Effect.tapErrorCause((cause) =>
    Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(styled(process.stderr, 31, describe(cause)))
  ),
  Effect.provide(Layer.provideMerge(discovery, NodeContext.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
