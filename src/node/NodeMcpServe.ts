/**
 * The gateway for Node: over servers that are given in code, or over those that configuration files name.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TokenStore from "../auth/TokenStore.ts"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as Trust from "../config/Trust.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Grants from "../safety/Grants.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import * as Tokens from "../safety/Tokens.ts"
import * as McpServe from "../server/McpServe.ts"
import * as Runtimes from "../server/Runtimes.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import * as NodeMcpRuntime from "./NodeMcpRuntime.ts"
import * as NodeSpill from "./NodeSpill.ts"

/** What a caller's runtime puts in the place of something comes before what everybody's does. */
const replacing = <E>(
  own: Layer.Layer<never, E> | undefined,
  replace: Layer.Layer<never>
): Layer.Layer<never, E> => own === undefined ? replace : Layer.merge(own, replace)

const runtimes = <E>(
  layer: (
    options: { readonly replace: Layer.Layer<never, E>; readonly lazy: boolean }
  ) => Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure | E>,
  own: Layer.Layer<never, E> | undefined,
  isLazy: boolean
): Runtimes.Runtimes["Type"] => ({
  open: ({ lazy, replace }) =>
    // what could not be replaced is a mistake of the program, and shows when the first runtime is opened
    Effect.catchAll(
      Layer.build(layer({ lazy: lazy || isLazy, replace: replacing(own, replace) })),
      (error): Effect.Effect<never, NodeMcpRuntime.Failure> => isFailure(error) ? Effect.fail(error) : Effect.die(error)
    )
})

const isFailure = (error: unknown): error is NodeMcpRuntime.Failure =>
  typeof error === "object" && error !== null && "_tag" in error &&
  (error._tag === "RequiredServersFailed" || error._tag === "ConfigurationError")

/** What a tool was, and what was agreed to, is so for all runtimes. */
const layerKept = (
  options: Pick<NodeMcpRuntime.Options, "pins">
): Layer.Layer<Grants.Grants | TokenStore.TokenStore | ToolPins.ToolPins> =>
  Layer.mergeAll(
    Grants.layerMemory,
    TokenStore.layerMemory,
    Layer.provide(ToolPins.layerMemory(options.pins), McpEvent.layer)
  )

/**
 * Runtimes over servers that are given in code.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRuntimes = <E = never>(
  options: NodeMcpRuntime.Options<E>
): Layer.Layer<Runtimes.Runtimes> =>
  Layer.scoped(
    Runtimes.Runtimes,
    Effect.map(Layer.build(layerKept(options)), (kept) => {
      const own: Layer.Layer<never, E> = options.replace ?? Layer.empty
      return runtimes<E>(
        ({ lazy, replace }) => NodeMcpRuntime.layer({ ...options, lazy, replace }),
        Layer.merge(Layer.succeedContext(kept), own),
        options.lazy === true
      )
    })
  )

/**
 * Runtimes over what a discovery has found; see `NodeMcpRuntime.layerDiscovered`. Each has events of its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRuntimesDiscovered = <E = never>(
  options: NodeMcpRuntime.ConfiguredOptions<E> = {}
): Layer.Layer<Runtimes.Runtimes, never, ConfigDiscovery.ConfigDiscovery | Trust.Trust> =>
  Layer.effect(
    Runtimes.Runtimes,
    Effect.map(Effect.context<ConfigDiscovery.ConfigDiscovery | Trust.Trust>(), (ground) =>
      runtimes<E>(
        ({ lazy, replace }) =>
          NodeMcpRuntime.layerDiscovered({ ...options, lazy, replace }).pipe(
            Layer.provide(Layer.merge(Layer.succeedContext(ground), Layer.fresh(McpEvent.layer)))
          ),
        options.replace,
        options.lazy === true
      ))
  )

/**
 * @since 0.1.0
 * @category models
 */
export interface GuardOptions {
  readonly output?: Partial<OutputGuard.Options> | undefined
  /** Where long output is kept, and for how long. */
  readonly spill?: Partial<NodeSpill.Options> | undefined
}

/** The tool that reads on in what was too long, as `McpServe` offers it. */
const readTool = "mcp_read_output"

/**
 * What a gateway needs beside runtimes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerGuards = (
  options: GuardOptions = {}
): Layer.Layer<OutputGuard.OutputGuard | ToolSearch.ToolSearch> =>
  Layer.merge(
    OutputGuard.layer({ readTool, ...options.output }).pipe(
      Layer.provide(Layer.mergeAll(NodeSpill.layer(options.spill), Tokens.layerEstimate, McpEvent.layer))
    ),
    ToolSearch.layer()
  )

/**
 * The gateway over servers that are given in code, with everything that it takes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E = never>(
  options: NodeMcpRuntime.Options<E> & { readonly serve?: Partial<McpServe.Options> | undefined } & {
    readonly guard?: GuardOptions | undefined
  }
): Effect.Effect<McpServe.Gateway, never, Scope.Scope> => {
  const { guard, serve, ...rest } = options
  return Effect.gen(function*() {
    // a wrapper that nobody sees need not be made
    const output = { wrap: serve?.output === "wrap", ...guard?.output }
    const needed = yield* Layer.build(Layer.merge(layerRuntimes(rest), layerGuards({ ...guard, output })))
    return yield* Effect.provide(
      McpServe.make(serve),
      Context.pick(
        Runtimes.Runtimes,
        OutputGuard.OutputGuard,
        ToolSearch.ToolSearch
      )(needed)
    )
  })
}
