import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Logger from "effect/Logger"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

type Method = "ping" | "slow" | "asking" | "none" | "bug"

type Step =
  | {
    readonly _tag: "Request"
    readonly id: number
    readonly method: Method
    readonly isStateless: boolean
  }
  | { readonly _tag: "Cancel"; readonly id: number }
  | { readonly _tag: "Release"; readonly which: number }
  | { readonly _tag: "Answer"; readonly which: number }
  | { readonly _tag: "Garbage" }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  {
    weight: 6,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Request" as const),
      id: FastCheck.nat(5),
      method: FastCheck.constantFrom<Array<Method>>("ping", "slow", "slow", "asking", "none", "bug"),
      isStateless: FastCheck.boolean()
    })
  },
  { weight: 2, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Cancel" as const), id: FastCheck.nat(5) }) },
  { weight: 3, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Release" as const), which: FastCheck.nat(5) }) },
  { weight: 3, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Answer" as const), which: FastCheck.nat(5) }) },
  { weight: 1, arbitrary: FastCheck.constant({ _tag: "Garbage" as const }) }
)

const most = 4

/** The bugs that handlers have here are told to nobody. */
const quiet = Logger.remove(Logger.defaultLogger)

/** What the engine must do, in as few words as possible. */
class Model {
  /** By era and id: what is under way, and by what it ends. */
  readonly running = new Map<string, { readonly serial: number; readonly waits: "release" | "answer" }>()
  readonly expected: Array<string> = []

  count(isStateless: boolean): number {
    return Array.from(this.running.keys()).filter((key) => key.startsWith(isStateless ? "stateless" : "session")).length
  }

  request({ id, isStateless, method }: Step & { readonly _tag: "Request" }, serial: number): void {
    const key = `${isStateless ? "stateless" : "session"} ${id}`
    if (this.running.has(key)) return this.answered(id, -32600)
    if (this.count(isStateless) >= most) return this.answered(id, -32000)
    switch (method) {
      case "ping":
        return this.answered(id, isStateless ? -32601 : "{}")
      case "none":
        return this.answered(id, -32601)
      case "bug":
        return this.answered(id, -32603)
      case "slow":
        this.running.set(key, { serial, waits: "release" })
        return
      case "asking":
        this.running.set(key, { serial, waits: "answer" })
    }
  }

  cancel(id: number): void {
    this.running.delete(`session ${id}`)
    this.running.delete(`stateless ${id}`)
  }

  ended(serial: number): void {
    for (const [key, one] of this.running) {
      if (one.serial !== serial) continue
      this.running.delete(key)
      this.answered(Number(key.split(" ")[1]), String(serial))
    }
  }

  answered(id: number | null, what: string | number): void {
    this.expected.push(`${id}: ${what}`)
  }
}

const wordOf = ({ error, id, result }: PipedCaller.Message): string => {
  return `${id}: ${error?.code ?? result?.["n"] ?? "{}"}`
}

const history = (steps: ReadonlyArray<Step>) =>
  Effect.scoped(Effect.gen(function*() {
    const gates = yield* PipedCaller.held
    const caller = yield* PipedCaller.initialized(
      PipedCaller.offer({
        slow: (exchange) => Effect.as(gates.handler(exchange), { n: exchange.params["n"]! }),
        asking: (exchange) => Effect.as(exchange.ask("roots/list"), { n: exchange.params["n"]! }),
        bug: () => Effect.die("bug")
      }),
      { maxRequests: most, drainTimeout: "1 hour" }
    )
    const model = new Model()
    const answers: Array<string> = []
    const questions: Array<JsonRpc.Id> = []
    /** The question of each that asks, in the order in which they have asked. */
    const askers: Array<number> = []
    let barriers = 0

    /** Everything that was written before has been looked at, and what it led to is here. */
    const settled = Effect.gen(function*() {
      // the requests that run are stepped on beside
      for (let round = 0; round < 2; round++) {
        const barrier = `barrier ${++barriers}`
        caller.line(`{"jsonrpc":"2.0","id":"${barrier}"}`)
        for (let message = yield* caller.next; message.id !== barrier; message = yield* caller.next) {
          if (message.method === "roots/list") questions.push(message.id!)
          else if (message.id !== undefined) answers.push(wordOf(message))
        }
        yield* Effect.repeatN(Effect.yieldNow(), 5)
      }
    })

    for (const [serial, step] of steps.entries()) {
      switch (step._tag) {
        case "Request": {
          const { id, isStateless, method } = step
          const params = { name: String(serial), n: serial }
          // a round ends by the clock, which does not go here
          if (isStateless && method === "asking") break
          const asks = method === "asking" && !model.running.has(`session ${id}`) && model.count(false) < most
          if (asks) askers.push(serial)
          caller.request(id, method, isStateless ? PipedCaller.stateless(params) : params)
          model.request(step, serial)
          break
        }
        case "Cancel":
          caller.notify("notifications/cancelled", { requestId: step.id })
          model.cancel(step.id)
          break
        case "Release": {
          const slow = Array.from(model.running.values()).filter(({ waits }) => waits === "release")
          const one = slow[step.which % slow.length]
          if (one === undefined) break
          yield* gates.release(String(one.serial))
          model.ended(one.serial)
          break
        }
        case "Answer": {
          const which = step.which % askers.length
          const id = questions[which]
          if (id === undefined) break
          // whoever was cancelled meanwhile is not answered, and whoever was answered not again
          caller.send({ jsonrpc: "2.0", id, result: {} })
          model.ended(askers[which]!)
          break
        }
        case "Garbage":
          caller.line("{")
          model.answered(null, -32700)
      }
      yield* settled
    }
    for (const { serial, waits } of Array.from(model.running.values())) {
      if (waits === "answer") caller.send({ jsonrpc: "2.0", id: questions[askers.indexOf(serial)], result: {} })
      else yield* gates.release(String(serial))
      model.ended(serial)
    }
    yield* settled
    yield* caller.end
    yield* caller.ended
    for (const message of yield* caller.taken) {
      if (message.id !== undefined) answers.push(wordOf(message))
    }
    assert.deepStrictEqual(answers.toSorted(), model.expected.toSorted())
  }))

describe("any history of a caller over stdio", () => {
  it.effect("answers each request once, unless it was cancelled, and nothing else", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(step, { maxLength: 30 }),
          (steps) => Effect.runPromise(Effect.provide(history(steps), quiet))
        ),
        { numRuns: 40 }
      )
    ))
})
