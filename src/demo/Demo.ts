/**
 * The demo: opens the servers of a file one after the other and tells what it sees.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as Session from "../connection/Session.ts"
import * as Teardown from "../resilience/Teardown.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as UntrustedText from "../UntrustedText.ts"
import * as DemoConfig from "./DemoConfig.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The file with the servers. */
  readonly file: string
  /** A tool to call where a server has it. */
  readonly call?: { readonly tool: string; readonly arguments: JsonRpc.JsonObject } | undefined
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

const invocation = (call: NonNullable<Options["call"]>): string => `${call.tool} ${JSON.stringify(call.arguments)}`

const visit = Effect.fn("Demo.visit")(function*(config: ServerConfig.ServerConfig, options: Options) {
  const [took, session] = yield* Effect.timed(Session.open(config))
  const { era, protocolVersion, serverInfo, transport } = session.connection
  yield* Console.log(
    row("status", `connected over ${transport} in ${milliseconds(took)}, protocol ${protocolVersion} (${era} era)`)
  )
  yield* Console.log(row(
    "server",
    serverInfo === undefined ? "anonymous" : UntrustedText.excerpt(`${serverInfo.name} ${serverInfo.version}`, 80)
  ))
  const { rejected, tools } = yield* session.tools
  yield* Console.log(
    row("tools", rejected.length === 0 ? `${tools.length}` : `${tools.length}, and ${rejected.length} rejected`)
  )
  for (const line of tools.map(tool)) yield* Console.log(line)
  const { call } = options
  if (call === undefined || !tools.some(({ name }) => name === call.tool)) return
  yield* Console.log(row("call", invocation(call)))
  const [answered, result] = yield* Effect.timed(session.callTool(call.tool, call.arguments))
  yield* Console.log(row("result", `${content(result)}   (${milliseconds(answered)})`))
})

const ended = (end: Teardown.ServerEnd): string => {
  const exit = end.exit === undefined ? "" : `, ${end.exit.signal ?? `exit code ${end.exit.code}`}`
  const killed = end.killed.length === 0 ? "" : `, killed: ${end.killed.join(" ")}`
  return row(end.server, `${end.how} in ${milliseconds(end.took)}${exit}${killed}`)
}

/**
 * Visits every server, whatever becomes of the others, and fails with all that went wrong, after everything it opened is
 * closed and reported.
 *
 * @since 0.1.0
 * @category constructors
 */
export const run = Effect.fn("Demo.run")(function*(options: Options) {
  const heading = (text: string) => Console.log(options.colour ? `\u001b[1m${text}\u001b[0m` : text)
  const servers = yield* DemoConfig.read(options.file)
  yield* heading(`${servers.length} server${servers.length === 1 ? "" : "s"} in ${options.file}`)
  const teardown = yield* Teardown.Teardown
  const report = Effect.gen(function*() {
    yield* heading("teardown")
    for (const end of (yield* teardown.report).servers) yield* Console.log(ended(end))
  })
  yield* Effect.validateAll(
    servers,
    (config) =>
      Effect.zipRight(heading(config.name), Effect.scoped(visit(config, options))).pipe(
        Effect.tapError((error) => Console.log(row("failed", error._tag)))
      ),
    { discard: true }
  ).pipe(Effect.ensuring(report))
})
