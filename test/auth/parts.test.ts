import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option, Redacted, type Scope } from "effect"
import * as Http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as GuardedFetch from "../../src/auth/guardedFetch.ts"
import * as Authorizer from "../../src/auth/internal/authorizer.ts"
import * as Discovery from "../../src/auth/internal/discovery.ts"
import * as Flight from "../../src/auth/internal/flight.ts"
import * as KeptLogin from "../../src/auth/internal/keptLogin.ts"
import * as LoginRecord from "../../src/auth/internal/loginRecord.ts"
import * as OAuthSdk from "../../src/auth/internal/oauthSdk.ts"
import * as Scopes from "../../src/auth/internal/scopes.ts"
import * as Tokens from "../../src/auth/internal/tokens.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import type * as McpError from "../../src/McpError.ts"

describe("scopes", () => {
  const nobody = {
    asked: undefined,
    configured: undefined,
    challenge: undefined,
    resource: undefined,
    issuer: undefined,
    offline: false
  }

  it("are what the server asks for, or what was configured, or what there is, and nothing where nobody says anything", () => {
    const resource = ["all", "of", "it"]
    assert.strictEqual(Scopes.select({ ...nobody, challenge: "this", resource }), "this")
    assert.strictEqual(Scopes.select({ ...nobody, configured: ["ours"], resource }), "ours")
    assert.strictEqual(Scopes.select({ ...nobody, configured: ["ours"], challenge: "this", resource }), "ours this")
    assert.strictEqual(Scopes.select({ ...nobody, resource }), "all of it")
    assert.strictEqual(Scopes.select(nobody), undefined)
  })

  it("are added to those before, each once", () => {
    assert.strictEqual(Scopes.select({ ...nobody, asked: "a b", challenge: "b c" }), "a b c")
  })

  it("ask for a login that lasts only where a person logs in and the server knows of such", () => {
    const issuer = ["offline_access"]
    assert.strictEqual(Scopes.select({ ...nobody, challenge: "a", issuer, offline: true }), "a offline_access")
    assert.strictEqual(Scopes.select({ ...nobody, challenge: "a", issuer }), "a")
    assert.strictEqual(Scopes.select({ ...nobody, challenge: "a", issuer: ["b"], offline: true }), "a")
  })

  it("have no names that OAuth does not let them have", () => {
    assert.strictEqual(Scopes.union("a\u001b[31m \"b\" c\\d é ok:1", "\n"), "ok:1")
  })
})

describe("tokens (oa-035)", () => {
  const given = (more: Readonly<Record<string, unknown>>) =>
    Tokens.normalised("s", { access_token: "a", token_type: "bearer", ...more }, 1000, undefined)

  it("are of a type that can be used, whatever its case", () => {
    for (const type of ["bearer", "BEARER", "Bearer"]) {
      assert.strictEqual(Either.getOrThrow(given({ token_type: type })).type, "Bearer")
    }
    assert.strictEqual(Either.getOrThrow(given({ token_type: "dpop" })).type, "DPoP")
    for (const type of ["mac", "", "N_A"]) assert.isTrue(Either.isLeft(given({ token_type: type })), type)
  })

  it("can stand in a header", () => {
    for (const token of ["", "a b", "a\r\nb", "é", "a".repeat(16_385)]) {
      assert.isTrue(Either.isLeft(given({ access_token: token })), token.slice(0, 9))
      assert.isTrue(Either.isLeft(given({ refresh_token: token })), token.slice(0, 9))
    }
  })

  it("end when they say so, and not where what they say is no time", () => {
    const end = (expires_in: number) => Either.getOrThrow(given({ expires_in })).expiresAt
    assert.strictEqual(end(60), 61_000)
    assert.deepStrictEqual([end(-1), end(0), end(Number.NaN)], [undefined, undefined, undefined])
    assert.isBelow(end(1e20) ?? Infinity, 11 * 365 * 24 * 3600 * 1000)
  })

  it("are renewed half a minute before that, or after half of a short life", () => {
    const stale = (expires_in: number, after: number) =>
      Tokens.isStale(Either.getOrThrow(given({ expires_in })), 1000 + after * 1000)
    assert.deepStrictEqual([stale(3600, 0), stale(3600, 3569), stale(3600, 3570)], [false, false, true])
    assert.deepStrictEqual([stale(10, 0), stale(10, 4), stale(10, 5)], [false, false, true])
    // a clock that was put back, or far ahead
    assert.deepStrictEqual([stale(3600, -86_400), stale(3600, 86_400)], [false, true])
  })

  it("keep what a renewal does not name", () => {
    const before = { access: Redacted.make("a"), type: "Bearer", refresh: Redacted.make("r"), scope: "s" } as const
    const next = Either.getOrThrow(Tokens.normalised("s", { access_token: "b", token_type: "bearer" }, 0, before))
    assert.strictEqual(next.refresh && Redacted.value(next.refresh), "r")
    assert.strictEqual(next.scope, "s")
  })
})

