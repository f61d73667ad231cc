import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../../src/McpError.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as Transition from "../../src/resilience/circuitTransition.ts"
import { runs } from "../support/runs.ts"

const rules: Transition.Rules = { failures: 3, openFor: 1000 }

const server = "s"
const broken = new McpError.NetworkError({ server, code: "ECONNRESET", detail: "", outcome: "unknown" })
const answered = new McpError.RemoteError({ server, code: -32603, detail: "" })
const limited = new McpError.HttpError({ server, reason: "rate-limited", outcome: "not-sent", detail: "" })

/** The same rules, told in another way: the whole history is kept and looked at anew each time. */
class Model {
  #failures = 0
  #openUntil: number | undefined = undefined
  #probe: number | undefined = undefined
  #stale = new Set<number>()
  #excused = new Set<number>()
  #running = new Set<number>()

  admit(call: number, now: number): boolean {
    if (this.#openUntil === undefined) {
      this.#running.add(call)
      return true
    }
    if (now < this.#openUntil || this.#probe !== undefined) return false
    this.#probe = call
    return true
  }

  record(call: number, outcome: Transition.Outcome, now: number): void {
    if (call === this.#probe) {
      this.#probe = undefined
      if (outcome === "success") {
        this.#openUntil = undefined
        this.#failures = 0
      } else if (outcome === "failure") this.#openUntil = now + rules.openFor
      return
    }
    if (!this.#running.delete(call) || this.#stale.has(call) || outcome === "neither") return
    if (outcome === "success") {
      this.#failures = 0
      return
    }
    if (this.#excused.has(call)) return
    this.#failures++
    // what runs at the time of a failure fails with it
    for (const other of this.#running) this.#excused.add(other)
    if (this.#failures < rules.failures) return
    this.#openUntil = now + rules.openFor
    for (const other of this.#running) this.#stale.add(other)
  }

  halfOpen(now: number): void {
    if (this.#openUntil !== undefined && this.#probe === undefined) this.#openUntil = Math.min(this.#openUntil, now)
  }

  get state(): string {
    return this.#openUntil === undefined ? "closed" : this.#probe === undefined ? "waiting" : "probing"
  }
}

const step = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("halfOpen" as const) }),
  FastCheck.record({ _tag: FastCheck.constant("call" as const) }),
  FastCheck.record({
    _tag: FastCheck.constant("end" as const),
    which: FastCheck.nat(20),
    outcome: FastCheck.constantFrom<Transition.Outcome>("success", "failure", "failure", "neither")
  }),
  FastCheck.record({ _tag: FastCheck.constant("wait" as const), ms: FastCheck.nat(1500) })
)

describe("circuitTransition", () => {
  it(`agrees with the reference model over ${runs(10_000)} random histories`, () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model()
        let state = Transition.initial
        let now = 0
        let calls = 0
        const running: Array<readonly [call: number, epoch: number]> = []
        for (const event of steps) {
          if (event._tag === "wait") now += event.ms
          else if (event._tag === "halfOpen") {
            state = Transition.halfOpen(state)
            model.halfOpen(now)
          } else if (event._tag === "call") {
            const admission = Transition.admit(rules, state, now)
            state = admission.state
            assert.strictEqual(admission._tag === "Admitted", model.admit(++calls, now))
            if (admission._tag === "Admitted") running.push([calls, admission.epoch])
            else assert.isAbove(admission.retryAfter, 0)
          } else if (running.length > 0) {
            const [[call, epoch]] = running.splice(event.which % running.length, 1) as [readonly [number, number]]
            state = Transition.settle(rules, state, epoch, event.outcome, now)
            model.record(call, event.outcome, now)
          }
          const shown = state._tag === "Closed" ? "closed" : state._tag === "HalfOpen" && state.probing
            ? "probing"
            : "waiting"
          assert.strictEqual(shown, model.state)
        }
      }),
      { numRuns: runs(10_000) }
    )
  })
})

