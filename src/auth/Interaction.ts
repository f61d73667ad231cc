/**
 * The way to the person who logs in: where the page is shown, and how what it answers comes back.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Wanted {
  readonly server: string
  /** An address that was registered beforehand, if there is one; otherwise any of this machine's will do. */
  readonly redirectUri: string | undefined
  readonly callbackPort: number | undefined
}

/**
 * The parameters that the authorization server sent back, as they came. Nothing of them is checked but `state`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly code: string | undefined
  readonly iss: string | undefined
  readonly error: string | undefined
  readonly errorDescription: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Page {
  /** Where the authorization server is to send the person back to. */
  readonly redirectUri: string
  /**
   * Shows the page, which passed `UrlGuard.openable`, and waits for an answer with this `state`; what comes with another
   * is ignored. Interrupted: it is not waited for any more.
   */
  readonly ask: (url: URL, state: string) => Effect.Effect<Answer, McpError.AuthorizationFailed>
}

/**
 * Nobody is asked without a Layer: whoever wants a login there hears that there is nobody to ask.
 *
 * @since 0.1.0
 * @category tags
 */
export class Interaction extends Context.Tag("effect-mcp-runtime/auth/Interaction")<Interaction, {
  /** Ready to be come back to, until the scope closes. */
  readonly open: (wanted: Wanted) => Effect.Effect<Page, McpError.AuthorizationFailed, Scope.Scope>
}>() {}

/**
 * There is nobody to ask.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Interaction> = Layer.succeed(Interaction, {
  open: ({ server }) =>
    Effect.fail(
      new McpError.AuthorizationFailed({
        server,
        reason: "not-interactive",
        detail: "a person has to log in, and none can be asked"
      })
    )
})