describe("a login that is kept", () => {
  const login = (access: string): LoginRecord.Login => ({
    version: 1,
    issuer: "https://issuer.example",
    client: { how: "registered", id: "us", secret: Redacted.make("of the client") },
    tokens: { access: Redacted.make(access), type: "Bearer", refresh: Redacted.make(`${access}-refresh`) }
  })

  it("is read as it was written, and nothing else is read as one", () => {
    assert.deepStrictEqual(Option.getOrThrow(LoginRecord.decode(LoginRecord.encode(login("a")))), login("a"))
    for (
      const text of ["", "{}", "null", "[]", "{\"version\":2}", Redacted.value(LoginRecord.encode(login("a"))).slice(1)]
    ) {
      assert.isTrue(Option.isNone(LoginRecord.decode(Redacted.make(text))), text)
    }
    assert.notInclude(JSON.stringify(login("canary")), "canary")
  })

  const keeping = Effect.gen(function*() {
    const store = yield* TokenStore.makeMemory
    const known = new Set<string>()
    const kept = KeptLogin.make({
      server: "s",
      where: "here",
      store,
      know: (secret) => {
        const text = Redacted.value(secret)
        assert.isFalse(known.has(text))
        known.add(text)
        return () => assert.isTrue(known.delete(text))
      }
    })
    return { kept, known, store }
  })

  it.effect("hides its secrets and those before, and lets go of older ones and, at the end, of all", () =>
    Effect.gen(function*() {
      const { kept, known } = yield* keeping
      for (const access of ["first", "second", "third"]) yield* kept.locked(kept.put(login(access)))
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh", "third", "third-refresh"])
      yield* kept.locked(kept.put(login("second")))
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh", "third", "third-refresh"])
      kept.rest()
      assert.deepStrictEqual(Array.from(known), [])
      assert.isFalse(kept.isLoaded())
      yield* kept.known
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh"])
    }))

  it.effect("is what somebody else has put there, rather than what could not be kept", () =>
    Effect.gen(function*() {
      const { kept, store } = yield* keeping
      yield* kept.locked(kept.put(login("first")))
      const full = new TokenStore.TokenStoreError({ reason: "unavailable", detail: "full" })
      const set = store.set
      Object.assign(store, { set: () => Effect.fail(full) })
      yield* kept.locked(kept.replace(login("second")))
      Object.assign(store, { set })
      yield* store.set("here", LoginRecord.encode(login("others")))
      yield* kept.locked(Effect.void)
      assert.deepStrictEqual(kept.get(), login("others"))
    }))

  it.effect("is not brought back by whoever looks at it while it is removed", () =>
    Effect.gen(function*() {
      const { kept, store } = yield* keeping
      yield* store.set("here", LoginRecord.encode(login("first")))
      const [, seen] = yield* Effect.all([kept.locked(kept.remove), kept.stored], { concurrency: 2 })
      assert.isTrue(seen === undefined || seen.issuer === "https://issuer.example")
      assert.strictEqual(kept.get(), undefined)
    }))

  it("is another's where the configuration says more of its authorization server than is checked", () => {
    const url = new URL("https://mcp.example/mcp")
    const keys = [
      undefined,
      { clientId: "us" },
      { clientId: "us", authServerMetadataUrl: "https://attacker.example/metadata" },
      { clientId: "us", legacy: true }
    ].map((configured) => Authorizer.key(url, configured, undefined))
    keys.push(Authorizer.key(url, undefined, "alice"), Authorizer.key(url, undefined, "bob"))
    keys.push(Authorizer.key(url, { clientId: "anybody\",\"alice" }, undefined))
    assert.strictEqual(new Set(keys).size, keys.length)
    assert.strictEqual(Authorizer.key(url, { scopes: ["a"] }, undefined), keys[0])
  })
})

