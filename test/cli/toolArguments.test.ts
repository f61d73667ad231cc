import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import * as Arguments from "../../src/cli/toolArguments.ts"
import * as Shape from "../../src/json/describe.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

const schema: JsonRpc.JsonObject = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    flag: { type: "boolean" },
    state: { enum: ["open", "closed", 3, null] },
    only: { const: "one" },
    maybe: { type: ["null", "integer"] },
    either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    textFirst: { anyOf: [{ type: "string" }, { type: "integer" }] },
    texts: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "number" } },
    any: {},
    "dotted.name": { type: "integer" },
    inner: { $ref: "#/$defs/inner" },
    list: { type: "array", items: { $ref: "#/$defs/inner" } },
    joined: { allOf: [{ properties: { a: { type: "integer" } } }, { properties: { b: { type: "boolean" } } }] },
    open: { type: "object", additionalProperties: { type: "integer" } },
    loop: { $ref: "#/properties/loop" }
  },
  $defs: {
    inner: {
      type: "object",
      properties: { x: { type: "number" }, deeper: { type: "object", properties: { y: { type: "boolean" } } } }
    }
  },
  additionalProperties: false
}

const build = (words: ReadonlyArray<string>, from = schema, base?: JsonRpc.JsonObject) =>
  Either.flatMap(Either.all(words.map(Arguments.read)), (read) => Arguments.build(from, read, base))

describe("arguments that are typed", () => {
  const read: ReadonlyArray<readonly [words: ReadonlyArray<string>, args: unknown]> = [
    [[], {}],
    [["text=hello world"], { text: "hello world" }],
    [["text="], { text: "" }],
    [["text=5"], { text: "5" }],
    [["text=true"], { text: "true" }],
    [["text=a=b:=c"], { text: "a=b:=c" }],
    [["text=@@me"], { text: "@me" }],
    [["count=5"], { count: 5 }],
    [["count=-5"], { count: -5 }],
    [["count=1e3"], { count: 1000 }],
    [["ratio=.5"], { ratio: 0.5 }],
    [["flag=true"], { flag: true }],
    [["flag=false"], { flag: false }],
    [["state=open"], { state: "open" }],
    [["state=3"], { state: 3 }],
    [["state=null"], { state: null }],
    [["only=one"], { only: "one" }],
    [["maybe=null"], { maybe: null }],
    [["maybe=7"], { maybe: 7 }],
    [["either=7"], { either: 7 }],
    [["either=seven"], { either: "seven" }],
    [["textFirst=7"], { textFirst: "7" }],
    [["texts=a"], { texts: ["a"] }],
    [["texts=a", "texts=b"], { texts: ["a", "b"] }],
    [["texts=[\"a\",\"b\"]", "texts=c"], { texts: ["a", "b", "c"] }],
    [["numbers=1", "numbers=2.5"], { numbers: [1, 2.5] }],
    [["any=5"], { any: "5" }],
    [["any:=5"], { any: 5 }],
    [["any:={\"a\":[null]}"], { any: { a: [null] } }],
    [["text:=5"], { text: 5 }],
    [["dotted.name=4"], { "dotted.name": 4 }],
    [["inner.x=1", "inner.deeper.y=true"], { inner: { x: 1, deeper: { y: true } } }],
    [["inner={\"x\":1}"], { inner: { x: 1 } }],
    [["inner:={\"x\":1}", "inner.deeper.y=false"], { inner: { x: 1, deeper: { y: false } } }],
    [["list.0.x=1", "list.1.x=2"], { list: [{ x: 1 }, { x: 2 }] }],
    [["joined.a=1", "joined.b=true"], { joined: { a: 1, b: true } }],
    [["open.whatever=5"], { open: { whatever: 5 } }],
    [["loop=x"], { loop: "x" }]
  ]
  for (const [words, args] of read) {
    it(`${JSON.stringify(words)} are ${JSON.stringify(args)}`, () => {
      assert.deepStrictEqual(Either.getOrThrow(build(words)), args)
    })
  }

  const faults: ReadonlyArray<readonly [words: ReadonlyArray<string>, said: string]> = [
    [["hello"], "invalid argument \"hello\" Use key=value, key:=json, key=@file, or - to read JSON from stdin."],
    [["=x"], "invalid argument \"=x\" Use key=value, key:=json, key=@file, or - to read JSON from stdin."],
    [["txet=a"], "the tool has no argument \"txet\" Did you mean \"text\"?"],
    [["inner.z=a"], "the tool has no argument \"inner.z\" Did you mean \"inner.x\"?"],
    [["count=five"], "invalid value \"five\" for \"count\": expected integer"],
    [["count=1.5"], "invalid value \"1.5\" for \"count\": expected integer"],
    [["count=9007199254740993"], "invalid value \"9007199254740993\" for \"count\": expected integer"],
    [["ratio=NaN"], "invalid value \"NaN\" for \"ratio\": expected number"],
    [["flag=yes"], "invalid value \"yes\" for \"flag\": expected boolean"],
    [["state=opne"], "invalid value \"opne\" for \"state\" Did you mean \"open\"?"],
    [["only=two"], "invalid value \"two\" for \"only\" Valid values: \"one\""],
    [["numbers=x"], "invalid value \"x\" for \"numbers\": expected number"],
    [["text=a", "text=b"], "argument \"text\" can be used only once"],
    [["any:={"], "invalid JSON in \"any\": \"{\" Put JSON in single quotes."],
    [["open.x=y"], "invalid value \"y\" for \"open.x\": expected integer"],
    [
      ["__proto__.x=1"],
      "the tool has no argument \"__proto__\" Its arguments: \"text\", \"count\", \"ratio\", \"flag\", \"state\", \"only\", \"maybe\", \"either\", \"textFirst\", \"texts\", \"numbers\", \"any\" and 6 more"
    ]
  ]
  for (const [words, said] of faults) {
    it(`${JSON.stringify(words)} are wrong, and it is told why`, () => {
      const { detail, next } = Either.getOrThrow(Either.flip(build(words)))
      assert.strictEqual(`${detail} ${next ?? ""}`.trim(), said)
    })
  }

  const options: ReadonlyArray<readonly [words: ReadonlyArray<string>, outcome: unknown]> = [
    [["--text", "a b"], { text: "a b" }],
    [["--text=a=b"], { text: "a=b" }],
    [["--count", "-5", "--ratio=.5"], { count: -5, ratio: 0.5 }],
    [["--flag"], { flag: true }],
    [["--flag", "false"], { flag: false }],
    [["--flag", "--count", "1"], { flag: true, count: 1 }],
    [["--texts", "a", "--texts", "b", "texts=c"], { texts: ["a", "b", "c"] }],
    [["--inner.x", "1"], { inner: { x: 1 } }],
    [["--dotted.name", "4"], { "dotted.name": 4 }],
    [
      ["--txet", "a"],
      "unknown option \"--txet\", and the tool has no argument \"txet\" Did you mean \"--text\"?"
    ],
    [
      ["--tiemout", "1"],
      "unknown option \"--tiemout\", and the tool has no argument \"tiemout\" Did you mean \"--timeout\"?"
    ],
    [["--text"], "argument \"--text\" needs a value"],
    [["--text", "--count", "1"], "argument \"--text\" needs a value"]
  ]
  for (const [words, outcome] of options) {
    it(`${JSON.stringify(words)} give ${JSON.stringify(outcome)}`, () => {
      const unknown = new Set(words.flatMap((word, at) => word.startsWith("--") ? [at] : []))
      const all = Arguments.readAll(words, unknown, schema, [{ name: "timeout", about: "" }])
      const args = Either.flatMap(all, (read) => Arguments.build(schema, read))
      const shown = Either.match(args, {
        onLeft: ({ detail, next }) => `${detail} ${next ?? ""}`.trim(),
        onRight: (right): unknown => right
      })
      assert.deepStrictEqual(shown, outcome)
    })
  }

  it("are missed where the schema requires them, in every one of its alternatives", () => {
    const both = { type: "object", properties: { a: { type: "integer" }, b: {} }, required: ["a", "b"] }
    assert.strictEqual(Either.getOrThrow(Either.flip(build(["b=1"], both))).detail, "missing a (integer)")
    const either = { type: "object", properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] }
    assert.deepStrictEqual(Either.getOrThrow(build(["b=1"], either)), { b: "1" })
  })

  it("are put over what is given as JSON, of which nothing is checked", () => {
    const base = { text: 5, unknown: { deep: true } }
    assert.deepStrictEqual(Either.getOrThrow(build(["unknown.more=1", "count=2"], schema, base)), {
      text: 5,
      unknown: { deep: true, more: "1" },
      count: 2
    })
  })

  it("pollute nothing, whatever they are called", () => {
    const args = Either.getOrThrow(build(["__proto__.polluted=1", "constructor.x=2"], { type: "object" }))
    assert.deepStrictEqual(Object.keys(args), ["__proto__", "constructor"])
    assert.isUndefined(({} as { polluted?: unknown }).polluted)
  })
})

