import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as McpServer from "../../src/server/McpServer.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

const refuse: McpServer.Handler = () =>
  Effect.fail(new McpServer.Refusal({ code: -32042, message: "no", data: { why: "so" } }))

const deep = (depth: number): McpServer.Handler => () => {
  let value: Record<string, never> = {}
  for (let i = 0; i < depth; i++) value = { in: value } as unknown as typeof value
  return Effect.succeed(value)
}

const offer = PipedCaller.offer({
  echo: PipedCaller.echo,
  refuse,
  die: () => Effect.die(new Error("secret")),
  throw: () => {
    throw new Error("secret")
  },
  interrupt: () => Effect.interrupt,
  deep: deep(100_000),
  large: () => Effect.succeed({ text: "x".repeat(5_000) })
})

/** What a line is answered with. */
const answer = (line: string, expected: { readonly id: string | number | null; readonly code: number }, name: string) =>
  it.scoped(name, () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.initialized(offer, { maxMessageBytes: 4_096 })
      caller.line(line)
      const { error, id } = yield* caller.next
      assert.deepStrictEqual({ id, code: error?.code }, expected)
      assert.notInclude(error?.message ?? "", "secret")
      // nobody else is hurt
      caller.request("after", "ping")
      assert.deepStrictEqual(yield* caller.next, { jsonrpc: "2.0", id: "after", result: {} })
    }))

/** A line that is not answered. */
const silence = (line: string, name: string) =>
  it.scoped(name, () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.initialized(offer)
      caller.line(line)
      caller.request("after", "ping")
      assert.strictEqual((yield* caller.next).id, "after")
    }))

