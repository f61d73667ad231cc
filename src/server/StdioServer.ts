/** Serves the program that has started this one, over its two pipes: callers of either era. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Duplex from "./internal/duplex.ts"
import * as McpServer from "./McpServer.ts"
import * as StdioLink from "./StdioLink.ts"

export class StdioServer extends Context.Tag("effect-mcp-runtime/server/StdioServer")<StdioServer, {
  /** Succeeds when the caller is gone, and what it had asked for is done or given up. */
  readonly ended: Effect.Effect<void>
}>() {}

/**
 * Serves until the caller writes no more and everything that it has asked for is answered, or until it reads no more.
 * Over `NodeStdioLink`, what else the program writes to stdout goes to stderr.
 */
export const serve = (
  offer: McpServer.Offer,
  options?: Partial<McpServer.Limits>
): Effect.Effect<void, never, StdioLink.StdioLink> =>
  Effect.flatMap(
    StdioLink.StdioLink,
    (link) => Effect.scoped(Duplex.serve({ offer, link, limits: { ...McpServer.defaults, ...options } }))
  )

/** Serves as long as the layer lives. */
export const layer = <E, R>(
  offer: Effect.Effect<McpServer.Offer, E, R>,
  options?: Partial<McpServer.Limits>
): Layer.Layer<StdioServer, E, Exclude<R, Scope.Scope> | StdioLink.StdioLink> =>
  Layer.scoped(
    StdioServer,
    Effect.flatMap(offer, (offer) =>
      Effect.map(
        Effect.forkScoped(serve(offer, options)),
        (fiber) => ({ ended: Effect.asVoid(Fiber.await(fiber)) })
      ))
  )
