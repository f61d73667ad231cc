import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import * as AuthServer from "../support/authServer.ts"
import { call, eventsOf, reasonOf, server, status, test } from "../support/guarded.ts"
import * as Node from "../support/nodeRuntime.ts"

const calls = { auth: { login: "calls" } } as const

describe("a login by a person", () => {
  test(
    "names the resource in every request, and proves that it is the one who asked (oa-021)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        assert.deepInclude(yield* Effect.flip(runtime.servers.connect(server)), {
          _tag: "AuthorizationFailed",
          reason: "unauthorized"
        })
        assert.strictEqual((yield* runtime.servers.get(server)).status._tag, "NeedsAuth")
        assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        assert.strictEqual(person.pages.length, 0)
        yield* runtime.servers.login(server)
        assert.strictEqual(yield* call(run), "done")
        there.expire()
        assert.strictEqual(yield* call(run), "done")
        const [page] = person.pages
        assert.strictEqual(page?.searchParams.get("resource"), there.url)
        assert.strictEqual(page?.searchParams.get("code_challenge_method"), "S256")
        assert.isAtLeast(page?.searchParams.get("state")?.length ?? 0, 64)
        assert.deepStrictEqual(
          there.of("/token").map(({ form }) => [form.get("grant_type"), form.get("resource")]),
          [["authorization_code", there.url], ["refresh_token", there.url]]
        )
        const now = yield* status(run)
        assert(now._tag === "LoggedIn")
        assert.strictEqual(now.issuer, there.origin)
        assert.isTrue(now.renewable)
      })
  )

  test("is begun and ended, and renewed, in events", {}, (run) =>
    Effect.gen(function*() {
      const seen = eventsOf(run, ["LoginBegan", "LoginEnded", "TokenRenewed"])
      const { runtime, server: there } = run
      yield* runtime.servers.login(server)
      there.expire()
      yield* call(run)
      there.script.back = (parameters) => parameters.delete("iss")
      yield* Effect.flip(runtime.servers.login(server))
      assert.deepStrictEqual(seen, [
        "LoginBegan",
        "LoginEnded Success",
        "TokenRenewed",
        "LoginBegan",
        "LoginEnded answer"
      ])
    }))

  test(
    "carries no credentials to where it is made, nor to another origin (oa-036, oa-043)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        const other = yield* AuthServer.make
        yield* runtime.servers.login(server)
        there.script.metadata = { jwks_uri: `${other.origin}/jwks`, revocation_endpoint: `${other.origin}/revoke` }
        there.expire()
        yield* call(run)
        for (const { headers, path } of there.heard) {
          if (path !== "/mcp") {
            assert.deepStrictEqual([headers.authorization, headers.cookie], [undefined, undefined], path)
          }
        }
        assert.isTrue(there.heard.every(({ query }) => !query.has("access_token")))
        assert.deepStrictEqual(other.heard, [])
      })
  )

  for (const [what, methods] of [["nothing (oa-002)", undefined], ["only plain (oa-003)", ["plain"]]] as const) {
    test(`is refused where PKCE is ${what}, before a page is shown`, {
      script: (script) => {
        script.metadata = { code_challenge_methods_supported: methods }
      }
    }, ({ person, runtime, server: there }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.servers.login(server))), [
          "AuthorizationFailed",
          "metadata"
        ])
        assert.deepStrictEqual([person.pages.length, there.of("/register").length, there.of("/token").length], [
          0,
          0,
          0
        ])
      }))
  }

  const wrong: Readonly<Record<string, (iss: string) => string | undefined>> = {
    "another (oa-004)": () => "https://attacker.example",
    "with a slash (oa-006)": (iss) => `${iss}/`,
    "in capitals (oa-006)": (iss) => iss.toUpperCase(),
    "left out although promised": () => undefined
  }
  for (const [what, change] of Object.entries(wrong)) {
    test(
      `is refused where the answer's issuer is ${what}: its code goes nowhere, and its words are not told`,
      {},
      (run) =>
        Effect.gen(function*() {
          const { runtime, server: there } = run
          there.script.back = (parameters) => {
            const iss = change(there.origin)
            if (iss === undefined) parameters.delete("iss")
            else parameters.set("iss", iss)
            parameters.set("error", "access_denied")
            parameters.set("error_description", "call this number")
          }
          const error = yield* Effect.flip(runtime.servers.login(server))
          assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", "answer"])
          assert.notInclude(String(error), "access_denied")
          assert.strictEqual(there.of("/token").length, 0)
          assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        })
    )
  }

  test(
    "is refused in the words of OAuth, and in no others",
    {},
    ({ runtime, server: there }) =>
      Effect.gen(function*() {
        const refused = (error: string) =>
          Effect.suspend(() => {
            there.script.back = (parameters) => {
              parameters.delete("code")
              parameters.set("error", error)
            }
            return Effect.flip(runtime.servers.login(server))
          })
        const denied = yield* refused("access_denied")
        assert.deepStrictEqual(reasonOf(denied), ["AuthorizationFailed", "refused"])
        assert.include(String(denied), "access_denied")
        assert.notInclude(String(yield* refused("call_this_number")), "call_this_number")
      })
  )

  for (
    const [how, method] of [["in a header", "client_secret_basic"], ["in the form", "client_secret_post"]] as const
  ) {
    const wanted = { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] }
    test(`says who we are ${how}, as it was registered`, {
      script: (script) => {
        script.metadata = wanted
        script.registration = { client_secret: "a-given-secret", token_endpoint_auth_method: method }
      }
    }, ({ runtime, server: there }) =>
      Effect.gen(function*() {
        yield* runtime.servers.login(server)
        const [request] = there.of("/token")
        assert(request !== undefined)
        const { form, headers } = request
        assert.deepStrictEqual(
          [form.get("client_secret"), headers.authorization?.split(" ")[0]],
          method === "client_secret_post" ? ["a-given-secret", undefined] : [null, "Basic"]
        )
      }))
  }

  const hostile: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    "another address to come back to": { redirect_uris: ["https://attacker.example/callback"] },
    "a secret of a megabyte": { client_secret: "s".repeat(900_000) },
    "a name with a line break": { client_id: "a\r\nx-evil: 1" },
    "no name": { client_id: undefined }
  }
  for (const [what, registration] of Object.entries(hostile)) {
    test(`is refused where a registration has ${what} (oa-032)`, {
      script: (script) => {
        script.registration = registration
      }
    }, ({ person, runtime }) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(runtime.servers.login(server))
        assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", "registration"])
        assert.strictEqual(person.pages.length, 0)
      }))
  }

  for (const path of ["/token", "/register"]) {
    test(`takes no field of an answer from its prototype: ${path} (oa-040)`, {
      script: (script) => {
        const body = `{"__proto__":{"access_token":"a","token_type":"bearer","client_id":"c","redirect_uris":[]}}`
        if (path === "/token") script.answers = [{ status: 200, body }]
        else script.registered = { status: 201, body }
      }
    }, (run) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(run.runtime.servers.login(server))
        assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", path === "/token" ? "answer" : "registration"])
        assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      }))
  }

  test("that is interrupted leaves nothing, and can be begun again", {}, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      const reached = yield* Deferred.make<void>()
      const seen = eventsOf(run, ["LoginBegan", "LoginEnded"])
      person.meanwhile = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
      const fiber = yield* Effect.fork(runtime.servers.login(server))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      person.meanwhile = Effect.void
      yield* runtime.servers.login(server)
      assert.strictEqual(person.most(), 1)
      assert.strictEqual((yield* status(run))._tag, "LoggedIn")
      assert.deepStrictEqual(seen.slice(0, 2), ["LoginBegan", "LoginEnded Interrupted"])
    }))

  test("ends when somebody logs out, and what there was is gone", {}, (run) =>
    Effect.gen(function*() {
      const { person, runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      const reached = yield* Deferred.make<void>()
      person.meanwhile = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
      const fiber = yield* Effect.fork(Effect.flip(runtime.servers.login(server)))
      yield* Deferred.await(reached)
      yield* runtime.servers.logout(server)
      assert.deepStrictEqual(reasonOf(yield* Fiber.join(fiber)), ["AuthorizationFailed", "cancelled"])
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      const before = there.heard.length
      assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
      assert.isTrue(there.heard.slice(before).every(({ headers }) => headers.authorization === undefined))
    }))

  test(
    "asks once when two want it, and gives both what it gives",
    {},
    ({ person, runtime, server: there }) =>
      Effect.gen(function*() {
        const both = Effect.all([runtime.servers.login(server), runtime.servers.login(server)], { concurrency: 2 })
        person.meanwhile = Effect.sleep("20 millis")
        yield* both
        assert.deepStrictEqual([person.pages.length, there.of("/token").length], [1, 1])
      })
  )

  test("says who we are as the configuration does, which alone keeps our secret", {
    config: { oauth: { clientId: "ours", clientSecret: Redacted.make("a-secret-of-ours") } }
  }, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there, store } = run
      const kept: Array<string> = []
      const set = store.set
      Object.assign(store, {
        set: (key: string, text: Redacted.Redacted) => {
          kept.push(Redacted.value(text))
          return set(key, text)
        }
      })
      yield* runtime.servers.login(server)
      yield* call(run)
      there.expire()
      yield* call(run)
      const basic = `Basic ${Buffer.from("ours:a-secret-of-ours").toString("base64")}`
      assert.deepStrictEqual(there.of("/token").map(({ headers }) => headers.authorization), [basic, basic])
      assert.strictEqual(kept.length, 2)
      for (const text of kept) assert.notInclude(text, "a-secret-of-ours")
    }))
})

