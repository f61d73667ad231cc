import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import * as AutoSearch from "../../src/tools/AutoSearch.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { tools } from "../fixtures/search/index.ts"

const model = { contextWindow: 200_000, toolCalling: true }

const definitions: ReadonlyArray<AutoSearch.Definition> = tools.map(({ name, tool }) => ({
  name,
  description: tool.description,
  inputSchema: tool.inputSchema
}))

describe("AutoSearch.shouldUseAutoSearch", () => {
  it("is on from a tenth of the context at two and a half characters for each token", () => {
    assert.isFalse(AutoSearch.shouldUseAutoSearch(undefined, model, 49_999))
    assert.isTrue(AutoSearch.shouldUseAutoSearch(undefined, model, 50_000))
    assert.isTrue(AutoSearch.shouldUseAutoSearch({ threshold: 0.05 }, model, 25_000))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({ charsPerToken: 4 }, model, 50_000))
  })

  it("is off for models that cannot call tools or have too little context, however much there is", () => {
    assert.isFalse(AutoSearch.shouldUseAutoSearch({}, { ...model, toolCalling: false }, 1e9))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({ mode: "always" }, { ...model, toolCalling: false }, 1e9))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({}, { ...model, contextWindow: 31_999 }, 1e9))
    assert.isTrue(AutoSearch.shouldUseAutoSearch({}, { ...model, contextWindow: 32_000 }, 8_000))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({}, { ...model, contextWindow: Number.NaN }, 1e9))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({ threshold: 0 }, model, 0))
  })

  it("does what it is told otherwise", () => {
    assert.isTrue(AutoSearch.shouldUseAutoSearch({ mode: "always" }, { ...model, contextWindow: 8_000 }, 1))
    assert.isFalse(AutoSearch.shouldUseAutoSearch({ mode: "never" }, model, 1e9))
  })
})

const long = (length: number) => "say \"so\" 🔧\n".repeat(length).slice(0, length)

const bulky: AutoSearch.Definition = {
  name: "mcp__a__b",
  description: long(5_000),
  inputSchema: {
    type: "object",
    title: "Arguments",
    properties: {
      // a parameter of this name, and values that look like descriptions
      description: { type: "string", description: long(1_000), enum: ["x".repeat(500)] },
      options: {
        type: "array",
        items: {
          type: "object",
          description: long(500),
          properties: { title: { type: "string" } },
          required: ["title"]
        },
        default: [{ title: "t", description: "d".repeat(300) }]
      },
      choice: { anyOf: [{ const: { description: "e".repeat(300) } }, { type: "null", description: long(200) }] },
      ["__proto__"]: { type: "number", description: long(300) }
    },
    required: ["description"],
    $defs: { description: { description: long(400), type: "string" } }
  }
}

/** The same schema without what only tells something to people. */
const meaning = (schema: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const { inputSchema } = AutoSearch.withinBudget({ name: "", inputSchema: schema }, 0)
  return inputSchema
}

describe("AutoSearch.withinBudget", () => {
  it("leaves a definition as it is that fits", () => {
    assert.strictEqual(AutoSearch.withinBudget(bulky, AutoSearch.sizeOf(bulky)), bulky)
  })

  it("shortens the description first, and says so", () => {
    const shorter = AutoSearch.withinBudget(bulky, AutoSearch.sizeOf(bulky) - 2_000)
    assert.strictEqual(shorter.inputSchema, bulky.inputSchema)
    assert.match(shorter.description!, /… \(\d+ more characters\)$/)
    const kept = shorter.description!.replace(/… \((\d+) more characters\)$/, "")
    assert.isTrue(bulky.description!.startsWith(kept))
    assert.include(shorter.description, `(${bulky.description!.length - kept.length} more`)
  })

  it("shortens the descriptions in the schema then, and nothing that is data", () => {
    const shorter = AutoSearch.withinBudget(bulky, 3_500)
    const { properties } = shorter.inputSchema as {
      readonly properties: { readonly [name: string]: JsonRpc.JsonObject }
    }
    assert.include(properties["description"]!["description"], "more characters)")
    assert.deepStrictEqual(properties["description"]!["enum"], ["x".repeat(500)])
    assert.deepStrictEqual(properties["options"]!["default"], [{ title: "t", description: "d".repeat(300) }])
    assert.isTrue(Object.hasOwn(properties, "__proto__"))
    assert.isAtMost(AutoSearch.sizeOf(shorter), 3_500)
  })

  it("keeps what may be sent even where it cannot be kept within the budget", () => {
    const least = AutoSearch.withinBudget(bulky, 1)
    const { $defs, properties, required } = least.inputSchema as { readonly [key: string]: JsonRpc.JsonObject }
    assert.isUndefined(least.description)
    assert.deepStrictEqual(Object.keys(properties!), ["description", "options", "choice", "__proto__"])
    assert.deepStrictEqual(required, ["description"] as never)
    assert.deepStrictEqual($defs, { description: { type: "string" } })
    assert.notInclude(JSON.stringify(least), "more characters")
  })

  it("keeps every budget above that, for every definition, and never ends within a character", () => {
    for (const definition of [...definitions, bulky]) {
      const least = AutoSearch.sizeOf(AutoSearch.withinBudget(definition, 0))
      for (const chars of [least, least + 7, least + 60, least + 300, 2_000, 8_000]) {
        const shorter = AutoSearch.withinBudget(definition, chars)
        if (chars >= least) assert.isAtMost(AutoSearch.sizeOf(shorter), chars, `${definition.name} in ${chars}`)
        assert.notMatch(JSON.stringify(shorter), /\\ud[89a-f]/)
        assert.deepStrictEqual(meaning(shorter.inputSchema), meaning(definition.inputSchema))
      }
    }
  })

  it("keeps the types, values and names of any schema", () => {
    const keys = FastCheck.constantFrom("description", "title", "examples", "properties", "x")
    const schema = FastCheck.letrec<{ readonly schema: JsonRpc.JsonObject }>((tie) => ({
      schema: FastCheck.record(
        {
          type: FastCheck.constantFrom("object", "string", "number"),
          description: FastCheck.string({ maxLength: 300 }),
          title: FastCheck.string(),
          enum: FastCheck.array(FastCheck.record({ description: FastCheck.string() }), { minLength: 1, maxLength: 2 }),
          properties: FastCheck.dictionary(keys, tie("schema"), { maxKeys: 3, depthIdentifier: "schema" }),
          required: FastCheck.uniqueArray(keys, { maxLength: 2 })
        },
        { requiredKeys: [] }
      ).map((schema) => ({ ...schema }) as unknown as JsonRpc.JsonObject)
    })).schema
    FastCheck.assert(
      FastCheck.property(schema, FastCheck.nat(600), (inputSchema, chars) => {
        const shorter = AutoSearch.withinBudget({ name: "a", description: "d", inputSchema }, chars).inputSchema
        const bare = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(bare)
            : typeof value === "object" && value !== null
            ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bare(one)]))
            : value
        for (const key of ["type", "enum", "required"]) {
          assert.deepStrictEqual(bare(shorter[key]), bare(inputSchema[key]))
        }
        assert.deepStrictEqual(Object.keys(shorter["properties"] ?? {}), Object.keys(inputSchema["properties"] ?? {}))
      }),
      { numRuns: 300 }
    )
  })
})