describe("messages over stdio", () => {
  for (
    const [name, line, id, code] of [
      ["what is no JSON is a parse error", "{\"jsonrpc\":\"2.0\",", null, -32700],
      ["a word is a parse error", "hello", null, -32700],
      ["a value that is no object is no request", "7", null, -32600],
      ["null is no request", "null", null, -32600],
      [
        "a message of another version of JSON-RPC is no request",
        "{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"ping\"}",
        3,
        -32600
      ],
      ["a message without a version is no request", "{\"id\":\"x\",\"method\":\"ping\"}", "x", -32600],
      ["a method that is no text is no request", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":3}", 3, -32600],
      ["an empty method is no request", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"\"}", 3, -32600],
      ["a message with nothing but an id is no request", "{\"jsonrpc\":\"2.0\",\"id\":3}", 3, -32600],
      ["null is no id", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", null, -32600],
      ["an object is no id", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", null, -32600],
      ["an endless number is no id", "{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ping\"}", null, -32600],
      [
        "parameters that are a list are invalid",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":[1]}",
        3,
        -32602
      ],
      [
        "parameters that are null are invalid",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":null}",
        3,
        -32602
      ],
      ["a method that nobody has is not found", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nothing\"}", 3, -32601],
      [
        "a method that is a name of objects is not found",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"__proto__\"}",
        3,
        -32601
      ],
      ["a refusal of a handler is its own", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"refuse\"}", 3, -32042],
      ["a list is no message", "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]", null, -32600],
      ["an empty list is no message", "[]", null, -32600],
      [
        "an answer too large to be sent is an internal error",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"large\"}",
        3,
        -32603
      ],
      [
        "an answer too deep to be written is an internal error",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"deep\"}",
        3,
        -32603
      ],
      [
        "a line too long is no request, and its id is found",
        `{"jsonrpc":"2.0","id":3,"method":"echo","params":{"a":"${"x".repeat(5_000)}"}}`,
        3,
        -32600
      ],
      [
        "the id of a line too long is found at its end",
        `{"jsonrpc":"2.0","method":"echo","params":{"a":"${"x".repeat(5_000)}"},"id":"z"}`,
        "z",
        -32600
      ],
      ["a line too long without an id is answered to nobody", "x".repeat(5_000), null, -32600]
    ] as const
  ) answer(line, { id, code }, name)

  for (const method of ["die", "throw", "interrupt"]) {
    for (const era of ["session", "stateless"]) {
      it.scoped(`a handler that ends by ${method} is an internal error without a word of why (${era})`, () =>
        Effect.gen(function*() {
          const caller = yield* PipedCaller.initialized(offer)
          caller.request(7, method, era === "session" ? {} : PipedCaller.stateless())
          assert.deepStrictEqual(yield* caller.next, {
            jsonrpc: "2.0",
            id: 7,
            error: { code: -32603, message: "Internal error" }
          })
        }))
    }
  }

  for (
    const [name, line] of [
      ["a notification that nobody knows is not answered", "{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}"],
      ["a method sent as a notification is not answered", "{\"jsonrpc\":\"2.0\",\"method\":\"echo\"}"],
      ["an answer to nothing is not answered", "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}"],
      [
        "an error without an id is not answered",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"\"}}"
      ],
      ["an answer with no id at all is not answered", "{\"jsonrpc\":\"2.0\",\"result\":{}}"],
      ["a blank line is not answered", "  \t\r"]
    ] as const
  ) silence(line, name)

  it.scoped("the id comes back as it was given", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.initialized(offer)
      for (const id of [0, -1, 1.5, 9_007_199_254_740_991, "", "1", "é\n\u0000", "__proto__"]) {
        caller.request(id, "ping")
        assert.strictEqual((yield* caller.next).id, id)
      }
    }))

  it.scoped("lines may end like those of Windows, with blank ones between them", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.open(offer)
      caller.bytes(
        Buffer.from(
          "\r\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r\n"
        )
      )
      assert.strictEqual((yield* caller.next).id, 1)
      assert.strictEqual((yield* caller.next).id, 2)
    }))

  it.scoped("bytes that are no UTF-8 hurt nobody else", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.open(offer)
      caller.bytes(Buffer.from([0xff, 0xfe, 0xc3, 0x0a]))
      assert.strictEqual((yield* caller.next).error?.code, -32700)
      caller.request(1, "ping")
      assert.strictEqual((yield* caller.next).id, 1)
    }))

  it.scoped("a request nested very deeply is answered like any other", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.initialized(offer)
      const nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`
      caller.line(`{"jsonrpc":"2.0","id":1,"method":"nothing","params":{"a":${nested}}}`)
      assert.strictEqual((yield* caller.next).error?.code, -32601)
      caller.line(`{"jsonrpc":"2.0","id":2,"method":"echo","params":{"a":${nested}}}`)
      assert.strictEqual((yield* caller.next).error?.code, -32603)
    }))

  it.scoped("half a message at the end of the input is a parse error", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.open(offer)
      caller.bytes(Buffer.from("{\"jsonrpc\":\"2.0\",\"id\":1,\"met"))
      yield* caller.end
      assert.deepInclude(yield* caller.next, { id: null })
      yield* caller.ended
    }))

  it.scoped("a last message without the end of its line is served", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.open(offer)
      caller.bytes(Buffer.from("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"))
      yield* caller.end
      yield* caller.ended
      assert.deepStrictEqual(yield* caller.next, { jsonrpc: "2.0", id: 1, result: {} })
    }))

  it.scoped("a line too long that the end of the input cuts off is told as well", () =>
    Effect.gen(function*() {
      const caller = yield* PipedCaller.open(offer, { maxMessageBytes: 1_024 })
      caller.bytes(Buffer.from(`{"jsonrpc":"2.0","id":5,"method":"echo","params":{"a":"${"x".repeat(3_000)}`))
      yield* caller.end
      yield* caller.ended
      const { error, id } = yield* caller.next
      assert.deepStrictEqual({ id, code: error?.code }, { id: 5, code: -32600 })
    }))

  describe("batches", () => {
    const batched = Effect.tap(
      PipedCaller.open(offer, { maxRequests: 8 }),
      (caller) => PipedCaller.initialize(caller, "2025-03-26")
    )

    it.scoped("each request of a batch is answered in the version that has them", () =>
      Effect.gen(function*() {
        const caller = yield* batched
        caller.send([
          { jsonrpc: "2.0", id: 1, method: "ping" },
          { jsonrpc: "2.0", method: "notifications/initialized" },
          { jsonrpc: "2.0", id: 2, method: "nothing" },
          5,
          [{ jsonrpc: "2.0", id: 3, method: "ping" }]
        ])
        const answers = [yield* caller.next, yield* caller.next, yield* caller.next, yield* caller.next]
        assert.sameDeepMembers(answers.map(({ error, id }) => [id, error?.code]), [
          [1, undefined],
          [2, -32601],
          [null, -32600],
          [null, -32600]
        ])
      }))

    it.scoped("an empty batch is no request", () =>
      Effect.gen(function*() {
        const caller = yield* batched
        caller.line("[]")
        assert.strictEqual((yield* caller.next).error?.code, -32600)
      }))

    it.scoped("a batch of more than may run at once is refused as a whole", () =>
      Effect.gen(function*() {
        const caller = yield* batched
        caller.send(Array.from({ length: 9 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })))
        assert.deepInclude(yield* caller.next, { id: null })
        caller.request("after", "ping")
        assert.strictEqual((yield* caller.next).id, "after")
      }))
  })

  it.effect("any chunking of the input gives the same answers", () => {
    const lines = [
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{}}}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r",
      "{\"jsonrpc\":\"2.0\",\"id\":\"é😀\",\"method\":\"echo\",\"params\":{\"a\":\"漢字 \\u0000\"}}",
      "",
      "{\"jsonrpc\":\"2.0\",\"id\":2,",
      `{"jsonrpc":"2.0","id":3,"method":"echo","params":{"a":"${"é".repeat(400)}"}}`,
      "[{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"nothing\"}]",
      "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"refuse\"}",
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"met"
    ]
    const whole = Buffer.from(lines.join("\n"))
    const served = (cuts: ReadonlyArray<number>) =>
      Effect.scoped(Effect.gen(function*() {
        const caller = yield* PipedCaller.open(offer, { maxMessageBytes: 512 })
        let from = 0
        for (const to of [...cuts, whole.length]) {
          caller.bytes(whole.subarray(from, to))
          from = to
        }
        yield* caller.end
        yield* caller.ended
        return caller.written.toSorted()
      }))
    return Effect.gen(function*() {
      const expected = yield* served([])
      assert.lengthOf(expected, 8)
      const places = FastCheck.sample(FastCheck.array(FastCheck.nat(whole.length), { maxLength: 30 }), 25)
      for (const cuts of [...places, Array.from(whole.keys())]) {
        assert.deepStrictEqual(yield* served(cuts.toSorted((one, other) => one - other)), expected)
      }
    })
  })
})
