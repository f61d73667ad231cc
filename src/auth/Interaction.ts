/** How a login reaches a person: shows the page of the authorization server and receives the answer. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"

export interface Wanted {
  readonly server: string
  /** An address that was registered beforehand; without it, any address of this machine. */
  readonly redirectUri: string | undefined
  readonly callbackPort: number | undefined
}

/** The parameters that the authorization server sent back, as they came. Only `state` was checked. */
export interface Answer {
  readonly code: string | undefined
  readonly iss: string | undefined
  readonly error: string | undefined
  readonly errorDescription: string | undefined
}

export interface Page {
  /** Where the authorization server sends the person back to. */
  readonly redirectUri: string
  /**
   * Shows the page, whose URL passed `UrlGuard.openable`, and waits for an answer with this `state`. Answers with
   * another state are ignored.
   */
  readonly ask: (url: URL, state: string) => Effect.Effect<Answer, McpError.AuthorizationFailed>
}

/** Optional: without it, a login that needs a person fails with the reason `not-interactive`. */
export class Interaction extends Context.Tag("effect-mcp-runtime/auth/Interaction")<Interaction, {
  /** Receives answers until the scope closes. */
  readonly open: (wanted: Wanted) => Effect.Effect<Page, McpError.AuthorizationFailed, Scope.Scope>
}>() {}

/** Asks no person. */
export const layerNone: Layer.Layer<Interaction> = Layer.succeed(Interaction, {
  open: ({ server }) =>
    Effect.fail(
      new McpError.AuthorizationFailed({
        server,
        reason: "not-interactive",
        detail: "a person has to log in, but this application cannot ask one"
      })
    )
})