describe("AutoSearch.withinBudgets", () => {
  it.effect("shortens the largest only, and keeps both budgets", () =>
    Effect.gen(function*() {
      const small = { name: "small", description: "Does little", inputSchema: { type: "object" } }
      const shorter = yield* AutoSearch.withinBudgets([small, bulky, { ...bulky, name: "c" }], {
        perToolChars: 6_000,
        totalChars: 9_000
      })
      assert.strictEqual(shorter[0], small)
      const sizes = shorter.map(AutoSearch.sizeOf)
      assert.isAtMost(sizes[0]! + sizes[1]! + sizes[2]!, 9_000)
      assert.isAbove(sizes[1]!, 3_500)
      const alone = yield* AutoSearch.withinBudgets([bulky], { perToolChars: 6_000 })
      assert.isAtMost(AutoSearch.sizeOf(alone[0]!), 6_000)
    }))

  it.effect("notes all that is cut off where both budgets cut something off", () =>
    Effect.gen(function*() {
      const [shorter] = yield* AutoSearch.withinBudgets([bulky, { ...bulky, name: "c" }], {
        perToolChars: 6_000,
        totalChars: 8_000
      })
      const [kept, left] = shorter!.description!.split(/… \((\d+) more characters\)$/)
      assert.strictEqual(kept!.length + Number(left), bulky.description!.length)
    }))

  it.effect("leaves definitions that fit as they are", () =>
    Effect.gen(function*() {
      const some = definitions.slice(0, 20)
      const fitting = yield* AutoSearch.withinBudgets(some)
      for (const [at, definition] of fitting.entries()) assert.strictEqual(definition, some[at])
      assert.deepStrictEqual(yield* AutoSearch.withinBudgets([]), [])
    }))
})

describe("AutoSearch.definition", () => {
  it("has a name that models accept and no tool of a server can have", () => {
    assert.strictEqual(AutoSearch.definition.name, "mcp_search")
    for (const { name } of definitions) assert.notStrictEqual(name, AutoSearch.definition.name)
    assert.deepStrictEqual(AutoSearch.definition.inputSchema["required"], ["query"])
  })

  it("is answered whatever a model makes of its arguments", () => {
    const query = (input: unknown) => Option.getOrUndefined(AutoSearch.decodeQuery(input))
    const nothing = { limit: undefined, server: undefined }
    assert.deepStrictEqual(query({ query: "x" }), { ...nothing, query: "x" })
    assert.deepStrictEqual(query({ query: "x", limit: null, server: null, more: 1 }), { ...nothing, query: "x" })
    assert.deepStrictEqual(query({ query: "x", limit: "3", server: "a" }), { query: "x", limit: 3, server: "a" })
    assert.deepStrictEqual(query({ query: "x", limit: 1e9, server: "" }), { ...nothing, query: "x", limit: 20 })
    assert.deepStrictEqual(query({ query: "x", limit: -1 }), { ...nothing, query: "x", limit: 1 })
    assert.deepStrictEqual(query({ query: "x", limit: Number.NaN }), { ...nothing, query: "x" })
    for (const input of [undefined, null, "x", 7, [], {}, { query: 7 }, { query: "x", server: 7 }]) {
      assert.isUndefined(query(input))
    }
  })
})
