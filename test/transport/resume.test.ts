import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import * as McpError from "../../src/McpError.ts"
import * as Resume from "../../src/transport/http/resume.ts"
import type * as Sse from "../../src/transport/http/sse.ts"
import { runs } from "../support/runs.ts"

const { defaults } = Resume

const millis = (input: Duration.DurationInput): number => Duration.toMillis(input)

/** The delays of the schedule where the server asks for these, without a wait. */
const delays = (options: Resume.Options, asked: ReadonlyArray<number>): ReadonlyArray<number> =>
  Effect.runSync(
    Schedule.run(Schedule.delays(Resume.backoff(options)), 0, asked.map((ask) => Duration.millis(ask)))
  ).pipe(Chunk.toReadonlyArray, (all) => all.map(millis))

const Options = FastCheck.record({
  retryFloor: FastCheck.nat({ max: 2000 }),
  retryDelay: FastCheck.integer({ min: 1, max: 20_000 }),
  retryCeiling: FastCheck.constant(3_600_000),
  retryFailures: FastCheck.integer({ min: 1, max: 12 })
})

describe("the delays after failures in a row", () => {
  it("double from the delay of the options up to 30 seconds, and never come sooner than asked", () => {
    FastCheck.assert(
      FastCheck.property(
        Options,
        FastCheck.array(FastCheck.nat({ max: 3_600_000 }), { minLength: 20, maxLength: 20 }),
        (options, asked) => {
          const usual = Math.max(millis(options.retryDelay), millis(options.retryFloor))
          const expected = asked.slice(0, options.retryFailures - 1)
            .map((ask, failure) => Math.max(ask, Math.min(usual * 2 ** failure, Math.max(usual, 30_000))))
          // the last step is the end of the schedule, which waits for nothing
          assert.deepStrictEqual(delays(options, asked).slice(0, options.retryFailures - 1), expected)
          assert.isAtMost(delays(options, asked).length, options.retryFailures)
        }
      ),
      { numRuns: runs(200) }
    )
  })

  it("are 1, 2, 4 and 8 seconds by default", () => {
    assert.deepStrictEqual(delays(defaults, [0, 0, 0, 0, 0]).slice(0, 4), [1000, 2000, 4000, 8000])
  })
})

/** What a server does at one attempt to follow its stream. */
type Step =
  | { readonly _tag: "Refused" }
  | { readonly _tag: "Events"; readonly count: number; readonly retry: number | undefined; readonly isHalf: boolean }

const Step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 1, arbitrary: FastCheck.constant<Step>({ _tag: "Refused" }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Events" as const),
      count: FastCheck.nat({ max: 3 }),
      retry: FastCheck.option(FastCheck.nat({ max: 10_000 }), { nil: undefined }),
      isHalf: FastCheck.boolean()
    })
  }
)

/** Follows a server with a log of numbered events, which replays what came after an id. */
const followed = (steps: ReadonlyArray<Step>, from: number) => {
  const seen: Array<number> = []
  const asked: Array<string | undefined> = []
  const times: Array<number> = []
  const follow: Resume.Follow = (lastEventId, onMessage) =>
    Effect.flatMap(Effect.clock, (clock): Effect.Effect<Sse.Cut, McpError.ConnectError> => {
      const step = steps[asked.length]
      asked.push(lastEventId)
      times.push(clock.unsafeCurrentTimeMillis())
      if (step === undefined || step._tag === "Refused") {
        return new McpError.NetworkError({ server: "s", code: "ECONNRESET", detail: "", outcome: "unknown" })
      }
      const first = Number(lastEventId ?? from) + 1
      const events = Array.from({ length: step.count }, (_, index) => first + index)
      for (const event of events) {
        seen.push(event)
        onMessage()
      }
      // an event that is cut in its middle has no id yet, and is not seen
      const lastId = events.at(-1)
      return Effect.succeed({
        end: step.isHalf ? "cut" : "ended",
        lastEventId: lastId === undefined ? undefined : String(lastId),
        retry: step.retry
      })
    })
  return { seen, asked, times, follow }
}

const play = (steps: ReadonlyArray<Step>, isRest: boolean) =>
  Effect.runPromise(
    Effect.gen(function*() {
      const server = followed(steps, 0)
      const from = isRest ? { lastEventId: "0", retry: undefined } : undefined
      const fiber = yield* Effect.fork(Resume.reopen(defaults, server.follow, from))
      yield* TestClock.adjust("30 days")
      return { ...server, why: yield* Fiber.join(fiber) }
    }).pipe(Effect.provide(TestContext.TestContext))
  )

describe("a stream that is opened again", () => {
  for (const isRest of [true, false]) {
    const what = isRest ? "the rest of an answer" : "the stream of notifications"

    it(`resumes after its last event without a duplicate or a gap, and ends: ${what}`, () =>
      FastCheck.assert(
        FastCheck.asyncProperty(FastCheck.array(Step, { maxLength: 30 }), async (steps) => {
          const { asked, seen, times, why } = await play(steps, isRest)
          assert.deepStrictEqual(seen, Array.from(seen, (_, index) => index + 1))
          let last = isRest ? "0" : undefined
          for (const [index, id] of asked.entries()) {
            assert.strictEqual(id, last)
            const step = steps[index]
            if (step?._tag === "Events" && step.count > 0) last = String(Number(last ?? 0) + step.count)
          }
          assert.isAtLeast(asked.length, Math.min(defaults.retryFailures, steps.length))
          assert.strictEqual(why, "5 failures in a row")
          // the failures that ended it were attempts with the delays of the schedule between them
          const tail = times.slice(-defaults.retryFailures)
          for (const [index, time] of tail.slice(1).entries()) {
            assert.isAtLeast(time - tail[index]!, 1000 * 2 ** index)
          }
        }),
        { numRuns: runs(200) }
      ))
  }

  it("is not opened sooner than the server asks, and not at all if that is too long", async () => {
    const polled = (retry: number): Step => ({ _tag: "Events", count: 1, retry, isHalf: false })
    const { times } = await play([polled(5000), polled(1), polled(0), polled(3_600_001)], false)
    assert.deepStrictEqual(times, [0, 5000, 5250, 6250])
  })

  it("is given up at once by an answer of the server that will not change", async () => {
    const refusal = new McpError.HttpError({ server: "s", reason: "status", status: 405, outcome: "unknown" })
    let attempts = 0
    const why = await Effect.runPromise(Resume.reopen(defaults, () => {
      attempts++
      return Effect.fail(refusal)
    }))
    assert.deepStrictEqual([attempts, why], [1, refusal.message])
  })
})