/** Some value that a schema allows. */
const sample = (root: JsonRpc.JsonObject, of: JsonRpc.Json | undefined, depth = 0): JsonRpc.Json => {
  const [one] = Shape.alternatives(root, of)
  const choices = Shape.choices(one!)
  if (choices !== undefined) return choices[0]!
  const [type] = Shape.types(one!)
  switch (type) {
    case "integer":
      return 7
    case "number":
      return 1.5
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return depth > 4 ? [] : [sample(root, Shape.items(one!), depth + 1)]
    case "object":
      return depth > 4
        ? {}
        : Object.fromEntries(Shape.properties(one!).map(({ name, schema }) => [name, sample(root, schema, depth + 1)]))
    default:
      return "some words"
  }
}

const isObject = (value: JsonRpc.Json): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as a person types it. */
const typed = (key: string, value: JsonRpc.Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) {
    const items = value as ReadonlyArray<JsonRpc.Json>
    return items.every((item) => typeof item !== "object")
      ? items.map((item) => `${key}=${item}`)
      : [`${key}:=${JSON.stringify(value)}`]
  }
  if (!isObject(value)) return [`${key}=${value}`]
  const names = Object.keys(value)
  return names.length === 0 ? [`${key}:={}`] : names.flatMap((name) => typed(`${key}.${name}`, value[name]!))
}

describe("arguments of published servers", () => {
  const schemas = JSON.parse(readFileSync(new URL("schemas.json", import.meta.url), "utf8")) as Record<
    string,
    JsonRpc.JsonObject
  >

  it("are many", () => {
    assert.isAtLeast(Object.keys(schemas).length, 40)
  })

  for (const [tool, real] of Object.entries(schemas)) {
    it(`of ${tool} come out as they were meant when they are typed`, () => {
      const meant = Object.fromEntries(
        Shape.parameters(real).map(({ name, schema: one }) => [name, sample(real, one)])
      )
      const words = Object.entries(meant).flatMap(([name, value]) => typed(name, value))
      assert.deepStrictEqual(Either.getOrThrow(build(words, real)), meant)
    })
  }
})
