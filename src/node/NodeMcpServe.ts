/** The gateway for Node, over servers from code or from configuration files. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TokenStore from "../auth/TokenStore.ts"
import * as InputHandlers from "../client/InputHandlers.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import { concern, isolated } from "../runtime/composition.ts"
import * as Approval from "../safety/Approval.ts"
import * as Grants from "../safety/Grants.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as McpServe from "../server/McpServe.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import * as NodeMcpRuntime from "./NodeMcpRuntime.ts"
import * as NodeSpill from "./NodeSpill.ts"

/** The services that tell the callers of a gateway apart. */
const seated = ({ approval, handlers }: McpServe.Seat): Context.Context<never> => {
  const context = approval === undefined ? Context.empty() : Context.make(Approval.Approval, approval)
  return handlers === undefined ? context : Context.add(context, InputHandlers.InputHandlers, handlers)
}

/** One runtime for each seat. They share what replaces a concern, but for events and permissions. */
const runtimes = (
  layer: (options: { readonly lazy: boolean }) => Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure>,
  isLazy: boolean | undefined
) =>
  Effect.map(Effect.context<never>(), (environment): McpServe.Runtimes["Type"] => {
    const shared = Context.omit(McpEvent.McpEvents, Permissions.Permissions)(environment)
    return {
      open: (seat) =>
        Layer.build(layer({ lazy: seat.lazy || isLazy === true })).pipe(
          // not in the environment of the request that opens the seat
          Effect.mapInputContext((request: Context.Context<Scope.Scope>) =>
            shared.pipe(Context.merge(seated(seat)), Context.merge(Context.pick(Scope.Scope)(request)))
          )
        )
    }
  })

/** Runtimes over servers that are given in code. What a tool was, and what was approved, holds for all of them. */
export const layerRuntimes = (options: NodeMcpRuntime.Options): Layer.Layer<McpServe.Runtimes> => {
  const pins = ToolPins.make(options.pins).pipe(
    Effect.provideServiceEffect(TrustStore.TrustStore, TrustStore.makeMemory),
    Effect.provideServiceEffect(McpEvent.McpEvents, McpEvent.make())
  )
  const composition = Layer.scoped(
    McpServe.Runtimes,
    runtimes(({ lazy }) => NodeMcpRuntime.layer({ ...options, lazy }), options.lazy)
  ).pipe(
    Layer.provide([
      concern(Grants.Grants, Grants.makeMemory),
      concern(TokenStore.TokenStore, TokenStore.makeMemory),
      concern(ToolPins.ToolPins, pins)
    ])
  )
  return Layer.scopedContext(isolated(Layer.build(composition), Context.pick()))
}

/** Runtimes over the discovery in the environment; see `NodeMcpRuntime.layerDiscovered`. */
export const layerRuntimesDiscovered = (
  options: NodeMcpRuntime.ConfiguredOptions = {}
): Layer.Layer<McpServe.Runtimes, never, ConfigDiscovery.ConfigDiscovery> =>
  Layer.scoped(
    McpServe.Runtimes,
    isolated(
      Effect.flatMap(ConfigDiscovery.ConfigDiscovery, (discovery) =>
        runtimes(
          ({ lazy }) =>
            NodeMcpRuntime.layerDiscovered({ ...options, lazy }).pipe(
              Layer.provide(Layer.succeed(ConfigDiscovery.ConfigDiscovery, discovery)),
              Layer.provide(Layer.scoped(McpEvent.McpEvents, McpEvent.make()))
            ),
          options.lazy
        )),
      Context.pick(ConfigDiscovery.ConfigDiscovery)
    )
  )

export interface GuardOptions {
  readonly output?: Partial<OutputGuard.Options> | undefined
  /** Where long output is kept, and for how long. */
  readonly spill?: Partial<NodeSpill.Options> | undefined
}

/** The name under which `McpServe` offers the rest of long output. */
const readTool = "mcp_read_output"

/** The other services of a gateway. */
export const layerGuards = (
  { output, spill }: GuardOptions = {}
): Layer.Layer<OutputGuard.OutputGuard | ToolSearch.ToolSearch, McpError.ConfigurationError> =>
  Layer.merge(
    Layer.provide(
      NodeSpill.layerGuard({ output: { readTool, ...output }, spill }),
      Layer.scoped(McpEvent.McpEvents, McpEvent.make())
    ),
    concern(ToolSearch.ToolSearch, ToolSearch.make())
  )

/** A complete gateway over servers from code. */
export const make = (
  options: NodeMcpRuntime.Options & {
    readonly serve?: Partial<McpServe.Options> | undefined
    readonly guard?: GuardOptions | undefined
  }
): Effect.Effect<McpServe.Gateway, McpError.ConfigurationError, Scope.Scope> => {
  const { guard, serve, ...rest } = options
  // a wrapper that is not shown need not be made
  const output = { wrap: serve?.output === "wrap", ...guard?.output }
  const parts = Layer.build(Layer.merge(layerRuntimes(rest), layerGuards({ ...guard, output })))
  return Effect.flatMap(parts, (parts) => Effect.provide(McpServe.make(serve), parts))
}
