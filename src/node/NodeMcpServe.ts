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
import { readOutput } from "../server/gateway/names.ts"
import * as McpServe from "../server/McpServe.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import * as NodeMcpRuntime from "./NodeMcpRuntime.ts"
import * as NodeSpill from "./NodeSpill.ts"

/** The services that differ between the callers of a gateway. */
const seated = ({ approval, handlers }: McpServe.Seat): Context.Context<never> => {
  const context = approval === undefined ? Context.empty() : Context.make(Approval.Approval, approval)
  return handlers === undefined ? context : Context.add(context, InputHandlers.InputHandlers, handlers)
}

/** One runtime per seat. Runtimes share the provided concerns, except events and permissions. */
const runtimes = (
  layer: (options: { readonly lazy: boolean }) => Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure>,
  isLazy: boolean | undefined
) =>
  Effect.map(Effect.context<never>(), (environment): McpServe.Runtimes["Type"] => {
    const shared = Context.omit(McpEvent.McpEvents, Permissions.Permissions)(environment)
    return {
      open: (seat) =>
        Layer.build(layer({ lazy: seat.lazy || isLazy === true })).pipe(
          // without the environment of the request that opens the seat
          Effect.mapInputContext((request: Context.Context<Scope.Scope>) =>
            shared.pipe(Context.merge(seated(seat)), Context.merge(Context.pick(Scope.Scope)(request)))
          )
        )
    }
  })

/** Runtimes over servers from code. They share pins, grants and tokens. */
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

/** The services of a gateway besides runtimes. */
export const layerGuards = (
  { output, spill }: NodeSpill.GuardOptions = {}
): Layer.Layer<OutputGuard.OutputGuard | ToolSearch.ToolSearch, McpError.ConfigurationError> =>
  Layer.merge(
    Layer.provide(
      NodeSpill.layerGuard({ output: { readTool: readOutput, ...output }, spill }),
      Layer.scoped(McpEvent.McpEvents, McpEvent.make())
    ),
    concern(ToolSearch.ToolSearch, ToolSearch.make())
  )

/** A complete gateway over servers from code. */
export const make = (
  options: NodeMcpRuntime.Options & {
    readonly serve?: Partial<McpServe.Options> | undefined
    readonly guard?: NodeSpill.GuardOptions | undefined
  }
): Effect.Effect<McpServe.Gateway, McpError.ConfigurationError, Scope.Scope> => {
  const { guard, serve, ...rest } = options
  // skips wrapping if the gateway does not use it
  const output = { wrap: serve?.output === "wrap", ...guard?.output }
  const parts = Layer.build(Layer.merge(layerRuntimes(rest), layerGuards({ ...guard, output })))
  return Effect.flatMap(parts, (parts) => Effect.provide(McpServe.make(serve), parts))
}
