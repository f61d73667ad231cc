import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import { parse as parseYaml, stringify as stringifyYaml } from "yaml"
import * as Document from "../../src/config/document.ts"
import { costlyRuns, samples } from "../support/runs.ts"

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const decode = (
  content: string | Uint8Array,
  format: Document.Format = "json",
  limits?: Partial<Document.Limits>
) => Document.decode(typeof content === "string" ? encode(content) : content, format, limits)

/** The kinds of a document's issues, with their places. */
const kinds = ({ issues }: Document.Document): ReadonlyArray<string> =>
  issues.map(({ at, kind, line }) =>
    `${kind}${at === undefined ? "" : `:${at}`}${line === undefined ? "" : `@${line}`}`
  )

/** What `JSON.parse` gives as what we give. */
const asValue = (json: unknown): Document.Value => {
  if (Array.isArray(json)) return json.map(asValue)
  if (typeof json !== "object" || json === null) return json as Document.Value
  return new Map(Object.entries(json).map(([key, value]) => [key, asValue(value)]))
}

/** With what is exact as near as other parsers have it. */
const rounded = (value: Document.Value): Document.Value => {
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Map) return new Map(Array.from(value, ([key, held]) => [key, rounded(held)]))
  return Array.isArray(value) ? value.map(rounded) : value
}

const formats = ["json", "jsonc", "toml", "yaml"] as const

