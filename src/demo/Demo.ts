// @effect-diagnostics strictEffectProvide:off -- the servers are known once the file is read, and the demo is a program
/**
 * The demo: a runtime over the servers of a file, and what there is to see of it.
 *
 * @since 0.1.0
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Trust from "../config/Trust.ts"
import * as McpError from "../McpError.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as NodeMcpRuntime from "../node/NodeMcpRuntime.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

/**
 * A call of a tool, where a server has it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Invocation {
  readonly tool: string
  readonly arguments: JsonRpc.JsonObject
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The file with the servers. */
  readonly file: string
  readonly call?: Invocation | undefined
  /** A call that ends the server, and one that shows that it is back. */
  readonly recovery?: { readonly crash: Invocation; readonly next: Invocation } | undefined
  /** Whether headings are written in bold and errors in red. */
  readonly colour: boolean
}

const milliseconds = (duration: Duration.Duration): string => `${Math.round(Duration.toMillis(duration))} ms`

const row = (label: string, text: string): string => `  ${label.padEnd(9)} ${text}`

const tool = ({ description, name }: Tool.Tool): string =>
  row("", `${UntrustedText.excerpt(name, 64).padEnd(12)}${UntrustedText.excerpt(description ?? "", 80)}`)

const content = ({ content, structuredContent }: ToolResult.ToolResult): string => {
  const texts = content.map((part) => part._tag === "Text" ? part.text : `(${part._tag})`)
  const structured = structuredContent === undefined ? [] : [`structured ${JSON.stringify(structuredContent)}`]
  return UntrustedText.excerpt([...texts, ...structured].join("   "), 240)
}

const invocation = (call: Invocation): string => `${call.tool} ${JSON.stringify(call.arguments)}`

/** Calls a tool where its server has it. */
const call = (server: string, { arguments: args, tool }: Invocation) =>
  Effect.gen(function*() {
    const runtime = yield* McpRuntime.McpRuntime
    yield* Console.log(row("call", invocation({ arguments: args, tool })))
    const result = yield* runtime.callTool({ server, tool }, args)
    yield* Console.log(row("result", `${content(result)}   (${milliseconds(result.metadata.duration)})`))
  })

/** Lets a server crash in the middle of a call, and calls it again. */
const recover = (server: string, { crash, next }: NonNullable<Options["recovery"]>) =>
  Effect.gen(function*() {
    yield* Effect.catchAll(call(server, crash), (error) =>
      Console.log(
        row("failed", `${McpError.label(error)}; it may have run (${error.outcome}), so it is not called again`)
      ))
    yield* call(server, next)
    yield* Console.log(row("recovery", "the server was started again, and the call waited for it"))
  })

const visit = Effect.fn("Demo.visit")(
  function*(info: McpRuntime.ServerInfo, offered: McpRuntime.Tools, began: number, options: Options) {
    const { connectedSince, era, name, protocolVersion, serverInfo, transport } = info
    const missing = offered.missing.find(({ server }) => server === name)
    if (missing !== undefined) {
      const { error, status } = missing
      yield* Console.log(row("failed", error === undefined ? status._tag : McpError.label(error)))
      return error === undefined ? [] : [error]
    }
    const took = milliseconds(Duration.millis((connectedSince ?? began) - began))
    yield* Console.log(
      row("status", `connected over ${transport} in ${took}, protocol ${protocolVersion} (${era} era)`)
    )
    yield* Console.log(row(
      "server",
      serverInfo === undefined ? "anonymous" : UntrustedText.excerpt(`${serverInfo.name} ${serverInfo.version}`, 80)
    ))
    const tools = offered.tools.filter(({ server }) => server === name)
    const rejected = offered.rejected.filter(({ server }) => server === name)
    yield* Console.log(
      row("tools", rejected.length === 0 ? `${tools.length}` : `${tools.length}, and ${rejected.length} rejected`)
    )
    for (const offer of tools) yield* Console.log(tool(offer.tool))
    const has = (invocation: Invocation) => tools.some(({ tool }) => tool.name === invocation.tool)
    if (options.call !== undefined && has(options.call)) yield* call(name, options.call)
    if (options.recovery !== undefined && has(options.recovery.crash)) yield* recover(name, options.recovery)
    return []
  }
)

const ended = (end: Teardown.ServerEnd): string => {
  const exit = end.exit === undefined ? "" : `, ${end.exit.signal ?? `exit code ${end.exit.code}`}`
  const killed = end.killed.length === 0 ? "" : `, killed: ${end.killed.join(" ")}`
  return row(end.server, `${end.how} in ${milliseconds(end.took)}${exit}${killed}`)
}

/** The servers of this file alone, which whoever names it agrees to. */
const found = (file: string) =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(
      ConfigDiscovery.layerFiles({
        files: [{ path: file }],
        enableProjectConfig: false,
        enableUserConfig: false
      }).pipe(Layer.provide([ConfigFiles.layer, Trust.layerAll()]))
    )
  )

/**
 * Visits every server, whatever becomes of the others, and fails with all that went wrong, after everything it opened is
 * closed and reported.
 *
 * @since 0.1.0
 * @category constructors
 */
export const run = Effect.fn("Demo.run")(function*(options: Options) {
  const heading = (text: string) => Console.log(options.colour ? `\u001b[1m${text}\u001b[0m` : text)
  const { configs, issues } = yield* found(options.file)
  for (const { line, message } of issues) {
    yield* Console.log(row("config", `${line === undefined ? "" : `line ${line}: `}${message}`))
  }
  const fault = issues.find(({ severity }) => severity === "error")
  if (configs.length === 0 && fault !== undefined) {
    return yield* Effect.fail([
      new McpError.ConfigurationError({ server: "(file)", path: options.file, detail: fault.message })
    ])
  }
  yield* heading(`${configs.length} server${configs.length === 1 ? "" : "s"} in ${options.file}`)
  const teardown = yield* Teardown.make()
  const runtime = NodeMcpRuntime.layer({
    servers: configs,
    cacheDirectory: "memory",
    logs: false
  }).pipe(NodeMcpRuntime.using(Layer.succeed(Teardown.Teardown, teardown)))
  const report = Effect.gen(function*() {
    yield* heading("teardown")
    for (const end of (yield* teardown.report).servers) yield* Console.log(ended(end))
  })
  const began = yield* Clock.currentTimeMillis
  const errors = yield* Effect.gen(function*() {
    const service = yield* McpRuntime.McpRuntime
    const offered = yield* service.tools
    const each = yield* Effect.forEach(
      yield* service.servers.list,
      (info) =>
        Effect.zipRight(heading(info.name), visit(info, offered, began, options)).pipe(
          Effect.catchAll((error) => Effect.as(Console.log(row("failed", McpError.label(error))), [error]))
        )
    )
    return each.flat()
  }).pipe(Effect.provide(runtime), Effect.ensuring(report))
  if (Array.isNonEmptyReadonlyArray(errors)) return yield* Effect.fail(errors)
})
