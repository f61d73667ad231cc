/**
 * A person who logs in at once and agrees to everything, without a browser and without a server to come back to.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { follow } from "../../conformance/follow.mjs"
import * as Interaction from "../../src/auth/Interaction.ts"
import * as McpError from "../../src/McpError.ts"

export const layer: Layer.Layer<Interaction.Interaction> = Layer.succeed(Interaction.Interaction, {
  open: (wanted) => {
    const redirectUri = wanted.redirectUri ?? `http://127.0.0.1:${wanted.callbackPort ?? 33_418}/callback`
    const failed = (detail: string) =>
      new McpError.AuthorizationFailed({ server: wanted.server, reason: "cancelled", detail })
    return Effect.succeed({
      redirectUri,
      ask: (url, state) =>
        Effect.tryPromise({ try: () => follow(url, redirectUri), catch: (error) => failed(String(error)) }).pipe(
          Effect.filterOrFail((came) => came.get("state") === state, () => failed("it is another login's")),
          Effect.map((came) => ({
            code: came.get("code") ?? undefined,
            iss: came.get("iss") ?? undefined,
            error: came.get("error") ?? undefined,
            errorDescription: came.get("error_description") ?? undefined
          }))
        )
    })
  }
})
