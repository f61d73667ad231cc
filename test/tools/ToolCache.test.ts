import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../../src/McpError.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as Configs from "../support/configs.ts"
import { settle } from "../support/manualClock.ts"
import { listOf, named, patient, source } from "../support/toolLists.ts"

const config = Configs.stdio({ name: "s", command: "node" })

const cacheWith = (options?: Partial<ToolCache.Options>) =>
  Effect.map(Layer.build(ToolCache.layer(options)), Context.get(ToolCache.ToolCache))

const opened = (options?: Partial<ToolCache.Options>) => Effect.map(cacheWith(options), (cache) => cache.open(config))

const namesOf = (manifest: ToolCache.Manifest | undefined) => manifest?.tools.map(({ name }) => name)

const lost = new McpError.ConnectionLost({ server: "s", reason: "reset", detail: "gone", outcome: "unknown" })

describe("ToolCache: the list of a server", () => {
  it.scoped("is unknown and not fresh before the first fetch", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      assert.isUndefined(tools.current())
      assert.isFalse(tools.isFresh())
    }))

  it.scoped("has the time of the fetch and the generation of the connection", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      yield* TestClock.adjust("1 minute")
      const manifest = yield* tools.fetch(source(listOf([{ name: "a" }, { name: "" }]), 7))
      assert.strictEqual(tools.current(), manifest)
      assert.deepStrictEqual(namesOf(manifest), ["a"])
      assert.strictEqual(manifest.rejected.length, 1)
      assert.deepInclude(manifest, { source: "server", fetchedAt: 60_000, generation: 7 })
    }))

  it.scoped("is fresh for five minutes by default, and stays known after that", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      yield* tools.fetch(source(named("a")))
      yield* TestClock.adjust(Duration.millis(299_999))
      assert.isTrue(tools.isFresh())
      yield* TestClock.adjust(Duration.millis(1))
      assert.isFalse(tools.isFresh())
      assert.deepStrictEqual(namesOf(tools.current()), ["a"])
    }))

  it.scoped("is fresh for the ttlMs of the server, at most a day", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      yield* tools.fetch(source(listOf([], { ttlMs: 0 })))
      assert.isFalse(tools.isFresh())
      yield* tools.fetch(source(listOf([], { ttlMs: 1000 })))
      yield* TestClock.adjust(Duration.millis(999))
      assert.isTrue(tools.isFresh())
      yield* TestClock.adjust(Duration.millis(1))
      assert.isFalse(tools.isFresh())
      yield* tools.fetch(source(listOf([], { ttlMs: Number.MAX_VALUE })))
      yield* TestClock.adjust(Duration.millis(24 * 60 * 60 * 1000 - 1))
      assert.isTrue(tools.isFresh())
      yield* TestClock.adjust(Duration.millis(1))
      assert.isFalse(tools.isFresh())
    }))

  it.scoped("is fresh for timeToLive without a hint of the server", () =>
    Effect.gen(function*() {
      const tools = yield* opened({ timeToLive: "1 second" })
      yield* tools.fetch(source(named("a")))
      yield* TestClock.adjust("999 millis")
      assert.isTrue(tools.isFresh())
      yield* TestClock.adjust("1 millis")
      assert.isFalse(tools.isFresh())
    }))

  it.scoped("is not fresh after the clock was set back", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      yield* TestClock.setTime(1_000_000)
      yield* tools.fetch(source(named("a")))
      yield* TestClock.setTime(999_999)
      assert.isFalse(tools.isFresh())
    }))

  it.scoped("calls listeners synchronously when the tools differ, and only then", () =>
    Effect.gen(function*() {
      const { onChange, open } = yield* cacheWith()
      const tools = open(config)
      const heard: Array<ReadonlyArray<string> | undefined> = []
      const stop = onChange((of, manifest) => {
        assert.strictEqual(of, config)
        assert.strictEqual(tools.current(), manifest)
        heard.push(namesOf(manifest))
      })
      const give = (...items: ReadonlyArray<unknown>) => tools.fetch(source(listOf(items)))
      yield* give()
      yield* give({ name: "a" }, { name: "b" })
      yield* give({ name: "b" }, { name: "a" })
      yield* give({ name: "a" }, { name: "b", annotations: { readOnlyHint: true } })
      yield* give({ name: "a" }, { name: "b", annotations: { readOnlyHint: true } }, { name: "" })
      assert.deepStrictEqual(heard, [[], ["a", "b"], ["a", "b"], ["a", "b"]])
      stop()
      yield* give({ name: "c" })
      assert.strictEqual(heard.length, 4)
    }))

  it.scoped("is fetched although a definition is nested too deep for JSON.stringify", () =>
    Effect.gen(function*() {
      const { onChange, open } = yield* cacheWith()
      const tools = open(config)
      let heard = 0
      onChange(() => heard++)
      const deep = JSON.parse(`{"name":"a","_meta":${"[".repeat(50_000)}${"]".repeat(50_000)}}`)
      yield* tools.fetch(source(listOf([deep])))
      yield* tools.fetch(source(listOf([deep])))
      assert.deepStrictEqual(namesOf(tools.current()), ["a"])
      assert.strictEqual(heard, 2)
    }))
})