describe("a run for all who want it", () => {
  const fork: Flight.Fork = (effect) => Effect.runFork(effect)

  it.effect("is one, ends when nobody waits for it any more, and can be begun again", () =>
    Effect.gen(function*() {
      const flight = Flight.make<string, string>(fork)
      let begun = 0
      const ended = yield* Deferred.make<void>()
      const start = Effect.suspend(() => {
        begun++
        return Effect.never
      }).pipe(Effect.onInterrupt(() => Deferred.succeed(ended, undefined)))
      const waiting = yield* Effect.all([Effect.fork(flight.join(start)), Effect.fork(flight.join(start))])
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting[0])
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* Fiber.interrupt(waiting[1])
      yield* Deferred.await(ended)
      assert.strictEqual(begun, 1)
      assert.strictEqual(yield* flight.join(Effect.succeed("again")), "again")
    }))

  it.effect("fails all who wait when it is stopped, and is begun anew by the next", () =>
    Effect.gen(function*() {
      const flight = Flight.make<string, string>(fork)
      const waiting = yield* Effect.fork(Effect.flip(flight.join(Effect.never)))
      yield* Effect.yieldNow()
      flight.stop("no more")
      assert.strictEqual(yield* Fiber.join(waiting), "no more")
      assert.strictEqual(yield* flight.join(Effect.succeed("again")), "again")
    }))

  it.effect("gives a defect to all who wait", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Flight.make<string, string>(fork).join(Effect.die("broken")))
      assert.deepStrictEqual(exit, Exit.die("broken"))
    }))
})