const nested = (levels: number): { readonly [F in "json" | "toml" | "yaml"]: string } => ({
  json: "{\"a\":".repeat(levels) + "1" + "}".repeat(levels),
  toml: `a = ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}`,
  yaml: Array.from({ length: levels }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n") + " 1"
})

const bomb = (levels: number, width: number): string =>
  Array.from(
    { length: levels },
    (_, at) => `a${at}: &a${at} [${Array.from({ length: width }, () => at === 0 ? "x" : `*a${at - 1}`).join(", ")}]`
  ).join("\n")

describe("a document", () => {
  const accepted: ReadonlyArray<
    readonly [
      name: string,
      format: Document.Format,
      text: string,
      root: ReadonlyArray<readonly [string, Document.Value]>,
      kinds?: ReadonlyArray<string>
    ]
  > = [
    ["takes nothing for an empty table", "json", "", [], ["empty-file"]],
    ["takes space for an empty table", "json", " \r\n\t", [], ["empty-file"]],
    ["takes comments for an empty table", "jsonc", "// soon\n/* more */", [], ["empty-file"]],
    ["takes an empty TOML for an empty table", "toml", "# soon\n", [], ["empty-file"]],
    ["takes an empty YAML for an empty table", "yaml", "# soon\n", [], ["empty-file"]],
    ["takes an empty table as it is", "json", "{}", []],
    ["drops a byte order mark", "json", "\ufeff{\"a\":1}", [["a", 1]], ["bom-stripped"]],
    ["drops it from TOML", "toml", "\ufeffa = 1", [["a", 1]], ["bom-stripped"]],
    ["drops it from YAML", "yaml", "\ufeffa: 1", [["a", 1]], ["bom-stripped"]],
    ["takes comments", "jsonc", "{ /* a */ \"a\": 1 // \"b\"\n}", [["a", 1]]],
    ["says that a strict host takes no comments", "json", "{\n\"a\": 1 // b\n}", [["a", 1]], [
      "jsonc-in-strict-json@2"
    ]],
    ["takes trailing commas", "jsonc", "{\"a\":[1,],}", [["a", [1]]]],
    ["says that a strict host takes none", "json", "{\"a\":[1,]}", [["a", [1]]], ["jsonc-in-strict-json@1"]],
    ["sees no comment in a text", "json", "{\"a\":\"https://b//c/*d*/\"}", [["a", "https://b//c/*d*/"]]],
    ["lets the last of two members win", "json", "{\"a\":1,\n\"a\":2}", [["a", 2]], ["duplicate-key:a@2"]],
    [
      "names the way to a member that is there twice, once",
      "json",
      "{\"s\":{\"a\":[{},{\"c\":1,\"c\":2,\"c\":3}]}}",
      [["s", new Map([["a", [new Map(), new Map([["c", 3]])]]])]],
      ["duplicate-key:s/a/1/c@1"]
    ],
    ["reads a key by what it stands for", "json", "{\"\\u0061\":1,\"a\":2}", [["a", 2]], ["duplicate-key:a@1"]],
    ["keeps large integers exact", "json", "{\"a\":9007199254740993}", [["a", 9007199254740993n]]],
    ["keeps large integers of TOML exact", "toml", "a = -9007199254740993", [["a", -9007199254740993n]]],
    ["keeps large integers of YAML exact", "yaml", "a: 9007199254740993", [["a", 9007199254740993n]]],
    ["keeps numbers that are too large as infinite", "json", "{\"a\":1e400,\"b\":-1e400}", [
      ["a", Infinity],
      ["b", -Infinity]
    ]],
    ["writes halves of characters as what they are", "json", "{\"a\\udc00\":\"\\ud800\"}", [["a\ufffd", "\ufffd"]]],
    ["reads every escape", "json", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"}", [["a", "\"\\/\b\f\n\r\té"]]],
    ["keeps whole ones that are escaped", "json", "{\"a\":\"\\ud83d\\ude00\"}", [["a", "😀"]]],
    ["keeps keys that look like indices in their order", "json", "{\"4294967294\":1,\"b\":2,\"0\":3}", [
      ["4294967294", 1],
      ["b", 2],
      ["0", 3]
    ]],
    ["keeps dates of TOML", "toml", "a = 2026-11-18T00:00:00Z", [["a", new Date("2026-11-18T00:00:00Z")]]],
    ["reads YAML by its core schema", "yaml", "a: no\nb: 1.10\nc: true\nd: 1e3\ne: ~\n1.10: f", [
      ["a", "no"],
      ["b", 1.1],
      ["c", true],
      ["d", 1000],
      ["e", null],
      ["1.10", "f"]
    ]],
    ["does so whatever version it claims", "yaml", "%YAML 1.1\n---\na: no\nb: {<<: {c: 1}}", [
      ["a", "no"],
      ["b", new Map([["<<", new Map([["c", 1]])]])]
    ]],
    ["makes no object of a tag", "yaml", "a: !!js/function 'x'\nb: !new y", [["a", "x"], ["b", "y"]]],
    ["takes what is tagged as a number for one", "yaml", "a: !!int '5'\nb: !<tag:yaml.org,2002:float> .5\nc: !!str 1", [
      ["a", 5],
      ["b", 0.5],
      ["c", "1"]
    ]],
    ["reads all numbers of YAML", "yaml", "a: 0x1F\nb: -.inf\nc: 0o17\nd: 1_0\ne: +5.e1\nf: '1'", [
      ["a", 31],
      ["b", -Infinity],
      ["c", 15],
      ["d", "1_0"],
      ["e", 50],
      ["f", "1"]
    ]],
    ["ends a line of YAML at a carriage return alone", "yaml", "a: b\rc: |\r d\r\n e\r", [["a", "b"], ["c", "d\ne\n"]]],
    ["takes an escape that looks like one of no character", "yaml", "a: \"\\\\U00110000\\U0001F600\"", [
      ["a", "\\U00110000😀"]
    ]],
    ["follows an alias", "yaml", "a: &a {b: 1}\nc: *a\nd: [*a, *a]", [
      ["a", new Map([["b", 1]])],
      ["c", new Map([["b", 1]])],
      ["d", [new Map([["b", 1]]), new Map([["b", 1]])]]
    ]]
  ]
  for (const [name, format, text, root, expected = []] of accepted) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const document = yield* decode(text, format)
        assert.deepStrictEqual(Array.from(document.root ?? []), root)
        assert.deepStrictEqual(kinds(document), expected)
      }))
  }

  const refused: ReadonlyArray<
    readonly [name: string, format: Document.Format, content: string | Uint8Array, kind: string]
  > = [
    ["is no UTF-16", "json", Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), "encoding"],
    ["is no UTF-16 with the bytes exchanged", "toml", Uint8Array.of(0xfe, 0xff, 0, 0x61), "encoding"],
    ["is no UTF-16 without a mark", "json", Uint8Array.of(0x7b, 0, 0x7d, 0), "encoding"],
    ["has no stray bytes", "json", Uint8Array.of(0x7b, 0xc3, 0x28, 0x7d), "encoding"],
    ["has no characters that are too long", "yaml", Uint8Array.of(0xc0, 0xaf), "encoding"],
    ["is no JSON5 with single quotes", "jsonc", "{'a':1}", "syntax@1"],
    ["is no JSON5 with bare keys", "jsonc", "{a:1}", "syntax@1"],
    ["has no NaN", "json", "{\n\"a\":NaN}", "syntax@2"],
    ["has no numbers with leading zeros", "json", "{\"a\":01}", "syntax@1"],
    ["has no numbers without an end", "json", "{\"a\":1.}", "syntax@1"],
    ["has no numbers of a thousand digits", "json", `{"a":${"9".repeat(1001)}}`, "syntax@1"],
    ["has no such numbers in TOML", "toml", `a = ${"9".repeat(1001)}`, "syntax"],
    ["has no such numbers in YAML", "yaml", `a: ${"9".repeat(300)}\nb: ${"9".repeat(1001)}`, "syntax@2"],
    ["has no line breaks in texts", "json", "{\"a\":\"\n\"}", "syntax@1"],
    ["has no control characters in texts", "json", "{\"a\":\"\t\"}", "syntax@1"],
    ["has no escapes of less than four digits", "json", "{\"a\":\"\\u12g4\"}", "syntax@1"],
    ["has no backslash at its end", "json", "{\"a\":\"\\", "syntax@1"],
    ["has no numbers with an exponent alone", "json", "{\"a\":1e}", "syntax@1"],
    ["has no words with more to them", "json", "{\"a\":trueish}", "syntax@1"],
    ["has no space but that of JSON", "json", "{\"a\":\u00a01}", "syntax@1"],
    ["has no comment that ends where it begins", "jsonc", "{} /*/", "syntax@1"],
    ["has no unknown escapes", "json", "{\"a\":\"\\x\"}", "syntax@1"],
    ["has an end of its comment", "jsonc", "{} /* {}", "syntax@1"],
    ["has no lone comma", "jsonc", "{,}", "syntax@1"],
    ["has no two commas", "jsonc", "{\"a\":[1,,2]}", "syntax@1"],
    ["has no wrong brackets", "jsonc", "{\"a\":[1}", "syntax@1"],
    ["has no second value", "json", "{}\n{}", "syntax@2"],
    ["has no conflict markers", "json", "{\n<<<<<<< ours\n\"a\":1\n=======\n>>>>>>> theirs\n}", "syntax@2"],
    ["has no conflict markers in TOML", "toml", "a = 1\n<<<<<<< ours\n", "syntax@2"],
    ["has no conflict markers in YAML", "yaml", "<<<<<<< ours\na: 1\n=======\n", "syntax@1"],
    ["has no keys of a megabyte", "json", `{"${"k".repeat(1e6)}":1}`, "syntax@1"],
    [
      "has no thousands of members that are there twice",
      "json",
      `{${"\"a\":{\"b\":1,\"b\":1},".repeat(1)}"z":[${
        Array.from({ length: 1001 }, (_, at) => `{"${at}":1,"${at}":1}`).join()
      }]}`,
      "syntax@1"
    ],
    ["is one document", "yaml", "a: 1\n---\nb: 2", "syntax@2"],
    ["is not indented with tabs", "yaml", "a:\n\tb: 1", "syntax@2"],
    ["has no key twice in YAML", "yaml", "a: 1\nb: 2\na: 3", "syntax@3"],
    ["has no key twice in TOML", "toml", "a = 1\nb = 2\na = 3", "syntax@3"],
    ["has no table as a key", "yaml", "? [a]\n: 1", "syntax@1"],
    ["has no alias of nothing", "yaml", "a: *b", "syntax@1"],
    ["has no second document without a mark", "yaml", "# a\n---\nb: 1\n...\nb: 2", "syntax@4"],
    ["has no escapes of what is no character", "yaml", "a: b\nc: \"\\\\\\U00110000\"", "syntax@2"],
    ["has no bare text in TOML", "toml", "a = b", "syntax@1"],
    ["has no null at the top", "json", "null", "root-not-object@1"],
    ["has no null at the top of YAML", "yaml", "~", "root-not-object@1"],
    ["has no list at the top", "json", "[]", "root-not-object@1"],
    ["has no list at the top of YAML", "yaml", "- a", "root-not-object@1"],
    ["has no text at the top", "json", "\n\"a\"", "root-not-object@2"],
    ["has no number at the top", "yaml", "1", "root-not-object@1"],
    ["has no alias of itself", "yaml", "a: &a [*a]", "alias-limit@1"],
    ["has no aliases of aliases of aliases", "yaml", bomb(9, 9), "alias-limit@3"],
    ["has no long chain of aliases", "yaml", bomb(100, 1), "alias-limit@53"],
    [
      "has no large list a thousand times",
      "yaml",
      `a: &a [${"x,".repeat(200)}]\nb: [${"*a,".repeat(600)}]`,
      "alias-limit@2"
    ]
  ]
  for (const [name, format, content, kind] of refused) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const document = yield* decode(content, format)
        assert.strictEqual(document.root, undefined)
        assert.deepStrictEqual(kinds(document).slice(-1), [kind])
        assert.strictEqual(document.position([]), undefined)
      }))
  }

  it.effect("is as deep as is allowed, and no deeper", () =>
    Effect.gen(function*() {
      for (const format of ["json", "toml", "yaml"] as const) {
        assert.deepStrictEqual(kinds(yield* decode(nested(64)[format], format)), [], format)
        const [kind] = kinds(yield* decode(nested(65)[format], format))
        assert.match(kind ?? "", /^nesting-too-deep@/, format)
      }
      assert.match(kinds(yield* decode(`[${"a.".repeat(64)}b]`, "toml"))[0] ?? "", /^nesting-too-deep/)
      assert.match(kinds(yield* decode(`[${"a.".repeat(62)}b]\nc = [{ d = 1 }]`, "toml"))[0] ?? "", /^nesting-too-deep/)
    }))

  it.effect("is as deep as what its aliases stand for", () =>
    Effect.gen(function*() {
      const text = (levels: number) =>
        `a: &a ${"[".repeat(60)}${"]".repeat(60)}\nb: ${"[".repeat(levels)}*a${"]".repeat(levels)}`
      assert.deepStrictEqual(kinds(yield* decode(text(3), "yaml")), [])
      assert.deepStrictEqual(kinds(yield* decode(text(4), "yaml")), ["nesting-too-deep@2"])
    }))

  it.effect("says that it is in the middle of a merge", () =>
    Effect.gen(function*() {
      const { issues } = yield* decode("{\n<<<<<<< ours\n\"a\":1\n=======\n>>>>>>> theirs\n}")
      assert.include(issues[0]?.detail, "conflict markers")
    }))

  it.effect("ends where it is too deep, and not in the depths", () =>
    Effect.gen(function*() {
      for (const format of formats) {
        for (const unit of samples(["[", "{\"a\":", "a = [", "a = {b=", "- ", "? ", "a.", "[[a]]\n[a."])) {
          const [issue] = (yield* decode(unit.repeat(100_000), format)).issues
          assert.include(
            ["nesting-too-deep", "syntax", "too-many-entries", "root-not-object"],
            issue?.kind,
            `${format} ${unit}`
          )
        }
        const deep = format === "toml" ? `a = ${"[".repeat(1e5)}` : "[".repeat(1e5)
        assert.strictEqual((yield* decode(deep, format)).issues[0]?.kind, "nesting-too-deep")
      }
    }))

  it.effect("has as many entries and bytes as are allowed, and no more", () =>
    Effect.gen(function*() {
      const limits = { maxEntries: 6, maxBytes: 40 }
      const six = {
        json: "{\"a\":[1,2,3],\"b\":{\"c\":1}}",
        toml: "a = [1,2,3]\nb.c = 1",
        yaml: "a: [1,2,3]\nb:\n  c: 1"
      }
      const seven = {
        json: "{\"a\":[1,2,3,4],\"b\":{\"c\":1}}",
        toml: "a = [1,2,3,4]\nb.c = 1",
        yaml: "a: [1,2,3,4]\nb:\n  c: 1"
      }
      for (const format of ["json", "toml", "yaml"] as const) {
        assert.deepStrictEqual(kinds(yield* decode(six[format], format, limits)), [], format)
        assert.strictEqual((yield* decode(seven[format], format, limits)).issues[0]?.kind, "too-many-entries", format)
        const text = "a".padEnd(41)
        assert.deepStrictEqual(kinds(yield* decode(text, format, limits)), ["file-too-large"], format)
        assert.notStrictEqual((yield* decode(text.slice(1), format, limits)).issues[0]?.kind, "file-too-large", format)
      }
    }))

  it.effect("holds three thousand servers in every format", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 3001 }, (_, at) => `s${at}`)
      const texts = {
        json: JSON.stringify({
          m: Object.fromEntries(names.map((name) => [name, { command: "c", args: ["-y", name], env: { A: "b" } }]))
        }),
        toml: names.map((name) => `[m.${name}]\ncommand = "c"\nargs = ["-y", "${name}"]\nenv = { A = "b" }\n`).join(""),
        yaml: `m:\n${
          names.map((name) => `  ${name}:\n    command: c\n    args: [-y, ${name}]\n    env: {A: b}\n`).join("")
        }`
      }
      for (const format of ["json", "toml", "yaml"] as const) {
        const { issues, root } = yield* decode(texts[format], format)
        assert.deepStrictEqual(issues, [], format)
        const servers = root?.get("m")
        assert(servers instanceof Map)
        assert.deepStrictEqual(Array.from(servers.keys()), names)
        assert.deepStrictEqual(servers.get("s3000"), asValue({ command: "c", args: ["-y", "s3000"], env: { A: "b" } }))
      }
    }))

  it.effect("is decided on soon, however large", () =>
    Effect.gen(function*() {
      const large = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length))
      const ten = 10_000_000
      assert.deepStrictEqual((yield* decode(`{"a":"${large("\\n", ten)}"}`)).issues, [])
      assert.strictEqual((yield* decode(`{${large("\"a\":1,", ten)}`)).issues.at(-1)?.kind, "too-many-entries")
      // each of them is looked into by whoever reads the entry
      for (const mark of samples(["${x}", "{env:x}", "$"])) {
        assert.strictEqual((yield* decode(`{"a":"${large(mark, ten)}"}`)).issues[0]?.kind, "too-many-entries", mark)
      }
      for (const format of ["toml", "yaml"] as const) {
        assert.deepStrictEqual(kinds(yield* decode(large("a\n", ten), format)), ["file-too-large"])
        const most = Document.defaults[format].maxBytes - 100
        assert.isNotEmpty((yield* decode(large("[]\n", most), format)).issues)
      }
      assert.strictEqual((yield* decode(large("- a\n", 1_500_000), "yaml")).issues[0]?.kind, "too-many-entries")
      assert.strictEqual((yield* decode(large("[[a]]\n", 1_500_000), "toml")).issues[0]?.kind, "too-many-entries")
    }))

  it.effect("is left at the first of many faults, and at too many words", () =>
    Effect.gen(function*() {
      for (const unit of samples(["]", "!a ", "&a ", "%a\n", "\"a\" ", "#\n", "\n", "a:\n #\n", "...\n"])) {
        const [issue] = (yield* decode(unit.repeat(1_500_000 / unit.length), "yaml")).issues
        assert.include(["syntax", "too-many-entries"], issue?.kind, unit)
      }
    }))

  it.effect("becomes a fault where a parser gives up by itself", () =>
    Effect.gen(function*() {
      const document = yield* decode(`a = ${"[".repeat(100_000)}`, "toml", { maxDepth: Infinity, maxEntries: Infinity })
      assert.deepStrictEqual(kinds(document), ["syntax"])
    }))

  it.effect("changes no prototype, and keeps every key", () =>
    Effect.gen(function*() {
      const texts = {
        json:
          "{\"__proto__\":{\"p\":1},\"a\":{\"\\u005f_proto__\":{\"p\":1},\"constructor\":{\"prototype\":{\"p\":1}}},\"toString\":1}",
        jsonc:
          "{\"__proto__\":{\"p\":1},\"a\":{\"__proto__\":{\"p\":1},\"constructor\":{\"prototype\":{\"p\":1}}},\"toString\":1,}",
        toml: "toString = 1\n[__proto__]\np = 1\n[a.__proto__]\np = 1\n[a.constructor.prototype]\np = 1",
        yaml: "__proto__: {p: 1}\na: {__proto__: {p: 1}, constructor: {prototype: {p: 1}}}\ntoString: 1"
      }
      for (const format of formats) {
        const { issues, root } = yield* decode(texts[format], format)
        assert.deepStrictEqual(issues, [], format)
        const p = new Map([["p", 1]])
        assert.deepStrictEqual(root?.get("__proto__"), p, format)
        assert.deepStrictEqual(
          root?.get("a"),
          new Map<string, Document.Value>([["__proto__", p], ["constructor", new Map([["prototype", p]])]])
        )
        assert.strictEqual(root?.get("toString"), 1, format)
        assert.isUndefined((root as { readonly p?: unknown }).p)
        assert.isUndefined(({} as { readonly p?: unknown }).p)
      }
    }))
})

