/** The tools of an application, which are available at once, together with those of MCP servers. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolHandler from "./ToolHandler.ts"

/** A tool of the application, of any type with a name. */
export interface CoreTool {
  readonly name: string
}

export interface Options<Core extends CoreTool> {
  readonly core: ReadonlyArray<Core>
  /** How long each `tools` waits for servers (default: not at all). */
  readonly wait?: Duration.DurationInput | undefined
}

export interface Tools<Core extends CoreTool> extends Omit<ToolHandler.Definitions, "tools"> {
  /** The `core` of the options, unchanged. */
  readonly core: ReadonlyArray<Core>
  /** The available MCP tools, except those with the name of a core tool. */
  readonly mcp: ReadonlyArray<ToolHandler.Definition>
  /** The names of MCP tools that core tools replace. */
  readonly shadowed: ReadonlyArray<string>
}

export interface HostTools<Core extends CoreTool> {
  /** The tools for the next turn of a model. Logs newly missing servers, and publishes an event about them. */
  readonly tools: (options?: Omit<ToolHandler.DefinitionsOptions, "wait">) => Effect.Effect<Tools<Core>>
}

type Requirements = McpEvent.McpEvents | McpRuntime.McpRuntime | ToolHandler.ToolHandler

type Missing = ToolCatalog.Missing

const states: { readonly [S in ServerStatus.ServerStatus["_tag"]]: string } = {
  Blocked: "is blocked",
  Closed: "is closed",
  Connected: "has not listed its tools yet",
  Connecting: "is still connecting",
  Disabled: "is disabled",
  Failed: "has failed",
  Idle: "is idle, with unknown tools",
  NeedsAuth: "needs authorization",
  Reconnecting: "is reconnecting"
}

/** The status and the tag of the error, without its message, which may contain text of the server. */
const reasonOf = ({ error, status }: Missing): string => {
  if (error?._tag === "ServerUnavailable" && error.why === "connecting") return states.Connecting
  return error === undefined ? states[status._tag] : `${states[status._tag]} (${McpError.label(error)})`
}

/** Lists the tools of servers in the background until the scope closes. */
export const make = <Core extends CoreTool>(
  { core, wait = 0 }: Options<Core>
): Effect.Effect<HostTools<Core>, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const handler = yield* ToolHandler.ToolHandler
    const runtime = yield* McpRuntime.McpRuntime
    const names = new Set(core.map(({ name }) => name))
    let reported = ""

    const warn = (missing: ReadonlyArray<Missing>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const servers = missing.filter(({ status }) => status._tag !== "Disabled" && status._tag !== "Closed")
          .map((each) => ({ server: each.server, status: each.status._tag, why: reasonOf(each) }))
        const now = servers.map(({ server, why }) => `${server}\n${why}`).join("\n")
        if (now === reported) return Effect.void
        reported = now
        if (servers.length === 0) return Effect.void
        events.publish(McpEvent.McpEvent.ServersMissing({ servers }))
        const each = servers.map(({ server, why }) => `${UntrustedText.excerpt(server, 64)} ${why}`)
        return RuntimeLog.warning(`The tools of ${servers.length} servers are missing: ${each.join(", ")}.`)
      })

    const merged = ({ tools, ...rest }: ToolHandler.Definitions): Tools<Core> => ({
      ...rest,
      core,
      mcp: tools.filter(({ name }) => !names.has(name)),
      shadowed: tools.flatMap(({ name }) => names.has(name) ? [name] : [])
    })

    // starts lazy servers, because `tools` without a wait would not start them
    const wake = Effect.asVoid(runtime.tools)
    const subscription = yield* events.subscribe
    yield* Effect.forkScoped(wake)
    yield* Mailbox.toStream(subscription).pipe(
      Stream.runForEach(({ _tag }) => _tag === "ConfigurationReloaded" ? wake : Effect.void),
      Effect.forkScoped
    )

    return {
      tools: (options) =>
        Effect.tap(Effect.map(handler.definitions({ ...options, wait }), merged), ({ missing }) => warn(missing))
    }
  })
