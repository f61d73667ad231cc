import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Logger } from "effect"
import { readFileSync } from "node:fs"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as TransitionLog from "../../src/observability/TransitionLog.ts"
import * as UntrustedText from "../../src/text/UntrustedText.ts"
import * as Tool from "../../src/tools/Tool.ts"
import { runs } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

interface Case {
  readonly id: string
  readonly text: string | ReadonlyArray<string>
}

const cases = JSON.parse(readFileSync(new URL("../fixtures/safety/terminal-escapes.json", import.meta.url), "utf8"))
  .cases as ReadonlyArray<Case>

/** The text of each case, and each of its chunks, which a sink may see alone. */
const texts = cases.flatMap(({ id, text }) =>
  typeof text === "string" ? [{ id, text }] : [...text, text.join("")].map((part) => ({ id, text: part }))
)

// Bytes of UTF-8 and not characters: a terminal of eight bits obeys C1 as well.
const obeyed = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/

const isHarmless = (shown: string, id: string): void => assert.notMatch(shown, obeyed, id)

describe("what a server says, on its way to a terminal", () => {
  it("is one line without a character that a terminal obeys, and shows each of them", () => {
    assert.isAbove(texts.length, 25)
    for (const { id, text } of texts) {
      const shown = UntrustedText.escape(text)
      isHarmless(shown, id)
      assert.strictEqual(shown.includes("\\x1b"), text.includes("\u001b"), id)
      isHarmless(UntrustedText.excerpt(text, 10), id)
    }
  })

  it("is harmless whatever it is, and the same once it is harmless", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: Texts.unit, maxLength: 200 }), (text) => {
        const shown = UntrustedText.escape(text)
        isHarmless(shown, "any text")
        assert.notMatch(shown, /[\u202a-\u202e\u2066-\u2069\u200b-\u200f]|[\u{e0000}-\u{e007f}]/u)
        assert.strictEqual(UntrustedText.escape(shown), shown)
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("hides nothing, and is left as it is where it is only of another script", () => {
    const hidden = [
      "\u{e0141}\u{e0142}",
      "\u115f",
      "\u3164",
      "\uffa0",
      "\u17b4",
      "\u034f",
      "\u{1d173}",
      "\u{1bca0}",
      "\u{e01f0}"
    ]
    for (const one of hidden) assert.match(UntrustedText.escape(`a${one}b`), /^a(?:\\u\{[0-9a-f]+\})+b$/)
    // what was cut in two is no character any more
    assert.strictEqual(UntrustedText.excerpt("a\u{1f600}b", 2), "a\\u{d83d}… (2 more characters)")
    for (
      const plain of [
        "\u845b\u{e0100}",
        "\u2764\ufe0f",
        "\u0e19\u0e49\u0e33",
        "\u1112\u1161\u11ab",
        "\u{1f469}\u{1f3fd}"
      ]
    ) {
      assert.strictEqual(UntrustedText.escape(plain), plain)
    }
  })

  it("is harmless in the message of an error, with its name and its stderr", () => {
    for (const { id, text } of texts) {
      const errors = [
        new McpError.HttpError({
          server: text,
          reason: "status",
          status: 500,
          detail: UntrustedText.excerpt(text),
          outcome: "unknown"
        }),
        new McpError.ConnectionLost({
          server: text,
          reason: "stdout-ended",
          detail: text,
          outcome: "unknown",
          stderrTail: text
        })
      ]
      for (const error of errors) isHarmless(error.message, id)
    }
  })

  it.effect("is harmless in a line of the log", () =>
    Effect.gen(function*() {
      const lines: Array<ReadonlyArray<string>> = []
      const logger = Logger.make(({ annotations, message }) => {
        lines.push([String(message), ...Array.from(annotations, ([, value]) => String(value))])
      })
      const bus = yield* McpEvent.make(texts.length)
      yield* Effect.scoped(Effect.zipRight(
        Layer.build(TransitionLog.layer),
        Effect.sync(() => {
          for (const { text } of texts) bus.publish({ _tag: "CacheIssue", server: text, detail: text })
        })
      )).pipe(
        Effect.provideService(McpEvent.McpEvents, bus),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      assert.lengthOf(lines, texts.length)
      for (const [at, line] of lines.entries()) {
        assert.lengthOf(line, 2)
        for (const text of line) isHarmless(text, texts[at]!.id)
      }
    }).pipe(Effect.scoped))

  it("is harmless in the refusal of a tool by that name", () => {
    for (const { id, text } of texts) {
      const { rejected } = Tool.decodeAll([{ name: text, inputSchema: { type: "object" } }], {
        maxSchemaBytes: 1_000,
        paramHeaders: false
      })
      for (const { detail, name } of rejected) {
        isHarmless(name, id)
        isHarmless(detail, id)
      }
    }
  })
})
