import { assert, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as FastCheck from "effect/FastCheck"
import * as Order from "effect/Order"
import * as LineFramer from "../../src/internal/lineFramer.ts"
import * as MessageId from "../../src/internal/messageId.ts"
import * as ByteRing from "../../src/transport/internal/byteRing.ts"
import * as MessageLine from "../../src/transport/internal/messageLine.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { runs } from "../support/runs.ts"

/** Cuts bytes at the given places. */
const cut = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const sorted = Arr.sort(new Set(places.map((place) => place % (bytes.length + 1))), Order.number)
  return [0, ...sorted].map((from, i) => Buffer.from(bytes.subarray(from, sorted[i] ?? bytes.length)))
}

const drain = (framer: LineFramer.LineFramer): ReadonlyArray<LineFramer.Frame> => {
  const frames: Array<LineFramer.Frame> = []
  for (let frame = framer.next(); frame !== undefined; frame = framer.next()) frames.push(frame)
  return frames
}

const text = FastCheck.stringOf(
  FastCheck.oneof(
    { weight: 8, arbitrary: FastCheck.fullUnicode() },
    { weight: 1, arbitrary: FastCheck.constantFrom("\r", "\uFEFF", "😀", "é", "\u0000") }
  ).filter((char) => char !== "\n"),
  { maxLength: 60 }
)
const places = FastCheck.array(FastCheck.nat(), { maxLength: 40 })

describe("lineFramer", () => {
  it("gives the same lines under any chunking", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(text, { maxLength: 12 }),
        text,
        places,
        FastCheck.boolean(),
        (lines, rest, at, eager) => {
          const framer = LineFramer.make(1024 * 1024)
          const frames: Array<LineFramer.Frame> = []
          for (const chunk of cut(Buffer.from(lines.map((line) => `${line}\n`).join("") + rest), at)) {
            framer.push(chunk)
            if (eager) frames.push(...drain(framer))
          }
          frames.push(...drain(framer))
          assert.deepStrictEqual(frames, lines)
          assert.strictEqual(framer.rest(), rest)
        }
      ),
      { numRuns: runs(3000) }
    )
  })

  it("tells an oversize line twice under any chunking, and loses none of the others", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.nat(200), { maxLength: 12 }), places, (lengths, at) => {
        const limit = 100
        const framer = LineFramer.make(limit)
        const lines = lengths.map((length, i) => String.fromCharCode(97 + i).repeat(length))
        const frames: Array<LineFramer.Frame> = []
        for (const chunk of cut(Buffer.from(lines.map((line) => `${line}\n`).join("")), at)) {
          framer.push(chunk)
          frames.push(...drain(framer))
        }
        const expected = lines.flatMap((line) => line.length <= limit ? [line] : ["begun", `${line.length} ${line[0]}`])
        const got = frames.map((frame) =>
          typeof frame === "string"
            ? frame
            : frame.tail === undefined
            ? "begun"
            : `${frame.bytes} ${frame.head[0]}`
        )
        assert.deepStrictEqual(got, expected)
      }),
      { numRuns: runs(3000) }
    )
  })

  it("keeps the first and the last 512 bytes of a line that it skips", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 2000, max: 20_000 }), places, (length, at) => {
        const framer = LineFramer.make(1024)
        const line = Array.from({ length }, (_, i) => String.fromCharCode(48 + (i % 75))).join("")
        let last: LineFramer.Frame | undefined
        for (const chunk of cut(Buffer.from(`${line}\n`), at)) {
          framer.push(chunk)
          for (const frame of drain(framer)) last = frame
        }
        assert.deepStrictEqual(last, { head: line.slice(0, 512), tail: line.slice(-512), bytes: length })
      }),
      { numRuns: runs(500) }
    )
  })

  it("holds no more than the limit of a line that does not end", () => {
    const framer = LineFramer.make(1024 * 1024)
    const piece = Buffer.alloc(2 * 1024, "x")
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 64 * 1024; i++) {
      framer.push(piece)
      drain(framer)
    }
    assert.strictEqual(framer.pending(), 128 * 1024 * 1024)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 64 * 1024 * 1024)
  })

  it("takes time in proportion to the bytes when a line drips in", () => {
    const time = (bytes: number): number => {
      const framer = LineFramer.make(64 * 1024 * 1024)
      const started = performance.now()
      for (let i = 0; i < bytes; i += 2) {
        framer.push(Buffer.from("xx"))
        framer.next()
      }
      framer.push(Buffer.from("\n"))
      assert.strictEqual(framer.next()?.toString().length, bytes)
      return performance.now() - started
    }
    time(100_000)
    // Quadratic would be a minute and more for this size.
    assert.isBelow(time(1_000_000), 5000)
  })
})