describe("the line of a part", () => {
  const lines = (format: Document.Format, text: string, pointers: ReadonlyArray<Document.Pointer>) =>
    Effect.map(decode(text, format), ({ issues, position }) => {
      assert.deepStrictEqual(issues.filter(({ severity }) => severity === "error"), [])
      return pointers.map((pointer) => position(pointer)?.line)
    })

  it.effect("is that of its key or element in JSON", () =>
    Effect.gen(function*() {
      const text = "\r\n{ // top\r\n\"m\": {\r\"a\": {\"c\":\n[1,\n\n2, {\"d\": 3}]}, \"b\": 1,\n\"b\":\n2 } }"
      const pointers = [[], ["m"], ["m", "a"], ["m", "a", "c"], ["m", "a", "c", 0], ["m", "a", "c", 1], [
        "m",
        "a",
        "c",
        2,
        "d"
      ], ["m", "b"]]
      assert.deepStrictEqual(yield* lines("jsonc", text, pointers), [2, 3, 4, 4, 5, 7, 7, 8])
      const strangers: ReadonlyArray<Document.Pointer> = [
        ["x"],
        ["m", "x"],
        ["m", "toString"],
        ["m", "a", "c", 3],
        ["m", "a", "c", -1],
        ["m", "b", "x"]
      ]
      assert.deepStrictEqual(yield* lines("jsonc", text, strangers), strangers.map(() => undefined))
    }))

  it.effect("is that of its header or key in TOML", () =>
    Effect.gen(function*() {
      const text = [
        "top = \"# no\"",
        "text = \"\"\"",
        "[no.table]",
        "x = \\\"\"\"\" # \"",
        "[m.a] # a",
        "command = \"c\"",
        "args = [ \"]\", # [",
        "  \"b\" ]",
        "env.A = 'b\\'",
        "[m.\"b.c\"]",
        "d = { e = 1 }",
        "[[l]]",
        "n = 1",
        "[l.t]",
        "[[l]]",
        "n = 2",
        "[[l.s]]"
      ].join("\r\n")
      const pointers = [
        [],
        ["top"],
        ["text"],
        ["m"],
        ["m", "a"],
        ["m", "a", "args"],
        ["m", "a", "env"],
        ["m", "a", "env", "A"],
        ["m", "b.c"],
        ["m", "b.c", "d"],
        ["l"],
        ["l", 0, "n"],
        ["l", 0, "t"],
        ["l", 1],
        ["l", 1, "n"],
        ["l", 1, "s", 0]
      ]
      assert.deepStrictEqual(
        yield* lines("toml", text, pointers),
        [1, 1, 2, 5, 5, 7, 9, 9, 10, 11, 12, 13, 14, 15, 16, 17]
      )
      const inside: ReadonlyArray<Document.Pointer> = [["m", "b.c", "d", "e"], ["no"], ["x"], [
        "m",
        "a",
        "args",
        0
      ]]
      assert.deepStrictEqual(yield* lines("toml", text, inside), inside.map(() => undefined))
    }))

  it.effect("is that of its key or element in YAML", () =>
    Effect.gen(function*() {
      const text = "# top\nm:\n  a:\n    c: &c\n      - 1\n\n      - {d: 2,\n         e: 3}\n  b: *c\n"
      const pointers = [[], ["m"], ["m", "a"], ["m", "a", "c"], ["m", "a", "c", 0], ["m", "a", "c", 1, "e"], ["m", "b"]]
      assert.deepStrictEqual(yield* lines("yaml", text, pointers), [2, 2, 3, 4, 5, 8, 9])
      const items = "l:\n- |\n  a\n- >\n\n  b\n- &x\n- !t\n  c\n- ''\n- *x"
      const each = [0, 1, 2, 3, 4, 5].map((at) => ["l", at])
      assert.deepStrictEqual(yield* lines("yaml", items, each), [2, 4, 7, 9, 10, 11])
    }))
})

