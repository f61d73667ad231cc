/** The end of a login: deleted here, and revoked at the authorization server (RFC 7009). */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as AuthServer from "../support/authServer.ts"
import { again, call, reasonOf, server, status, test } from "../support/guarded.ts"

const revocable = (script: AuthServer.Script) => {
  script.metadata = { revocation_endpoint: `${script.issuer}/revoke` }
}

describe("a logout", () => {
  test("revokes the refresh token, then the access token, as the client that got them", {
    script: revocable,
    config: { oauth: { clientId: "ours", clientSecret: Redacted.make("a-secret-of-ours") } }
  }, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      const sent = there.of("/mcp").at(-1)?.headers.authorization?.replace("Bearer ", "")
      assert.deepStrictEqual(yield* runtime.servers.logout(server), { revoked: true, error: undefined })
      const requests = there.of("/revoke")
      assert.deepStrictEqual(requests.map(({ form }) => form.get("token_type_hint")), ["refresh_token", "access_token"])
      assert.strictEqual(requests[1]?.form.get("token"), sent)
      const basic = `Basic ${Buffer.from("ours:a-secret-of-ours").toString("base64")}`
      assert.deepStrictEqual(requests.map(({ headers }) => headers.authorization), [basic, basic])
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
    }))

  test(
    "names a client without a secret in the form",
    { script: revocable },
    ({ runtime, server: there }) =>
      Effect.gen(function*() {
        yield* runtime.servers.login(server)
        assert.isTrue((yield* runtime.servers.logout(server)).revoked)
        const [request] = there.of("/revoke")
        assert.deepStrictEqual(
          [request?.form.get("client_id"), request?.headers.authorization],
          ["registered", undefined]
        )
      })
  )

  test(
    "revokes nothing where the authorization server cannot, and where there are no tokens",
    {},
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        assert.deepStrictEqual(yield* runtime.servers.logout(server), { revoked: false, error: undefined })
        revocable(there.script)
        assert.deepStrictEqual(yield* runtime.servers.logout(server), { revoked: false, error: undefined })
        assert.deepStrictEqual(there.of("/revoke"), [])
      })
  )

  for (
    const [what, answer, reason] of [
      ["refuses", { status: 400, body: { error: "invalid_client" } }, "refused"],
      ["is out of order", { status: 503, body: "" }, "unreachable"],
      ["has no such page", { status: 404, body: "<html>" }, "unreachable"]
    ] as const
  ) {
    test(
      `deletes the login where the authorization server ${what}, and reports that`,
      { script: revocable },
      (run) =>
        Effect.gen(function*() {
          const { runtime, server: there } = run
          yield* runtime.servers.login(server)
          there.script.revocation = answer
          const { error, revoked } = yield* runtime.servers.logout(server)
          assert.isFalse(revoked)
          assert.deepStrictEqual(error && reasonOf(error), ["AuthorizationFailed", reason])
          assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        })
    )
  }

  test(
    "counts as revoked where only access tokens are unknown to the endpoint",
    { script: revocable },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        there.script.revocation = undefined
        const refuse = { status: 400, body: { error: "unsupported_token_type" } }
        const logout = yield* Effect.fork(runtime.servers.logout(server))
        yield* there.until(() => there.of("/revoke").length === 1)
        there.script.revocation = refuse
        assert.deepStrictEqual(yield* Fiber.join(logout), { revoked: true, error: undefined })
        assert.lengthOf(there.of("/revoke"), 2)
      })
  )

  test(
    "sends no token to another authorization server than the one that gave it",
    { script: revocable },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        const other = yield* AuthServer.make
        revocable(other.script)
        there.script.issuer = other.origin
        // another process, which discovers the authorization server anew
        yield* again(run, {}, (later) =>
          Effect.gen(function*() {
            const { error, revoked } = yield* later.runtime.servers.logout(server)
            assert.isFalse(revoked)
            assert.deepStrictEqual(error && reasonOf(error), ["AuthorizationFailed", "metadata"])
          }))
        assert.deepStrictEqual([there.of("/revoke"), other.of("/revoke")], [[], []])
      })
  )

  it.scoped("deletes the login at once, and waits 10 seconds for the revocation", () =>
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      revocable(there.script)
      there.script.revocation = "hang"
      const context = yield* Layer.build(
        Layer.provide(
          Credentials.layer(),
          AuthServer.replacing(AuthServer.person(), yield* TokenStore.makeMemory, yield* McpEvent.make())
        )
      )
      const credentials = Context.get(context, Credentials.Credentials)
      const config = there.config()
      assert(config.transport === "streamable-http")
      yield* credentials.authorize(config)
      const logout = yield* Effect.fork(credentials.logout(config))
      yield* there.until(() => there.of("/revoke").length === 1)
      assert.deepStrictEqual(yield* credentials.status(config), { _tag: "LoggedOut" })
      yield* TestClock.adjust("10 seconds")
      const { error, revoked } = yield* Fiber.join(logout)
      assert.isFalse(revoked)
      assert.include(["timeout", "unreachable"], error?.reason)
    }))
})
