import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import type * as Grant from "../../src/auth/Grant.ts"
import * as OAuth from "../../src/auth/oauth.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as HttpTransport from "../support/httpTransport.ts"

/** A transport whose server refuses everything, and whose login is this. */
const opened = (login: Partial<RemoteHeaders.Login>) =>
  Effect.gen(function*() {
    const peer = yield* Peer.serve((hit) => Peer.json(hit, {}, { "www-authenticate": "Bearer" }, 401))
    const source: RemoteHeaders.Source = {
      ...RemoteHeaders.constant(new Map()),
      login: {
        now: () => new Map(),
        headers: () => Effect.succeed(new Map()),
        nonce: () => undefined,
        refused: () => Effect.succeed(false),
        ...login
      }
    }
    const transport = yield* HttpTransport.open(peer.url).pipe(
      Effect.provideService(RemoteHeaders.RemoteHeaders, { resolve: () => Effect.succeed(source) })
    )
    return { peer, ...transport }
  })

describe("a request that carries a login", () => {
  it.scopedLive("fails, and waits for nothing, when asking for the login comes to an unexpected end", () =>
    Effect.gen(function*() {
      for (
        const login of [{ now: () => undefined, headers: () => Effect.die("a bug") }, {
          refused: () => Effect.die("a bug")
        }]
      ) {
        const { outcome } = yield* opened(login)
        const error = yield* outcome(HttpTransport.call(1))
        assert("_tag" in error && error._tag === "AuthorizationFailed")
        assert.strictEqual(error.reason, "login")
        assert.notInclude(String(error), "a bug")
      }
    }))

  it.scopedLive("gives up what it asked for when nobody waits for it any more, however often it asked before", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const given = yield* Deferred.make<void>()
      let sent = 0
      const { transport } = yield* opened({
        // answered at once, which asks again before the first question is over
        refused: () => Effect.succeed(true),
        headers: () =>
          ++sent < 3
            ? Effect.succeed(new Map())
            : Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(given, undefined))
            )
      })
      transport.send(HttpTransport.call(1))
      yield* Deferred.await(asked)
      transport.abandon(1)
      yield* Deferred.await(given)
    }))

  it.scopedLive("is sent again as often as the login wants, and no more", () =>
    Effect.gen(function*() {
      const attempts: Array<number> = []
      const { outcome, peer } = yield* opened({
        refused: ({ attempt }) => Effect.sync(() => attempts.push(attempt) < 3)
      })
      const error = yield* outcome(HttpTransport.call(1))
      assert("_tag" in error && error._tag === "AuthorizationFailed" && error.reason === "unauthorized")
      assert.deepStrictEqual([attempts, peer.hits.length], [[0, 1, 2], 3])
    }))
})

describe("an assertion of a program", () => {
  it.effect("has 30 seconds", () =>
    Effect.gen(function*() {
      const issuer = "https://issuer.example"
      const grant: Grant.Grant = { _tag: "JwtBearer", issuer, assertion: Effect.never }
      const request: OAuth.Request = {
        server: "s",
        url: new URL("https://mcp.example/"),
        isOwn: true,
        settings: { configured: undefined, grant },
        resourceMetadata: undefined,
        fetch: () => Promise.reject(new Error("nothing is fetched")),
        found: {
          issuer,
          metadata: {
            issuer,
            authorization_endpoint: "",
            token_endpoint: `${issuer}/token`,
            response_types_supported: ["code"]
          },
          resource: "https://mcp.example/",
          scopes: undefined
        },
        before: undefined,
        scope: undefined,
        proof: undefined,
        now: 0
      }
      const waiting = yield* Effect.fork(Effect.flip(OAuth.byProgram(request, grant)))
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(waiting)).reason, "timeout")
    }))
})
