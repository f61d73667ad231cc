/**
 * Answers the tool calls of a model: what it may call, and for every call an output that it can go on with, whatever
 * became of the call.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as Permissions from "../safety/Permissions.ts"
import type * as AutoSearch from "../tools/AutoSearch.ts"
import type * as SearchSession from "../tools/SearchSession.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as AgentTools from "./AgentTools.ts"
import * as internal from "./internal/handler.ts"

/**
 * A tool as a model is told of it: nothing hides in its words, and they are of bounded length.
 *
 * @since 0.1.0
 * @category models
 */
export interface Definition {
  /** What the model calls it by. */
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  /** Always an object schema. */
  readonly inputSchema: JsonRpc.JsonObject
  /** Whether somebody has to agree before it is called, unless the arguments decide. */
  readonly requiresApproval: boolean
  /** Hints of the server, which may be wrong. */
  readonly annotations: Tool.Annotations
  /** Whose tool it is; none if it is our own. */
  readonly server: string | undefined
  /** Its server is not connected; a call waits for it. */
  readonly deferred: boolean
}

/**
 * What there is for a model, and what is not.
 *
 * @since 0.1.0
 * @category models
 */
export interface Definitions {
  /** Our own first, then those of the servers, in an order that depends on nothing but their names. */
  readonly tools: ReadonlyArray<Definition>
  /** The servers whose tools are not there, and why. */
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
  /** Whether there are more tools, which the model finds with `mcp_search`. */
  readonly searching: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface DefinitionsOptions {
  /** The conversation: what was found in it stays offered in it. */
  readonly session?: string | undefined
  /** Without it nobody can tell whether the definitions are too many, and all are given. */
  readonly model?: AutoSearch.Model | undefined
  /** How long is waited for servers at most (default: as long as `McpRuntime.tools` does). */
  readonly wait?: Duration.DurationInput | undefined
}

/**
 * A call as a model makes it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly id: string
  readonly name: string
  /** An object, or its JSON text as some APIs give it. Nothing, `null` and an empty text are no arguments. */
  readonly arguments: unknown
  readonly session?: string | undefined
}

/**
 * What has become of a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Output {
  readonly callId: string
  readonly name: string
  /** What the model gets: labelled, bounded, and without anything hidden. */
  readonly text: string
  /** What is no text, for models that can look or listen. */
  readonly attachments: ReadonlyArray<OutputGuard.Attachment>
  readonly isError: boolean
  /** Why there is no result; for the application. */
  readonly error: McpError.RuntimeError | undefined
  /** The result as its server gave it; for the application, never for the model. */
  readonly result: McpRuntime.CallResult | undefined
}

/**
 * What happens to the calls of a model. `outcome` is as of `CallEnded`; what a server says on the way is escaped.
 *
 * @since 0.1.0
 * @category models
 */
export type Event = Data.TaggedEnum<{
  Began: { readonly callId: string; readonly name: string; readonly session: string | undefined }
  Progress: { readonly callId: string; readonly name: string; readonly progress: McpClient.Progress }
  Ended: {
    readonly callId: string
    readonly name: string
    readonly took: Duration.Duration
    readonly outcome: "Success" | "ToolError" | "Interrupted" | "Defect" | McpError.RuntimeError["_tag"]
  }
}>

/**
 * Constructors, guards and a matcher.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Event = Data.taggedEnum<Event>()

/**
 * @since 0.1.0
 * @category models
 */
export interface HandleOptions extends Pick<McpRuntime.CallOptions, "idleTimeout" | "totalTimeout" | "meta"> {
  /** Called with each event of this call; what it throws is lost. */
  readonly onEvent?: ((event: Event) => void) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Characters of a description that a model is given. */
  readonly maxDescription: number
  /** Bytes of arguments that come as a text. */
  readonly maxArguments: number
  /** How many events each reader may leave unread. */
  readonly eventCapacity: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { maxDescription: 4096, maxArguments: 4 * 1024 * 1024, eventCapacity: 256 }

/**
 * @since 0.1.0
 * @category tags
 */
export class ToolHandler extends Context.Tag("effect-mcp-runtime/agent/ToolHandler")<ToolHandler, {
  /** What a model may call now. Asked anew for every turn, it follows what the servers offer. */
  readonly definitions: (options?: DefinitionsOptions) => Effect.Effect<Definitions>
  /** Whether a call of this name is for us, be there such a tool or not. */
  readonly canHandle: (name: string) => boolean
  /**
   * Never fails: what goes wrong is told to the model. Interrupting it cancels the call at the server, and is no output.
   */
  readonly handle: (call: Call, options?: HandleOptions) => Effect.Effect<Output>
  readonly events: Stream.Stream<Event>
}>() {}

/**
 * @since 0.1.0
 * @category models
 */
export type Requirements =
  | AgentTools.AgentTools
  | McpRuntime.McpRuntime
  | OutputGuard.OutputGuard
  | Permissions.Permissions
  | SearchSession.SearchSessions
  | ToolCatalog.ToolCatalog

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<ToolHandler["Type"], never, Requirements | Scope.Scope> => internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<ToolHandler, never, Requirements> =>
  Layer.scoped(ToolHandler, make(options))
