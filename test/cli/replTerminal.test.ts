import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import * as ReplTerminal from "../../src/cli/internal/replTerminal.ts"

const up = "\u001b[A"
const interrupt = "\u0003"
const end = "\u0004"

const terminal = Effect.gen(function*() {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text
  })
  const reading = yield* ReplTerminal.over(input, output)(() => [[], ""])
  return {
    reading,
    press: (keys: string) => Effect.sync(() => void input.write(keys)),
    shows: (text: string) =>
      Effect.gen(function*() {
        while (!shown.includes(text)) yield* Effect.sleep("1 millis")
      }),
    beginsLine: Effect.gen(function*() {
      while (!shown.endsWith("\n")) yield* Effect.sleep("1 millis")
    })
  }
})

describe("the terminal of the repl", () => {
  it.scopedLive("gives line after line, and remembers commands but no answers", () =>
    Effect.gen(function*() {
      const { press, reading, shows } = yield* terminal
      yield* press("one\r")
      assert.strictEqual(yield* reading.next("> "), "one")
      const answer = yield* Effect.fork(reading.ask("Which? "))
      yield* shows("Which? ")
      yield* press("s3cret\r")
      assert.strictEqual(yield* Fiber.join(answer), "s3cret")
      const again = yield* Effect.fork(reading.next("again> "))
      yield* shows("again> ")
      yield* press(`${up}\r`)
      assert.strictEqual(yield* Fiber.join(again), "one")
    }))

  it.scopedLive("wakes with Ctrl-C who waits for that, and throws away what was typed where nobody does", () =>
    Effect.gen(function*() {
      const { press, reading, shows } = yield* terminal
      const line = yield* Effect.fork(reading.next("> "))
      yield* shows("> ")
      yield* press(`wrong${interrupt}`)
      yield* shows("(Ctrl-D ends)")
      yield* press("right\r")
      assert.strictEqual(yield* Fiber.join(line), "right")
      const waiting = yield* Effect.fork(reading.interrupted)
      yield* Effect.yieldNow()
      yield* press(interrupt)
      yield* Fiber.join(waiting)
    }))

  it.scopedLive("ends with Ctrl-D, on a line of its own, and stays at its end", () =>
    Effect.gen(function*() {
      const { beginsLine, press, reading, shows } = yield* terminal
      const line = yield* Effect.fork(reading.next("> "))
      yield* shows("> ")
      yield* press(end)
      assert.isUndefined(yield* Fiber.join(line))
      yield* beginsLine
    }))

  it.scopedLive("begins a line anew where a question is withdrawn", () =>
    Effect.gen(function*() {
      const { beginsLine, reading, shows } = yield* terminal
      const answer = yield* Effect.fork(reading.ask("Which? "))
      yield* shows("Which? ")
      yield* Fiber.interrupt(answer)
      yield* beginsLine
    }))
})