describe("messageLine", () => {
  const read = (line: string) => {
    const told: Array<unknown> = []
    MessageLine.read(line, {
      message: (message) => told.push(message),
      diagnostic: ({ kind }) => told.push(kind),
      broken: (id) => told.push(`broken ${id}`)
    })
    return told
  }

  it("reads a message", () => {
    assert.deepStrictEqual(read(`{"jsonrpc":"2.0","id":1,"result":{}}`), [{ jsonrpc: "2.0", id: 1, result: {} }])
  })

  it("drops a carriage return, a byte order mark and empty lines", () => {
    assert.deepStrictEqual(read("\uFEFF{\"id\":1}\r"), [{ id: 1 }])
    assert.deepStrictEqual(read("\r"), [])
    assert.deepStrictEqual(read(""), [])
  })

  it("takes a batch apart", () => {
    assert.deepStrictEqual(read(`[{"id":1},{"id":2},3]`), [{ id: 1 }, { id: 2 }, "noise"])
    assert.deepStrictEqual(read("[]"), ["noise"])
  })

  it("tells what is no JSON, or no object, as noise", () => {
    for (const line of ["Listening on stdio", "{ starting }", "42", "\"text\"", "null", "[1, 2", "true"]) {
      assert.deepStrictEqual(read(line), ["noise"], line)
    }
  })

  it("recovers a message behind other text on its line", () => {
    assert.deepStrictEqual(read(`{starting} done.{"jsonrpc":"2.0","id":7,"result":{"a":{}}}\r`), [
      "lenient",
      { jsonrpc: "2.0", id: 7, result: { a: {} } }
    ])
  })

  it("does not take an object in a log line for a message", () => {
    assert.deepStrictEqual(read(`INFO request {"id":7}`), ["noise"])
  })

  it("tells whose answer it is when its JSON is broken", () => {
    assert.deepStrictEqual(read(`{"jsonrpc":"2.0","id":7,"result":{"a":}}`), ["broken 7"])
    assert.deepStrictEqual(read(`{"result":{"a":},"jsonrpc":"2.0","id":"x"}`), ["broken x"])
  })

  it("survives a value that is nested a million deep", () => {
    const told = read(`{"jsonrpc":"2.0","id":7,"result":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`)
    assert.strictEqual(told.length, 1)
  })

  it("never throws, whatever the line", () => {
    FastCheck.assert(FastCheck.property(FastCheck.fullUnicodeString(), (line) => void read(line)), {
      numRuns: runs(2000)
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.json(), FastCheck.nat(), (json, at) => void read(json.slice(at % json.length))),
      { numRuns: runs(2000) }
    )
  })
})

describe("messageId", () => {
  const edges = (json: string): JsonRpc.Id | undefined => MessageId.ofAnswer(json.slice(0, 512), json.slice(-512))
  const big = { text: "x".repeat(2000), id: 3, "}": "\"id\":4}" }

  it("finds the id before and after the result", () => {
    assert.strictEqual(edges(JSON.stringify({ jsonrpc: "2.0", id: 12, result: big })), 12)
    assert.strictEqual(edges(JSON.stringify({ id: "a\"}b", jsonrpc: "2.0", result: big })), "a\"}b")
    assert.strictEqual(edges(JSON.stringify({ result: big, jsonrpc: "2.0", id: 12 })), 12)
    assert.strictEqual(edges(JSON.stringify({ result: big, id: 12, jsonrpc: "2.0" })), 12)
    assert.strictEqual(edges(JSON.stringify({ jsonrpc: "2.0", result: big, id: 12 }, undefined, 1)), 12)
  })

  it("finds none in a request or a notification of the server", () => {
    assert.isUndefined(edges(JSON.stringify({ jsonrpc: "2.0", id: 12, method: "x", params: big })))
    assert.isUndefined(edges(JSON.stringify({ params: big, jsonrpc: "2.0", method: "x", id: 12 })))
    assert.isUndefined(edges(JSON.stringify({ jsonrpc: "2.0", method: "x", params: big })))
  })

  it("is not misled by an id inside the result", () => {
    const inner = { jsonrpc: "2.0", id: 5, list: [big], last: { jsonrpc: "2.0", id: 6 } }
    FastCheck.assert(
      FastCheck.property(FastCheck.json(), FastCheck.integer(), FastCheck.boolean(), (json, id, first) => {
        const result = {
          inner,
          json,
          pad: "x".repeat(1100),
          text: JSON.stringify({ jsonrpc: "2.0", id: 9 }),
          end: inner
        }
        const message = first ? { jsonrpc: "2.0", id, result } : { result, jsonrpc: "2.0", id }
        assert.strictEqual(edges(JSON.stringify(message)), id)
        assert.isUndefined(edges(JSON.stringify({ jsonrpc: "2.0", result })))
      }),
      { numRuns: runs(1000) }
    )
  })

  it("does not take the beginning of a number for the number", () => {
    assert.isUndefined(MessageId.ofAnswer(`{"jsonrpc":"2.0","id":12`, ""))
  })
})

describe("byteRing", () => {
  it("keeps the end, whatever the pieces", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.string({ maxLength: 300 })),
        FastCheck.integer({ min: 1, max: 400 }),
        (pieces, capacity) => {
          const ring = ByteRing.make(capacity)
          for (const piece of pieces) ring.push(Buffer.from(piece))
          assert.strictEqual(ring.tail(), pieces.join("").slice(-capacity))
          assert.strictEqual(ring.tail(10), pieces.join("").slice(-Math.min(10, capacity)))
        }
      ),
      { numRuns: runs(2000) }
    )
  })

  it("begins at a whole character", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.fullUnicodeString({ minLength: 1 })),
        FastCheck.integer({ min: 1, max: 60 }),
        (pieces, capacity) => {
          const ring = ByteRing.make(capacity)
          for (const piece of pieces) ring.push(Buffer.from(piece))
          const whole = pieces.join("")
          assert.isTrue(whole.endsWith(ring.tail()), ring.tail())
        }
      ),
      { numRuns: runs(2000) }
    )
  })
})
