/** What an agent is given, over peers in memory. */
import { Layer } from "effect"
import * as AgentTools from "../../src/agent/AgentTools.ts"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Spill from "../../src/safety/Spill.ts"
import * as Tokens from "../../src/safety/Tokens.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as SearchSession from "../../src/tools/SearchSession.ts"
import * as ToolSearch from "../../src/tools/ToolSearch.ts"
import * as Runtime from "./runtime.ts"

export interface Options extends Runtime.Options {
  readonly agent?: Parameters<typeof AgentTools.layer>[0]
  readonly guard?: Partial<OutputGuard.Options>
  readonly search?: Partial<SearchSession.Options>
}

/** Above any runtime. */
export const above = ({ agent, guard, search }: Omit<Options, "servers"> = {}) =>
  ToolHandler.layer().pipe(
    Layer.provideMerge(AgentTools.layer(agent)),
    Layer.provideMerge(Layer.mergeAll(
      Layer.provide(OutputGuard.layer({ readTool: "mcp_read_output", ...guard }), [
        Spill.layerMemory(),
        Tokens.layerEstimate
      ]),
      Layer.provide(SearchSession.layer(search), ToolSearch.layer())
    ))
  )

/** Everybody may do everything, unless the options say otherwise. */
export const layer = (peers: Parameters<typeof MemoryTransport.layer>[0], options: Options) =>
  above(options).pipe(
    Layer.provideMerge(Runtime.layer(peers, { permissions: { otherwise: open }, ...options }))
  )

const open = { model: "allow", program: "allow", person: "allow" } as const
