import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as FastCheck from "effect/FastCheck"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import * as TokenCount from "../../src/safety/internal/tokenCount.ts"
import { estimate } from "../../src/safety/internal/tokenEstimate.ts"
import * as Tokens from "../../src/safety/Tokens.ts"
import { runs } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

const real = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })

const count = (text: string) => Effect.flatMap(Tokens.Tokens, (tokens) => tokens.count(text))

const noise = (bytes: number, encoding: "base64" | "hex"): string =>
  Buffer.concat(Array.from({ length: bytes / 32 }, (_, at) => createHash("sha256").update(String(at)).digest()))
    .toString(encoding)

const file = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const texts: Readonly<Record<string, string>> = {
  English: "Servers are asked for their tools when they connect, and once more whenever they say that something has "
    + "changed. A list that cannot be fetched leaves the one before in place; nobody has to wait for it. Yesterday's "
    + "meeting agreed, after a long discussion, that the tests should be finished before anything else is released.",
  German: "Das Protokoll ist ein offener Standard, mit dem Anwendungen Werkzeuge und Daten an große Sprachmodelle "
    + "weitergeben. Gestern haben wir den neuen Entwurf besprochen und beschlossen, zuerst die Prüfungen abzuschließen.",
  Russian: "Это открытый стандарт, который позволяет приложениям передавать инструменты и данные большим языковым "
    + "моделям. Вчера мы обсудили новую архитектуру и решили сначала закончить испытания.",
  Chinese: "这个协议是一种开放标准，它让应用程序能够把外部工具和数据提供给大型语言模型。服务器可以提供资源和提示，"
    + "客户端负责管理连接、权限以及结果的安全处理。昨天的会议上大家一致认为应当先完成测试，然后再发布第一个版本。",
  Japanese:
    "このプロトコルは、アプリケーションが外部のツールやデータを大規模言語モデルに提供するためのオープンな標準です。"
    + "昨日の会議では新しい設計について話し合い、まずテストを終えてから最初の版を公開することに決めました。",
  Korean: "이 프로토콜은 애플리케이션이 외부 도구와 데이터를 대규모 언어 모델에 제공하기 위한 개방형 표준입니다. "
    + "어제 회의에서 새로운 설계에 대해 논의했고 먼저 테스트를 끝낸 다음 첫 번째 버전을 공개하기로 했습니다.",
  code: file("src/tools/ToolResult.ts"),
  JSON: file("package.json"),
  log: Array.from(
    { length: 200 },
    (_, at) => `2026-11-18T20:${10 + at % 50}:07.${100 + at}Z INFO [worker-${at % 7}] GET /api/v1/users/${at * 91} 200`
  ).join("\n"),
  base64: noise(16_384, "base64"),
  hexadecimal: noise(16_384, "hex")
}

describe("an estimate of tokens", () => {
  for (const [name, text] of Object.entries(texts)) {
    it(`is off by a quarter at most for ${name}`, () => {
      assert.isBelow(Math.abs(estimate(text) / real(text) - 1), 0.25, `${estimate(text)} for ${real(text)}`)
    })
  }

  it("is a number of tokens for any text", () => {
    assert.strictEqual(estimate(""), 0)
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: Texts.unit, maxLength: 200 }), (text) => {
        const tokens = estimate(text)
        assert.isTrue(Number.isInteger(tokens) && tokens >= 0 && tokens <= 3 * text.length + 1)
      }),
      { numRuns: runs(2000) }
    )
  })

  it.effect("of a text too long to be read whole comes from samples all over it", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const counted = TokenCount.bounded((text) => {
        seen.push(text.length)
        return text.length
      })
      assert.strictEqual(counted("x".repeat(10_000_000)), 10_000_000)
      assert.isAtMost(seen.reduce((sum, length) => sum + length, 0), TokenCount.sampledAbove)
      const long = texts["log"]!.repeat(40)
      const ratio = (yield* count(long)) / (40 * (yield* count(texts["log"]!)))
      assert.isBelow(Math.abs(ratio - 1), 0.05)
    }).pipe(Effect.provide(Tokens.layerEstimate)))
})

describe("a count of tokens", () => {
  it.effect("is the vocabulary's for a short text, whatever is special in it", () =>
    Effect.gen(function*() {
      for (const text of ["", "Hello, world!", texts["Chinese"]!, "a <|endoftext|> b"]) {
        assert.strictEqual(yield* count(text), real(text))
      }
    }).pipe(Effect.provide(Tokens.layerTiktoken())))

  it.effect("knows the vocabulary of older models", () =>
    Effect.gen(function*() {
      assert.isAbove(yield* count(texts["Korean"]!), 1.5 * real(texts["Korean"]!))
    }).pipe(Effect.provide(Tokens.layerTiktoken("cl100k_base"))))

  it.effect("is hardly another for a long text", () =>
    Effect.gen(function*() {
      for (const text of [texts["code"]!, texts["log"]!, texts["base64"]!]) {
        assert.isBelow(Math.abs((yield* count(text)) / real(text) - 1), 0.02)
      }
    }).pipe(Effect.provide(Tokens.layerTiktoken())))

  it.effect("does not take the square of the time for what has no words", () =>
    Effect.gen(function*() {
      // whole, the first of these takes four seconds for each 100 000 characters
      for (const piece of ["a", " ", "!", "漢", "😀"]) assert.isAbove(yield* count(piece.repeat(200_000)), 1000)
    }).pipe(Effect.provide(Tokens.layerTiktoken())))

  it.effect("is an estimate without the package, and the log says so once", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const counting = yield* TokenCount.orEstimated(Effect.fail("no such package"))
      const [one, two] = yield* Effect.all([counting("Hello, world!"), counting("Hello")]).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message))))
      )
      assert.deepStrictEqual([one, two], [estimate("Hello, world!"), estimate("Hello")])
      assert.strictEqual(lines.length, 1)
    }))
})