describe("the column of a part", () => {
  const columns = (format: Document.Format, text: string, pointers: ReadonlyArray<Document.Pointer>) =>
    Effect.map(decode(text, format), ({ position }) => pointers.map((pointer) => position(pointer)?.column))

  it.effect("is that of its key or element in JSON and YAML", () =>
    Effect.gen(function*() {
      const pointers = [[], ["m"], ["m", "a"], ["m", "a", 1]]
      assert.deepStrictEqual(yield* columns("jsonc", " {\"m\": {\n  \"a\": [1, 2]}}", pointers), [2, 3, 3, 12])
      assert.deepStrictEqual(yield* columns("yaml", "m:\n  a: [1, 2]\n", pointers), [1, 1, 3, 10])
    }))

  it.effect("is told with a fault of the syntax, in every format", () =>
    Effect.gen(function*() {
      const placeOf = (format: Document.Format, text: string) =>
        Effect.map(decode(text, format), ({ issues: [issue] }) => [issue?.line, issue?.column])
      assert.deepStrictEqual(yield* placeOf("json", "{\n \"a\": ?}"), [2, 7])
      assert.deepStrictEqual(yield* placeOf("yaml", "a: 1\nb: *x"), [2, 4])
      assert.deepStrictEqual(yield* placeOf("toml", "a = 1\nb = ?"), [2, 5])
    }))
})

