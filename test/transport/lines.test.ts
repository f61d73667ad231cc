import { assert, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as FastCheck from "effect/FastCheck"
import * as Order from "effect/Order"
import * as ByteRing from "../../src/transport/byteRing.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Lines from "../../src/transport/stdio/lines.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import { runs } from "../support/runs.ts"

/** Cuts bytes at the given places. */
const cut = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const sorted = Arr.sort(new Set(places.map((place) => place % (bytes.length + 1))), Order.number)
  return [0, ...sorted].map((from, i) => Buffer.from(bytes.subarray(from, sorted[i] ?? bytes.length)))
}

const text = FastCheck.stringOf(
  FastCheck.oneof(
    { weight: 8, arbitrary: FastCheck.fullUnicode() },
    { weight: 1, arbitrary: FastCheck.constantFrom("\r", "\uFEFF", "😀", "é", "\u0000") }
  ).filter((char) => char !== "\n"),
  { maxLength: 60 }
)
const places = FastCheck.array(FastCheck.nat(), { maxLength: 40 })

describe("LineFramer", () => {
  it("yields the same lines under any chunking", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(text, { maxLength: 12 }), text, places, (lines, rest, at) => {
        const framer = Lines.makeFramer(1024 * 1024)
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join("") + rest)
        assert.deepStrictEqual(cut(bytes, at).flatMap(framer.push), lines)
        assert.strictEqual(framer.rest(), rest)
      }),
      { numRuns: runs(3000) }
    )
  })

  it("reports a line over the limit twice under any chunking, and loses none of the others", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.nat(200), { maxLength: 12 }), places, (lengths, at) => {
        const limit = 100
        const framer = Lines.makeFramer(limit)
        const lines = lengths.map((length, i) => String.fromCharCode(97 + i).repeat(length))
        const frames = cut(Buffer.from(lines.map((line) => `${line}\n`).join("")), at).flatMap(framer.push)
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

  it("keeps the first 512 bytes and the end of a line that it skips", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 2000, max: 20_000 }), places, (length, at) => {
        const framer = Lines.makeFramer(1024)
        const line = Array.from({ length }, (_, i) => String.fromCharCode(48 + (i % 75))).join("")
        const last = cut(Buffer.from(`${line}\n`), at).flatMap(framer.push).at(-1)
        assert.deepStrictEqual(last, { head: line.slice(0, 512), tail: line.slice(-1024), bytes: length })
      }),
      { numRuns: runs(500) }
    )
  })

  it("holds no more than the limit of a line that does not end", () => {
    const framer = Lines.makeFramer(1024 * 1024)
    const piece = Buffer.alloc(2 * 1024, "x")
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 64 * 1024; i++) framer.push(piece)
    assert.strictEqual(framer.pending(), 128 * 1024 * 1024)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 64 * 1024 * 1024)
  })

  it("takes time in proportion to the bytes when a line drips in", () => {
    const time = (bytes: number): number => {
      const framer = Lines.makeFramer(64 * 1024 * 1024)
      const started = performance.now()
      for (let i = 0; i < bytes; i += 2) framer.push(Buffer.from("xx"))
      assert.strictEqual(String(framer.push(Buffer.from("\n"))[0]).length, bytes)
      return performance.now() - started
    }
    time(100_000)
    // Quadratic would be a minute and more for this size.
    assert.isBelow(time(1_000_000), 5000)
  })
})

/** A reader with a small limit, and what its sink is given. */
const reader = (maxMessageBytes = 1024) => {
  const told: Array<unknown> = []
  let endless = 0
  const sink: Transport.Sink = {
    message: (message) => told.push(message),
    failed: (id, { _tag }) => told.push(`${_tag} ${id}`),
    waiting: () => undefined,
    diagnostic: ({ kind }) => told.push(kind),
    ended: () => undefined
  }
  const lines = Lines.makeReader({ server: "s", maxMessageBytes, sink, onEndless: () => endless++ })
  return { told, endless: () => endless, ...lines, write: (text: string) => lines.push(Buffer.from(text)) }
}

