/**
 * The request engine as a table: what each step of a history must do to each request, to be compared with what it did.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Reporting from "../../src/client/reporting.ts"
import * as RequestEngine from "../../src/client/RequestEngine.ts"
import type { Refused } from "../../src/client/serverRequests.ts"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as FakeTransport from "../support/fakeTransport.ts"
import * as ManualClock from "../support/manualClock.ts"

/** A step; `of` chooses a request among those there have been, whatever has become of it. */
export type Step =
  | { readonly _tag: "Begin"; readonly idle: number; readonly total: number }
  | { readonly _tag: "Refused" }
  | { readonly _tag: "Answer"; readonly of: number; readonly times: number }
  | { readonly _tag: "Stray" }
  | { readonly _tag: "Progress"; readonly of: number; readonly times: number }
  | { readonly _tag: "Fail"; readonly of: number }
  | { readonly _tag: "Cancel"; readonly of: number }
  | { readonly _tag: "Advance"; readonly millis: number }
  | { readonly _tag: "Ask"; readonly times: number }
  | { readonly _tag: "Reply"; readonly of: number; readonly how: "answered" | "cancelled" }
  | { readonly _tag: "End" }

export interface History {
  readonly steps: ReadonlyArray<Step>
  readonly cancelByNotification: boolean
  readonly drain: number
  /** The requests that are answered while the close waits. */
  readonly last: ReadonlyArray<number>
}

const of = FastCheck.nat({ max: 20 })
const times = FastCheck.integer({ min: 1, max: 3 })
const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  {
    weight: 8,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Begin" as const),
      idle: FastCheck.integer({ min: 10, max: 60 }),
      total: FastCheck.integer({ min: 1, max: 200 })
    })
  },
  { weight: 1, arbitrary: FastCheck.constant({ _tag: "Refused" as const }) },
  { weight: 6, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Answer" as const), of, times }) },
  { weight: 1, arbitrary: FastCheck.constant({ _tag: "Stray" as const }) },
  { weight: 3, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Progress" as const), of, times }) },
  { weight: 1, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Fail" as const), of }) },
  { weight: 3, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Cancel" as const), of }) },
  {
    weight: 5,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Advance" as const),
      millis: FastCheck.integer({ min: 1, max: 80 })
    })
  },
  { weight: 2, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Ask" as const), times }) },
  {
    weight: 4,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Reply" as const),
      of: FastCheck.nat({ max: 4 }),
      how: FastCheck.constantFrom<"answered" | "cancelled">("answered", "cancelled")
    })
  },
  { weight: 1, arbitrary: FastCheck.constant({ _tag: "End" as const }) }
)

export const history: FastCheck.Arbitrary<History> = FastCheck.record({
  steps: FastCheck.array(step, { minLength: 5, maxLength: 40, size: "max" }),
  cancelByNotification: FastCheck.boolean(),
  // between two milliseconds, so that it never coincides with a deadline
  drain: FastCheck.constantFrom(0, 30.5),
  last: FastCheck.array(of, { maxLength: 3 })
})

interface Asked {
  readonly index: number
  readonly id: JsonRpc.Id
  readonly idle: number
  readonly totalAt: number
  idleAt: number
  pending: boolean
  expected: string | undefined
  /** How often it was settled, and with what. */
  readonly settled: Array<string>
  readonly progress: Array<number>
  progressSent: number
  readonly cancel: Effect.Effect<void>
}

type Settled = Either.Either<JsonRpc.JsonObject, McpError.CallError>

const described = (settled: Settled): string => {
  if (Either.isRight(settled)) return `answer ${String(settled.right["index"])}`
  const error = settled.left
  return error._tag === "RequestTimeout"
    ? `${error._tag} ${error.kind} ${error.outcome}`
    : `${error._tag} ${error.outcome}`
}

const shown = (request: Asked, settled: ReadonlyArray<string>, progress: ReadonlyArray<number>): string =>
  `${request.index}: [${settled.join(", ")}] after progress [${progress.join(" ")}]`

/** What the engine did and what it had to do, for every request; and what must have come back to nothing. */
export interface Verdict {
  readonly requests: ReadonlyArray<{ readonly did: string; readonly had: string }>
  readonly cancelled: { readonly did: unknown; readonly had: unknown }
  readonly abandoned: { readonly did: unknown; readonly had: unknown }
  readonly dropped: { readonly did: number; readonly had: number }
  readonly asked: { readonly did: number; readonly had: number }
  /** Steps after which the table of pending requests was of another size than it had to be. */
  readonly wrongSizes: ReadonlyArray<string>
  readonly left: { readonly inFlight: number; readonly sleeping: number }
}