describe("a document of YAML", () => {
  it.effect("prints nothing, whatever the variables of its library say", () =>
    Effect.gen(function*() {
      const written: Array<unknown> = []
      const streams = [process.stdout, process.stderr] as const
      const writes = streams.map((stream) => stream.write)
      const logs = [console.log, console.dir] as const
      for (const name of ["LOG_STREAM", "LOG_TOKENS"]) process.env[name] = "1"
      for (const stream of streams) stream.write = (chunk: unknown) => written.push(chunk) > 0
      console.log = console.dir = (...line: ReadonlyArray<unknown>) => void written.push(...line)
      const { root } = yield* decode("a: [1, &x b]\nc: *x\n", "yaml").pipe(Effect.ensuring(Effect.sync(() => {
        for (const [at, stream] of streams.entries()) stream.write = writes[at]!
        ;[console.log, console.dir] = logs
      })))
      assert.deepStrictEqual(written, [])
      assert.strictEqual(root?.get("c"), "b")
      assert.strictEqual(process.env["LOG_TOKENS"], "1")
      for (const name of ["LOG_STREAM", "LOG_TOKENS"]) delete process.env[name]
    }))
})

describe("any document", () => {
  const prototype = Object.keys(Object.getOwnPropertyDescriptors(Object.prototype))
  const plain = FastCheck.oneof(
    FastCheck.string({ maxLength: 6 }),
    FastCheck.constantFrom("__proto__", "constructor", "a/b", "", "\ud83d\ude00", "é\u2028\u0007\"\\")
  )
  const json = FastCheck.letrec<{ value: unknown }>((tie) => ({
    value: FastCheck.oneof(
      { maxDepth: 4 },
      plain,
      FastCheck.double({ noNaN: true, noDefaultInfinity: true }),
      FastCheck.integer(),
      FastCheck.constantFrom(null, true, false, 0, 1e21, 1e-7, 9007199254740991),
      FastCheck.array(tie("value"), { maxLength: 4 }),
      FastCheck.array(FastCheck.tuple(plain, tie("value")), { maxLength: 4 }).map((entries) =>
        Object.fromEntries(entries)
      )
    )
  })).value
  const spaces = FastCheck.constantFrom<string | number>(0, 2, "\t")

  const each = <A>(all: ReadonlyArray<A>, check: (one: A) => Effect.Effect<void>) =>
    Effect.forEach(all, check, { discard: true })

  // many at a time, because each run of a property costs more than a document
  const several = <A>(one: FastCheck.Arbitrary<A>, length: number) =>
    FastCheck.array(one, { minLength: length, maxLength: length })

  it.effect.prop(
    "that is JSON means what it means to JSON.parse",
    [several(json, 20), spaces],
    ([values, space]) =>
      each(values, (value) =>
        Effect.gen(function*() {
          const text = JSON.stringify({ value }, null, space)
          const { issues, root } = yield* decode(text)
          assert.deepStrictEqual(issues, [])
          assert.deepStrictEqual(root, asValue(JSON.parse(text)))
        })),
    { fastCheck: { numRuns: costlyRuns(20) } }
  )

  const styles = FastCheck.record({
    defaultStringType: FastCheck.constantFrom(
      ...(["PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE", "BLOCK_LITERAL", "BLOCK_FOLDED"] as const)
    ),
    defaultKeyType: FastCheck.constantFrom(...(["PLAIN", "QUOTE_DOUBLE"] as const)),
    collectionStyle: FastCheck.constantFrom(...(["any", "flow"] as const)),
    lineWidth: FastCheck.constantFrom(0, 20),
    indent: FastCheck.constantFrom(1, 3),
    indentSeq: FastCheck.boolean()
  })

  it.effect.prop(
    "that is YAML means what it means to another parser",
    [several(FastCheck.tuple(json, styles), 20)],
    ([written]) =>
      each(written, ([value, style]) =>
        Effect.gen(function*() {
          const text = stringifyYaml({ value }, style)
          const { issues, root } = yield* decode(text, "yaml")
          assert.deepStrictEqual(issues, [])
          assert.deepStrictEqual(rounded(root ?? null), asValue(parseYaml(text)))
        })),
    { fastCheck: { numRuns: costlyRuns(20) } }
  )

  it.effect.prop(
    "that ends too early is not used at all",
    [several(FastCheck.tuple(json, FastCheck.nat()), 20)],
    ([cuts]) =>
      each(cuts, ([value, cut]) =>
        Effect.gen(function*() {
          const text = JSON.stringify({ value })
          const { issues, root } = yield* decode(text.slice(0, 1 + cut % (text.length - 1)))
          assert.strictEqual(root, undefined)
          // or a character was cut in two
          assert.include(["syntax", "encoding"], issues.at(-1)?.kind)
        })),
    { fastCheck: { numRuns: costlyRuns(20) } }
  )

  const pieces = FastCheck.array(
    FastCheck.oneof(
      FastCheck.constantFrom(
        ..."{}[]:,\"'\\#=&*?|>-!%@`<~".split(""),
        "\n",
        "  ",
        "\t",
        "\r",
        "a: ",
        "- ",
        "&x ",
        "*x ",
        "---\n",
        "...\n",
        "[a]\n",
        "[[a]]\n",
        "a = ",
        "\"\"\"",
        "'''",
        "//",
        "/*",
        "*/",
        "\"__proto__\"",
        "1e999",
        "0x1",
        "nan",
        "\\u",
        "\ud800",
        "\0",
        "2026-11-18",
        "!!int ",
        "<<: "
      ),
      FastCheck.string({ maxLength: 4 })
    ),
    { maxLength: 24 }
  ).map((parts) => encode(parts.join("")))
  const bytes = FastCheck.oneof(pieces, FastCheck.uint8Array({ maxLength: 40 }))

  it.effect.prop(
    "is read or refused, and nothing else happens",
    [several(FastCheck.tuple(bytes, FastCheck.constantFrom(...formats)), 50)],
    ([contents]) =>
      each(contents, ([content, format]) =>
        Effect.gen(function*() {
          const { issues, position, root } = yield* decode(content, format)
          assert.strictEqual(root === undefined, issues.some(({ severity }) => severity === "error"))
          for (const key of root?.keys() ?? []) position([key, 0])
          assert.deepStrictEqual(Object.keys(Object.getOwnPropertyDescriptors(Object.prototype)), prototype)
        })),
    { fastCheck: { numRuns: costlyRuns(20) } }
  )

  const secret = "s3cr3tc4n4ry"
  const secretive = {
    json: `{"m":{"a":{"env":{"T":"${secret}"},"n":1,"args":["--key","${secret}"]}}}`,
    jsonc: `{"m":{"a":{"env":{"T":"${secret}"},/* ${secret} */"args":["${secret}",]}}}`,
    toml: `[m.a]\nargs = ["--key", "${secret}"] # ${secret}\n[m.a.env]\nT = "${secret}"\nU = '${secret}'\n`,
    yaml:
      `m:\n  a: # ${secret}\n    env: {T: ${secret}}\n    args: [--key, "${secret}", *a]\n    t: |\n      ${secret}\n`
  }
  const changes = FastCheck.tuple(
    FastCheck.constantFrom(...formats),
    FastCheck.nat(),
    FastCheck.nat(12),
    FastCheck.string({ maxLength: 3 })
  )
  it.effect.prop(
    "that is refused is not quoted",
    [several(changes, 20)],
    ([changed]) =>
      each(changed, ([format, at, length, put]) =>
        Effect.gen(function*() {
          const text = secretive[format]
          const from = at % text.length
          const { issues } = yield* decode(text.slice(0, from) + put + text.slice(from + length), format)
          assert.notInclude(JSON.stringify(issues), secret.slice(0, 6))
        })),
    { fastCheck: { numRuns: costlyRuns(20) } }
  )
})
