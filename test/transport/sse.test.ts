import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Sse from "../../src/transport/http/sse.ts"
import { runs } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

interface Parsed {
  readonly events: ReadonlyArray<Sse.SseEvent>
  readonly lastEventId: string | undefined
  readonly retry: number | undefined
  readonly within: boolean
}

const parse = (chunks: ReadonlyArray<Uint8Array>, limit = 1024 * 1024): Parsed => {
  const events: Array<Sse.SseEvent> = []
  const parser = Sse.parser(limit, (event) => events.push(event))
  const within = chunks.every((chunk) => parser.push(chunk))
  parser.end()
  return { events, lastEventId: parser.lastEventId(), retry: parser.retry(), within }
}

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8")

const data = (text: string): ReadonlyArray<string> => parse([bytes(text)]).events.map((event) => event.data)

/** Cuts bytes at the given fractions of their length. */
const cut = (whole: Uint8Array, at: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const ends = [...at.map((fraction) => Math.floor(fraction * whole.length)), whole.length]
  ends.sort((a, b) => a - b)
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end))
}

const Fraction = FastCheck.double({ min: 0, max: 1, noNaN: true })
const Eol = FastCheck.constantFrom("\n", "\r", "\r\n")
const Text = FastCheck.oneof(
  FastCheck.string({ unit: Texts.unit }),
  FastCheck.constantFrom("{\"a\":1}", "ünï", "日本語", "🙂🙃", "", " leading", "data: x", ":")
).map((text) => text.replace(/[\r\n\0]/g, ""))
const Line = FastCheck.tuple(
  FastCheck.constantFrom("data: ", "data:", "id: ", "event: ", "retry: ", ": ", "other: ", "data", ""),
  Text
).map(([field, text]) => field === "" || field === "data" ? field : field + text)

describe("the parser of event streams", () => {
  it("yields the same events under any chunking, with any line ends, with or without a BOM", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(Line, Eol), { maxLength: 30 }),
        FastCheck.boolean(),
        FastCheck.array(Fraction, { maxLength: 20 }),
        (lines, bom, at) => {
          const text = lines.map(([line, eol]) => line + eol).join("")
          const whole = Buffer.concat([bom ? Buffer.from([0xef, 0xbb, 0xbf]) : Buffer.alloc(0), bytes(text)])
          assert.deepStrictEqual(parse(cut(whole, at)), parse([whole]))
          const plain = bytes(text.replaceAll("\r\n", "\n").replaceAll("\r", "\n"))
          assert.deepStrictEqual(parse([whole]), parse([plain]))
        }
      ),
      { numRuns: runs(500) }
    )
  })

  it("yields the same events byte by byte", () => {
    const text = "\ufeffid: é\r\ndata: 日本\r\rdata: 🙂\ndata:b\n\nevent: x\rdata: c\r\n\r\n: c\n\n"
    const whole = bytes(text)
    const single = Array.from(whole, (_, at) => whole.subarray(at, at + 1))
    assert.deepStrictEqual(parse(single), parse([whole]))
    assert.deepStrictEqual(parse([whole]).events, [
      { type: undefined, data: "日本" },
      { type: undefined, data: "🙂\nb" },
      { type: "x", data: "c" }
    ])
  })

  it("round-trips messages of several lines", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(Text, { minLength: 1, maxLength: 5 }), (lines) => {
        const text = lines.map((line) => `data: ${line}\n`).join("") + "\n"
        assert.deepStrictEqual(data(text), [lines.join("\n")])
      })
    )
  })

  it("takes one space after the colon and no more", () => {
    assert.deepStrictEqual(data("data:  two\n\ndata:none\n\ndata: one\n\n"), [" two", "none", "one"])
  })

  it("does not count comments, unknown fields or blank lines as events", () => {
    assert.deepStrictEqual(data(": ping\n\n\n:\n\nfoo: bar\n\ndatabase: x\n\n"), [])
  })

  it("knows the id only of events that are whole", () => {
    assert.strictEqual(parse([bytes("id: a\ndata: 1\n\nid: b\ndata: 2\n")]).lastEventId, "a")
    assert.strictEqual(parse([bytes("id: a\ndata: 1\n\ndata: 2\n\n")]).lastEventId, "a")
  })

  it("takes the id of an event without data, and no id that holds NUL", () => {
    assert.strictEqual(parse([bytes("id: a\n\nid: b\0\n\n")]).lastEventId, "a")
  })

  it("forgets the id where the server empties it", () => {
    assert.isUndefined(parse([bytes("id: a\n\nid:\n\n")]).lastEventId)
  })

  it("reads retry only where it is a number", () => {
    assert.strictEqual(parse([bytes("retry: 250\nretry: soon\nretry: -1\n\n")]).retry, 250)
  })

  it("reads an event whose last blank line is missing", () => {
    assert.deepStrictEqual(data("data: {}\n"), ["{}"])
  })

  it("stops at an event over the limit, in one line, in many, and in one that never ends", () => {
    const long = "x".repeat(60)
    assert.isFalse(parse([bytes(`data: ${long}\n\n`)], 50).within)
    assert.isFalse(parse([bytes("data: xxxx\n".repeat(6))], 50).within)
    assert.isFalse(parse([bytes("data: "), ...Array.from({ length: 60 }, () => bytes("x"))], 50).within)
    assert.isTrue(parse([bytes(`data: ${"x".repeat(20)}\n\n`.repeat(10))], 50).within)
  })

  it("counts bytes, not characters", () => {
    assert.isFalse(parse([bytes(`data: ${"語".repeat(20)}\n\n`)], 50).within)
  })

  it("lets a comment be as long as it likes", () => {
    assert.isTrue(
      parse([bytes(":"), ...Array.from({ length: 100 }, () => bytes("xxxxxxxxxx")), bytes("\n")], 50).within
    )
  })

  it("is linear for one long event in many chunks", () => {
    const chunk = Buffer.alloc(1024, 120)
    const parser = Sse.parser(64 * 1024 * 1024, () => undefined)
    const started = process.cpuUsage()
    parser.push(bytes("data: "))
    for (let n = 0; n < 8 * 1024; n++) parser.push(chunk)
    parser.push(bytes("\n\n"))
    assert.isBelow(process.cpuUsage(started).user, 2_000_000)
  })
})