describe("CircuitBreaker", () => {
  const watched = (onChange: (state: CircuitBreaker.State["_tag"]) => void) =>
    Effect.map(
      CircuitBreaker.make({ failures: 3, openFor: "1 minute" }),
      (breakers) => breakers.make(server, onChange)
    )
  const fresh = watched(() => undefined)
  const fails = (breaker: CircuitBreaker.Breaker, error: McpError.McpError) =>
    Effect.flip(breaker.protect(Effect.fail(error)))

  it.effect("opens after consecutive failures, with the time until the next probe", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      for (let call = 0; call < 3; call++) assert.strictEqual((yield* fails(breaker, broken))._tag, "NetworkError")
      yield* TestClock.adjust("20 seconds")
      const error = yield* fails(breaker, broken)
      assert.strictEqual(error._tag, "CircuitOpen")
      if (error._tag === "CircuitOpen") assert.deepStrictEqual(error.retryAfter, Duration.seconds(40))
    }))

  it.effect("counts one crash as one failure, regardless of the number of calls that it ends", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      const crash = yield* Deferred.make<never, McpError.NetworkError>()
      const calls = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => Effect.fork(Effect.exit(breaker.protect(Deferred.await(crash))))
      )
      yield* Effect.yieldNow()
      yield* Deferred.fail(crash, broken)
      yield* Fiber.joinAll(calls)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 1 })
    }))

  it.effect("resets its count on any answer, and ignores errors that the runtime decides itself", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      yield* fails(breaker, broken)
      yield* fails(breaker, broken)
      yield* fails(breaker, limited)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 2 })
      yield* fails(breaker, answered)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
    }))

  it.effect("counts failures beside an interruption, a defect or another error", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      const run = (self: Effect.Effect<unknown, McpError.McpError>) => Effect.exit(breaker.protect(self))
      const failures = Effect.map(breaker.state, (state) => state._tag === "Closed" ? state.failures : state._tag)
      yield* run(Effect.all([Effect.fail(broken), Effect.never], { concurrency: "unbounded" }))
      assert.strictEqual(yield* failures, 1)
      yield* run(Effect.ensuring(Effect.fail(broken), Effect.die("in the finalizer")))
      assert.strictEqual(yield* failures, 2)
      yield* run(Effect.failCause(Cause.parallel(Cause.fail(limited), Cause.die("defect"))))
      yield* run(Effect.interrupt)
      assert.strictEqual(yield* failures, 2)
      yield* run(Effect.failCause(Cause.sequential(Cause.fail(answered), Cause.die("defect"))))
      assert.strictEqual(yield* failures, 0)
      yield* run(Effect.failCause(Cause.parallel(Cause.fail(answered), Cause.fail(broken))))
      assert.strictEqual(yield* failures, 1)
    }))

  it.effect("lets exactly one probe through while half-open, and closes with its success", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      for (let call = 0; call < 3; call++) yield* fails(breaker, broken)
      yield* TestClock.adjust("1 minute")
      const release = yield* Deferred.make<void>()
      let ran = 0
      const call = breaker.protect(Effect.zipRight(Effect.sync(() => ran++), Deferred.await(release)))
      const fibers = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.fork(Effect.exit(call)))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(release, undefined)
      const exits = yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(ran, 1)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual((yield* breaker.state)._tag, "Closed")
    }))

  it.effect("admits another probe after an interrupted one", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      for (let call = 0; call < 3; call++) yield* fails(breaker, broken)
      yield* TestClock.adjust("1 minute")
      const probe = yield* Effect.fork(breaker.protect(Effect.never))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probing: true })
      yield* Fiber.interrupt(probe)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probing: false })
      assert.strictEqual(yield* breaker.protect(Effect.succeed(1)), 1)
    }))

  it.effect("rejects all calls while isolated, until it is reset", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const breaker = yield* watched((state) => seen.push(state))
      yield* breaker.isolate
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* fails(breaker, broken))._tag, "CircuitOpen")
      yield* breaker.reset
      assert.strictEqual(yield* breaker.protect(Effect.succeed(1)), 1)
      assert.deepStrictEqual(seen, ["Isolated", "Closed"])
    }))

  it.effect("admits a probe after halfOpen, before openFor is over", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      for (let call = 0; call < 3; call++) yield* fails(breaker, broken)
      assert.strictEqual((yield* fails(breaker, broken))._tag, "CircuitOpen")
      breaker.halfOpen()
      assert.strictEqual(yield* breaker.protect(Effect.succeed(1)), 1)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
    }))

  it.effect("names the rest of the cooldown while a probe runs, and a second if there is none", () =>
    Effect.gen(function*() {
      const breaker = yield* fresh
      const retryAfter = Effect.map(
        fails(breaker, broken),
        (error) => error._tag === "CircuitOpen" ? Duration.toSeconds(error.retryAfter) : undefined
      )
      for (let call = 0; call < 3; call++) yield* fails(breaker, broken)
      yield* TestClock.adjust("20 seconds")
      breaker.halfOpen()
      yield* Effect.fork(breaker.protect(Effect.never))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* retryAfter, 40)
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual(yield* retryAfter, 1)
    }))

  it.effect("has a state of its own for each server", () =>
    Effect.gen(function*() {
      const { make } = yield* CircuitBreaker.CircuitBreaker
      const [a, b] = [make("a", () => undefined), make("b", () => undefined)]
      yield* a.isolate
      assert.strictEqual((yield* b.state)._tag, "Closed")
    }).pipe(Effect.provide(CircuitBreaker.layer())))
})
