import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Scoped from "../src/scoped.ts"

const noted = (log: Array<string>, name: string) =>
  Scoped.acquire(() => {
    log.push(`+${name}`)
    return name
  }, (held) => log.push(`-${held}`))

describe("what is held for as long as a scope is open", () => {
  it.effect("is let go of once, the last first, among all else that a scope ends", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const inside = Effect.gen(function*() {
        assert.strictEqual(yield* noted(log, "a"), "a")
        yield* Effect.addFinalizer(() => Effect.sync(() => log.push("-b")))
        yield* Scoped.listen(() => {
          log.push("+c")
          return () => log.push("-c")
        })
        yield* Scoped.onClose(() => log.push("-d"))
        log.push("in use")
      })
      yield* Effect.scoped(inside)
      assert.deepStrictEqual(log, ["+a", "+c", "in use", "-d", "-c", "-b", "-a"])
    }))

  it.effect("is let go of when its user fails, dies or is interrupted", () =>
    Effect.gen(function*() {
      for (const end of [Effect.fail("no"), Effect.die("bug"), Effect.interrupt]) {
        const log: Array<string> = []
        yield* Effect.exit(Effect.scoped(Effect.zipRight(noted(log, "a"), end)))
        assert.deepStrictEqual(log, ["+a", "-a"])
      }
    }))

  it.effect("is let go of at once in a scope that is closed already", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const scope = yield* Scope.make()
      yield* Scope.close(scope, Exit.void)
      yield* Scope.extend(noted(log, "a"), scope)
      assert.deepStrictEqual(log, ["+a", "-a"])
    }))

  it.effect("is not begun by somebody who was interrupted before", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const go = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Effect.scoped(Effect.zipRight(Deferred.await(go), noted(log, "a"))))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(log, [])
    }))

  it.effect("is let go of also where another one dies of it", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const bad = Scoped.onClose(() => {
        throw new Error("bug")
      })
      const exit = yield* Effect.exit(Effect.scoped(Effect.zipRight(noted(log, "a"), bad)))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(log, ["+a", "-a"])
    }))
})
