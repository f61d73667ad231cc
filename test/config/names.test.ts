import { assert, describe, it } from "@effect/vitest"
import Ajv from "ajv/dist/2020.js"
import { Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import { jsonSchema } from "../../schema/nativeDocument.ts"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import * as Dialect from "../../src/config/Dialect.ts"
import * as Reader from "../../src/config/reader.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"

/** What a file with servers of these names has: `Server`, or why it has none. */
const read = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const root = new Map([["mcpServers", new Map(names.map((name) => [name, new Map([["command", "x"]])]))]])
  const { items } = Reader.decode(Dialect.find("native")!, root, {
    scope: "user",
    origin: "home",
    path: "/x/mcp-client.json"
  })
  return items.map((item) => item._tag === "Invalid" ? `${item.kind}: ${item.detail}` : item._tag)
}

/** The same for code. */
const inCode = (name: string): boolean => {
  const made = Effect.runSync(Effect.either(ServerConfig.stdio({ name, command: "x" })))
  if (made._tag === "Right") return made.right.name === name
  assert.instanceOf(made.left, McpError.ConfigurationError)
  assert.strictEqual(made.left.path, "name")
  return false
}

const refused: Readonly<Record<string, ReadonlyArray<readonly [what: string, name: string]>>> = {
  "which matches any characters": [
    ["perm-021, of a server: a wildcard of rules", "*"],
    ["the same within", "git*"]
  ],
  "invisible blanks": [
    ["a blank in front", " github"],
    ["a blank at the end", "github "],
    ["two blanks", "my  docs"],
    ["nothing but a blank", " "]
  ],
  "invisible characters": [
    ["a joiner after a letter that has no use for it", "\u00fcn\u00ef\u200dcode"],
    ["two joiners", "\u0645\u06cc\u200c\u200c\u062e\u0648"],
    ["a selector that selects nothing", "\u{1f680}\ufe0f"],
    ["a Hangul filler", "git\u3164hub"],
    ["a blank without width", "docs\u200b"],
    ["a joiner after a letter of ASCII", "do\u200dcs"],
    ["a selector after a letter", "docs\ufe0f"],
    ["a mark of byte order", "\ufeffdocs"],
    ["what turns the order of letters", "a\u202eb"],
    ["another end of line", "a\u2028b"],
    ["a word joiner", "a\u2060b"],
    ["a tag", "a\u{e0041}"],
    ["an anchor of a note", "docs\ufff9"],
    ["half a character", "a\ud800"]
  ],
  "compatibility forms": [
    ["uni-031 fullwidth-name", "\uff52\uff45\uff41\uff44"],
    ["uni-032 nfkc-collision", "\ufb01le_read"],
    ["uni-033 nfc-vs-nfd, the second", "cafe\u0301"],
    ["mathematical letters", "\u{1d5c0}ithub"],
    ["letters in circles", "\u24d6ithub"],
    ["a sign that is a letter", "\u212athub"],
    ["a blank that is none of ASCII", "my\u00a0docs"],
    ["the long s", "\u017fearch"],
    ["three dots", "docs\u2026"],
    ["a superscript", "docs\u00b2"],
    ["Hangul in pieces", "\u1112\u1161\u11ab"],
    ["narrow kana", "\uff76\uff85"]
  ],
  "mixes letters": [
    ["uni-030 homoglyph-server", "g\u0456thub"],
    ["uni-029 homoglyph-tool, of a server", "re\u0430d_file"],
    ["Greek in Latin", "g\u03b9thub"],
    ["Armenian in Latin", "d\u0585cs"],
    ["Cherokee", "\u13a0\u13d9\u13df"],
    ["Cyrillic and Greek", "\u0434\u03bf\u043c"],
    ["Latin and Arabic digits", "docs\u0661"],
    ["Lisu", "\ua4d6\ua4f2\ua4d4"],
    ["Coptic", "\u2c9f\u2ca3"],
    ["for private use", "git\ue0a0hub"],
    ["blank Braille", "git\u2800hub"],
    ["Cyrillic and Han", "\u0434\u65e5"]
  ],
  "look like Latin letters": [
    ["whole words of Cyrillic", "\u0440\u0430\u0443\u0440\u0430\u04cf"],
    ["with digits and signs", "\u0430\u0441\u0435-2"],
    ["with accents", "\u0451\u0451"],
    ["capitals", "\u0421\u0415\u0420\u0412\u0415\u0420"],
    ["whole words of Greek", "\u03bd\u03bf\u03c5"],
    ["Armenian", "\u0570\u0578\u0585"]
  ],
  "look like others": [
    ["another hyphen", "git\u2010hub"],
    ["a minus", "git\u2212hub"],
    ["a slash of mathematics", "docs\u2215api"],
    ["a star of mathematics", "docs\u2217"],
    ["a colon that is a letter", "docs\ua789api"],
    ["a bar that is a letter", "docs\u01c0api"],
    ["a dot on a dotted letter", "gi\u0307thub"],
    ["the same accent twice", "x\u0332\u0332"],
    ["a heap of accents (uni-028)", "x\u0300\u0301\u0302\u0303\u0304\u0306"],
    ["a letter of phonetics", "\u0261ithub"],
    ["a letter for a tone", "githu\u0185"],
    ["an accent on nothing", "\u0301docs"],
    ["a letter of dialects", "\uab36ithub"],
    ["a letter in a black square", "\u{1f176}ithub"],
    ["small capitals", "\u0280ead"],
    ["a stroke of Japanese in Latin", "git\u30fchub"],
    ["a one that is a hyphen", "git\u4e00hub"]
  ]
}

