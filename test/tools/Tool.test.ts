import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Tool from "../../src/tools/Tool.ts"
import { runs } from "../support/runs.ts"

const options: Tool.DecodeOptions = { maxSchemaBytes: 1024 * 1024, paramHeaders: false }

const decode = (items: ReadonlyArray<unknown>, own: Partial<Tool.DecodeOptions> = {}) =>
  Tool.decodeAll(items, { ...options, ...own })

const good = { name: "good", inputSchema: { type: "object" } }

const reasonFor = (item: unknown, own?: Partial<Tool.DecodeOptions>) => {
  const { rejected, tools } = decode([item, good], own)
  assert.deepStrictEqual(tools.map(({ name }) => name), ["good"], "the sibling survives")
  assert.strictEqual(rejected.length, 1)
  return rejected[0]!.reason
}

const nested = (depth: number): object => {
  let schema: object = { type: "string" }
  for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema } }
  return schema
}

describe("Tool.decodeAll", () => {
  it("keeps what it does not know in raw", () => {
    const item = { ...good, icons: [{ src: "x" }], _meta: { "x/y": 1 }, future: true }
    assert.strictEqual(decode([item]).tools[0]!.raw, item)
  })

  it("reads title, description, annotations and task support", () => {
    const { tools } = decode([{
      ...good,
      title: "Good",
      description: "does good",
      annotations: { title: "G", readOnlyHint: true, destructiveHint: "no" },
      execution: { taskSupport: "required" },
      outputSchema: { type: "object" }
    }])
    const tool = tools[0]!
    assert.strictEqual(tool.title, "Good")
    assert.strictEqual(tool.description, "does good")
    assert.strictEqual(tool.annotations.readOnlyHint, true)
    assert.isUndefined(tool.annotations.destructiveHint)
    assert.strictEqual(tool.taskSupport, "required")
    assert.deepStrictEqual(tool.outputSchema, { type: "object" })
  })

  it("believes no task support that it does not know", () => {
    assert.strictEqual(
      decode([{ ...good, execution: { taskSupport: "sometimes" } }]).tools[0]!.taskSupport,
      "forbidden"
    )
  })

  for (
    const [what, inputSchema] of [
      ["has no type", { properties: { a: {} } }],
      ["is missing", undefined],
      ["is null", null],
      ["is true", true],
      ["may be null beside the object", { type: ["object", "null"], properties: { a: {} } }]
    ] as const
  ) {
    it(`makes an input schema that ${what} one of an object`, () => {
      const tool = decode([{ name: "x", inputSchema }]).tools[0]!
      assert.strictEqual(tool.inputSchema["type"], "object")
      if (typeof inputSchema === "object" && inputSchema !== null) {
        assert.deepStrictEqual(tool.inputSchema["properties"], { a: {} })
      }
    })
  }

  it("leaves a schema that needs no repair as it is", () => {
    assert.strictEqual(decode([good]).tools[0]!.inputSchema, good.inputSchema)
  })

  it("keeps a tool whose output schema is no object, without that schema", () => {
    assert.isUndefined(decode([{ ...good, outputSchema: true }]).tools[0]!.outputSchema)
  })

  for (
    const [reason, name] of [
      ["name-empty", ""],
      ["name-empty", "  "],
      ["name-too-long", "x".repeat(129)],
      ["name-characters", "a\u001b[31m"],
      ["name-characters", "a\nb"],
      ["name-characters", "a\u202eb"],
      ["name-characters", "a\u200bb"],
      ["name-characters", "a\u{e0041}"],
      ["name-characters", "a\ud800"],
      ["name-characters", "größe"],
      ["name-characters", "工具"],
      ["name-characters", "\u{1f527}"],
      ["name-characters", "a\u00a0b"],
      ["name-characters", "a\u2010b"],
      ["name-characters", "a\u2215b"],
      ["name-characters", "a\u0441t"],
      ["name-characters", "\u{1d5ff}ead"],
      ["name-characters", "read\u0301"],
      ["name-characters", "read*"],
      ["name-characters", "?"],
      ["name-characters", "read(path=/etc)"],
      ["name-characters", "a[0]"],
      ["name-characters", "a,b"],
      ["name-characters", "$HOME"],
      ["name-characters", "a|b"],
      ["name-characters", "a\\b"],
      ["name-characters", "a\"b"],
      ["name-characters", "a'b"],
      ["name-characters", "`a`"],
      ["name-characters", "<a>"],
      ["name-characters", "a#b"],
      ["name-characters", "%61"],
      ["name-characters", "a=b"],
      ["name-characters", "~a"],
      ["name-characters", "--help"],
      ["name-characters", ":a"],
      ["name-characters", "+a"],
      ["name-characters", " a"],
      ["name-characters", "a "],
      ["name-characters", "a  b"],
      ["name-characters", "a\tb"],
      ["name-characters", "a\n"],
      ["name-reserved", "__proto__"],
      ["name-reserved", "constructor"],
      ["name-reserved", "prototype"]
    ] as const
  ) {
    it(`rejects the name ${JSON.stringify(name).slice(0, 24)} as ${reason}`, () => {
      assert.strictEqual(reasonFor({ name, inputSchema: { type: "object" } }), reason)
    })
  }

  for (
    const [id, names] of [
      ["uni-029 homoglyph-tool", ["re\u0430d_file"]],
      ["uni-031 fullwidth-name", ["\uff52\uff45\uff41\uff44"]],
      ["uni-032 nfkc-collision", ["\ufb01le_read"]],
      ["uni-033 nfc-vs-nfd", ["caf\u00e9", "cafe\u0301"]],
      ["uni-034 turkish-i", ["\u0130NIT", "\u0131nit"]],
      ["perm-021 tool-with-star", ["*"]]
    ] as const
  ) {
    it(`${id}: such a tool is set apart beside the one that it could be taken for`, () => {
      const { rejected, tools } = decode([...names.map((name) => ({ ...good, name })), { ...good, name: "read_file" }])
      assert.deepStrictEqual(tools.map(({ name }) => name), ["read_file"])
      assert.deepStrictEqual(rejected.map(({ reason }) => reason), names.map(() => "name-characters"))
    })
  }

  it("takes names that are merely unusual", () => {
    const names = [
      "toString",
      "a",
      "7",
      "_",
      "a b",
      "a b c",
      "x".repeat(128),
      "ns/tool:v1.2-b_c",
      "./run",
      "/search",
      "@scope/name",
      "c++",
      "a-",
      "resource:x",
      "API-post-database-query"
    ]
    assert.deepStrictEqual(decode(names.map((name) => ({ ...good, name }))).tools.map(({ name }) => name), names)
  })

  it("says of a name that looks right which character is wrong", () => {
    const { rejected } = decode([{ ...good, name: "re\u0430d_file" }, { ...good, name: "-a" }])
    assert.include(rejected[0]!.detail, "U+0430")
    assert.include(rejected[1]!.detail, "begins with")
  })

  it("shows a rejected name escaped and short", () => {
    const { rejected } = decode([{ name: `\u001b]0;${"x".repeat(5000)}` }])
    assert.isTrue(rejected[0]!.name.startsWith("\\x1b]0;"))
    assert.isBelow(rejected[0]!.name.length, 120)
  })

  it("offers the first of several tools of one name", () => {
    const { rejected, tools } = decode([
      { ...good, description: "first" },
      { ...good, description: "second" },
      { ...good, description: "third" }
    ])
    assert.deepStrictEqual(tools.map(({ description }) => description), ["first"])
    assert.deepStrictEqual(rejected.map(({ reason }) => reason), ["duplicate", "duplicate"])
  })

  it("lets a valid tool have the name of a rejected one before it", () => {
    const { tools } = decode([{ ...good, inputSchema: 1 }, good])
    assert.strictEqual(tools.length, 1)
  })

  for (const item of [null, 1, "x", [], {}, { name: 7 }]) {
    it(`rejects ${JSON.stringify(item)} as malformed`, () => assert.strictEqual(reasonFor(item), "malformed"))
  }

  for (const inputSchema of [1, "object", [], false, { type: "string" }, { type: ["string", "null"] }]) {
    it(`rejects the input schema ${JSON.stringify(inputSchema)}`, () => {
      assert.strictEqual(reasonFor({ name: "x", inputSchema }), "schema-malformed")
    })
  }

  it("rejects schemas over the limit, both of a tool together", () => {
    const schema = { type: "object", description: "x".repeat(600) }
    const tool = { name: "x", inputSchema: schema, outputSchema: schema }
    assert.strictEqual(reasonFor(tool, { maxSchemaBytes: 1000 }), "schema-too-large")
    assert.strictEqual(decode([tool], { maxSchemaBytes: 2000 }).tools.length, 1)
  })

  it("counts many small things too", () => {
    const properties = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`p${i}`, { type: "string" }]))
    assert.strictEqual(
      reasonFor({ name: "x", inputSchema: { type: "object", properties } }, { maxSchemaBytes: 500_000 }),
      "schema-too-large"
    )
  })

  it("rejects a schema that is nested thousands deep, and keeps one that is deep", () => {
    assert.strictEqual(reasonFor({ name: "x", inputSchema: nested(3000) }), "schema-too-deep")
    assert.strictEqual(reasonFor({ ...good, name: "x", outputSchema: nested(3000) }), "schema-too-deep")
    assert.strictEqual(decode([{ name: "x", inputSchema: nested(60) }]).tools.length, 1)
  })

  for (const ref of ["http://169.254.169.254/latest", "file:///etc/passwd", "//host/x.json", "HTTPS://x/y"]) {
    it(`rejects a schema that refers to ${ref}`, () => {
      const inputSchema = { type: "object", properties: { a: { items: { $ref: ref } } } }
      assert.strictEqual(reasonFor({ name: "x", inputSchema }), "schema-remote-ref")
    })
  }

  it("is not misled by a property that is named like a keyword", () => {
    const inputSchema = { type: "object", properties: { default: { $ref: "http://x/y" } } }
    assert.strictEqual(reasonFor({ name: "x", inputSchema }), "schema-remote-ref")
  })

  it("keeps references inside the schema, and things that only look like references", () => {
    const inputSchema = {
      $id: "https://x/y",
      type: "object",
      properties: { $ref: { type: "string" }, self: { $ref: "#" }, b: { $ref: "#/$defs/d" } },
      default: { $ref: "http://x" },
      examples: [{ $ref: "http://x" }],
      $defs: { d: {} }
    }
    assert.strictEqual(decode([{ name: "x", inputSchema }]).tools.length, 1)
    assert.strictEqual(
      decode([{ name: "x", inputSchema: { $id: "https://x/y", $ref: "https://x/y#/$defs/d", $defs: { d: {} } } }]).tools
        .length,
      1
    )
  })

  it("keeps a tool whose schema refers to itself in a circle", () => {
    const inputSchema = {
      type: "object",
      $ref: "#/$defs/a",
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }
    }
    assert.strictEqual(decode([{ name: "x", inputSchema }]).tools.length, 1)
  })

  it("keeps a property named __proto__ without polluting anything", () => {
    const item: unknown = JSON.parse(
      `{"name":"x","inputSchema":{"type":"object","properties":{"__proto__":{"type":"string","polluted":1}}}}`
    )
    assert.strictEqual(decode([item]).tools.length, 1)
    assert.notProperty({}, "polluted")
  })

  it("drops a tool with a wrong header annotation only where that is the rule", () => {
    const tool = {
      name: "x",
      inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } }
    }
    assert.strictEqual(reasonFor(tool, { paramHeaders: true }), "header-annotation")
    assert.strictEqual(decode([tool]).tools.length, 1)
  })

  it("does not take a property named x-mcp-header for an annotation", () => {
    const inputSchema = { type: "object", properties: { "x-mcp-header": { type: "number" } } }
    assert.strictEqual(decode([{ name: "x", inputSchema }], { paramHeaders: true }).tools.length, 1)
  })

  it("never throws, and keeps every good tool whatever stands beside it", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.oneof(
          FastCheck.jsonValue(),
          FastCheck.record({ name: FastCheck.string(), inputSchema: FastCheck.jsonValue() }),
          FastCheck.record({
            name: FastCheck.string(),
            inputSchema: FastCheck.record({ type: FastCheck.constant("object"), properties: FastCheck.jsonValue() }),
            outputSchema: FastCheck.jsonValue(),
            annotations: FastCheck.jsonValue(),
            execution: FastCheck.jsonValue()
          })
        )),
        FastCheck.nat(),
        (items, at) => {
          const position = at % (items.length + 1)
          const { rejected, tools } = decode(
            [...items.slice(0, position), { ...good, name: "the-good-one" }, ...items.slice(position)],
            { paramHeaders: at % 2 === 0 }
          )
          assert.include(tools.map(({ name }) => name), "the-good-one")
          assert.strictEqual(tools.length + rejected.length, items.length + 1)
          assert.strictEqual(new Set(tools.map(({ name }) => name)).size, tools.length)
        }
      ),
      { numRuns: runs(1000) }
    )
  })
})