describe("CachedList.fetch", () => {
  it.scoped("sends one request for concurrent callers", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const askers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(tools.fetch(server)))
      yield* server.untilAsked(1)
      yield* settle
      server.asked[0]!.answer(named("a"))
      const manifests = yield* Effect.forEach(askers, Fiber.join)
      assert.strictEqual(server.asked.length, 1)
      assert.strictEqual(new Set(manifests).size, 1)
    }))

  it.scoped("continues for the other callers when one is interrupted, even the first", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => Effect.fork(tools.fetch(server)))
      yield* server.untilAsked(1)
      yield* settle
      yield* Fiber.interrupt(first!)
      yield* Fiber.interrupt(third!)
      server.asked[0]!.answer(named("a"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(second!)), ["a"])
    }))

  it.scoped("is interrupted with its last caller, and the next caller sends a new request", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const askers = yield* Effect.forEach([1, 2], () => Effect.fork(tools.fetch(server)))
      yield* server.untilAsked(1)
      yield* settle
      yield* Fiber.interruptAll(askers)
      const next = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(2)
      assert.isTrue(server.asked[0]!.interrupted())
      server.asked[1]!.answer(named("a"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(next)), ["a"])
    }))

  it.scoped("lets no caller join a request that is being interrupted", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const farewell = yield* Deferred.make<void>()
      const slow = { ...server, list: Effect.onInterrupt(server.list, () => Deferred.await(farewell)) }
      const first = yield* Effect.fork(tools.fetch(slow))
      yield* server.untilAsked(1)
      yield* Fiber.interrupt(first)
      yield* settle
      const next = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(2)
      server.asked[1]!.answer(named("a"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(next)), ["a"])
      yield* Deferred.succeed(farewell, undefined)
    }))

  it.scoped("fails for all concurrent callers, and keeps the value", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const before = yield* tools.fetch(source(named("a")))
      const server = patient()
      const askers = yield* Effect.forEach([1, 2], () => Effect.fork(tools.fetch(server)))
      yield* server.untilAsked(1)
      yield* settle
      server.asked[0]!.fail(lost)
      for (const asker of askers) assert.strictEqual(yield* Effect.flip(Fiber.join(asker)), lost)
      assert.strictEqual(tools.current(), before)
      assert.isTrue(tools.isFresh())
      assert.deepStrictEqual(namesOf(yield* tools.fetch(source(named("b")))), ["b"])
    }))

  it.scoped("keeps the response to a request from before an invalidation, but not as fresh", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const asker = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(1)
      tools.invalidate()
      server.asked[0]!.answer(named("a"))
      yield* Fiber.join(asker)
      assert.deepStrictEqual(namesOf(tools.current()), ["a"])
      assert.isFalse(tools.isFresh())
      yield* tools.fetch(source(named("a")))
      assert.isTrue(tools.isFresh())
    }))

  it.scoped("sends a new request after an invalidation, whose response no older one replaces", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const server = patient()
      const early = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(1)
      tools.invalidate()
      const late = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(2)
      server.asked[1]!.answer(named("new"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(late)), ["new"])
      server.asked[0]!.answer(named("old"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(early)), ["new"])
      assert.deepStrictEqual(namesOf(tools.current()), ["new"])
      assert.isTrue(tools.isFresh())
    }))

  it.scoped("never replaces the value of a newer connection, whichever request was first", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const newer = patient(2)
      const older = patient(1)
      const fromNewer = yield* Effect.fork(tools.fetch(newer))
      yield* newer.untilAsked(1)
      const fromOlder = yield* Effect.fork(tools.fetch(older))
      yield* older.untilAsked(1)
      newer.asked[0]!.answer(named("new"))
      yield* Fiber.join(fromNewer)
      older.asked[0]!.answer(named("old"))
      assert.deepStrictEqual(namesOf(yield* Fiber.join(fromOlder)), ["new"])
      assert.deepStrictEqual(namesOf(tools.current()), ["new"])
    }))

  it.scoped("sends nothing over a connection older than the value", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      yield* tools.fetch(source(named("new"), 2))
      const older = patient(1)
      assert.deepStrictEqual(namesOf(yield* tools.fetch(older)), ["new"])
      assert.strictEqual(older.asked.length, 0)
    }))

  it.scoped("fails with Closed if the request is interrupted from inside", () =>
    Effect.gen(function*() {
      const tools = yield* opened()
      const error = yield* Effect.flip(tools.fetch({ ...source(named()), list: Effect.interrupt }))
      assert.deepInclude(error, { _tag: "Closed", server: "s", operation: "tools/list" })
    }))

  it.scoped("settles although a listener throws", () =>
    Effect.gen(function*() {
      const { onChange, open } = yield* cacheWith()
      const tools = open(config)
      onChange(() => {
        throw new TypeError("a listener's mistake")
      })
      const exit = yield* Effect.exit(tools.fetch(source(named("a"))))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.deepStrictEqual(namesOf(tools.current()), ["a"])
    }))

  it.effect("is interrupted with the scope of the cache, and fails with Closed after that", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const tools = yield* Scope.extend(opened(), scope)
      const server = patient()
      const asker = yield* Effect.fork(tools.fetch(server))
      yield* server.untilAsked(1)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(server.asked[0]!.interrupted())
      assert.strictEqual((yield* Effect.flip(Fiber.join(asker)))._tag, "Closed")
      assert.strictEqual((yield* Effect.flip(tools.fetch(server)))._tag, "Closed")
    }))

  it.effect("can be interrupted although its caller is uninterruptible", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const tools = yield* Scope.extend(opened(), scope)
      const server = patient()
      const asker = yield* Effect.fork(Effect.uninterruptible(tools.fetch(server)))
      yield* server.untilAsked(1)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(server.asked[0]!.interrupted())
      assert.strictEqual((yield* Effect.flip(Fiber.join(asker)))._tag, "Closed")
    }))
})

