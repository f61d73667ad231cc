import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import * as McpEvent from "../../src/McpEvent.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Spill from "../../src/safety/Spill.ts"
import * as Tokens from "../../src/safety/Tokens.ts"
import { runs, samples } from "../support/runs.ts"
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

/** Prose of the scripts that have rates of their own, beside the texts above. */
const scripts: Readonly<Record<string, string>> = {
  Arabic: "هذا البروتوكول معيار مفتوح يسمح للتطبيقات بتزويد النماذج اللغوية الكبيرة بالأدوات والبيانات.",
  Hebrew: "פרוטוקול זה הוא תקן פתוח המאפשר ליישומים לספק כלים ונתונים למודלי שפה גדולים.",
  Hindi: "यह प्रोटोकॉल एक खुला मानक है जो अनुप्रयोगों को बड़े भाषा मॉडलों को उपकरण और डेटा प्रदान करने देता है।",
  Tamil: "இந்த நெறிமுறை ஒரு திறந்த தரநிலையாகும், இது பயன்பாடுகளை பெரிய மொழி மாதிரிகளுக்கு கருவிகள் வழங்க அனுமதிக்கிறது.",
  Thai: "โปรโตคอลนี้เป็นมาตรฐานเปิดที่ช่วยให้แอปพลิเคชันสามารถจัดเตรียมเครื่องมือและข้อมูลให้กับโมเดลภาษาขนาดใหญ่",
  Burmese: "ဤပရိုတိုကောသည် ဖွင့်ထားသော စံနှုန်းတစ်ခုဖြစ်သည်။",
  Amharic: "ይህ ፕሮቶኮል ክፍት መስፈርት ነው።",
  Georgian: "ეს პროტოკოლი არის ღია სტანდარტი, რომელიც აპლიკაციებს საშუალებას აძლევს.",
  Armenian: "Այս արձանագրությունը բաց ստանդարտ է, որը թույլ է տալիս հավելվածներին տրամադրել գործիքներ։",
  Khmer: "ពិធីការនេះគឺជាស្តង់ដារបើកចំហដែលអនុញ្ញាតឱ្យកម្មវិធីផ្តល់ឧបករណ៍។",
  Greek: "Αυτό το πρωτόκολλο είναι ένα ανοιχτό πρότυπο που επιτρέπει στις εφαρμογές να παρέχουν εργαλεία.",
  Vietnamese: "Giao thức này là một tiêu chuẩn mở cho phép các ứng dụng cung cấp công cụ và dữ liệu cho các mô hình.",
  Turkish: "Bu protokol, uygulamaların büyük dil modellerine araçlar ve veriler sağlamasına olanak tanır.",
  "traditional Chinese": "這個協議是一種開放標準，它讓應用程式能夠把外部工具和資料提供給大型語言模型。",
  emoji: "😀🎉👩‍💻🚀🔥💡🇩🇪👍🏽✅❌🧪🧬",
  cuneiform: "𒀀𒀁𒀂𒀃𒀄".repeat(10),
  braille: "⠁⠃⠉⠙".repeat(10),
  mathematics: "∑∫∂√∞≈≠≤≥".repeat(10),
  identifiers: Array.from({ length: 50 }, (_, at) => createHash("md5").update(`${at}`).digest("hex")).join("\n"),
  numbers: Array.from({ length: 300 }, (_, at) => at * 7_919 % 100_000).join(" ")
}

const ratioOf = (text: string) => Effect.map(Tokens.estimate.count(text), (tokens) => tokens / real(text))

describe("an estimate of tokens", () => {
  for (const [name, text] of Object.entries({ ...texts, ...scripts })) {
    // a limit of tokens has to hold, so an estimate may be above the count and hardly below it
    it.effect(`holds for ${name}`, () =>
      Effect.map(ratioOf(text), (ratio) => {
        assert.isAbove(ratio, 0.93)
        assert.isBelow(ratio, 1.75)
      }))
  }

  it.effect("is a number of tokens for any text", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Tokens.estimate.count(""), 0)
      const any = FastCheck.sample(FastCheck.string({ unit: Texts.unit, maxLength: 200 }), runs(2000))
      for (const text of any) {
        const tokens = yield* Tokens.estimate.count(text)
        assert.isTrue(Number.isInteger(tokens) && tokens >= 0 && tokens <= 4 * text.length + 1)
      }
    }))

  it.effect("of a text too long to be read whole comes from samples all over it", () =>
    Effect.gen(function*() {
      const long = texts["log"]!.repeat(40)
      assert.isBelow(Math.abs((yield* count(long)) / (40 * (yield* count(texts["log"]!))) - 1), 0.05)
      const halves = `${" ".repeat(5_000_000)}${"漢".repeat(5_000_000)}`
      assert.isBelow(Math.abs((yield* count(halves)) / (yield* count("漢".repeat(100_000))) / 50 - 1), 0.1)
    }).pipe(Effect.provide(Tokens.layerEstimate)))

  it.scoped("holds the limit of the output guard for each script", () =>
    Effect.gen(function*() {
      const guard = yield* OutputGuard.OutputGuard
      for (const [name, text] of samples(Object.entries({ ...texts, ...scripts }))) {
        const { body } = yield* guard.renderText(`${text}\n`.repeat(Math.ceil(60_000 / text.length)), {
          server: "s",
          tool: "t"
        })
        assert.isAtMost(real(body), 25_000, name)
      }
    }).pipe(
      Effect.provide(OutputGuard.layer()),
      Effect.provide([Tokens.layerEstimate, Spill.layerMemory(), McpEvent.layerNone])
    ), 30_000)
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
})
