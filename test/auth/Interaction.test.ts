import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import * as Interaction from "../../src/auth/Interaction.ts"
import { serve } from "../fixtures/httpPeer.ts"
import * as Following from "../support/following.ts"

const open = (layer: Layer.Layer<Interaction.Interaction>) =>
  Effect.provide(
    Effect.flatMap(
      Interaction.Interaction,
      ({ open }) => open({ server: "files", redirectUri: undefined, callbackPort: undefined })
    ),
    layer
  )

describe("a login without a person", () => {
  it.scoped("fails, and says for which server", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(open(Interaction.layerNone))
      assert.deepInclude(error, { _tag: "AuthorizationFailed", server: "files", reason: "not-interactive" })
      assert.isFalse(error.isRetryable)
    }))

  it.scopedLive("goes in tests where it is sent, and comes back with what it is given", () =>
    Effect.gen(function*() {
      const page = yield* open(Following.layer)
      const peer = yield* serve(({ path, response }) => {
        const to = path.startsWith("/authorize")
          ? "/consent?next=1"
          : `${page.redirectUri}?code=a%20b&state=right&iss=https%3A%2F%2Fas.example`
        response.writeHead(302, { location: to, connection: "close" }).end()
      })
      const url = new URL("/authorize?state=right", peer.origin)
      assert.deepStrictEqual(yield* page.ask(url, "right"), {
        code: "a b",
        iss: "https://as.example",
        error: undefined,
        errorDescription: undefined
      })
      assert.deepInclude(yield* Effect.flip(page.ask(url, "another")), { reason: "cancelled" })
    }))
})
