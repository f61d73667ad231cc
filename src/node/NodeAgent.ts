/**
 * What an agent needs over a runtime, for Node: tools under safe names, calls that never fail, output that is guarded, and
 * long output kept in files of the user.
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"
import * as AgentTools from "../agent/AgentTools.ts"
import * as ToolHandler from "../agent/ToolHandler.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import * as Tokens from "../safety/Tokens.ts"
import type * as AutoSearch from "../tools/AutoSearch.ts"
import * as SearchSession from "../tools/SearchSession.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import type * as NodeMcpRuntime from "./NodeMcpRuntime.ts"
import * as NodeSpill from "./NodeSpill.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<E = never> {
  /** The tools of our own, beside those of the servers. */
  readonly agentTools?: Parameters<typeof AgentTools.layer>[0]
  /** When a model gets a search in place of all definitions. */
  readonly search?: Partial<AutoSearch.Options> | undefined
  readonly handler?: Partial<ToolHandler.Options> | undefined
  readonly output?: Partial<OutputGuard.Options> | undefined
  /** Where long output is kept, and for how long. */
  readonly spill?: Partial<NodeSpill.Options> | undefined
  /** Takes the place of whatever it provides: `Tokens.layerTiktoken`, a `Spill` of one's own. */
  readonly replace?: Layer.Layer<never, E> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type Services =
  | AgentTools.AgentTools
  | OutputGuard.OutputGuard
  | SearchSession.SearchSessions
  | ToolHandler.ToolHandler

/**
 * Over `NodeMcpRuntime.layer` or `NodeMcpRuntime.layerConfigured`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never>(
  options: Options<E> = {}
): Layer.Layer<Services, E, NodeMcpRuntime.Services> => {
  const replacements: Layer.Layer<never, E> = options.replace ?? Layer.empty
  const replaced = <Out, E2, In>(self: Layer.Layer<Out, E2, In>): Layer.Layer<Out, E | E2, In> =>
    Layer.merge(self, replacements)
  const readTool = options.agentTools?.tools?.mcp_read_output === false ? undefined : "mcp_read_output"
  return ToolHandler.layer(options.handler).pipe(
    Layer.provideMerge(replaced(AgentTools.layer(options.agentTools))),
    Layer.provideMerge(replaced(OutputGuard.layer({ readTool, ...options.output }))),
    Layer.provideMerge(replaced(SearchSession.layer(options.search))),
    Layer.provide(replaced(Layer.mergeAll(NodeSpill.layer(options.spill), Tokens.layerEstimate, ToolSearch.layer())))
  )
}
