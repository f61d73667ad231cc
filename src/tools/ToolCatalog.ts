/**
 * The tools of all servers: what is known of them at once, what must be waited for, and what is not there and why.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import type * as ConnectionPool from "../runtime/ConnectionPool.ts"
import type * as ServerStatus from "../runtime/ServerStatus.ts"
import * as internal from "./internal/catalog.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolCache from "./ToolCache.ts"
import type * as ToolIndex from "./ToolIndex.ts"
import type * as ToolName from "./ToolName.ts"
import type * as ToolPins from "./ToolPins.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How names of tools are written. */
  readonly style: ToolName.Style
  /** How long is waited for servers of which something is known from before. */
  readonly gate: Duration.DurationInput
  /**
   * How long a list waits for the first list of a server without a cached one. Then the server is `missing` with
   * `ServerUnavailable`, `why: "connecting"`, and keeps connecting. `"settled"`: until its first attempt ends.
   */
  readonly firstListWait: Duration.DurationInput | "settled"
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  style: "double",
  gate: Duration.millis(250),
  firstListWait: Duration.seconds(10)
}

/**
 * A tool that is offered. `Deferred`: its server is not connected, what is known of it is from before, and a call waits
 * for the server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Offered extends ToolIndex.Entry {
  readonly _tag: "Ready" | "Deferred"
}

/**
 * A server without tools, and the reason. `error` is a `ServerUnavailable` with `why: "connecting"` until the first
 * list of the server arrives.
 *
 * @since 0.1.0
 * @category models
 */
export interface Missing {
  readonly server: string
  readonly status: ServerStatus.ServerStatus
  readonly error: McpError.RuntimeError | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Listing {
  readonly tools: ReadonlyArray<Offered>
  readonly missing: ReadonlyArray<Missing>
  /** Tools that cannot be offered. */
  readonly rejected: ReadonlyArray<Tool.RejectedTool & { readonly server: string }>
  /** Tools that are set aside because they are not what they were, until somebody has approved what they are. */
  readonly quarantined: ReadonlyArray<ToolPins.Quarantined>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolCatalog extends Context.Tag("effect-mcp-runtime/tools/ToolCatalog")<ToolCatalog, {
  /**
   * The tools of every server. Waits up to the gate for servers with a cached list, and up to `firstListWait` for the
   * others.
   */
  readonly list: Effect.Effect<Listing>
  /** The same, with this wait in place of `firstListWait`, and of the gate where it is shorter. */
  readonly listWithin: (wait: Duration.DurationInput) => Effect.Effect<Listing>
  /** `firstListWait`; `undefined` for `"settled"`. */
  readonly firstListWait: Duration.Duration | undefined
  /** Waits until the tools of a server are known, or fails with the error of its attempt. */
  readonly discover: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  /** Everything known, whatever the state of its server. */
  readonly index: () => ToolIndex.ToolIndex
  /** Whether anything is known of a server's tools. */
  readonly isKnown: (server: string) => boolean
  /** The definition of a tool as its server gave it in this run, with annotations; a snapshot has none. */
  readonly definition: (server: string, tool: string) => Tool.Tool | undefined
  /** Asks a server for its tools now, and connects it if need be. */
  readonly refresh: (server: string) => Effect.Effect<void, McpError.RuntimeError>
  /** Asks over this connection. */
  readonly learn: (live: ConnectionPool.Live) => Effect.Effect<void, McpError.RuntimeError>
  /**
   * Whether a tool may be called over this connection. `undefined`: it may, because this server has listed it over this
   * connection, and it is what was agreed to. Otherwise this says so, or fails, after the list that is waited for where
   * there is something to compare with; a call was not sent then. Both cost next to nothing where nothing is to be waited
   * for.
   */
  readonly admit: (live: ConnectionPool.Live, tool: string) => Effect.Effect<void, McpError.CallError> | undefined
  /** What is known of a server's tools is no longer believed. */
  readonly invalidate: (server: string) => void
}>() {}

/**
 * @since 0.1.0
 * @category models
 */
export type Requirements =
  | ConnectionPool.ConnectionPool
  | McpEvent.McpEvents
  | RuntimeMetrics.RuntimeMetrics
  | ToolCache.ToolCache
  | ToolPins.ToolPins

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<ToolCatalog["Type"], never, Requirements | Scope.Scope> => internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<ToolCatalog, never, Requirements> =>
  Layer.scoped(ToolCatalog, make(options))

/**
 * The waits and the style are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<ToolCatalog, ConfigError.ConfigError, Requirements> =>
  Layer.scoped(ToolCatalog, Effect.flatMap(Config.unwrap(options), make))
