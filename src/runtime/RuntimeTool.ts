/** The tools of all servers as a caller sees them: listed, looked up by name, and called. */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as McpClient from "../client/McpClient.ts"
import * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as Tool from "../tools/Tool.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolIndex from "../tools/ToolIndex.ts"
import * as ToolName from "../tools/ToolName.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as CallTool from "./callTool.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"

/**
 * A tool that can be called. `Deferred`: its server is not connected, the definition is from an earlier list, and a call
 * waits for the server.
 */
export interface RuntimeTool {
  readonly _tag: "Ready" | "Deferred"
  /** The name that a model sees. */
  readonly name: string
  readonly description: string | undefined
  readonly inputSchema: JsonRpc.JsonObject
  readonly serverName: string
  readonly metadata: Tool.Metadata
  /** The definition of the server; `tool.name` is the name at the server. */
  readonly tool: Tool.Tool
  /** True if a call by a model needs approval; a rule about arguments may decide otherwise. */
  readonly requiresApproval: boolean
  readonly call: (
    args?: McpClient.Arguments,
    options?: McpRuntime.CallOptions
  ) => Effect.Effect<McpRuntime.CallResult, McpError.RuntimeError>
}

export interface Tools {
  /** The tools that a model may be offered. */
  readonly tools: ReadonlyArray<RuntimeTool>
  /** Tools that only apps may call (`Tool.isAppOnly`), for a host that shows apps. */
  readonly apps: ReadonlyArray<RuntimeTool>
  /** By the name that the server gives; more than one if several servers have a tool of that name. */
  readonly toolsByName: ReadonlyMap<string, ReadonlyArray<RuntimeTool>>
  /** The servers without a list, each with the reason. */
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
  /** Tools that cannot be offered. */
  readonly rejected: ToolCatalog.Listing["rejected"]
  /** Tools that have changed since they were first seen, until a person approves the change. */
  readonly quarantined: ToolCatalog.Listing["quarantined"]
  /** Tools that a rule denies whatever their arguments. */
  readonly denied: ReadonlyArray<{ readonly server: string; readonly tool: string; readonly rule: string | undefined }>
}

/** A tool: the name that a model sees, the name that its server gives if no other server has a tool of that name, or both. */
export type ToolRef = string | { readonly server: string; readonly tool: string }

type NotOffered = McpError.NotFound | McpError.PermissionDenied

