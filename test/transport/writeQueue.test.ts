import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Program from "../../src/config/program.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as WriteQueue from "../../src/transport/stdio/writeQueue.ts"
import { runs } from "../support/runs.ts"

describe("a batch file as a command", () => {
  /** What cmd.exe makes of carets outside of quotes. */
  const cmd = (line: string): string => line.replace(/\^(.)/g, "$1")

  it("reaches the program with its arguments as they were, through two readings", () => {
    const args = ["plain", "with space", "a&b|c>d", "100%PATH%", "quote\"d", "trailing\\", "caret^", "!bang!", ""]
    const [, , , line] = Program.batchArguments("C:\\npm files\\npx.cmd", args)!
    const read = cmd(cmd(line!.slice(1, -1)))
    const quoted = args.map((arg) => `"${arg.replaceAll("\"", "\\\"").replace(/\\$/, "\\\\")}"`)
    assert.strictEqual(read, ["C:\\npm files\\npx.cmd", ...quoted].join(" "))
  })

  it("leaves no character to cmd.exe", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.stringOf(FastCheck.constantFrom(..."a%&|<>^\"!() \\;,")), (arg) => {
        const [, , , line] = Program.batchArguments("x.cmd", [arg])!
        assert.notMatch(line!.slice("\"x.cmd ".length, -1), /(?<!\^)(?:\^\^)*[%&|<>"!()]/)
      }),
      { numRuns: runs(1000) }
    )
  })

  it("is refused with a line break, which cannot be escaped", () => {
    assert.isUndefined(Program.batchArguments("x.cmd", ["a\nb"]))
    assert.isUndefined(Program.batchArguments("x.cmd", ["a\r"]))
  })
})

describe("WriteQueue", () => {
  /** An outlet that takes a write over when told to. */
  const outlet = () => {
    const written: Array<Buffer> = []
    const pending: Array<() => void> = []
    const state = { isOpen: true, ended: 0, most: 0 }
    const queue = (limit: number) =>
      WriteQueue.make(limit, {
        get writable() {
          return state.isOpen
        },
        write: (data, done) => {
          written.push(Buffer.from(data))
          pending.push(done)
          state.most = Math.max(state.most, pending.length)
        },
        end: () => state.ended++
      })
    return { written, state, queue, take: () => pending.shift()?.(), text: () => Buffer.concat(written).toString() }
  }
  const offer = (queue: WriteQueue.WriteQueue, id: JsonRpc.Id | undefined, line: string) =>
    queue.offer(id, line, Buffer.byteLength(line))
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

  it("writes the lines of one turn at once", async () => {
    const { queue, written } = outlet()
    const lines = queue(1000)
    for (const line of ["a\n", "b\n", "c\n"]) offer(lines, line, line)
    await turn()
    assert.deepStrictEqual(written.map(String), ["a\nb\nc\n"])
  })

  it("keeps order and content, and one write at a time, whatever the sizes and the pace", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.oneof(FastCheck.nat(100), FastCheck.nat(200_000)), { maxLength: 12 }),
        FastCheck.infiniteStream(FastCheck.boolean()),
        async (sizes, pace) => {
          const { queue, state, take, text } = outlet()
          const lines = queue(Infinity)
          const expected = sizes.map((size, i) => `${i}${"é".repeat(size)}\n`)
          for (const [i, line] of expected.entries()) {
            assert.isUndefined(offer(lines, i, line))
            if (pace.next().value) await turn()
            if (pace.next().value) take()
          }
          lines.end()
          for (let i = 0; state.ended === 0 && i < 200; i++) {
            take()
            await turn()
          }
          assert.strictEqual(text(), expected.join(""))
          assert.isAtMost(state.most, 1)
          assert.strictEqual(state.ended, 1)
        }
      ),
      { numRuns: 100 }
    ))

  it("refuses messages over the limit, but accepts one of any size while it is empty", async () => {
    const { queue, take } = outlet()
    const lines = queue(100)
    assert.isUndefined(offer(lines, 1, "x".repeat(500)))
    assert.strictEqual(offer(lines, 2, "y"), 500)
    await turn()
    assert.isUndefined(offer(lines, 3, "z".repeat(90)))
    assert.strictEqual(offer(lines, 4, "z".repeat(20)), 90)
    take()
    await turn()
    assert.isUndefined(offer(lines, 5, "z".repeat(20)))
  })

  it("reports requests of which nothing was handed over as unsent", async () => {
    const { queue, state, take } = outlet()
    const lines = queue(Infinity)
    offer(lines, 1, "x".repeat(60_000))
    await turn()
    offer(lines, 2, "x".repeat(60_000))
    offer(lines, undefined, "x")
    offer(lines, 3, "x".repeat(60_000))
    take()
    lines.stop()
    take()
    assert.deepStrictEqual([1, 2, 3].map((id) => lines.unsent(id)), [false, false, true])
    state.isOpen = false
    const closed = queue(Infinity)
    offer(closed, 1, "x")
    await turn()
    closed.stop()
    assert.isTrue(closed.unsent(1))
  })

  it("drops an abandoned request that still waits", async () => {
    const { queue, text } = outlet()
    const lines = queue(Infinity)
    for (const id of [1, 2, 3]) offer(lines, id, `${id}\n`)
    lines.abandon(2)
    await turn()
    assert.strictEqual(text(), "1\n3\n")
  })

  it("numbers the write under way", async () => {
    const { queue, take } = outlet()
    const lines = queue(Infinity)
    assert.isUndefined(lines.outstanding())
    offer(lines, 1, "x".repeat(100_000))
    await turn()
    assert.strictEqual(lines.outstanding(), 1)
    take()
    assert.strictEqual(lines.outstanding(), 2)
    take()
    assert.isUndefined(lines.outstanding())
  })
})
