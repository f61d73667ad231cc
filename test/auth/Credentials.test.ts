import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import type * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as AuthServer from "../support/authServer.ts"
import * as Node from "../support/nodeRuntime.ts"

interface Run {
  readonly server: AuthServer.AuthServer
  readonly person: AuthServer.Person
  readonly store: TokenStore.TokenStore["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

interface Given {
  readonly config?: Partial<ServerConfig.HttpInput>
  readonly auth?: NodeMcpRuntime.Options["auth"]
  readonly script?: (script: AuthServer.Script) => void
}

/** A runtime of one server that wants a login, and a person who agrees to everything. */
const run = <A, E>(given: Given, body: (run: Run) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const server = yield* AuthServer.make
    given.script?.(server.script)
    const store = yield* TokenStore.makeMemory
    return yield* again({ server, store }, given, body)
  })

/** Another process, with the same store. */
const again = <A, E>(
  { server, store }: Pick<Run, "server" | "store">,
  { auth, config }: Given,
  body: (run: Run) => Effect.Effect<A, E, Scope.Scope>
) => {
  const person = AuthServer.person()
  return Effect.flatMap(McpEvent.make(), (events) => {
    const replace = AuthServer.replacing(person, store, events)
    const options = Node.options([server.config(config)], { replace, auth, calls: { retries: 0 } })
    return Node.using(options, (runtime) => body({ server, person, store, events, runtime }))
  })
}

const test = <A, E>(name: string, given: Given, body: (run: Run) => Effect.Effect<A, E, Scope.Scope>) =>
  Node.test(name, run(given, body))

const server = "guarded"
const call = ({ runtime }: Run, tool = "read") => Effect.map(runtime.callTool({ server, tool }), Node.textOf)
const status = ({ runtime }: Run) => runtime.authorization(server)

const reasonOf = (error: { readonly _tag: string; readonly reason?: unknown }) => [error._tag, error.reason]

/** The events of these kinds, as they come. */
const eventsOf = ({ events }: Run, tags: ReadonlyArray<McpEvent.McpEvent["_tag"]>): ReadonlyArray<string> => {
  const seen: Array<string> = []
  events.onEvent((event) => {
    if (tags.includes(event._tag)) seen.push("outcome" in event ? `${event._tag} ${event.outcome}` : event._tag)
  })
  return seen
}

const calls = { auth: { login: "calls" } } as const

describe("a login by a person", () => {
  test(
    "names the resource in every request, and proves that it is the one who asked (oa-021)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        assert.strictEqual((yield* Effect.flip(runtime.connect(server)))._tag, "Unauthorized")
        assert.strictEqual((yield* runtime.server(server)).status._tag, "NeedsAuth")
        assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        assert.strictEqual(person.pages.length, 0)
        yield* runtime.authorize(server)
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
      yield* runtime.authorize(server)
      there.expire()
      yield* call(run)
      there.script.back = (parameters) => parameters.delete("iss")
      yield* Effect.flip(runtime.authorize(server))
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
        yield* runtime.authorize(server)
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
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.authorize(server))), [
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
          const error = yield* Effect.flip(runtime.authorize(server))
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
            return Effect.flip(runtime.authorize(server))
          })
        const denied = yield* refused("access_denied")
        assert.deepStrictEqual(reasonOf(denied), ["AuthorizationFailed", "refused"])
        assert.include(String(denied), "access_denied")
        assert.notInclude(String(yield* refused("call_this_number")), "call_this_number")
      })
  )

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
        const error = yield* Effect.flip(runtime.authorize(server))
        assert.deepStrictEqual(reasonOf(error), ["AuthorizationFailed", "registration"])
        assert.strictEqual(person.pages.length, 0)
      }))
  }

  test("that is interrupted leaves nothing, and can be begun again", {}, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      const reached = yield* Deferred.make<void>()
      const seen = eventsOf(run, ["LoginBegan", "LoginEnded"])
      person.meanwhile = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
      const fiber = yield* Effect.fork(runtime.authorize(server))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      person.meanwhile = Effect.void
      yield* runtime.authorize(server)
      assert.strictEqual((yield* status(run))._tag, "LoggedIn")
      assert.deepStrictEqual(seen.slice(0, 2), ["LoginBegan", "LoginEnded Interrupted"])
    }))

  test("ends when somebody logs out, and what there was is gone", {}, (run) =>
    Effect.gen(function*() {
      const { person, runtime, server: there } = run
      yield* runtime.authorize(server)
      yield* call(run)
      const reached = yield* Deferred.make<void>()
      person.meanwhile = Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)
      const fiber = yield* Effect.fork(Effect.flip(runtime.authorize(server)))
      yield* Deferred.await(reached)
      yield* runtime.logout(server)
      assert.deepStrictEqual(reasonOf(yield* Fiber.join(fiber)), ["AuthorizationFailed", "cancelled"])
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      const before = there.heard.length
      assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Unauthorized")
      assert.isTrue(there.heard.slice(before).every(({ headers }) => headers.authorization === undefined))
    }))

  test(
    "asks once when two want it, and gives both what it gives",
    {},
    ({ person, runtime, server: there }) =>
      Effect.gen(function*() {
        const both = Effect.all([runtime.authorize(server), runtime.authorize(server)], { concurrency: 2 })
        person.meanwhile = Effect.sleep("20 millis")
        yield* both
        assert.deepStrictEqual([person.pages.length, there.of("/token").length], [1, 1])
      })
  )
})

