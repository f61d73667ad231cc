/**
 * What is there of the tools of servers, beside tools that are always there.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as McpRuntime from "../../McpRuntime.ts"
import type * as ServerStatus from "../../runtime/ServerStatus.ts"
import * as RuntimeLog from "../../runtimeLog.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as ToolCatalog from "../../tools/ToolCatalog.ts"
import type * as HostTools from "../HostTools.ts"
import * as ToolHandler from "../ToolHandler.ts"

/** @internal */
export interface Options<Core> {
  readonly core: ReadonlyArray<Core>
  readonly wait: Duration.Duration
}

type Missing = ToolCatalog.Missing

const states: { readonly [S in ServerStatus.ServerStatus["_tag"]]: string } = {
  Blocked: "is blocked",
  Closed: "is closed",
  Connected: "has not said yet what it offers",
  Connecting: "is still connecting",
  Disabled: "is switched off",
  Failed: "was given up",
  Idle: "has not been asked yet what it offers",
  NeedsAuth: "needs authorization",
  Reconnecting: "was not reached yet"
}

/** The tag of the error without its message, which may hold text of the server. */
const why = ({ error, status }: Missing): string => {
  if (error?._tag === "ServerUnavailable" && error.why === "connecting") return states.Connecting
  return error === undefined ? states[status._tag] : `${states[status._tag]} (${McpError.label(error)})`
}

/** What somebody has switched off is not missed. */
const isMissed = ({ status }: Missing): boolean => status._tag !== "Disabled" && status._tag !== "Closed"

/** After these there may be other tools although no server is in another state. */
const changing: ReadonlySet<McpEvent.McpEvent["_tag"]> = new Set(
  [
    "ConfigurationReloaded",
    "StatusChanged",
    "ToolQuarantined",
    "ToolsRefreshed"
  ] as const
)

/** Tools by what a reader can tell apart. */
const essence = ({ mcp, missing }: Pick<HostTools.Tools<HostTools.CoreTool>, "mcp" | "missing">): string =>
  JSON.stringify([
    mcp.map(({ deferred, description, inputSchema, name, requiresApproval }) => [
      name,
      description,
      inputSchema,
      requiresApproval,
      deferred
    ]),
    missing.map((one) => [one.server, why(one)])
  ])

/** @internal */
export const make = <Core extends HostTools.CoreTool>(
  { core, wait }: Options<Core>
): Effect.Effect<HostTools.HostTools<Core>, never, HostTools.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const handler = yield* ToolHandler.ToolHandler
    const runtime = yield* McpRuntime.McpRuntime
    const names = new Set(core.map(({ name }) => name))
    let told = ""

    const warn = (missing: ReadonlyArray<Missing>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const servers = missing.filter(isMissed).map((one) => ({
          server: one.server,
          status: one.status._tag,
          why: why(one)
        }))
        const now = servers.map(({ server, why }) => `${server}\n${why}`).join("\n")
        if (now === told) return Effect.void
        told = now
        if (servers.length === 0) return Effect.void
        events.publish(McpEvent.McpEvent.ServersMissing({ servers }))
        const each = servers.map(({ server, why }) => `${UntrustedText.excerpt(server, 64)} ${why}`)
        return RuntimeLog.warning(`The tools of ${servers.length} servers are missing: ${each.join(", ")}.`)
      })

    const merged = (found: ToolHandler.Definitions): HostTools.Tools<Core> => ({
      core,
      mcp: found.tools.filter(({ name }) => !names.has(name)),
      shadowed: found.tools.filter(({ name }) => names.has(name)).map(({ name }) => name),
      missing: found.missing,
      searching: found.searching
    })

    const tools: HostTools.HostTools<Core>["tools"] = (options) =>
      Effect.map(handler.definitions({ ...options, wait }), merged).pipe(
        Effect.tap(({ missing }) => warn(missing))
      )

    // whoever never waits would never hear of a server that is only asked when somebody wants to know
    const wake = Effect.asVoid(runtime.tools)
    const heard = yield* events.subscribe
    yield* Effect.forkScoped(wake)
    yield* Mailbox.toStream(heard).pipe(
      Stream.runForEach(({ _tag }) => _tag === "ConfigurationReloaded" ? wake : Effect.void),
      Effect.forkScoped
    )

    const changes = Stream.unwrapScoped(Effect.map(events.subscribe, (heard) =>
      Mailbox.toStream(heard).pipe(
        Stream.chunks,
        Stream.filter(Chunk.some(({ _tag }) => changing.has(_tag))),
        // of many changes only that there were some: what is told is what is then
        Stream.as(undefined),
        Stream.prepend(Chunk.of(undefined)),
        Stream.mapEffect(() => Effect.map(handler.definitions({ wait: 0 }), merged)),
        Stream.changesWith((a, b) => essence(a) === essence(b))
      )))

    return { tools, changes }
  })