type Step =
  | { readonly _tag: "ask"; readonly generation: number }
  | { readonly _tag: "answer" | "fail" | "leave"; readonly which: number }
  | { readonly _tag: "invalidate" }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("ask" as const), generation: FastCheck.integer({ min: 1, max: 4 }) }),
  FastCheck.record({
    _tag: FastCheck.constantFrom("answer" as const, "fail" as const, "leave" as const),
    which: FastCheck.nat(10)
  }),
  FastCheck.record({ _tag: FastCheck.constant("invalidate" as const) })
)

describe("CachedList under any interleaving of fetches, responses, failures, interruptions and invalidations", () => {
  it("settles every fetch, and never replaces a value by an older one", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(step, { maxLength: 40 }),
        (steps) => Effect.runPromise(Effect.scoped(history(steps)))
      ),
      { numRuns: 150 }
    ))
})

const history = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>) {
  const tools = yield* opened()
  const sources = [1, 2, 3, 4].map(patient)
  const fibers: Array<Fiber.RuntimeFiber<ToolCache.Manifest, McpError.CallError>> = []
  /** When each list was asked for, and how many invalidations there had been. */
  const begun = new Map<string, { readonly at: number; readonly epoch: number }>()
  let clock = 0
  let epoch = 0
  let newest = { generation: 0, at: 0 }

  const note = () => {
    for (const { asked, generation } of sources) {
      asked.forEach((_, at) => {
        const list = `${generation}.${at}`
        if (!begun.has(list)) begun.set(list, { at: ++clock, epoch })
      })
    }
    const manifest = tools.current()
    if (manifest === undefined) return
    const { at, epoch: of } = begun.get(manifest.tools[0]!.name)!
    assert.isTrue(
      manifest.generation > newest.generation || (manifest.generation === newest.generation && at >= newest.at)
    )
    newest = { generation: manifest.generation, at }
    assert.strictEqual(tools.isFresh(), of === epoch)
  }

  const open = () =>
    sources.flatMap(({ asked, generation }) =>
      asked.map((each, at) => ({ ...each, name: `${generation}.${at}` })).filter((each) => !each.interrupted())
    )

  for (const step of steps) {
    switch (step._tag) {
      case "ask":
        fibers.push(yield* Effect.fork(tools.fetch(sources[step.generation - 1]!)))
        break
      case "leave":
        if (fibers.length > 0) yield* Fiber.interrupt(fibers[step.which % fibers.length]!)
        break
      case "invalidate":
        tools.invalidate()
        epoch++
        break
      default: {
        const lists = open()
        const list = lists[step.which % Math.max(1, lists.length)]
        if (step._tag === "answer") list?.answer(named(list.name))
        else list?.fail(lost)
      }
    }
    yield* settle
    note()
  }
  for (const { answer, name } of open()) {
    answer(named(name))
    yield* settle
    note()
  }
  const last = tools.current()
  for (const fiber of fibers) {
    const exit = yield* Fiber.await(fiber)
    if (Exit.isSuccess(exit)) assert.isAtMost(exit.value.generation, last!.generation)
    else assert.isTrue(Cause.isInterruptedOnly(exit.cause) || Cause.failureOption(exit.cause)._tag === "Some")
  }
})

