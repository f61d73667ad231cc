/**
 * What a server may ask of the application: its roots, its user, its model. Nothing unless a Layer says so.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as JsonRpc from "../transport/JsonRpc.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Root {
  readonly uri: string
  readonly name?: string | undefined
}

/**
 * A question to the user: a form (`requestedSchema`) or a page to open (`url`). The texts are the server's: untrusted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Elicitation {
  readonly server: string
  readonly mode: "form" | "url"
  readonly message: string
  readonly requestedSchema?: JsonRpc.JsonObject | undefined
  readonly url?: string | undefined
  /** The parameters as they came. */
  readonly params: JsonRpc.JsonObject
}

/**
 * Fields of a form that accepted content leaves out and that have a default are filled in with it.
 *
 * @since 0.1.0
 * @category models
 */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: JsonRpc.JsonObject | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * A request for a completion of the application's model.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sampling {
  readonly server: string
  readonly params: JsonRpc.JsonObject
}

/**
 * The handlers. One that is absent is not declared as a capability, and what asks for it all the same is refused.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handlers {
  readonly roots?: ((server: string) => Effect.Effect<ReadonlyArray<Root>>) | undefined
  readonly elicit?: ((elicitation: Elicitation) => Effect.Effect<ElicitationAnswer>) | undefined
  /** Which elicitations `elicit` can do; default: forms. */
  readonly elicitModes?: ReadonlyArray<"form" | "url"> | undefined
  /** The result of `sampling/createMessage`, or `undefined` to decline. */
  readonly sample?: ((sampling: Sampling) => Effect.Effect<JsonRpc.JsonObject | undefined>) | undefined
  /** Whether `sample` takes tools. */
  readonly sampleTools?: boolean | undefined
  /** Capabilities to declare beside those of the handlers, such as `experimental`. */
  readonly capabilities?: JsonRpc.JsonObject | undefined
}

/**
 * The handlers of an application; without a Layer: none, so everything is declined.
 *
 * @since 0.1.0
 * @category references
 */
export class InputHandlers extends Context.Reference<InputHandlers>()("effect-mcp-runtime/client/InputHandlers", {
  defaultValue: (): Handlers => ({})
}) {}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (handlers: Handlers): Layer.Layer<InputHandlers> => Layer.succeed(InputHandlers, handlers)

/**
 * Declares nothing and declines everything.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<InputHandlers> = layer({})