describe("a call that waits for a person", () => {
  test("is done when they have logged in, once for all that wait, and its time stands still meanwhile", {
    ...calls,
    config: { requestTimeout: "300 millis", toolTimeout: "400 millis" },
    script: (script) => {
      script.open = true
    }
  }, (run) =>
    Effect.gen(function*() {
      const { person, runtime } = run
      yield* runtime.connect(server)
      person.meanwhile = Effect.sleep("900 millis")
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
      yield* runtime.connect(server)
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
      yield* runtime.connect(server)
      assert.strictEqual((yield* Effect.flip(call(run, "never")))._tag, "RequestTimeout")
      assert.strictEqual(person.pages.length, 1)
    }))

  test(
    "never shows a page for a connect, a list or what comes by itself",
    { ...calls },
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        yield* Effect.flip(runtime.connect(server))
        yield* Effect.flip(runtime.refreshTools(server))
        yield* Effect.flip(runtime.reconnect(server))
        assert.strictEqual(person.pages.length, 0)
        yield* runtime.authorize(server)
        there.revoke()
        yield* Effect.flip(runtime.refreshTools(server))
        yield* Effect.flip(runtime.reconnect(server))
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
      yield* Effect.flip(runtime.connect(server))
      yield* runtime.authorize(server)
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
      yield* runtime.authorize(server)
      let wanted = 0
      there.script.needs = () => `more:${++wanted}`
      assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Forbidden")
      assert.strictEqual(person.pages.length, 3)
      there.script.needs = () => "more:1"
      there.script.gives = () => "less"
      there.expire()
      assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Forbidden")
      // it was given already
      assert.strictEqual(person.pages.length, 3)
    }))
})

