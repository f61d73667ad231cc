/** Answers to requests of servers: roots, elicitation, sampling. By default there are no handlers. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as JsonRpc from "../transport/JsonRpc.ts"

export interface Root {
  readonly uri: string
  readonly name?: string | undefined
}

/** A question to the user: a form (`requestedSchema`) or a page to open (`url`). The texts are untrusted. */
export interface Elicitation {
  readonly server: string
  readonly mode: "form" | "url"
  readonly message: string
  readonly requestedSchema?: JsonRpc.JsonObject | undefined
  readonly url?: string | undefined
  /** The parameters as they came. */
  readonly params: JsonRpc.JsonObject
}

/** Form fields that accepted content leaves out are filled in with their defaults. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: JsonRpc.JsonObject | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/** A request for a completion of the application's model. */
export interface Sampling {
  readonly server: string
  readonly params: JsonRpc.JsonObject
}

/** A handler that is absent is not declared as a capability, and requests for it are refused. */
export interface Handlers {
  readonly roots?: ((server: string) => Effect.Effect<ReadonlyArray<Root>>) | undefined
  readonly elicit?: ((elicitation: Elicitation) => Effect.Effect<ElicitationAnswer>) | undefined
  /** The modes that `elicit` supports (default: `["form"]`). */
  readonly elicitModes?: ReadonlyArray<"form" | "url"> | undefined
  /** The result of `sampling/createMessage`, or `undefined` to decline. */
  readonly sample?: ((sampling: Sampling) => Effect.Effect<JsonRpc.JsonObject | undefined>) | undefined
  /** True if `sample` supports tools. */
  readonly sampleTools?: boolean | undefined
  /** More capabilities to declare, such as `experimental`. */
  readonly capabilities?: JsonRpc.JsonObject | undefined
}

/**
 * Read when a connection is opened: the handlers of the opener, else those that the connector was built with.
 */
export class InputHandlers extends Context.Reference<InputHandlers>()("effect-mcp-runtime/client/InputHandlers", {
  defaultValue: (): Handlers => ({})
}) {}

export const layer = (handlers: Handlers): Layer.Layer<InputHandlers> => Layer.succeed(InputHandlers, handlers)

/** Declares nothing and refuses everything. */
export const layerNone: Layer.Layer<InputHandlers> = layer({})