describe("LineReader", () => {
  const read = (line: string, limit = 16 * 1024 * 1024) => {
    const { told, write } = reader(limit)
    write(`${line}\n`)
    return told
  }
  const answer = (id: JsonRpc.Id, result: JsonRpc.JsonObject = {}) => ({ jsonrpc: "2.0", id, result })

  it("reads a message", () => {
    assert.deepStrictEqual(read(`{"jsonrpc":"2.0","id":1,"result":{}}`), [answer(1)])
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

  it("reports a line that is not a JSON object as noise", () => {
    for (const line of ["Listening on stdio", "{ starting }", "42", "\"text\"", "null", "[1, 2", "true"]) {
      assert.deepStrictEqual(read(line), ["noise"], line)
    }
  })

  it("recovers a message behind other text on its line", () => {
    assert.deepStrictEqual(read(`{starting} done.{"jsonrpc":"2.0","id":7,"result":{"a":{}}}\r`), [
      "lenient",
      answer(7, { a: {} })
    ])
  })

  it("recovers messages that are glued together on one line", () => {
    const glued = [answer(1, { text: "}{\"\\" }), answer(2, { id: 3 })].map((message) => JSON.stringify(message))
    assert.deepStrictEqual(read(glued.join("")), ["lenient", ...glued.map((line) => JSON.parse(line))])
    assert.deepStrictEqual(read(`{"jsonrpc":"2.0","id":9,"result":{]}${glued[1]}`), [
      "ProtocolViolation 9",
      JSON.parse(glued[1]!)
    ])
  })

  it("does not take an object in a log line, or a part of a value, for a message", () => {
    assert.deepStrictEqual(read(`INFO request {"id":7}`), ["noise"])
    assert.deepStrictEqual(read(`INFO sent {"jsonrpc":"2.0","id":7,"result":{}} to the client`), ["noise"])
    assert.deepStrictEqual(read(`log: [{"jsonrpc":"2.0","id":7,"result":{}}]`), ["noise"])
  })

  it("names the request whose answer is broken", () => {
    assert.deepStrictEqual(read(`{"jsonrpc":"2.0","id":7,"result":{"a":}}`), ["ProtocolViolation 7"])
    assert.deepStrictEqual(read(`{"result":{"a":},"jsonrpc":"2.0","id":"x"}`), ["ProtocolViolation x"])
  })

  it("survives a value that is nested a million deep", () => {
    const told = read(`{"jsonrpc":"2.0","id":7,"result":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`)
    assert.strictEqual(told.length, 1)
    assert.strictEqual(read(`x${"{\"id\":".repeat(200_000)}`).length, 1)
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

  it("yields the same messages under any chunking, and drops only the line over the limit", () => {
    const item = FastCheck.record({
      size: FastCheck.oneof({ weight: 4, arbitrary: FastCheck.nat(60) }, FastCheck.integer({ min: 1100, max: 5000 })),
      named: FastCheck.boolean(),
      glued: FastCheck.boolean()
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(item, { maxLength: 12 }), places, (items, at) => {
        const { push, told } = reader()
        const expected: Array<unknown> = []
        const output = items.map(({ glued, named, size }, id) => {
          const message = answer(id, { text: "é\"}{\\".repeat(size / 6) })
          const behind = answer(`after ${id}`)
          const line = named ? JSON.stringify(message) : "x".repeat(size)
          const whole = `${line}${glued ? JSON.stringify(behind) : ""}`
          // Of a line over the limit, what comes first is lost, and what comes last is delivered.
          if (named) expected.push(Buffer.byteLength(whole) > 1024 ? `MessageTooLarge ${id}` : message)
          if (glued) expected.push(behind)
          return `${whole}\n`
        })
        for (const chunk of cut(Buffer.from(output.join("")), at)) push(chunk)
        const diagnostics = new Set<unknown>(["noise", "lenient", "oversize"])
        assert.deepStrictEqual(told.filter((one) => !diagnostics.has(one)), expected)
      }),
      { numRuns: runs(2000) }
    )
  })

  it("delivers the answers that are glued behind a line over the limit", () => {
    const { told, write } = reader()
    for (let i = 0; i < 320; i++) write("x".repeat(64 * 1024))
    write(`${JSON.stringify(answer(1))}${JSON.stringify({ result: { id: 9 }, jsonrpc: "2.0", id: 2 })}\n`)
    write(`${JSON.stringify(answer(3))}\n`)
    assert.deepStrictEqual(told, ["oversize", answer(1), { result: { id: 9 }, jsonrpc: "2.0", id: 2 }, answer(3)])
  })

  it("does not take a message inside a result over the limit for an answer", () => {
    const message = answer(5, { text: "x".repeat(2000), recorded: answer(1), last: [answer(2)] })
    assert.deepStrictEqual(read(JSON.stringify(message), 1024), ["MessageTooLarge 5"])
    assert.deepStrictEqual(read(JSON.stringify({ result: message.result, jsonrpc: "2.0", id: 6 }), 1024), [
      "MessageTooLarge 6"
    ])
  })

  it("reads a last line without its end", () => {
    const { end, told, write } = reader()
    write("{\"id\":1}\n{\"id\":2}")
    end()
    assert.deepStrictEqual(told, [{ id: 1 }, { id: 2 }])
  })

  it("does not blame the peer for an answer that its end cut off", () => {
    const { end, told, write } = reader()
    write("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{")
    end()
    assert.deepStrictEqual(told, ["noise"])
  })

  it("reports a line of more than 16 times the limit", () => {
    const { endless, told, write } = reader()
    write("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":\"")
    for (let i = 0; i < 255; i++) write("x".repeat(64 * 1024))
    assert.strictEqual(endless(), 0)
    write("x".repeat(128 * 1024))
    assert.strictEqual(endless(), 1)
    assert.deepStrictEqual(told, ["MessageTooLarge 4"])
  })
})

describe("idOf", () => {
  const edges = (json: string): JsonRpc.Id | undefined => Lines.idOf("response", json, json)
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
    assert.isUndefined(Lines.idOf("response", `{"jsonrpc":"2.0","id":12`, ""))
  })
})

describe("ByteRing", () => {
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