const taken: ReadonlyArray<readonly [what: string, name: string]> = [
  ["of ASCII", "docs"],
  ["with blanks", "has space"],
  ["with dots and slashes", "dots.and/slash"],
  ["with any other sign", "\"a\" <b> (c) [d] {e} $f? 100% #1 @x+y=z; it's"],
  ["with accents", "\u00fcn\u00efcode"],
  ["uni-033 nfc-vs-nfd, the first", "caf\u00e9"],
  ["uni-034 turkish-i", "\u0130NIT"],
  ["uni-034 turkish-i, the small one", "hat\u0131rlat\u0131c\u0131"],
  ["Vietnamese", "T\u00e0i li\u1ec7u"],
  ["Russian", "\u043f\u043e\u0433\u043e\u0434\u0430 \u0438 \u0441\u0435\u0440\u0432\u0435\u0440"],
  ["Greek", "\u03ba\u03b1\u03b9\u03c1\u03cc\u03c2"],
  ["Armenian", "\u0565\u0572\u0561\u0576\u0561\u056f"],
  ["Hebrew", "\u05de\u05d6\u05d2 \u05d0\u05d5\u05d5\u05d9\u05e8"],
  ["Arabic with its digits", "\u0637\u0642\u0633 \u0662"],
  ["Persian with a joiner", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
  ["Hindi", "\u092e\u094c\u0938\u092e"],
  ["Thai", "\u0e2d\u0e32\u0e01\u0e32\u0e28"],
  ["Chinese", "\u5929\u6c14 MCP"],
  ["Japanese", "\u30b5\u30fc\u30d0\u30fc\u306e\u5929\u6c17 API"],
  ["Korean", "\ub0a0\uc528 api"],
  ["an emoji of several", "\u{1f469}\u200d\u{1f4bb}"],
  ["an emoji made of a sign", "\u2699\ufe0f tools"],
  ["a keycap", "1\ufe0f\u20e3 first"],
  ["a flag", "\u{1f1e9}\u{1f1ea}"]
]

describe("the name of a server", () => {
  for (const [why, names] of Object.entries(refused)) {
    for (const [what, name] of names) {
      it(`is not taken with ${what}`, () => {
        const [found] = read([name])
        assert.match(found!, /^invalid-name: /)
        assert.include(found, why)
        assert.isFalse(inCode(name))
      })
    }
  }

  for (const [what, name] of taken) {
    it(`is taken ${what}`, () => {
      assert.deepStrictEqual(read([name]), ["Server"])
      assert.isTrue(inCode(name))
    })
  }

  it("is one to an editor just where it is one to a reader", () => {
    const isTold = new Ajv({ strict: false }).compile(jsonSchema())
    const document = (name: string) => ({ mcpServers: { [name]: { command: "x" } } })
    for (const [, name] of taken) {
      assert.isTrue(isTold(document(name)), name)
    }
    for (const [, name] of Object.values(refused).flat()) {
      // of other letters a pattern knows nothing
      if (/^[ -~]*$/.test(name)) assert.isFalse(isTold(document(name)), name)
    }
  })

  it("differs by its case, in no language's way (uni-034)", () => {
    const names = ["INIT", "init", "\u0130NIT", "\u0131nit"]
    assert.deepStrictEqual(read(names), names.map(() => "Server"))
  })

  it.effect("that is refused is told with the reason, and costs no other server", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ mcpServers: { "g\u0456thub": { command: "x" }, docs: { command: "x" } } })
      const { issues, items } = yield* ConfigFile.decode(new TextEncoder().encode(text), {
        host: "native",
        scope: "user",
        origin: "home"
      })
      assert.deepStrictEqual(items.map((item) => [item._tag, item.name]), [["Invalid", "g\u0456thub"], [
        "Server",
        "docs"
      ]])
      assert.include(issues.map(({ message }) => message).join(), "letters of different scripts")
    }))

  const piece = FastCheck.oneof(
    FastCheck.constantFrom("a", "B", " ", "*", "\u0430", "\u044f", "\u03bb", "\u0301", "\u200d", "\u{1f680}", "\u5929"),
    FastCheck.fullUnicodeString({ minLength: 1, maxLength: 1 })
  )
  const names = FastCheck.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""))
  it.prop("is refused in code as in files", [names], ([name]) => {
    // only on a command line it would be an option
    FastCheck.pre(!name.startsWith("-"))
    assert.strictEqual(inCode(name), read([name])[0] === "Server")
  })
})