describe("ToolCache.open", () => {
  const renamed = Configs.stdio({ name: "t", command: "node", enabledTools: ["a"] })

  it.scoped("returns the same list for one name and identity, and another list for any other", () =>
    Effect.gen(function*() {
      const { open } = yield* cacheWith()
      const own = open(config)
      assert.strictEqual(open(Configs.stdio({ name: "s", command: "node", enabledTools: ["a"] })), own)
      assert.notStrictEqual(open(renamed), own)
      assert.notStrictEqual(open(Configs.stdio({ name: "s", command: "deno" })), own)
    }))

  it.scoped("keeps the lists of two names of one server apart", () =>
    Effect.gen(function*() {
      const { open } = yield* cacheWith()
      const [one, other] = [open(config), open(renamed)]
      yield* other.fetch(source(named("a"), 2))
      yield* one.fetch(source(named("b"), 1))
      assert.deepStrictEqual(namesOf(one.current()), ["b"])
    }))

  it.scoped("returns a new list after forget, and the old one still works", () =>
    Effect.gen(function*() {
      const { forget, open } = yield* cacheWith()
      const before = open(config)
      const other = open(renamed)
      yield* before.fetch(source(named("a")))
      yield* forget(Configs.stdio({ name: "s", command: "deno" }))
      assert.strictEqual(open(config), before)
      yield* forget(config)
      assert.isUndefined(open(config).current())
      assert.deepStrictEqual(namesOf(before.current()), ["a"])
      assert.strictEqual(open(renamed), other)
    }))
})