describe("discovery", () => {
  type Answers = Readonly<Record<string, { readonly status?: number; readonly body: unknown } | undefined>>

  /** A server that answers by path, and remembers what it was asked. */
  const serving = (answers: (origin: string) => Answers) =>
    Effect.gen(function*() {
      const heard: Array<Http.IncomingMessage> = []
      const sockets = new Set<Socket>()
      const server = Http.createServer((request, response) => {
        heard.push(request)
        const answer = answers(origin)[request.url ?? ""]
        const body = typeof answer?.body === "string" ? answer.body : JSON.stringify(answer?.body ?? {})
        response.writeHead(answer === undefined ? 404 : answer.status ?? 200).end(body)
      })
      server.on("connection", (socket) => sockets.add(socket))
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () =>
          Effect.async<void>((resume) => {
            server.close(() => resume(Effect.void))
            for (const socket of sockets) socket.destroy()
          })
      )
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return { origin, heard }
    })

  const prm = "/.well-known/oauth-protected-resource/mcp/a"
  const as = "/.well-known/oauth-authorization-server"
  const metadata = (issuer: string) => ({ issuer, token_endpoint: `${issuer}/token` })
  const usual = (origin: string): Answers => ({
    [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: [origin] } },
    [as]: { body: metadata(origin) }
  })

  const discover = (origin: string, more: Partial<Discovery.Options> = {}) =>
    Effect.gen(function*() {
      const oauth = yield* OAuthSdk.load
      const fetch = yield* GuardedFetch.make({ rules: { loopback: true, privateHosts: [] }, maxBytes: 100_000 })
      return yield* Discovery.discover({
        server: "s",
        url: new URL(`${origin}/mcp/a`),
        oauth,
        fetch,
        resourceMetadata: undefined,
        issuer: undefined,
        metadataUrl: undefined,
        resource: undefined,
        isOwn: true,
        legacy: false,
        ...more
      })
    })

  const outcome = <A>(effect: Effect.Effect<A, McpError.AuthorizationFailed, Scope.Scope>) =>
    Effect.map(Effect.either(effect), Either.match({ onLeft: ({ reason }) => reason, onRight: (found) => found }))

  const test = (
    name: string,
    answers: (origin: string) => Answers,
    body: (
      server: { readonly origin: string; readonly heard: ReadonlyArray<Http.IncomingMessage> }
    ) => Effect.Effect<void, unknown, Scope.Scope>
  ) => it.scopedLive(name, () => Effect.flatMap(serving(answers), body))

  test(
    "finds what a server and its authorization server say, with no credentials (oa-043)",
    usual,
    ({ heard, origin }) =>
      Effect.gen(function*() {
        const found = yield* discover(origin)
        assert.deepStrictEqual([found.issuer, found.resource], [origin, `${origin}/mcp/a`])
        assert.deepStrictEqual(heard.map(({ url }) => url), [prm, as])
        for (const { headers } of heard) {
          assert.deepStrictEqual(Object.keys(headers).toSorted(), ["accept", "accept-encoding", "connection", "host"])
        }
      })
  )

  for (const hidden of ["\u001b[2J", "\u202e", "\n", " "]) {
    test(
      `refuses an authorization server whose name hides something: ${JSON.stringify(hidden)}`,
      (origin) => ({
        ...usual(origin),
        [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: [`${origin}/${hidden}`] } }
      }),
      ({ heard, origin }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(discover(origin)), "metadata")
          assert.strictEqual(heard.length, 1)
        })
    )
  }

  test(
    "refuses an authorization server that says that it is another one (oa-001)",
    (origin) => ({ ...usual(origin), [as]: { body: metadata("https://honest.example") } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      })
  )

  test(
    "takes a folder of the server as its resource only where the person wrote the configuration (oa-020)",
    (origin) => ({ ...usual(origin), [prm]: { body: { resource: `${origin}/mcp`, authorization_servers: [origin] } } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* discover(origin)).resource, `${origin}/mcp`)
        assert.strictEqual(yield* outcome(discover(origin, { isOwn: false })), "metadata")
      })
  )

  test("takes no resource from a workspace but the server itself", usual, ({ origin }) =>
    Effect.gen(function*() {
      const resource = "https://bank.example/"
      assert.strictEqual((yield* discover(origin, { resource })).resource, resource)
      assert.strictEqual(yield* outcome(discover(origin, { resource, isOwn: false })), "metadata")
      assert.strictEqual(
        (yield* discover(origin, { resource: `${origin}/mcp/a`, isOwn: false })).resource,
        `${origin}/mcp/a`
      )
    }))

  for (const resource of ["https://bank.example/mcp/a", "/mcp/ab", "/mc", ""]) {
    test(
      `refuses a server that describes another one: ${resource}`,
      (origin) => ({
        ...usual(origin),
        [prm]: {
          body: {
            resource: resource.startsWith("/") ? `${origin}${resource}` : resource,
            authorization_servers: [origin]
          }
        }
      }),
      ({ origin }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(discover(origin)), "metadata")
        })
    )
  }

  test(
    "does not go where nobody goes, and looks in the usual place (oa-042)",
    usual,
    ({ heard, origin }) =>
      Effect.gen(function*() {
        for (const resourceMetadata of ["file:///etc/passwd", "javascript:0", "ftp://127.0.0.1/", "no address"]) {
          assert.strictEqual((yield* discover(origin, { resourceMetadata })).issuer, origin)
        }
        assert.strictEqual(heard.length, 8)
      })
  )

  test("goes to no private address that a server names", usual, ({ origin }) =>
    Effect.gen(function*() {
      for (const host of ["169.254.169.254", "10.0.0.1", "[fd00::1]"]) {
        assert.strictEqual(
          yield* outcome(discover(origin, { resourceMetadata: `https://${host}/metadata` })),
          "blocked"
        )
      }
    }))

  test(
    "takes little of what is said (oa-039)",
    (origin) => ({
      ...usual(origin),
      [as]: { body: JSON.stringify({ ...metadata(origin), more: "x".repeat(100_000) }) }
    }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      })
  )

  test(
    "does not take a prototype for metadata, and does not go to a place of keys (oa-040, oa-041)",
    (origin) => ({
      ...usual(origin),
      [as]: {
        body:
          `{"__proto__":{"code_challenge_methods_supported":["S256"]},"issuer":"${origin}","token_endpoint":"${origin}/t",`
          + `"jwks_uri":"${origin}/jwks"}`
      }
    }),
    ({ heard, origin }) =>
      Effect.gen(function*() {
        const { metadata } = yield* discover(origin)
        assert.strictEqual(metadata.code_challenge_methods_supported, undefined)
        assert.isFalse(heard.some(({ url }) => url === "/jwks"))
      })
  )

  test("does not make up an authorization server", () => ({}), ({ heard, origin }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      assert.isFalse(heard.some(({ url }) => url?.includes("authorization-server") === true))
      assert.strictEqual(yield* outcome(Effect.map(discover(origin, { legacy: true }), ({ issuer }) => issuer)), origin)
    }))

  test(
    "tells what is not there now from what is not there",
    (origin) => ({ ...usual(origin), [as]: { status: 503, body: {} } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "unreachable")
      })
  )

  test("takes the authorization server that is configured, and no other", (origin) => ({
    ...usual(origin),
    [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: ["https://attacker.example", origin] } }
  }), ({ origin }) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* discover(origin, { issuer: origin })).issuer, origin)
      assert.strictEqual(yield* outcome(discover(origin, { issuer: "https://honest.example" })), "metadata")
    }))
})