export const make = (servers: Servers.Servers, catalog: ToolCatalog.ToolCatalog["Type"], calls: CallTool.Calls) =>
  Effect.gen(function*() {
    const limits = yield* Limits.CurrentLimits
    const permissions = yield* Permissions.Permissions

    const ruling = ({ server, tool: { name } }: ToolIndex.Entry) =>
      permissions.decide("model", { kind: "tool", server, name })

    const runtimeTool = (
      { _tag, name, server, tool }: ToolCatalog.Offered,
      requiresApproval: boolean
    ): RuntimeTool => ({
      _tag,
      name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      serverName: server,
      metadata: Tool.metadata(tool),
      tool,
      requiresApproval,
      call: (args = {}, options) => calls.callTool(server, tool.name, args, options)
    })

    const listed = ({ missing, quarantined, rejected, tools }: ToolCatalog.Listing): Tools => {
      const [allowed, denied] = Array.partitionMap(tools, (offered) => {
        const { decision, rule } = ruling(offered)
        return decision === "deny"
          ? Either.right({ server: offered.server, tool: offered.tool.name, rule: rule?.text })
          : Either.left(runtimeTool(offered, decision === "ask"))
      })
      const [forModels, apps] = Array.partition(allowed, ({ tool }) => Tool.isAppOnly(tool))
      const toolsByName = new Map<string, Array<RuntimeTool>>()
      for (const tool of forModels) {
        const same = toolsByName.get(tool.tool.name)
        if (same === undefined) toolsByName.set(tool.tool.name, [tool])
        else same.push(tool)
      }
      return { tools: forModels, apps, toolsByName, missing, rejected, quarantined, denied }
    }

    const isUnlisted = ({ config: { blocked, enabled }, name }: Server.Server): boolean =>
      blocked === undefined && enabled !== false && !catalog.isKnown(name)

    /** The tool of a name or an identity in the known lists. A tool that is filtered out is not found. */
    const find = (ref: ToolRef, isListed = false): Either.Either<ToolName.Identity, McpError.NotFound> => {
      const index = catalog.index()
      if (typeof ref === "string") {
        const entry = index.resolve(ref)
        // a bare name is unique only among the lists that are known
        const mayBeAmbiguous = !isListed && entry?.tool.name === ref && !index.byQualifiedName.has(ref) &&
          servers.all().some(isUnlisted)
        return entry === undefined || mayBeAmbiguous
          ? Either.left(notFound("", ref, index.suggest(ref)))
          : Either.right({ server: entry.server, tool: entry.tool.name })
      }
      const { server, tool } = ref
      // without a list only the filter of the configuration decides, and the server itself
      return index.find(server, tool) !== undefined ||
          (!catalog.isKnown(server) && servers.get(server)?.offers(tool) !== false)
        ? Either.right(ref)
        : Either.left(notFound(server, tool, index.suggest(tool)))
    }

    const findAfterList = (ref: ToolRef) =>
      Effect.flatMap(catalog.list, ({ quarantined }): Effect.Effect<ToolName.Identity, NotOffered> => {
        const found = find(ref, true)
        const changed = Either.isLeft(found) ? quarantined.find((tool) => isNamed(ref, tool)) : undefined
        return changed === undefined ? found : Effect.fail(
          new McpError.PermissionDenied({
            server: changed.server,
            why: "quarantined",
            kind: "tool",
            name: changed.tool,
            ...ToolPins.refusal(changed)
          })
        )
      })

    /** Lists first. Only the server that is named in `ref` is waited for beyond `firstListWait`. */
    const findListed = (ref: ToolRef): Effect.Effect<ToolName.Identity, NotOffered> =>
      Effect.suspend(() => {
        const named = servers.get((typeof ref === "string" ? ToolName.parse(ref)?.server : ref.server) ?? "")
        return named === undefined || catalog.isKnown(named.name)
          ? Effect.void
          : Effect.ignore(catalog.discover(named.name))
      }).pipe(
        Effect.flatMap(() => find(ref)),
        Effect.orElse(() => findAfterList(ref))
      )

    const offered = ({ server, tool }: ToolName.Identity): Effect.Effect<RuntimeTool, McpError.NotFound> => {
      const entry = catalog.index().find(server, tool)
      if (entry === undefined) return Effect.fail(notFound(server, tool, []))
      const _tag = servers.get(server)?.live === undefined ? "Deferred" : "Ready"
      return Effect.succeed(runtimeTool({ _tag, ...entry }, ruling(entry).decision === "ask"))
    }

    const get = (ref: ToolRef): Effect.Effect<RuntimeTool, NotOffered> =>
      Effect.suspend(() => Effect.flatMap(find(ref), offered)).pipe(
        Effect.orElse(() => Effect.flatMap(findListed(ref), offered))
      )

    const call: McpRuntime.Service["callTool"] = (ref, args = {}, options) =>
      Effect.suspend(() => {
        const found = find(ref)
        if (Either.isRight(found)) return calls.callTool(found.right.server, found.right.tool, args, options)
        const server = typeof ref === "string" ? "" : ref.server
        const total = options?.totalTimeout ?? servers.get(server)?.config.toolTimeout ?? limits.toolTimeout
        const limit = Option.getOrElse(Duration.decodeUnknown(total), () => limits.toolTimeout)
        const timeout = { server, kind: "total", operation: "tools/call", limit, outcome: "not-sent" } as const
        // the lists are part of the total time of the call
        return findListed(ref).pipe(
          Effect.timeoutFail({ duration: limit, onTimeout: () => new McpError.RequestTimeout(timeout) }),
          Effect.timed,
          Effect.flatMap(([took, { server, tool }]) =>
            calls.callTool(server, tool, args, { ...options, totalTimeout: Duration.subtract(limit, took) })
          )
        )
      })

    return { listed, get, call }
  })

/** True if `ref` names this tool, which is in no index. */
const isNamed = (ref: ToolRef, { server, tool }: ToolName.Identity): boolean => {
  if (typeof ref !== "string") return ref.server === server && ref.tool === tool
  const parsed = ToolName.parse(ref)
  return (parsed?.server === server && parsed.tool === tool) ||
    (["double", "single"] as const).some((style) => ToolName.qualify(server, tool, style) === ref)
}

const notFound = (server: string, name: string, suggestions: ReadonlyArray<string>) =>
  new McpError.NotFound({ server, kind: "tool", name, suggestions })
