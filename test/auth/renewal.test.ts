import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope, TestClock } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as NodeTokenStore from "../../src/node/NodeTokenStore.ts"
import * as AuthServer from "../support/authServer.ts"
import { again, call, reasonOf, type Run, run, server, status, test } from "../support/guarded.ts"
import * as Node from "../support/nodeRuntime.ts"

describe("a token that is over", () => {
  test(
    "is renewed once for twenty calls that were refused at once, and all are done",
    {},
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        yield* runtime.servers.login(server)
        yield* call(run)
        there.expire()
        const answers = yield* Effect.all(Array.from({ length: 20 }, () => call(run)), { concurrency: "unbounded" })
        assert.isTrue(answers.every((answer) => answer === "done"))
        assert.deepStrictEqual([there.grants("refresh_token").length, there.reused(), person.pages.length], [1, 0, 1])
      })
  )

  test("is renewed before it is sent, where it says when that is", {
    script: (script) => {
      script.lifetime = 1
    }
  }, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      there.script.lifetime = 3600
      yield* Effect.sleep("600 millis")
      there.expire()
      const before = there.heard.length
      const answers = yield* Effect.all(Array.from({ length: 20 }, () => call(run)), { concurrency: "unbounded" })
      assert.isTrue(answers.every((answer) => answer === "done"))
      assert.deepStrictEqual(there.heard.slice(before).map(({ path }) => path), [
        "/token",
        ...answers.map(() => "/mcp")
      ])
    }))

  test(
    "is kept when its server cannot renew it now, and the next call is done (oa-026)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        yield* call(run)
        for (const body of [{ error: "invalid_grant" }, { error: "odd" }, "<html>"]) {
          there.expire()
          there.script.answers = Array.from({ length: 10 }, () => ({ status: 503, body }))
          const error = yield* Effect.flip(call(run))
          there.script.answers = []
          assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", "unreachable"])
          assert.strictEqual((yield* status(run))._tag, "LoggedIn")
          assert.strictEqual(yield* call(run), "done")
        }
        assert.strictEqual(there.reused(), 0)
      })
  )

  test(
    "that cannot be renewed now is no reason to log in: the server is reached again by itself",
    {},
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        yield* runtime.servers.login(server)
        there.expire()
        there.script.answers = Array.from({ length: 2 }, () => ({ status: 503, body: "" }))
        yield* Effect.ignore(runtime.servers.reconnect(server))
        yield* Node.until(runtime, server, Node.is("Connected"))
        assert.deepStrictEqual([person.pages.length, there.reused()], [1, 0])
      })
  )

  test(
    "is gone when its server says so, and nothing else is said of the server (oa-027)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        yield* call(run)
        there.revoke()
        assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
        assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        assert.strictEqual(there.grants("refresh_token").length, 1)
        yield* runtime.servers.login(server)
        assert.strictEqual(yield* call(run), "done")
      })
  )

  /** What requests are shown, with nothing around it that waits for it too. */
  const shown = (there: AuthServer.AuthServer, store: TokenStore.TokenStore["Type"]) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(
        Layer.provide(Credentials.layer(), AuthServer.replacing(AuthServer.person(), store, yield* McpEvent.make()))
      )
      const credentials = Context.get(context, Credentials.Credentials)
      const config = there.config()
      assert(config.transport === "streamable-http")
      const { login } = yield* credentials.resolve(config)
      assert(login !== undefined)
      const headers = login.headers({ method: "POST", url: there.url })
      const refused = Effect.flatMap(headers, (sent) =>
        login.refused({
          status: 401,
          challenge: { schemes: ["bearer"], error: undefined, scope: undefined, resourceMetadata: undefined },
          sent,
          attempt: 0,
          foreground: false,
          waiting: () => undefined
        }))
      return { authorize: credentials.authorize(config), headers, refused }
    })

  Node.test(
    "is not lost when whoever renews it is interrupted",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const { authorize, refused } = yield* shown(there, yield* TokenStore.makeMemory)
      yield* authorize
      let release = () => undefined as void
      there.script.delay = new Promise((resolve) => {
        release = resolve
      })
      const fiber = yield* Effect.fork(refused)
      yield* there.until(() => there.grants("refresh_token").length === 1)
      yield* Fiber.interrupt(fiber)
      const next = yield* Effect.fork(refused)
      there.script.delay = undefined
      release()
      assert.isTrue(yield* Fiber.join(next))
      assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [1, 0])
    })
  )

  Node.test(
    "is not lost when everything ends while it is renewed",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const store = yield* TokenStore.makeMemory
      const scope = yield* Scope.make()
      const { authorize, refused } = yield* Scope.extend(shown(there, store), scope)
      yield* authorize
      there.script.delay = new Promise((resolve) => setTimeout(resolve, 100))
      yield* Effect.forkIn(refused, scope)
      yield* there.until(() => there.grants("refresh_token").length === 1)
      yield* Scope.close(scope, Exit.void)
      const later = yield* shown(there, store)
      assert.isTrue(yield* later.refused)
      assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [2, 0])
    })
  )

  it.scoped("is used as long as it can be where there is no other now, and not when its time is over", () =>
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const { authorize, headers } = yield* shown(there, yield* TokenStore.makeMemory)
      const token = Effect.map(headers, (all) => Redacted.value(all.get("authorization") ?? Redacted.make("")))
      yield* authorize
      const first = yield* token
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* token, first)
      assert.strictEqual(there.grants("refresh_token").length, 0)
      yield* TestClock.adjust("40 seconds")
      there.script.answers = [{ status: 503, body: "" }, { status: 503, body: "" }]
      assert.strictEqual(yield* token, first)
      assert.strictEqual(there.grants("refresh_token").length, 1)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(reasonOf(yield* Effect.flip(token)), ["AuthorizationFailed", "unreachable"])
      const second = yield* token
      assert.notStrictEqual(second, first)
      // a clock that was put back
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* token, second)
      assert.strictEqual(there.grants("refresh_token").length, 3)
    }))

  Node.test(
    "is not waited for longer than a call, or the end, where nobody answers",
    Node.within(
      "9 seconds",
      run({ config: { requestTimeout: "300 millis" } }, (run) =>
        Effect.gen(function*() {
          const { runtime, server: there } = run
          yield* runtime.servers.login(server)
          yield* call(run)
          there.expire()
          there.script.answers = ["hang"]
          assert.strictEqual((yield* Effect.flip(call(run)))._tag, "RequestTimeout")
          assert.strictEqual((yield* Effect.flip(call(run)))._tag, "RequestTimeout")
          assert.strictEqual((yield* status(run))._tag, "LoggedIn")
        })).pipe(Effect.scoped)
    )
  )

  test("is renewed by one of two processes that share a store", {}, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      yield* again(run, {}, (other) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* call(other), "done")
          there.expire()
          assert.deepStrictEqual(yield* Effect.all([call(run), call(other)], { concurrency: 2 }), ["done", "done"])
          assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [1, 0])
          assert.strictEqual(other.person.pages.length, 0)
        }))
    }))

  test(
    "is renewed once by twelve that have nothing in common but a folder of files",
    {},
    (run) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* fs.makeTempDirectoryScoped()}/logins`
        const files = Effect.provide(TokenStore.TokenStore, NodeTokenStore.layer({ backend: "files", directory }))
        const { server: there } = run
        const all = (others: ReadonlyArray<Run>): Effect.Effect<void, unknown, Scope.Scope> =>
          Effect.flatMap(files, (store) =>
            again({ server: there, store }, {}, (other) =>
              Effect.gen(function*() {
                // the first one logs in, and the others find that
                if (others.length === 0) yield* other.runtime.servers.login(server)
                assert.strictEqual(yield* call(other), "done")
                const runs = [...others, other]
                if (runs.length < 12) return yield* all(runs)
                for (const _ of ["once", "and again with what that gave"]) {
                  const before = there.grants("refresh_token").length
                  there.expire()
                  const answers = yield* Effect.all(runs.map((one) => call(one)), { concurrency: "unbounded" })
                  assert.deepStrictEqual(answers, runs.map(() => "done"))
                  assert.deepStrictEqual([there.grants("refresh_token").length - before, there.reused()], [1, 0])
                }
              })))
        yield* all([])
        assert.lengthOf(there.grants("authorization_code"), 1)
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  test("is not asked for for ever where a server refuses every token", {}, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      const before = there.of("/mcp").length
      there.script.needs = () => {
        there.expire()
        return "what nobody has"
      }
      there.expire()
      yield* Effect.flip(call(run))
      assert.isAtMost(there.of("/mcp").length - before, 4)
    }))
})

describe("a store that fails", () => {
  const failing = (store: TokenStore.TokenStore["Type"]) => {
    const broken = { set: false, get: false }
    const fail = new TokenStore.TokenStoreError({ reason: "unavailable", detail: "the disk is full" })
    const made: TokenStore.TokenStore["Type"] = {
      ...store,
      get: (key) => broken.get ? Effect.fail(fail) : store.get(key),
      set: (key, secret) => broken.set ? Effect.fail(fail) : store.set(key, secret)
    }
    return { broken, store: made }
  }

  Node.test(
    "does not lose a renewed login, which is kept when that can be again",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const { broken, store } = failing(yield* TokenStore.makeMemory)
      yield* again({ server: there, store }, {}, (run) =>
        Effect.gen(function*() {
          yield* run.runtime.servers.login(server)
          yield* call(run)
          broken.set = true
          for (let round = 0; round < 2; round++) {
            there.expire()
            assert.strictEqual(yield* call(run), "done")
          }
          broken.set = false
          there.expire()
          assert.strictEqual(yield* call(run), "done")
          assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [3, 0])
        }))
      yield* again({ server: there, store }, {}, (run) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* call(run), "done")
          assert.strictEqual(run.person.pages.length, 0)
        }))
    })
  )

  Node.test(
    "fails the login and the call that need it, and says so",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const { broken, store } = failing(yield* TokenStore.makeMemory)
      yield* again({ server: there, store }, {}, (run) =>
        Effect.gen(function*() {
          broken.set = true
          const login = yield* Effect.flip(run.runtime.servers.login(server))
          assert.deepStrictEqual(reasonOf(login), ["AuthorizationFailed", "store"])
          assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
          broken.get = true
          assert.deepStrictEqual(reasonOf(yield* Effect.flip(call(run))), ["AuthorizationFailed", "store"])
        }))
    })
  )
})

describe("another authorization server than before", () => {
  test("is sent nothing of what the first one gave", {}, (run) =>
    Effect.gen(function*() {
      const { person, runtime, server: there } = run
      yield* runtime.servers.login(server)
      yield* call(run)
      const other = yield* AuthServer.make
      there.script.issuer = other.origin
      there.expire()
      assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      yield* runtime.servers.login(server).pipe(Effect.ignore)
      assert.strictEqual(person.pages.at(-1)?.origin, other.origin)
      assert.strictEqual(other.of("/register").length, 1)
      const sent = JSON.stringify(other.heard)
      for (const secret of there.secrets) assert.notInclude(sent, secret)
    }))

  const secret = { clientId: "ours", clientSecret: Redacted.make("a-secret-of-ours") }
  test(
    "does not get a secret of the configuration, which is for another issuer",
    { config: { oauth: secret } },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        const other = yield* AuthServer.make
        there.script.issuer = other.origin
        there.expire()
        yield* Effect.flip(call(run))
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.servers.login(server))), [
          "AuthorizationFailed",
          "metadata"
        ])
        assert.deepStrictEqual([other.of("/token").length, other.of("/authorize").length], [0, 0])
      })
  )

  test(
    "does not get what a program holds",
    { config: { oauth: { ...secret, grantType: "client_credentials" } } },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        assert.strictEqual(yield* call(run), "done")
        const other = yield* AuthServer.make
        there.script.issuer = other.origin
        there.expire()
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(call(run))), ["AuthorizationFailed", "metadata"])
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.servers.login(server))), [
          "AuthorizationFailed",
          "metadata"
        ])
        assert.strictEqual(other.of("/token").length, 0)
      })
  )

  Node.test(
    "is what a changed configuration says, whatever was found before",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const person = AuthServer.person()
      const context = yield* Layer.build(
        Layer.provide(
          Credentials.layer(),
          AuthServer.replacing(person, yield* TokenStore.makeMemory, yield* McpEvent.make())
        )
      )
      const credentials = Context.get(context, Credentials.Credentials)
      const authorize = (issuer: string) => {
        const config = there.config({ oauth: { issuer } })
        assert(config.transport === "streamable-http")
        return credentials.authorize(config)
      }
      yield* authorize(there.origin)
      const error = yield* Effect.flip(authorize("https://honest.example"))
      assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", "metadata"])
      assert.strictEqual(person.pages.length, 1)
    })
  )
})

describe("a program that logs in by itself", () => {
  const oauth = { clientId: "ours", clientSecret: Redacted.make("a-secret-of-ours"), grantType: "client_credentials" }

  test("needs nobody, gets another token when one is over, and more rights when they are wanted", {
    config: { oauth },
    script: (script) => {
      script.scope = "files:read"
      script.needs = (tool) => tool === "write" ? "files:write" : "files:read"
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, server: there } = run
      assert.strictEqual(yield* call(run), "done")
      there.expire()
      assert.deepStrictEqual(
        yield* Effect.all(Array.from({ length: 5 }, () => call(run)), { concurrency: "unbounded" }),
        Array.from({ length: 5 }, () => "done")
      )
      assert.strictEqual(yield* call(run, "write"), "done")
      assert.deepStrictEqual(there.of("/token").map(({ form }) => [form.get("grant_type"), form.get("scope")]), [
        ["client_credentials", "files:read"],
        ["client_credentials", "files:read"],
        ["client_credentials", "files:read files:write"]
      ])
      assert.strictEqual(person.pages.length, 0)
      there.script.needs = () => "what nobody gives"
      there.script.gives = () => "nothing"
      assert.deepInclude(yield* Effect.flip(call(run)), { _tag: "HttpError", reason: "forbidden" })
      assert.isAtMost(there.of("/token").length, 5)
    }))
})

describe("a token that is bound to a key", () => {
  const dpop = (script: AuthServer.Script) => {
    script.dpop = { nonce: "first" }
  }

  test(
    "is proven with each request, and with the number that the server wants",
    { script: dpop },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.servers.login(server)
        assert.strictEqual(yield* call(run), "done")
        there.script.dpop = { nonce: "second" }
        assert.strictEqual(yield* call(run), "done")
        there.expire()
        assert.strictEqual(yield* call(run), "done")
        const proofs = there.heard.flatMap(({ headers }) =>
          typeof headers["dpop"] === "string" ? [headers["dpop"]] : []
        )
        const said = proofs.map(AuthServer.proven)
        assert.strictEqual(new Set(said.map(({ jkt }) => jkt)).size, 1)
        assert.strictEqual(new Set(said.map(({ claims }) => claims["jti"])).size, proofs.length)
      })
  )

  test(
    "is still proven after a restart, and forgotten where its key is broken",
    { script: dpop },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there, store } = run
        yield* runtime.servers.login(server)
        yield* call(run)
        yield* again(run, {}, (other) =>
          Effect.gen(function*() {
            assert.strictEqual(yield* call(other), "done")
            assert.strictEqual(other.person.pages.length, 0)
          }))
        const broken: TokenStore.TokenStore["Type"] = {
          ...store,
          get: (key) =>
            Effect.map(store.get(key), (kept) =>
              kept._tag === "None"
                ? kept
                : {
                  ...kept,
                  value: Redacted.make(Redacted.value(kept.value).replace(/\\"d\\":\\"[\w-]+/, "\\\"d\\\":\\\"x"))
                })
        }
        yield* again({ server: there, store: broken }, {}, (other) =>
          Effect.gen(function*() {
            assert.deepInclude(yield* Effect.flip(call(other)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
            assert.deepStrictEqual(yield* status(other), { _tag: "LoggedOut" })
          }))
      })
  )
})
