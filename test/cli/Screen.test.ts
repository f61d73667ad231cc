import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Table from "../../src/cli/internal/table.ts"
import * as Screen from "../../src/cli/Screen.ts"
import * as Device from "./device.ts"

const terminal = { isTerminal: { out: true, err: true }, colour: { out: true, err: true }, columns: 20 }

describe("the screen", () => {
  it.effect("lets no character of a text steer the terminal, in any style and on either stream", () =>
    Effect.gen(function*() {
      const device = Device.make(terminal)
      const screen = Screen.make(device)
      const hostile = "a\u001b[2J\r\n\u202eb\u200b\u009b1m\tc"
      yield* screen.out(hostile, [{ text: hostile, style: "bad" }, hostile])
      yield* screen.err(hostile)
      yield* screen.note([{ text: hostile, style: "strong" }])
      screen.progress(hostile)
      for (const text of [device.out(), device.err()]) {
        const ours = text.replaceAll(/\u001b\[(\d+m|K)/g, "").replaceAll("\r", "")
        assert.notMatch(ours, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/)
      }
      assert.include(device.out(), "a\\x1b[2J\\r\\n\\u{202e}b\\u{200b}\\x9b1m\tc\n")
    }))

  it.effect("colours only where that is wanted", () =>
    Effect.gen(function*() {
      const line = [{ text: "x", style: "bad" as const }]
      const written = (more: Partial<Screen.Device>, options?: Screen.Options) => {
        const device = Device.make(more)
        return Effect.as(Screen.make(device, options).out(line), device.out)
      }
      assert.strictEqual((yield* written(terminal))(), "\u001b[31mx\u001b[0m\n")
      assert.strictEqual((yield* written(terminal, { colour: false, quiet: false }))(), "x\n")
      assert.strictEqual((yield* written({ ...terminal, colour: { out: false, err: false } }))(), "x\n")
    }))

  it.effect("writes JSON that is the same value, plain, and without characters that cannot be seen", () =>
    Effect.gen(function*() {
      const device = Device.make(terminal)
      const screen = Screen.make(device)
      const value = { text: "a\u009b\u202e\u200b\u{e0041}\u001b" }
      yield* screen.json(Schema.Struct({ text: Schema.String }), value)
      yield* screen.jsonLine(Schema.Struct({ text: Schema.String }), value)
      const [document, line] = device.out().split("}\n")
      assert.notMatch(device.out(), /[^\u0020-\u007e\n]/)
      assert.deepStrictEqual(JSON.parse(`${document}}`), value)
      assert.deepStrictEqual(JSON.parse(`${line}}`), value)
      assert.notInclude(line!, "\n")
    }))

  it.effect("says no more than results and errors if it is to be quiet", () =>
    Effect.gen(function*() {
      const device = Device.make(terminal)
      const screen = Screen.make(device, { colour: true, quiet: true })
      yield* screen.note("remark")
      screen.progress("50 %")
      assert.strictEqual(device.err(), "")
      yield* screen.err("error")
      assert.strictEqual(device.err(), "error\n")
    }))

  it.effect("takes progress away before anything else is written, and shows none in a pipe", () =>
    Effect.gen(function*() {
      const device = Device.make(terminal)
      const screen = Screen.make(device)
      screen.progress("x".repeat(50))
      assert.strictEqual(device.err(), `\r\u001b[K${"x".repeat(18)}…`)
      yield* screen.out("result")
      assert.isTrue(device.err().endsWith("\r\u001b[K"))
      screen.progress(undefined)
      assert.strictEqual(device.err().split("\u001b[K").length - 1, 2)
      const piped = Device.make({})
      Screen.make(piped).progress("50 %")
      assert.strictEqual(piped.err(), "")
    }))
})

describe("a table", () => {
  const rows = [["a", "short"], ["longer", "a text that is longer than its terminal\u001b"]]

  const texts = (columns: number) =>
    Table.lines(["N", "ABOUT"], rows, columns).map((line) =>
      (line as ReadonlyArray<Screen.Span>).map(({ text }) => text).join("")
    )

  it("has columns under each other, and cuts the last one where the terminal ends", () => {
    assert.deepStrictEqual(texts(24), ["N       ABOUT", "a       short", "longer  a text that is …"])
  })

  it("cuts nothing in a pipe", () => {
    assert.strictEqual(texts(Number.POSITIVE_INFINITY)[2], "longer  a text that is longer than its terminal\\x1b")
  })
})