describe("a call that waits for a person", () => {
  test("is done when they have logged in, once for all that wait, and its time stands still meanwhile", {
    ...calls,
    config: { requestTimeout: "2 seconds", toolTimeout: "2 seconds" },
    script: (script) => {
      script.open = true
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      yield* runtime.servers.connect(server)
      person.meanwhile = Effect.sleep("2500 millis")
      const answers = yield* Effect.all([call(run), call(run), call(run)], { concurrency: 3 })
      assert.deepStrictEqual(answers, ["done", "done", "done"])
      assert.strictEqual(person.pages.length, 1)
    }))

  test("fails with all that wait when they do not", {
    ...calls,
    script: (script) => {
      script.open = true
      script.back = (parameters) => parameters.set("error", "access_denied")
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      yield* runtime.servers.connect(server)
      person.meanwhile = Effect.sleep("20 millis")
      const errors = yield* Effect.all([Effect.flip(call(run)), Effect.flip(call(run))], { concurrency: 2 })
      assert.deepStrictEqual(errors.map((error) => error._tag), ["AuthorizationFailed", "AuthorizationFailed"])
      assert.strictEqual(person.pages.length, 1)
    }))

  test("has its time back when they have logged in", {
    ...calls,
    config: { requestTimeout: "300 millis" },
    script: (script) => {
      script.open = true
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      yield* runtime.servers.connect(server)
      assert.strictEqual((yield* Effect.flip(call(run, "never")))._tag, "RequestTimeout")
      assert.strictEqual(person.pages.length, 1)
    }))

  test("logs in where the server refuses to connect, once for all calls, and the deadlines stand still", {
    ...calls,
    config: { requestTimeout: "2 seconds", toolTimeout: "2 seconds" }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime, server: there } = run
      person.meanwhile = Effect.sleep("2500 millis")
      const answers = yield* Effect.all([call(run), call(run), call(run)], { concurrency: 3 })
      assert.deepStrictEqual(answers, ["done", "done", "done"])
      assert.strictEqual(person.pages.length, 1)
      person.meanwhile = Effect.void
      there.revoke()
      yield* Effect.ignore(runtime.servers.reconnect(server))
      assert.strictEqual(yield* call(run), "done")
      assert.strictEqual(person.pages.length, 2)
    }))

  test("fails where the server refuses to connect and the person refuses the login", {
    ...calls,
    script: (script) => {
      script.back = (parameters) => parameters.set("error", "access_denied")
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person } = run
      assert.deepStrictEqual(reasonOf(yield* Effect.flip(call(run))), ["AuthorizationFailed", "refused"])
      assert.strictEqual(person.pages.length, 1)
    }))

  test(
    "does not ask where the server refuses to connect and only the application may ask",
    {},
    (run) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(call(run))), ["AuthorizationFailed", "unauthorized"])
        assert.strictEqual(run.person.pages.length, 0)
      })
  )

  test(
    "never shows a page for a connect, a list or what comes by itself",
    { ...calls },
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        yield* Effect.flip(runtime.servers.connect(server))
        yield* Effect.flip(runtime.refreshTools(server))
        yield* Effect.flip(runtime.servers.reconnect(server))
        assert.strictEqual(person.pages.length, 0)
        yield* runtime.servers.login(server)
        there.revoke()
        yield* Effect.flip(runtime.refreshTools(server))
        yield* Effect.flip(runtime.servers.reconnect(server))
        assert.strictEqual(person.pages.length, 1)
      })
  )

  test("asks for the rights that are missing beside those that there were", {
    ...calls,
    script: (script) => {
      script.scope = "files:read"
      script.needs = (tool) => tool === "write" ? "files:write" : "files:read"
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      yield* Effect.flip(runtime.servers.connect(server))
      yield* runtime.servers.login(server)
      assert.strictEqual(yield* call(run, "write"), "done")
      assert.deepStrictEqual(person.pages.map(({ searchParams }) => searchParams.get("scope")), [
        "files:read",
        "files:read files:write"
      ])
      assert.strictEqual(yield* call(run, "read"), "done")
      assert.strictEqual(person.pages.length, 2)
    }))

  test("asks twice at most, however many rights a server wants", { ...calls }, (run) =>
    Effect.gen(function*() {
      const { person, runtime, server: there } = run
      yield* runtime.servers.login(server)
      let wanted = 0
      there.script.needs = () => `more:${++wanted}`
      assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "HttpError", reason: "forbidden" })
      assert.strictEqual(person.pages.length, 3)
      there.script.needs = () => "more:1"
      there.script.gives = () => "less"
      there.expire()
      assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "HttpError", reason: "forbidden" })
      // it was given already
      assert.strictEqual(person.pages.length, 3)
    }))
})

