/**
 * What each tool was when it was first seen. A server may be agreed to once and change what its tools say later: a tool
 * that is not what it was is set aside until somebody has looked at the difference, and the others are unharmed.
 *
 * It is not seen if a tool does something else and still says the same. Instructions, prompts and resources of a server
 * are not pinned.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Sealed from "../config/Sealed.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as Difference from "./internal/pins/difference.ts"
import * as Fingerprinting from "./internal/pins/fingerprinting.ts"
import * as internal from "./internal/pins/pins.ts"
import type * as Tool from "./Tool.ts"

/**
 * The identity (`sha256:…`) of all that a model or a gate reads of a tool: every field of its definition but its icons,
 * known or not. The order of keys makes no difference, nor does that of `required` and `type` in a schema.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fingerprint = (tool: Tool.Tool): string => Fingerprinting.fingerprints(tool).whole

/**
 * One place (a JSON pointer) at which a definition is not what it was. What is long is cut to the part that differs;
 * `undefined` stands for what was not there, or is no longer. An empty `path` is about all of the definition.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  /** The omitted part of the new definition: characters of this value, or a number of whole changes. */
  readonly omitted?: number | undefined
}

/**
 * Everything in which two definitions differ, in the order of the places; empty for those with one fingerprint. Of very
 * many changes the first are told, and the rest are counted.
 *
 * @since 0.1.0
 * @category combinators
 */
export const diff: (before: Tool.Tool["raw"], after: Tool.Tool["raw"]) => ReadonlyArray<Change> = Difference.diff

/**
 * A line for each change, for a person to decide by: safe to print, with every character that hides made visible.
 *
 * @since 0.1.0
 * @category combinators
 */
export const render: (changes: ReadonlyArray<Change>) => ReadonlyArray<string> = Difference.render

/**
 * A tool that is set aside, because it is not what was agreed to.
 *
 * @since 0.1.0
 * @category models
 */
export interface Quarantined {
  readonly server: string
  readonly tool: string
  /** Of what it is now: `approve` needs it. */
  readonly fingerprint: string
  readonly changes: ReadonlyArray<Change>
  /** Milliseconds since 1970. */
  readonly since: number
}

/**
 * `quarantine`: what has changed is neither offered nor called. `warn`: it is told of, and used all the same. `off`: nothing
 * is pinned.
 *
 * @since 0.1.0
 * @category models
 */
export type Mode = "quarantine" | "warn" | "off"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly mode: Mode
  /** The key that pins are signed with, for example from a keyring (default: a random one, beside the pins). */
  readonly key: Sealed.Key | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { mode: "quarantine", key: undefined }

/**
 * What of a list may be offered, and what is set aside. In the mode `warn` a tool can be both.
 *
 * @since 0.1.0
 * @category models
 */
export interface Review {
  readonly offered: ReadonlyArray<Tool.Tool>
  readonly quarantined: ReadonlyArray<Quarantined>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolPins extends Context.Tag("effect-mcp-runtime/tools/ToolPins")<ToolPins, {
  readonly mode: Mode
  /**
   * With every list that a server gives: pins what is new and sets aside what has changed. A server is known by its name
   * and by what its configuration says it is. That pins cannot be kept costs no list anything but an event.
   */
  readonly review: (config: ServerConfig.ServerConfig, tools: ReadonlyArray<Tool.Tool>) => Effect.Effect<Review>
  /**
   * Of tools that were kept from an earlier run, without annotations, those that are what was agreed to; all, if nothing
   * of the server is pinned.
   */
  readonly recall: (
    config: ServerConfig.ServerConfig,
    tools: ReadonlyArray<Tool.Tool>
  ) => Effect.Effect<ReadonlyArray<Tool.Tool>>
  /** Whether a tool of a list that was reviewed may be used now: a look that costs next to nothing. */
  readonly mayUse: (config: ServerConfig.ServerConfig, tool: Tool.Tool) => boolean
  /** Whether there is something that a tool has to be compared with before it is used. */
  readonly isPinned: (config: ServerConfig.ServerConfig, tool: string) => Effect.Effect<boolean>
  /** The tools that the last review of each server has set aside. */
  readonly quarantined: Effect.Effect<ReadonlyArray<Quarantined>>
  /**
   * Agrees to what a tool is, beside what it was; takes the fingerprint that was shown, so that nobody agrees to something
   * newer.
   */
  readonly approve: (
    server: string,
    tool: string,
    fingerprint: string
  ) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** All pins of a server: what it gives next is new. */
  readonly forget: (server: string) => Effect.Effect<void, McpError.TrustNotKept>
  /** Lets go of what is in memory of a server that is configured no longer; what is kept stays. */
  readonly release: (server: string) => void
  /** An element for every approval and every server forgotten from now on. */
  readonly changes: Stream.Stream<void>
  /** Called synchronously with the server of each of these; returns how to stop. */
  readonly onChange: (listener: (server: string) => void) => () => void
}>() {}

/**
 * Kept for the next run, signed, where decisions about trust are kept.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<ToolPins["Type"], never, McpEvent.McpEvents | Scope.Scope | TrustStore.TrustStore> =>
  internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<ToolPins, never, McpEvent.McpEvents | TrustStore.TrustStore> => Layer.scoped(ToolPins, make(options))

/**
 * For this process only.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<ToolPins, never, McpEvent.McpEvents> =>
  Layer.provide(layer(options), TrustStore.layerMemory)

/**
 * Nothing is pinned, and everything is offered.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<ToolPins> = Layer.succeed(ToolPins, internal.none)
