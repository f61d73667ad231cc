import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Redacted } from "effect"
import * as Grant from "../../src/auth/Grant.ts"
import * as Login from "../../src/auth/login.ts"
import * as OAuth from "../../src/auth/oauth.ts"
import * as StoredLogin from "../../src/auth/storedLogin.ts"
import * as TokenStore from "../../src/auth/TokenStore.ts"

describe("the requested scope", () => {
  const select = (
    { asked, challenge, configured, issuer, resource, isProgram = true }: {
      readonly asked?: string
      readonly configured?: ReadonlyArray<string>
      readonly challenge?: string
      readonly resource?: ReadonlyArray<string>
      readonly issuer?: ReadonlyArray<string>
      readonly isProgram?: boolean
    }
  ) => {
    const program: Grant.Grant = {
      _tag: "ClientCredentials",
      issuer: "https://as.example",
      clientId: "us",
      secret: Redacted.make("")
    }
    const metadata = {
      issuer: "https://as.example",
      authorization_endpoint: "",
      token_endpoint: "",
      response_types_supported: [],
      scopes_supported: issuer === undefined ? undefined : [...issuer]
    }
    const settings = { configured: { scopes: configured }, grant: isProgram ? program : Grant.authorizationCode }
    return OAuth.scopeFor({ settings }, { metadata, scopes: resource }, asked, challenge)
  }

  it("is that of the challenge, the configured one, or all of the resource, and none if nothing names one", () => {
    const resource = ["all", "of", "it"]
    assert.strictEqual(select({ challenge: "this", resource }), "this")
    assert.strictEqual(select({ configured: ["ours"], resource }), "ours")
    assert.strictEqual(select({ configured: ["ours"], challenge: "this", resource }), "ours this")
    assert.strictEqual(select({ resource }), "all of it")
    assert.strictEqual(select({}), undefined)
  })

  it("contains the scope of the requests before, each token once", () => {
    assert.strictEqual(select({ asked: "a b", challenge: "b c" }), "a b c")
  })

  it("contains offline_access only for a person, and only where the authorization server knows it", () => {
    const issuer = ["offline_access"]
    assert.strictEqual(select({ challenge: "a", issuer, isProgram: false }), "a offline_access")
    assert.strictEqual(select({ challenge: "a", issuer }), "a")
    assert.strictEqual(select({ challenge: "a", issuer: ["b"], isProgram: false }), "a")
  })

  it("has no tokens that OAuth does not permit", () => {
    assert.strictEqual(StoredLogin.scopeUnion("a\u001b[31m \"b\" c\\d é ok:1", "\n"), "ok:1")
  })
})

describe("tokens (oa-035)", () => {
  const given = (more: Readonly<Record<string, unknown>>) =>
    StoredLogin.tokensFrom({ access_token: "a", token_type: "bearer", ...more }, 1000, undefined)

  it("have a type that can be used, in any case", () => {
    for (const type of ["bearer", "BEARER", "Bearer"]) assert.strictEqual(given({ token_type: type })?.type, "Bearer")
    assert.strictEqual(given({ token_type: "dpop" })?.type, "DPoP")
    for (const type of ["mac", "", "N_A", "constructor"]) assert.isUndefined(given({ token_type: type }), type)
  })

  it("can stand in a header", () => {
    for (const token of ["", "a b", "a\r\nb", "é", "a".repeat(16_385)]) {
      assert.isUndefined(given({ access_token: token }), token.slice(0, 9))
      assert.isUndefined(given({ refresh_token: token }), token.slice(0, 9))
    }
  })

  it("end when the answer says so, and never if it names no time", () => {
    const end = (expires_in: number) => given({ expires_in })?.expiresAt
    assert.strictEqual(end(60), 61_000)
    assert.deepStrictEqual([end(-1), end(0), end(Number.NaN)], [undefined, undefined, undefined])
    assert.isBelow(end(1e20) ?? Infinity, 11 * 365 * 24 * 3600 * 1000)
  })

  it("are stale half a minute before their end, or after half of a short life", () => {
    const stale = (expires_in: number, after: number) => {
      const tokens = given({ expires_in })
      return tokens !== undefined && StoredLogin.isStale(tokens, 1000 + after * 1000)
    }
    assert.deepStrictEqual([stale(3600, 0), stale(3600, 3569), stale(3600, 3570)], [false, false, true])
    assert.deepStrictEqual([stale(10, 0), stale(10, 4), stale(10, 5)], [false, false, true])
    // a clock that was put back, or far ahead
    assert.deepStrictEqual([stale(3600, -86_400), stale(3600, 86_400)], [false, true])
  })

  it("keep what a renewal does not name", () => {
    const before = { access: Redacted.make("a"), type: "Bearer", refresh: Redacted.make("r"), scope: "s" } as const
    const next = StoredLogin.tokensFrom({ access_token: "b", token_type: "bearer" }, 0, before)
    assert.strictEqual(next?.refresh && Redacted.value(next.refresh), "r")
    assert.strictEqual(next?.scope, "s")
  })
})

