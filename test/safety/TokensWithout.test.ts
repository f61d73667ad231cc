import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { vi } from "vitest"
import * as Tokens from "../../src/safety/Tokens.ts"

vi.mock("gpt-tokenizer/encoding/o200k_base", () => {
  throw new Error("no such package")
})

describe("a count of tokens without its package", () => {
  it.effect("is an estimate, and the log says so once", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const { count } = yield* Tokens.Tokens
      const text = "Hello, world!"
      const counted = yield* Effect.all([count(text), count(text)]).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message))))
      )
      const estimated = yield* Tokens.estimate.count(text)
      assert.deepStrictEqual(counted, [estimated, estimated])
      assert.strictEqual(lines.length, 1)
    }).pipe(Effect.provide(Tokens.layerTiktoken())))
})
