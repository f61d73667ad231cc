import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import { terminalOver } from "../../src/cli/commands/repl.ts"
import * as NodeTerminal from "../../src/cli/nodeTerminal.ts"

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
  const reading = yield* terminalOver(input, output)(() => [[], ""])
  return {
    reading,
    press: (keys: string) => Effect.sync(() => void input.write(keys)),
    shows: (text: string) =>
      Effect.gen(function*() {
        while (!shown.includes(text)) yield* Effect.sleep("1 millis")
      }),
    shown: () => shown,
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

  it.scopedLive("shows no secret while it is typed, and what is typed after that again", () =>
    Effect.gen(function*() {
      const { beginsLine, press, reading, shown, shows } = yield* terminal
      const answer = yield* Effect.fork(reading.ask("Token: ", true))
      yield* shows("Token: ")
      yield* press("s3cret\r")
      assert.strictEqual(yield* Fiber.join(answer), "s3cret")
      yield* beginsLine
      const line = yield* Effect.fork(reading.next("> "))
      yield* shows("> ")
      yield* press("call\r")
      yield* Fiber.join(line)
      yield* shows("call")
      assert.notInclude(shown(), "s3")
    }))

  it.scopedLive("wakes with Ctrl-C who waits for that, and throws away what was typed where nobody does", () =>
    Effect.gen(function*() {
      const { press, reading, shows } = yield* terminal
      const line = yield* Effect.fork(reading.next("> "))
      yield* shows("> ")
      yield* press(`wrong${interrupt}`)
      yield* shows("(press Ctrl-D to exit)")
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

describe("a question", () => {
  const ask = (keys: ReadonlyArray<string>, isHidden: boolean) =>
    Effect.gen(function*() {
      const input = new PassThrough()
      const output = new PassThrough()
      let interrupts = 0
      const fiber = yield* Effect.fork(NodeTerminal.ask(input, output, () => interrupts++)("Which? ", isHidden))
      while (input.listenerCount("data") + input.listenerCount("keypress") === 0) yield* Effect.yieldNow()
      for (const key of keys) input.write(key)
      const answer = yield* Fiber.join(fiber)
      // nobody takes what is typed after that
      assert.strictEqual(input.listenerCount("keypress"), 0)
      return { answer, interrupts, shown: String(output.read()) }
    })

  it.live("is answered with a line", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ask(["blue\n"], false), { answer: "blue", interrupts: 0, shown: "Which? " })
    }))

  it.live("ends its line also when nobody answers, or the answer is not wanted any more", () =>
    Effect.gen(function*() {
      const input = new PassThrough()
      const output = new PassThrough()
      const asking = yield* Effect.fork(NodeTerminal.ask(input, output, () => undefined)("Which? "))
      while (input.listenerCount("data") === 0) yield* Effect.yieldNow()
      yield* Fiber.interrupt(asking)
      assert.strictEqual(String(output.read()), "Which? \n")
      const again = yield* Effect.fork(NodeTerminal.ask(input, output, () => undefined)("And now? "))
      while (input.listenerCount("data") === 0) yield* Effect.yieldNow()
      input.end()
      assert.strictEqual(yield* Fiber.join(again), undefined)
      assert.strictEqual(String(output.read()), "And now? \n")
    }))

  it.live("for a secret shows nothing of it, and knows Ctrl-C and Ctrl-D", () =>
    Effect.gen(function*() {
      const shown = "Which? \n"
      assert.deepStrictEqual(yield* ask(["s3cret\r"], true), { answer: "s3cret", interrupts: 0, shown })
      assert.deepStrictEqual(yield* ask([interrupt, "a\r"], true), { answer: "a", interrupts: 1, shown })
      assert.deepStrictEqual(yield* ask([end], true), { answer: undefined, interrupts: 0, shown })
    }))
})