describe("a stored login", () => {
  const login = (access: string): StoredLogin.Login => ({
    version: 1,
    issuer: "https://issuer.example",
    client: { how: "registered", id: "us", secret: Redacted.make("of the client") },
    tokens: { access: Redacted.make(access), type: "Bearer", refresh: Redacted.make(`${access}-refresh`) }
  })

  it("is decoded as it was encoded, and no other text is decoded as one", () => {
    assert.deepStrictEqual(Option.getOrThrow(StoredLogin.decode(StoredLogin.encode(login("a")))), login("a"))
    for (
      const text of ["", "{}", "null", "[]", "{\"version\":2}", Redacted.value(StoredLogin.encode(login("a"))).slice(1)]
    ) {
      assert.isTrue(Option.isNone(StoredLogin.decode(Redacted.make(text))), text)
    }
    assert.notInclude(JSON.stringify(login("canary")), "canary")
  })

  const keeping = Effect.gen(function*() {
    const store = yield* TokenStore.makeMemory
    const known = new Set<string>()
    const stored = StoredLogin.make({
      server: "s",
      key: "here",
      store,
      know: (secret) => {
        const text = Redacted.value(secret)
        assert.isFalse(known.has(text))
        known.add(text)
        return () => assert.isTrue(known.delete(text))
      }
    })
    return { stored, known, store }
  })

  it.effect("has its secrets and those of the login before redacted, until it is unloaded", () =>
    Effect.gen(function*() {
      const { stored, known } = yield* keeping
      for (const access of ["first", "second", "third"]) yield* stored.locked(stored.put(login(access)))
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh", "third", "third-refresh"])
      yield* stored.locked(stored.put(login("second")))
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh", "third", "third-refresh"])
      stored.unload()
      assert.deepStrictEqual(Array.from(known), [])
      assert.isFalse(stored.isLoaded())
      yield* stored.load
      assert.sameMembers(Array.from(known), ["of the client", "second", "second-refresh"])
    }))

  it.effect("is the one that another process has stored, rather than one that could not be saved", () =>
    Effect.gen(function*() {
      const { stored, store } = yield* keeping
      yield* stored.locked(stored.put(login("first")))
      const full = new TokenStore.TokenStoreError({ reason: "unavailable", detail: "full" })
      const set = store.set
      Object.assign(store, { set: () => Effect.fail(full) })
      yield* stored.locked(stored.replace(login("second")))
      Object.assign(store, { set })
      yield* store.set("here", StoredLogin.encode(login("others")))
      yield* stored.locked(Effect.void)
      assert.deepStrictEqual(stored.get(), login("others"))
    }))

  it.effect("is not brought back by a read during its removal", () =>
    Effect.gen(function*() {
      const { stored, store } = yield* keeping
      yield* store.set("here", StoredLogin.encode(login("first")))
      const [, seen] = yield* Effect.all([stored.locked(stored.remove), stored.stored], { concurrency: 2 })
      assert.isTrue(seen === undefined || seen.issuer === "https://issuer.example")
      assert.strictEqual(stored.get(), undefined)
    }))

  it("has a key of its own for each user, and for settings of the authorization server that nothing verifies", () => {
    const url = new URL("https://mcp.example/mcp")
    const keys = [
      undefined,
      { clientId: "us" },
      { clientId: "us", authServerMetadataUrl: "https://attacker.example/metadata" },
      { clientId: "us", legacy: true }
    ].map((configured) => Login.storeKey(url, configured, undefined))
    keys.push(Login.storeKey(url, undefined, "alice"), Login.storeKey(url, undefined, "bob"))
    keys.push(Login.storeKey(url, { clientId: "anybody\",\"alice" }, undefined))
    assert.strictEqual(new Set(keys).size, keys.length)
    assert.strictEqual(Login.storeKey(url, { scopes: ["a"] }, undefined), keys[0])
  })
})

describe("a shared run", () => {
  const fork: Login.Fork = (effect) => Effect.runFork(effect)
  const shared = () => Login.shared<string, string>(fork, () => "stopped")

  it.effect("is one for all callers, ends when none waits any more, and can begin again", () =>
    Effect.gen(function*() {
      const run = shared()
      let begun = 0
      const ended = yield* Deferred.make<void>()
      const start = Effect.suspend(() => {
        begun++
        return Effect.never
      }).pipe(Effect.onInterrupt(() => Deferred.succeed(ended, undefined)))
      const waiting = yield* Effect.all([Effect.fork(run.join(start)), Effect.fork(run.join(start))])
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting[0])
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* Fiber.interrupt(waiting[1])
      yield* Deferred.await(ended)
      assert.strictEqual(begun, 1)
      assert.strictEqual(yield* run.join(Effect.succeed("again")), "again")
    }))

  it.effect("fails the waiting callers when it is stopped, and begins again with the next", () =>
    Effect.gen(function*() {
      const run = shared()
      const waiting = yield* Effect.fork(Effect.flip(run.join(Effect.never)))
      yield* Effect.yieldNow()
      run.stop()
      assert.strictEqual(yield* Fiber.join(waiting), "stopped")
      assert.strictEqual(yield* run.join(Effect.succeed("again")), "again")
    }))

  it.effect("passes a defect on", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(shared().join(Effect.die("broken")))
      assert.deepStrictEqual(exit, Exit.die("broken"))
    }))
})