describe("a token that is over", () => {
  test(
    "is renewed once for twenty calls that were refused at once, and all are done",
    {},
    (run) =>
      Effect.gen(function*() {
        const { person, runtime, server: there } = run
        yield* runtime.authorize(server)
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
      yield* runtime.authorize(server)
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
        yield* runtime.authorize(server)
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
    "is gone when its server says so, and nothing else is said of the server (oa-027)",
    {},
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.authorize(server)
        yield* call(run)
        there.revoke()
        assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Unauthorized")
        assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
        assert.strictEqual(there.grants("refresh_token").length, 1)
        yield* runtime.authorize(server)
        assert.strictEqual(yield* call(run), "done")
      })
  )

  test("is not lost when the call that renews it is interrupted", {}, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.authorize(server)
      yield* call(run)
      there.expire()
      let release = () => undefined as void
      there.script.delay = new Promise((resolve) => {
        release = resolve
      })
      const fiber = yield* Effect.fork(call(run))
      yield* there.until(() => there.grants("refresh_token").length === 1)
      yield* Fiber.interrupt(fiber)
      there.script.delay = undefined
      release()
      assert.strictEqual(yield* call(run), "done")
      assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [1, 0])
    }))

  test("is not lost when everything ends while it is renewed", {}, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.authorize(server)
      yield* call(run)
      there.expire()
      yield* again(run, {}, (other) =>
        Effect.gen(function*() {
          yield* Effect.fork(call(other))
          there.script.delay = new Promise((resolve) => setTimeout(resolve, 150))
          yield* there.until(() => there.grants("refresh_token").length === 1)
        }))
      assert.strictEqual(yield* call(run), "done")
      assert.deepStrictEqual([there.grants("refresh_token").length, there.reused()], [1, 0])
    }))

  Node.test(
    "is not waited for longer than a call, or the end, where nobody answers",
    Node.within(
      "9 seconds",
      run({ config: { requestTimeout: "300 millis" } }, (run) =>
        Effect.gen(function*() {
          const { runtime, server: there } = run
          yield* runtime.authorize(server)
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
      yield* runtime.authorize(server)
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

  test("is not asked for for ever where a server refuses every token", {}, (run) =>
    Effect.gen(function*() {
      const { runtime, server: there } = run
      yield* runtime.authorize(server)
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
          yield* run.runtime.authorize(server)
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
          const login = yield* Effect.flip(run.runtime.authorize(server))
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
      yield* runtime.authorize(server)
      yield* call(run)
      const other = yield* AuthServer.make
      there.script.issuer = other.origin
      there.expire()
      assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Unauthorized")
      assert.deepStrictEqual(yield* status(run), { _tag: "LoggedOut" })
      yield* runtime.authorize(server).pipe(Effect.ignore)
      assert.strictEqual(person.pages.at(-1)?.origin, other.origin)
      assert.strictEqual(other.of("/register").length, 1)
      const sent = JSON.stringify(other.heard)
      for (const secret of there.secrets) assert.notInclude(sent, secret)
    }))

  const secret = { clientId: "ours", clientSecret: Redacted.make("a-secret-of-ours") }
  test(
    "does not get a secret of the configuration that does not say whose it is",
    { config: { oauth: secret } },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        yield* runtime.authorize(server)
        const other = yield* AuthServer.make
        there.script.issuer = other.origin
        there.expire()
        yield* Effect.flip(call(run))
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.authorize(server))), [
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
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.authorize(server))), [
          "AuthorizationFailed",
          "metadata"
        ])
        assert.strictEqual(other.of("/token").length, 0)
      })
  )
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
        yield* runtime.authorize(server)
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
        yield* runtime.authorize(server)
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
            assert.strictEqual((yield* Effect.flip(call(other)))._tag, "Unauthorized")
          }))
      })
  )
})

describe("a server that nobody has agreed to", () => {
  test(
    "is asked for nothing, and nothing of its configuration is read",
    { config: { blocked: "untrusted" } },
    (run) =>
      Effect.gen(function*() {
        const { runtime, server: there } = run
        for (const effect of [runtime.authorize(server), runtime.authorization(server), runtime.logout(server)]) {
          const error = yield* Effect.flip<unknown, McpRuntime.LoginError, never>(effect)
          assert.strictEqual(error._tag, "ServerUnavailable")
        }
        assert.deepStrictEqual(there.heard, [])
      })
  )
})

describe("what a workspace says", () => {
  const grant = { _tag: "ClientCredentials", clientId: "us", secret: Redacted.make("of-the-application") } as const

  Node.test(
    "does not get what the application holds for a server of that name, and reaches nothing on this machine",
    Effect.gen(function*() {
      const there = yield* AuthServer.make
      const person = AuthServer.person()
      const context = yield* Layer.build(
        Credentials.layer({ grants: { [server]: grant } }).pipe(
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
        assert.strictEqual((yield* Effect.flip(call(run)))._tag, "Unauthorized")
        assert.deepStrictEqual(yield* status(run), { _tag: "Configured" })
        assert.deepStrictEqual(reasonOf(yield* Effect.flip(runtime.authorize(server))), [
          "AuthorizationFailed",
          "nobody"
        ])
        assert.strictEqual(person.pages.length, 0)
        assert.isTrue(there.heard.every(({ path }) => path === "/mcp"))
      }))
  }
})