const maxServerRequests = 4

export const run = (history: History): Effect.Effect<Verdict> =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const transport = FakeTransport.make()
    const all: Array<Asked> = []
    const wrongSizes: Array<string> = []
    const cancelled: Array<JsonRpc.Id> = []
    const abandoned: Array<JsonRpc.Id> = []
    const handling = new Set<JsonRpc.Id>()
    const served = new Map<string, Deferred.Deferred<JsonRpc.JsonObject, Refused>>()
    let did = { dropped: 0, asked: 0 }
    let dropped = 0
    let asks = 0
    let asked = 0
    let ended = false
    let closing = false
    let inFlight = 0

    const program = Effect.gen(function*() {
      const report = Reporting.make({ server: "peer", redaction: Redaction.make(), publish: () => undefined })
      const engine = yield* RequestEngine.make({
        server: "peer",
        maxServerRequests,
        transport,
        report: {
          ...report,
          diagnostic: ({ kind }) => {
            if (kind === "dropped") did.dropped++
          }
        },
        serve: (_, { name }) =>
          Effect.suspend(() => {
            const answer = Deferred.unsafeMake<JsonRpc.JsonObject, Refused>(FiberId.none)
            served.set(String(name), answer)
            return Deferred.await(answer)
          })
      })
      engine.cancelsByNotification = history.cancelByNotification
      const hear = (message: JsonRpc.Incoming) => transport.sink().message({ jsonrpc: "2.0", ...message })
      const pending = () => all.filter((request) => request.pending)
      const close = (request: Asked, expected: string | undefined) => {
        request.pending = false
        request.expected = expected
      }
      const tell = (request: Asked) => {
        if (history.cancelByNotification) cancelled.push(request.id)
      }

      const begin = (idle: number, total: number) =>
        Effect.gen(function*() {
          const index = all.length
          const settled: Array<string> = []
          const progress: Array<number> = []
          let id: JsonRpc.Id = index
          const options: RequestEngine.RequestOptions = {
            deadline: DeadlineSupport.make({ server: "peer", operation: "work", idle, total, now: time.now }),
            progress: true,
            cancellable: true,
            onId: (given) => (id = given),
            onProgress: (given) => progress.push(given.progress)
          }
          const fiber = yield* engine.request("work", { index }, options).pipe(
            Effect.either,
            Effect.tap((given) => Effect.sync(() => settled.push(described(given)))),
            Effect.fork
          )
          yield* ManualClock.settle
          all.push({
            index,
            id,
            idle,
            idleAt: time.now() + idle,
            totalAt: time.now() + total,
            pending: !ended && transport.refusal === undefined,
            expected: ended
              ? "ConnectionLost not-sent"
              : transport.refusal === undefined
              ? undefined
              : "Overloaded not-sent",
            settled,
            progress,
            progressSent: 0,
            cancel: Effect.asVoid(Fiber.interrupt(fiber))
          })
        })

      const answer = (request: Asked) => {
        hear({ id: request.id, result: { index: request.index } })
        if (request.pending) close(request, `answer ${request.index}`)
        // late answers are expected while the connection closes
        else if (!closing) dropped++
      }

      /** While the user is asked something, only the total limit counts. */
      const deadline = (request: Asked) =>
        handling.size > 0 ? request.totalAt : Math.min(request.idleAt, request.totalAt)

      const expire = (until: number) => {
        for (;;) {
          const at = Math.min(...pending().map(deadline))
          if (at > until) return
          for (const request of pending().filter((request) => deadline(request) <= at)) {
            tell(request)
            abandoned.push(request.id)
            close(request, `RequestTimeout ${request.totalAt <= at ? "total" : "idle"} unknown`)
          }
        }
      }

      const advance = (millis: number) =>
        Effect.suspend(() => {
          expire(time.now() + millis)
          return time.advance(millis)
        })

      const take = (step: Step): Effect.Effect<void> => {
        const chosen = "of" in step ? all[step.of % Math.max(1, all.length)] : undefined
        switch (step._tag) {
          case "Begin":
            return begin(step.idle, step.total)
          case "Refused":
            transport.refusal = new McpError.Overloaded({ server: "peer", queue: "write", queued: 1, limit: 1 })
            return Effect.ensuring(
              begin(10, 10),
              Effect.sync(() => {
                transport.refusal = undefined
              })
            )
          case "Answer":
            return Effect.sync(() => {
              for (let time = 0; chosen !== undefined && time < step.times; time++) answer(chosen)
            })
          case "Stray":
            return Effect.sync(() => {
              hear({ id: "stray", result: { index: -1 } })
              dropped++
            })
          case "Progress":
            return Effect.sync(() => {
              for (let count = 0; chosen !== undefined && count < step.times; count++) {
                hear({
                  method: "notifications/progress",
                  params: { progressToken: chosen.id, progress: chosen.progressSent }
                })
                if (!chosen.pending) continue
                chosen.progressSent++
                chosen.idleAt = time.now() + chosen.idle
              }
            })
          case "Fail":
            return Effect.sync(() => {
              if (chosen === undefined) return
              transport.sink().failed(
                chosen.id,
                new McpError.NetworkError({ server: "peer", code: "X", detail: "", outcome: "unknown" })
              )
              if (chosen.pending) close(chosen, "NetworkError unknown")
            })
          case "Cancel": {
            if (chosen === undefined) return Effect.void
            // a caller that was answered and is interrupted before it runs never hears of the answer
            if (!chosen.pending) return Effect.zipRight(ManualClock.settle, chosen.cancel)
            tell(chosen)
            abandoned.push(chosen.id)
            close(chosen, undefined)
            return chosen.cancel
          }
          case "Advance":
            return advance(step.millis)
          case "Ask":
            return Effect.sync(() => {
              for (let count = 0; count < step.times; count++) {
                const id = `ask-${++asks}`
                hear({ id, method: "elicitation/create", params: { name: id } })
                if (handling.size < maxServerRequests) {
                  handling.add(id)
                  asked++
                }
              }
            })
          case "Reply":
            return Effect.gen(function*() {
              const id = Array.from(handling)[step.of]
              if (id === undefined) return
              yield* ManualClock.settle
              if (step.how === "answered") yield* Deferred.succeed(served.get(String(id))!, {})
              else hear({ method: "notifications/cancelled", params: { requestId: id } })
              yield* ManualClock.settle
              handling.delete(id)
              if (handling.size > 0) return
              for (const request of pending()) request.idleAt = time.now() + request.idle
            })
          case "End":
            return Effect.sync(() => {
              transport.sink().ended({
                error: (outcome) =>
                  new McpError.ConnectionLost({ server: "peer", reason: "reset", detail: "", outcome }),
                unsent: (id) => all.some((request) => request.id === id && request.index % 2 === 0)
              })
              if (ended) return
              for (const request of pending()) {
                close(request, `ConnectionLost ${request.index % 2 === 0 ? "not-sent" : "unknown"}`)
              }
              handling.clear()
              ended = true
            })
        }
      }

      for (const step of history.steps) {
        yield* take(step)
        if (engine.inFlight() !== pending().length) wrongSizes.push(JSON.stringify(step))
      }

      closing = true
      const closed = yield* Effect.fork(engine.close(Duration.millis(history.drain)))
      yield* ManualClock.settle
      if (history.drain > 0 && pending().length > 0) {
        for (const index of history.last) {
          const request = all[index % all.length]
          if (request !== undefined) answer(request)
        }
        yield* advance(history.drain)
      }
      for (const request of pending()) {
        tell(request)
        close(request, "Closed unknown")
      }
      yield* Fiber.join(closed)
      yield* ManualClock.settle
      did = { ...did, asked: served.size }
      inFlight = engine.inFlight()
      // long after every limit: nothing may be left to wake up
      yield* time.advance(10_000)
    })

    yield* Effect.scoped(Effect.withClock(program, time.clock))
    return {
      requests: all.map((request) => ({
        did: shown(request, request.settled, request.progress),
        had: shown(
          request,
          request.expected === undefined ? [] : [request.expected],
          Array.from({ length: request.progressSent }, (_, index) => index)
        )
      })),
      cancelled: {
        did: transport.sent.flatMap((message) =>
          "method" in message && message.method === "notifications/cancelled" ? [message.params?.["requestId"]] : []
        ),
        had: cancelled
      },
      abandoned: { did: transport.abandoned, had: abandoned },
      dropped: { did: did.dropped, had: dropped },
      asked: { did: did.asked, had: asked },
      wrongSizes,
      left: { inFlight, sleeping: time.sleeping() }
    }
  })