describe("a server that nobody has agreed to", () => {
  test(
    "is asked for nothing, and nothing of its configuration is read",
    { config: { blocked: "untrusted" } },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        for (
          const effect of [
            runtime.servers.login(server),
            runtime.servers.loginStatus(server),
            runtime.servers.logout(server)
          ]
        ) {
          const error = yield* Effect.flip<unknown, McpRuntime.ConnectFailure, never>(effect)
          assert.strictEqual(error._tag, "ServerUnavailable")
        }
        assert.deepStrictEqual(there.heard, [])
      })
  )
})

describe("what a workspace says", () => {
  const grant = (issuer: string) =>
    ({ _tag: "ClientCredentials", issuer, clientId: "us", secret: Redacted.make("of-the-application") }) as const

  Node.test(
    "does not get what the application holds for a server of that name, and reaches nothing on this machine",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const person = AuthServer.person()
      const context = yield* Layer.build(
        Credentials.layer({ grants: { [server]: grant(there.origin) } }).pipe(
          Layer.provide(AuthServer.replacing(person, yield* TokenStore.makeMemory, yield* McpEvent.make()))
        )
      )
      const { authorize } = Context.get(context, Credentials.Credentials)
      const base = there.config()
      assert(base.transport === "streamable-http")
      const of = (origin: "workspace" | "home"): ServerConfig.HttpServer => ({
        ...base,
        provenance: { provider: "native", scope: "project", origin, pointer: [] }
      })
      assert.deepStrictEqual(reasonOf(yield* Effect.flip(authorize(of("workspace")))), [
        "AuthorizationFailed",
        "blocked"
      ])
      assert.deepStrictEqual(there.heard, [])
      yield* authorize(of("home"))
      assert.deepStrictEqual(there.grants("client_credentials").length, 1)
    })
  )
})

describe("what a configuration shows", () => {
  const shown: Readonly<Record<string, Partial<ServerConfig.HttpInput>>> = {
    "headers": { headers: new Map([["Authorization", Redacted.make("Bearer of-the-configuration")]]) },
    "that there is no login": { oauth: false }
  }
  for (const [what, config] of Object.entries(shown)) {
    test(`is shown, and nobody logs in: ${what}`, { ...calls, config }, (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
        assert.deepStrictEqual(yield* status(run), { _tag: "Configured" })
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.servers.login(server))), [
          "AuthorizationFailed",
          "not-interactive"
        ])
        assert.strictEqual(person.pages.length, 0)
        assert.isTrue(there.heard.every(({ path }) => path === "/mcp"))
      }))
  }
})
