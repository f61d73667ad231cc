/** A client secret or an assertion goes to the authorization server that the configuration names, and to no other. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import type * as Grant from "../../src/auth/Grant.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as InProcess from "../cli/inProcess.ts"
import * as AuthServer from "../support/authServer.ts"

const secret = "a-secret-of-ours"
const server = "guarded"

/** An MCP server that names an authorization server of an attacker. */
const attacked = Effect.gen(function*() {
  const there = yield* AuthServer.make
  const attacker = yield* AuthServer.make
  there.script.issuer = attacker.origin
  return { there, attacker, url: there.url }
})

const login = { clientId: "ours", clientSecret: Redacted.make(secret) }

const got = (attacker: AuthServer.AuthServer): string => JSON.stringify(attacker.heard)

/** Logs in to a server with these options; fails with the tag and the words of the error. */
const loggingIn = (
  config: ServerConfig.ServerConfig,
  grants: Readonly<Record<string, Grant.Grant>> = {}
): Effect.Effect<string> =>
  Effect.scoped(Effect.gen(function*() {
    const replace = AuthServer.replacing(AuthServer.person(), yield* TokenStore.makeMemory, yield* McpEvent.make())
    const exit = yield* Effect.exit(
      Effect.flatMap(McpRuntime.McpRuntime, ({ servers }) => servers.login(server)).pipe(
        Effect.provide(
          NodeMcpRuntime.layerTest({ servers: [config], auth: { grants } }).pipe(
            NodeMcpRuntime.using(replace)
          )
        )
      )
    )
    return Exit.isSuccess(exit) ? "logged in" : Cause.pretty(exit.cause).split("\n")[0]!
  }))

const httpOf = (url: string, oauth: ServerConfig.HttpInput["oauth"]) =>
  ServerConfig.decode({ transport: "streamable-http", name: server, url, lazy: true, oauth })

describe("a client secret without an issuer", () => {
  it.effect("is an error of the configuration that names what to add", () =>
    Effect.gen(function*() {
      for (const issuer of [undefined, ""]) {
        const oauth = issuer === undefined ? login : { ...login, issuer }
        const outcome = yield* Effect.either(httpOf("https://mcp.example.com/mcp", oauth))
        assert.strictEqual(outcome._tag, "Left")
        if (outcome._tag === "Right") continue
        const { detail, path, server: of } = outcome.left
        assert.deepStrictEqual([of, path], [server, "oauth.issuer"])
        assert.include(
          detail,
          "a client secret needs the issuer of its authorization server, such as \"https://login.example.com\""
        )
        assert.notInclude(outcome.left.message, secret)
      }
      const whole = yield* httpOf("https://mcp.example.com/mcp", { ...login, issuer: "https://login.example.com" })
      assert.deepInclude(whole, { name: server })
    }))

  const files: Readonly<Record<string, readonly [path: string, entry: object]>> = {
    native: ["home/.config/mcp-runtime/mcp-client.json", {
      oauth: { clientId: "ours", clientSecret: secret, grantType: "client_credentials" }
    }],
    mcporter: ["home/.mcporter/mcporter.json", {
      auth: "oauth",
      oauthClientId: "ours",
      oauthClientSecret: secret
    }],
    cursor: ["home/.cursor/mcp.json", { auth: { CLIENT_ID: "ours", CLIENT_SECRET: secret } }]
  }
  for (const [host, [path, entry]] of Object.entries(files)) {
    it.scopedLive(
      `is an issue of the entry in a file of ${host}, and nothing is sent anywhere`,
      () =>
        Effect.gen(function*() {
          const { attacker, there, url } = yield* attacked
          const at = yield* InProcess.place
          at.write(path, { mcpServers: { [server]: { url, ...entry } } })
          const { code, err, out } = yield* InProcess.run(at, ["tools", server, "--import", host])
          assert.deepStrictEqual([there.heard, attacker.heard], [[], []])
          assert.strictEqual(code, 3)
          const words = err.replace(/\s+/g, " ")
          assert.include(words, "oauth.issuer")
          assert.include(
            words,
            "a client secret needs the issuer of its authorization server, such as \"https://login.example.com\""
          )
          assert.notInclude(out + err, secret)
        }),
      60_000
    )
  }
})

describe("the secret of a Grant", () => {
  const held = (issuer?: string): Readonly<Record<string, Grant.Grant>> => {
    const assertion = Effect.succeed(Redacted.make(secret))
    const to = issuer === undefined ? {} : { issuer }
    // the cast: a program in JavaScript can leave out the issuer
    return {
      secret: { _tag: "ClientCredentials", clientId: "ours", secret: Redacted.make(secret), ...to },
      assertion: { _tag: "JwtBearer", assertion, ...to },
      "secret beside an assertion": {
        _tag: "JwtBearer",
        clientId: "ours",
        clientSecret: Redacted.make(secret),
        assertion: Effect.succeed(Redacted.make("platform")),
        ...to
      }
    } as unknown as Readonly<Record<string, Grant.Grant>>
  }

  it.scopedLive("needs an issuer, and is sent to no authorization server without one", () =>
    Effect.gen(function*() {
      for (const [what, grant] of Object.entries(held())) {
        const { attacker, there, url } = yield* attacked
        const outcome = yield* loggingIn(yield* Effect.orDie(httpOf(url, undefined)), { [server]: grant })
        assert.deepStrictEqual(attacker.of("/token"), [], what)
        assert.deepStrictEqual([there.heard, attacker.heard], [[], []], what)
        assert.include(outcome, `auth.grants.${server}.issuer`, what)
      }
    }))

  it.scopedLive("is sent to the issuer that it is for, and to no other that the server names", () =>
    Effect.gen(function*() {
      const honest = yield* AuthServer.make
      for (const [what, grant] of Object.entries(held(honest.origin))) {
        const { attacker, url } = yield* attacked
        const outcome = yield* loggingIn(yield* Effect.orDie(httpOf(url, undefined)), { [server]: grant })
        assert.include(outcome, "names other authorization servers than the one that is configured", what)
        assert.notInclude(got(attacker), secret, what)
        assert.deepStrictEqual(attacker.of("/token"), [], what)
      }
      for (const grant of [held(honest.origin)["secret"]!]) {
        const config = yield* Effect.orDie(httpOf(honest.url, undefined))
        assert.strictEqual(yield* loggingIn(config, { [server]: grant }), "logged in")
        assert.strictEqual(honest.of("/token").length, 1)
      }
    }))

  it.scopedLive("is compared with the issuer letter by letter, also in its metadata", () =>
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      for (const issuer of [`${there.origin}.evil.test`, there.origin.toUpperCase(), `${there.origin}/x`]) {
        const config = yield* Effect.orDie(httpOf(there.url, { ...login, issuer, grantType: "client_credentials" }))
        assert.include(yield* loggingIn(config), "AuthorizationFailed", issuer)
      }
      // the metadata at the issuer's address names another issuer
      there.script.metadata = { issuer: "https://another.example" }
      const config = yield* Effect.orDie(
        httpOf(there.url, { ...login, issuer: there.origin, grantType: "client_credentials" })
      )
      assert.include(yield* loggingIn(config), "says that it is another one")
      assert.deepStrictEqual(there.of("/token"), [])
    }))
})
