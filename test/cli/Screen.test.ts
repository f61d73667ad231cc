import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Layout from "../../src/cli/layout.ts"
import * as Screen from "../../src/cli/Screen.ts"
import * as Device from "./device.ts"
import * as Emulator from "./emulator.ts"

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

describe("what is drawn again and again", () => {
  const drawn = (columns: number, rows: number) => {
    const emulator = Emulator.make(columns, rows)
    const size = { columns, rows }
    const resumes: Array<() => void> = []
    const device: Screen.Device = {
      ...Device.make({ isTerminal: { out: true, err: true } }),
      write: (_, text) => Effect.sync(() => emulator.write(Buffer.from(text).toString())),
      log: emulator.write,
      get columns() {
        return size.columns
      },
      get rows() {
        return size.rows
      },
      onResume: (listener) => {
        resumes.push(listener)
        return () => void resumes.pop()
      }
    }
    const resize = (columns: number) => {
      size.columns = columns
      emulator.resize(columns)
    }
    return { emulator, screen: Screen.make(device), resumes, resize }
  }

  it.effect("is drawn in one place, and stays on the screen at the end", () =>
    Effect.gen(function*() {
      const { emulator, screen } = drawn(20, 6)
      yield* screen.out("before")
      yield* Effect.scoped(Effect.gen(function*() {
        const redraw = yield* screen.redraw
        yield* redraw("one", "two", "three")
        assert.deepStrictEqual(emulator.rows(), ["before", "one", "two", "three"])
        yield* redraw("1", [{ text: "2", style: "bad" }])
        assert.deepStrictEqual(emulator.rows(), ["before", "1", "2"])
        yield* redraw("1", "2", "3", "4")
      }))
      yield* screen.out("after")
      assert.deepStrictEqual(emulator.rows(), ["before", "1", "2", "3", "4", "after"])
    }))

  it.effect("is cut where the terminal ends, to the right and below", () =>
    Effect.gen(function*() {
      const { emulator, screen } = drawn(10, 4)
      yield* Effect.scoped(Effect.gen(function*() {
        const redraw = yield* screen.redraw
        yield* redraw("x".repeat(50), "日本語日本語", "c", "d", "e")
        assert.deepStrictEqual(emulator.rows(), ["xxxxxxxx…", "日本語日…", "… 3 more…"])
        yield* redraw("a", "b")
        assert.deepStrictEqual(emulator.rows(), ["a", "b"])
      }))
    }))

  it.effect("takes all of its old rows away when the window has become narrower", () =>
    Effect.gen(function*() {
      const { emulator, resize, screen } = drawn(30, 10)
      yield* screen.out("before")
      yield* Effect.scoped(Effect.gen(function*() {
        const redraw = yield* screen.redraw
        yield* redraw("a".repeat(25), "b", "c".repeat(12))
        resize(10)
        assert.lengthOf(emulator.rows(), 7)
        yield* redraw("a".repeat(25), "b", "c".repeat(12))
        assert.deepStrictEqual(emulator.rows(), ["before", "aaaaaaaa…", "b", "cccccccc…"])
        resize(40)
        yield* redraw("a".repeat(25), "b")
        assert.deepStrictEqual(emulator.rows(), ["before", "a".repeat(25), "b"])
      }))
    }))

  it.effect("continues below the output of other programs after the process was stopped", () =>
    Effect.gen(function*() {
      const { emulator, resumes, screen } = drawn(20, 9)
      yield* Effect.scoped(Effect.gen(function*() {
        const redraw = yield* screen.redraw
        yield* redraw("one", "two")
        emulator.write("$ fg\n")
        resumes[0]!()
        yield* redraw("1", "2")
        yield* redraw("a", "b")
      }))
      assert.deepStrictEqual(emulator.rows(), ["one", "two", "$ fg", "a", "b"])
      assert.deepStrictEqual(resumes, [])
    }))

  it.effect("stays below what else is written meanwhile", () =>
    Effect.gen(function*() {
      const { emulator, screen } = drawn(20, 8)
      yield* Effect.scoped(Effect.gen(function*() {
        const redraw = yield* screen.redraw
        yield* redraw("table", "row")
        yield* screen.err("fault")
        screen.log("log")
        screen.progress("50 %")
        yield* screen.out("result")
        yield* redraw("table")
      }))
      assert.deepStrictEqual(emulator.rows(), ["fault", "log", "result", "table"])
    }))

  it.effect("is written below itself where no cursor can be moved", () =>
    Effect.gen(function*() {
      for (const more of [{}, { isTerminal: { out: true, err: true }, moves: false }]) {
        const device = Device.make(more)
        const screen = Screen.make(device)
        yield* Effect.scoped(Effect.flatMap(screen.redraw, (redraw) => Effect.zipRight(redraw("a", "b"), redraw("a"))))
        assert.strictEqual(device.out(), "a\nb\na\n")
        assert.isFalse(screen.redraws)
      }
    }))
})

describe("a table", () => {
  const columnsOf = (titles: ReadonlyArray<string>, ranks: ReadonlyArray<number> = []) =>
    titles.map((title, at) => ({ title, rank: ranks[at] ?? 0, cell: (row: ReadonlyArray<string>) => row[at] ?? "" }))

  const rows = [["a", "short"], ["longer", "a text that is longer than its terminal\u001b"]]

  const texts = (columns: number) =>
    Layout.table(columnsOf(["N", "ABOUT"]), rows, columns).map((line) =>
      (line as ReadonlyArray<Screen.Span>).map(({ text }) => text).join("")
    )

  it("has columns under each other, and cuts the last one where the terminal ends", () => {
    assert.deepStrictEqual(texts(24), ["N       ABOUT", "a       short", "longer  a text that is …"])
  })

  it("leaves out what is least wanted, and then cuts its first column", () => {
    const header = columnsOf(["NAME", "STATE", "A", "B"], [0, 0, 1, 2])
    const rows = [["n".repeat(14), "good", "1", "22"], ["日本", "bad", "333", "4"]]
    const texts = (columns: number) =>
      Layout.table(header, rows, columns).map((line) =>
        (line as ReadonlyArray<Screen.Span>).map(({ text }) => text).join("")
      )
    assert.deepStrictEqual(texts(30), [
      "NAME            STATE  A    B",
      "nnnnnnnnnnnnnn  good   1    22",
      "日本            bad    333  4"
    ])
    assert.strictEqual(texts(29)[1], "nnnnnnnnnnnnnn  good   1")
    assert.strictEqual(texts(22)[1], "nnnnnnnnnnnnnn  good")
    assert.strictEqual(texts(19)[1], "nnnnnnnnnnn…  good")
  })

  it("cuts nothing in a pipe", () => {
    assert.strictEqual(texts(Number.POSITIVE_INFINITY)[2], "longer  a text that is longer than its terminal\\x1b")
  })
})
