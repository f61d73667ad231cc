/**
 * The layers of an agent for Node, above a runtime: tools under safe names, calls that never fail, guarded output, and
 * long output in files.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as AgentTools from "../agent/AgentTools.ts"
import * as ToolHandler from "../agent/ToolHandler.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import { concern, sealed } from "../runtime/composition.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import * as Permissions from "../safety/Permissions.ts"
import type * as AutoSearch from "../tools/AutoSearch.ts"
import * as SearchSession from "../tools/SearchSession.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import * as NodeSpill from "./NodeSpill.ts"

export { SearchSessions } from "../tools/SearchSession.ts"

export interface Options extends NodeSpill.GuardOptions {
  /** The tools of the runtime itself, such as reading resources. */
  readonly agentTools?: Parameters<typeof AgentTools.layer>[0]
  /** When a model gets a search tool instead of all definitions. */
  readonly search?: Partial<AutoSearch.Options> | undefined
}

export type Services =
  | AgentTools.AgentTools
  | OutputGuard.OutputGuard
  | SearchSession.SearchSessions
  | ToolHandler.ToolHandler

/** The services that `using` replaces. */
export type Concern = NodeSpill.Concern | SearchSession.SearchSessions | ToolSearch.ToolSearch

/** Replaces concerns: `NodeAgent.layer().pipe(NodeAgent.using(Tokens.layerTiktoken()))`. */
export const using: <Out extends Concern, E, R>(
  layer: Layer.Layer<Out, E, R>
) => <A, E2, R2>(self: Layer.Layer<A, E2, R2>) => Layer.Layer<A, E | E2, R | Exclude<R2, Out>> = (layer) =>
  Layer.provide(layer)

/** Provide `NodeMcpRuntime.layer` or `NodeMcpRuntime.layerConfigured` to it. */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Services,
  McpError.ConfigurationError,
  McpEvent.McpEvents | McpRuntime.McpRuntime | Permissions.Permissions | ToolCatalog.ToolCatalog
> => {
  const readTool = options.agentTools?.tools?.mcp_read_output === false ? undefined : "mcp_read_output"
  const guard = NodeSpill.layerGuard({ output: { readTool, ...options.output }, spill: options.spill })
  const search = concern(SearchSession.SearchSessions, SearchSession.make(options.search)).pipe(
    Layer.provide(concern(ToolSearch.ToolSearch, ToolSearch.make()))
  )
  return sealed(
    ToolHandler.layer().pipe(
      Layer.provideMerge(AgentTools.layer(options.agentTools)),
      Layer.provideMerge(guard),
      Layer.provideMerge(search)
    ),
    Context.pick(McpEvent.McpEvents, McpRuntime.McpRuntime, Permissions.Permissions, ToolCatalog.ToolCatalog)
  )
}
