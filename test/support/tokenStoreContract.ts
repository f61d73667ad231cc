/**
 * What every store of logins must do, wherever it keeps them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option, Redacted, type Scope } from "effect"
import type * as TokenStore from "../../src/auth/TokenStore.ts"

type Store = TokenStore.TokenStore["Type"]

/** A key as it is used, and some that could be taken for something else. */
const keys = [
  "https://mcp.example/ as any client",
  "https://mcp.example/ as Anybody",
  "",
  "..",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "probe",
  "\u0000",
  "x".repeat(3000)
]

export const textOf = (kept: Option.Option<Redacted.Redacted>): string | undefined =>
  Option.getOrUndefined(Option.map(kept, Redacted.value))

export const tokenStoreContract = (name: string, open: Effect.Effect<Store, never, Scope.Scope>): void => {
  const test = (what: string, body: (store: Store) => Effect.Effect<void, unknown>) =>
    it.scopedLive(what, () => Effect.flatMap(open, body))

  describe(`a store of logins ${name}`, () => {
    test("says where it is", (store) => Effect.map(store.where, (where) => assert.isAbove(where.length, 3)))

    test("gives the last secret that was set, and none for what was not set or was removed", (store) =>
      Effect.gen(function*() {
        assert.isUndefined(textOf(yield* store.get("a")))
        yield* store.remove("a")
        for (const secret of ["one", "", "a line\nand \u0000 € 🔑", "y".repeat(9000), "two"]) {
          yield* store.set("a", Redacted.make(secret))
          assert.strictEqual(textOf(yield* store.get("a")), secret)
        }
        yield* store.set("b", Redacted.make("other"))
        yield* store.remove("a")
        assert.isUndefined(textOf(yield* store.get("a")))
        assert.strictEqual(textOf(yield* store.get("b")), "other")
      }))

    test("keeps any two keys apart", (store) =>
      Effect.gen(function*() {
        for (const [at, key] of keys.entries()) yield* store.set(key, Redacted.make(`secret ${at}`))
        for (const [at, key] of keys.entries()) assert.strictEqual(textOf(yield* store.get(key)), `secret ${at}`)
      }))

    test("takes one at a time with a key, and loses nothing that they add", (store) =>
      Effect.gen(function*() {
        let inside = 0
        const add = store.locked("a")(Effect.gen(function*() {
          assert.strictEqual(++inside, 1)
          const before = Number(textOf(yield* store.get("a")) ?? "0")
          yield* Effect.yieldNow()
          yield* store.set("a", Redacted.make(String(before + 1)))
          inside--
        }))
        yield* Effect.all(Array.from({ length: 8 }, () => add), { concurrency: "unbounded" })
        assert.strictEqual(textOf(yield* store.get("a")), "8")
      }))

    test("lets those with another key go on, and whoever only reads", (store) =>
      Effect.gen(function*() {
        yield* store.set("a", Redacted.make("1"))
        const inside = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const holder = yield* Effect.fork(
          store.locked("a")(Effect.zipRight(Deferred.succeed(inside, undefined), Deferred.await(done)))
        )
        yield* Deferred.await(inside)
        assert.strictEqual(yield* store.locked("b")(Effect.succeed("went on")), "went on")
        assert.strictEqual(textOf(yield* store.get("a")), "1")
        yield* Deferred.succeed(done, undefined)
        yield* Fiber.join(holder)
      }))

    test("hands on what is given, failed with or died of, and then it is the next one's turn", (store) =>
      Effect.gen(function*() {
        const turn = store.locked("a")
        assert.strictEqual(yield* turn(Effect.succeed("given")), "given")
        assert.deepStrictEqual(
          yield* Effect.either(turn(Effect.fail("failed" as const))),
          Either.left("failed" as const)
        )
        assert.deepStrictEqual(yield* Effect.exit(turn(Effect.die("died"))), Exit.die("died"))
        assert.strictEqual(yield* turn(Effect.succeed("next")), "next")
      }))

    test("ends the turn of whoever is interrupted in it, or waiting for it", (store) =>
      Effect.gen(function*() {
        const inside = yield* Deferred.make<void>()
        const holder = yield* Effect.fork(
          store.locked("a")(Effect.zipRight(Deferred.succeed(inside, undefined), Effect.never))
        )
        yield* Deferred.await(inside)
        let came = false
        const waiter = yield* Effect.fork(
          store.locked("a")(Effect.sync(() => {
            came = true
          }))
        )
        yield* Effect.yieldNow()
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiter)))
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(holder)))
        assert.isFalse(came)
        assert.strictEqual(yield* store.locked("a")(Effect.succeed("next")), "next")
      }))
  })
}
