import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, FastCheck as fc } from "effect"
import { readFileSync } from "node:fs"
import * as ToolDefinitions from "../../src/agent/ToolDefinitions.ts"
import type * as ToolHandler from "../../src/agent/ToolHandler.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Adapters from "../support/adapters.ts"
import { runs, samples } from "../support/runs.ts"

const definition = (
  name: string,
  inputSchema: JsonRpc.JsonObject = { type: "object" },
  more: Partial<ToolHandler.Definition> = {}
): ToolHandler.Definition => ({
  name,
  title: undefined,
  description: `What ${name} does`,
  inputSchema,
  requiresApproval: false,
  annotations: {},
  server: "server",
  deferred: false,
  ...more
})

interface Published {
  readonly server: string
  readonly name: string
  readonly inputSchema: JsonRpc.JsonObject
}

/** Of real servers, with short descriptions. */
const published = (JSON.parse(
  readFileSync(new URL("../fixtures/agent/schemas.json", import.meta.url), "utf8")
) as ReadonlyArray<Published>).map(({ inputSchema, name, server }) =>
  definition(`mcp__${server}__${name}`, inputSchema, { server })
)

const ajvOptions = {
  strict: false,
  validateFormats: false,
  unicodeRegExp: false,
  allErrors: false,
  logger: false
} as const
const ajv2020 = new Ajv2020(ajvOptions)
const ajv7 = new Ajv({ ...ajvOptions, validateSchema: false })

type Schema = Record<string, unknown>

const parametersOf = (schema: JsonRpc.JsonObject, options?: Partial<ToolDefinitions.OpenAiOptions>) =>
  ToolDefinitions.openAiResponses([definition("tool", schema)], options).tools[0]!

const anthropicOf = (schema: JsonRpc.JsonObject, options?: Partial<ToolDefinitions.AnthropicOptions>): Schema =>
  ToolDefinitions.anthropic([definition("tool", schema)], options).tools[0]!.input_schema

/** What each API refuses, if there is any. */
const faults = (schema: Schema): ReadonlyArray<string> => [
  ...(schema["type"] === "object" ? [] : ["root is no object"]),
  ...(typeof schema["properties"] === "object" ? [] : ["root has no properties"]),
  ...["$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"].filter((key) => Object.hasOwn(schema, key)),
  ...(ajv2020.validateSchema(schema) === true ? [] : [`invalid: ${ajv2020.errorsText(ajv2020.errors)}`])
]

const isRecord = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const strictKeys = new Set(
  ("$defs additionalProperties anyOf const description enum exclusiveMaximum exclusiveMinimum format items maxItems " +
    "maximum minItems minimum multipleOf pattern properties required type").split(" ")
)

/** What OpenAI refuses of a strict schema, if there is any. */
const strictFaults = (schema: unknown, at = "#"): ReadonlyArray<string> => {
  if (!isRecord(schema)) return [`${at} is no schema`]
  const { anyOf, items, properties, required, type } = schema
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"))
  const keys = isRecord(properties) ? Object.keys(properties) : []
  return [
    ...Object.keys(schema).filter((key) => !strictKeys.has(key)).map((key) => `${at}/${key}`),
    ...(type === undefined && anyOf === undefined && !("enum" in schema) && !("const" in schema)
      ? [`${at} is open`]
      : []),
    ...(isObject && schema["additionalProperties"] !== false ? [`${at} takes more`] : []),
    ...(isObject && JSON.stringify(keys) !== JSON.stringify(required)
      ? [`${at} does not require all`]
      : []),
    ...keys.flatMap((key) => strictFaults((properties as Schema)[key], `${at}/${key}`)),
    ...(items === undefined ? [] : strictFaults(items, `${at}/items`)),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one, index) => strictFaults(one, `${at}/${index}`)) : [])
  ]
}

/** Arguments that a schema of a published tool is likely to take. */
const sample = (schema: unknown, root: Schema, coin: () => number, depth = 0): unknown => {
  if (!isRecord(schema) || depth > 8) return "text"
  if (typeof schema["$ref"] === "string") {
    const [, , name] = schema["$ref"].split("/")
    return sample((root["$defs"] as Schema)[name!], root, coin, depth + 1)
  }
  if (Array.isArray(schema["enum"])) return schema["enum"][Math.floor(coin() * schema["enum"].length)]
  if ("const" in schema) return schema["const"]
  const choices = schema["anyOf"] ?? schema["oneOf"]
  if (Array.isArray(choices)) return sample(choices[Math.floor(coin() * choices.length)], root, coin, depth + 1)
  const type = Array.isArray(schema["type"]) ? schema["type"][0] as unknown : schema["type"]
  switch (type) {
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1
    case "boolean":
      return coin() < 0.5
    case "null":
      return null
    case "array":
      return [sample(schema["items"], root, coin, depth + 1)]
    case "object": {
      const required = Array.isArray(schema["required"]) ? schema["required"] as ReadonlyArray<unknown> : []
      const properties = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : []
      return Object.fromEntries(
        properties.filter(([name]) => required.includes(name) || coin() < 0.5)
          .map(([name, one]) => [name, sample(one, root, coin, depth + 1)])
      )
    }
    default:
      return "text"
  }
}

const coins = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** As a model writes down arguments for a strict schema: everything, and nothing where there is nothing. */
const whole = (value: unknown, schema: unknown): unknown => {
  if (!isRecord(schema)) return value
  if (Array.isArray(value)) return value.map((one: unknown) => whole(one, schema["items"]))
  if (Array.isArray(schema["anyOf"])) {
    for (const one of schema["anyOf"] as ReadonlyArray<unknown>) {
      const made = whole(value, one)
      if (isRecord(one) && ajv2020.validate(one, made) === true) return made
    }
    return value
  }
  if (!isRecord(value) || !isRecord(schema["properties"])) return value
  return Object.fromEntries(
    Object.entries(schema["properties"]).map((
      [name, one]
    ) => [name, Object.hasOwn(value, name) ? whole(value[name], one) : null])
  )
}

const withoutNull = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNull)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== null).map(([name, one]) => [name, withoutNull(one)])
  )
}

const json = fc.letrec<{ value: JsonRpc.Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constantFrom("object", "array", "string", "#", "#/$defs/a", "#/definitions/b", "#/properties/a", "x"),
    fc.boolean(),
    fc.integer({ min: -2, max: 9 }),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...("type properties items anyOf oneOf allOf $ref $defs definitions required enum const not if then " +
          "additionalProperties additionalItems dependencies minimum exclusiveMinimum multipleOf format pattern " +
          "description nullable examples default minLength uniqueItems prefixItems a b __proto__ constructor x-y $id " +
          "$schema").split(" ")
      ),
      tie("value"),
      { maxKeys: 5 }
    )
  )
})).value

const anySchema = fc.dictionary(
  fc.constantFrom("type", "properties", "anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions", "required", "enum"),
  json,
  { maxKeys: 6 }
) as fc.Arbitrary<JsonRpc.JsonObject>

describe("the schemas of published tools", () => {
  const tried = samples(published)

  it("are more than 150", () => assert.isAbove(published.length, 150))

  for (const inline of [false, true]) {
    it(`are taken by each API ${inline ? "without" : "with"} references, and keep their properties`, () => {
      for (const one of tried) {
        const openAi = parametersOf(one.inputSchema, { inline }).parameters
        const anthropic = anthropicOf(one.inputSchema, { inline })
        const before = Object.keys(one.inputSchema["properties"] ?? {})
        for (const schema of [openAi, anthropic]) {
          assert.deepStrictEqual(faults(schema), [], one.name)
          assert.doesNotThrow(() => ajv2020.compile(schema), one.name)
          assert.strictEqual(inline && JSON.stringify(schema).includes("\"$ref\":"), false, one.name)
          assert.deepStrictEqual(Object.keys(schema["properties"] as object), before, one.name)
        }
      }
    })
  }

  it("are converted once for all turns", () => {
    const [first, second] = [1, 2].map(() => ToolDefinitions.openAiResponses(published, { strict: true }).tools)
    for (const [at, { parameters }] of first!.entries()) {
      assert.strictEqual(parameters["properties"], second![at]!.parameters["properties"])
    }
  })

  it("accept the same arguments as the originals", () => {
    let taken = 0
    for (const [at, { inputSchema, name }] of tried.entries()) {
      const before = ajv7.compile(inputSchema)
      for (const inline of [false, true]) {
        const after = ajv2020.compile(anthropicOf(inputSchema, { inline }))
        for (let seed = 0; seed < 5; seed++) {
          const args = sample(inputSchema, inputSchema, coins(at * 10 + seed))
          if (!isRecord(args) || !before(args)) continue
          taken++
          assert.isTrue(after(args), `${name}: ${JSON.stringify(args)}`)
        }
      }
    }
    assert.isAbove(taken, 6.3 * tried.length)
  })

  it("become strict where possible, and missing arguments stay missing", () => {
    let strict = 0
    let taken = 0
    for (const [at, one] of tried.entries()) {
      const offer = ToolDefinitions.openAiResponses([one], { strict: true })
      const [tool] = offer.tools
      assert.deepStrictEqual(faults(tool!.parameters), [], one.name)
      if (!tool!.strict) continue
      strict++
      assert.deepStrictEqual(strictFaults(tool!.parameters), [], one.name)
      const before = ajv7.compile(one.inputSchema)
      const after = ajv2020.compile(tool!.parameters)
      for (let seed = 0; seed < 5; seed++) {
        const args = sample(one.inputSchema, one.inputSchema, coins(at * 10 + seed))
        const made = whole(args, tool!.parameters)
        if (!before(args) || !after(made)) continue
        taken++
        const [call] = offer.calls([{
          type: "function_call",
          call_id: "call",
          name: tool!.name,
          arguments: JSON.stringify(made)
        }])
        // where a server takes null itself, it stays
        assert.isTrue(before(call?.arguments), one.name)
        assert.deepStrictEqual(withoutNull(call?.arguments), withoutNull(args), one.name)
        assert.strictEqual(call?.name, one.name)
      }
    }
    assert.isAbove(strict, 0.51 * tried.length)
    assert.isAbove(taken, 2 * tried.length)
  })
})

describe("any schema", () => {
  it("is converted to one that every API accepts", () => {
    fc.assert(
      fc.property(anySchema, fc.boolean(), (schema, inline) => {
        assert.deepStrictEqual(faults(parametersOf(schema, { inline }).parameters), [])
        assert.deepStrictEqual(faults(anthropicOf(schema, { inline })), [])
        const { parameters, strict } = parametersOf(schema, { strict: true })
        assert.deepStrictEqual(strict ? strictFaults(parameters) : faults(parameters), [])
      }),
      { numRuns: runs(3000) }
    )
  })

  it("is bounded when inlining would not end", () => {
    const bomb = {
      type: "object",
      properties: { a: { $ref: "#/$defs/d0" } },
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => {
          const next = { $ref: `#/$defs/d${at + 1}` }
          return [`d${at}`, { type: "object", properties: { a: next, b: next, c: next } }]
        })
      )
    }
    const { parameters } = parametersOf(bomb, { inline: true })
    assert.isBelow(JSON.stringify(parameters).length, 1_000_000)
    const self = { $ref: "#/$defs/a" }
    const loop = { allOf: [self, self, self], anyOf: [self, self], $defs: { a: { allOf: [self, self, self] } } }
    assert.deepStrictEqual(faults(parametersOf(loop).parameters), [])
  })

  it("keeps every property name", () => {
    const schema = JSON.parse(`{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}`)
    const { parameters } = parametersOf(schema as JsonRpc.JsonObject)
    assert.deepStrictEqual(parameters, schema)
  })
})

describe("the root of a schema", () => {
  const text = { type: "string" }

  it("merges allOf into one object", () => {
    const { parameters } = parametersOf({
      allOf: [
        { type: "object", properties: { a: text }, required: ["a"], additionalProperties: false },
        { $ref: "#/$defs/more" }
      ],
      $defs: { more: { type: "object", description: "More", properties: { b: text } } }
    })
    assert.deepStrictEqual(parameters, {
      type: "object",
      description: "More",
      properties: { a: text, b: text },
      required: ["a"]
    })
  })

  it("merges anyOf into one object, and describes the required combinations", () => {
    const { parameters } = parametersOf({
      type: "object",
      description: "A place.",
      anyOf: [
        { properties: { id: text, kind: { const: "id" } }, required: ["kind", "id"] },
        { properties: { x: text, y: text, kind: { const: "point" } }, required: ["kind", "x", "y"] }
      ]
    })
    assert.deepStrictEqual(parameters, {
      type: "object",
      description: "A place. Also required: id, or x and y.",
      properties: { id: text, kind: { anyOf: [{ const: "id" }, { const: "point" }] }, x: text, y: text },
      required: ["kind"]
    })
  })

  it("keeps only referenced definitions", () => {
    const { parameters } = parametersOf({
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { $ref: "#/$defs/b" }, b: text, c: text }
    })
    assert.deepStrictEqual(parameters["$defs"], { a: { $ref: "#/$defs/b" }, b: text })
  })

  it("may use an older draft and unknown keywords", () => {
    const { parameters } = parametersOf({
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "urn:x",
      type: "object",
      properties: {
        pair: { type: "array", items: [text, { type: "number", minimum: 0, exclusiveMinimum: true }] },
        when: { type: "string", format: "stardate", nullable: true, "x-order": 1, required: true },
        what: { type: "any", description: "Anything" },
        all: { type: "array" }
      }
    })
    assert.deepStrictEqual(parameters["properties"], {
      pair: { type: "array", prefixItems: [text, { type: "number", exclusiveMinimum: 0 }] },
      when: { type: ["string", "null"] },
      what: { description: "Anything" },
      all: { type: "array", items: {} }
    })
  })
})

describe("a strict schema", () => {
  it("represents missing properties as null, and keeps other nulls", () => {
    const offer = ToolDefinitions.openAiChat([definition("tool", {
      type: "object",
      properties: {
        needed: { type: "string", minLength: 3 },
        free: { type: "string", enum: ["a", "b"] },
        empty: { type: ["string", "null"] },
        list: { type: "array", items: { type: "object", properties: { x: { type: "integer" } } } }
      },
      required: ["needed"]
    })], { strict: true })
    const tool = offer.tools[0]!.function
    assert.isTrue(tool.strict)
    assert.deepStrictEqual(tool.parameters, {
      type: "object",
      properties: {
        needed: { type: "string" },
        free: { type: ["string", "null"], enum: ["a", "b", null] },
        empty: { type: ["string", "null"] },
        list: {
          type: ["array", "null"],
          items: {
            type: "object",
            properties: { x: { type: ["integer", "null"] } },
            required: ["x"],
            additionalProperties: false
          }
        }
      },
      required: ["needed", "free", "empty", "list"],
      additionalProperties: false
    })
    const args = { needed: "abc", free: null, empty: null, list: [{ x: null }, { x: 1 }] }
    const call = (text: string) =>
      offer.calls({ tool_calls: [{ id: "1", function: { name: "tool", arguments: text } }] })[0]!.arguments
    assert.deepStrictEqual(call(JSON.stringify(args)), { needed: "abc", empty: null, list: [{}, { x: 1 }] })
    assert.strictEqual(call("{no json"), "{no json")
  })

  it("does not exist for recursive, open or too large schemas", () => {
    const wide = Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`p${at}`, { type: "string" }]))
    const schemas: ReadonlyArray<JsonRpc.JsonObject> = [
      { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } },
      { type: "object", properties: { a: {} } },
      { type: "object", properties: { a: { type: "array", items: {} } } },
      { type: "object", properties: { a: { $ref: "#" } } },
      { type: "object", properties: wide },
      { type: "object", properties: { a: { enum: Array.from({ length: 1001 }, (_, at) => at) } } }
    ]
    for (const schema of schemas) {
      const { parameters, strict } = parametersOf(schema, { strict: true })
      assert.isFalse(strict, JSON.stringify(schema).slice(0, 100))
      assert.deepStrictEqual(faults(parameters), [])
    }
  })
})

describe("a name that an API rejects", () => {
  const odd = [definition("a tool", { type: "object" }), definition("a.tool"), definition("x".repeat(100))]

  it("is replaced in the offer and restored in the call", () => {
    const chat = ToolDefinitions.openAiChat(odd)
    const names = chat.tools.map(({ function: { name } }) => name)
    assert.strictEqual(new Set(names).size, 3)
    for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
    const calls = chat.calls({
      tool_calls: names.map((name) => ({ id: name, function: { name, arguments: "{}" } }))
    })
    assert.deepStrictEqual(calls.map(({ name }) => name), odd.map(({ name }) => name))
    const anthropic = ToolDefinitions.anthropic(odd)
    for (const { name } of anthropic.tools) assert.match(name, /^[a-zA-Z0-9_-]{1,128}$/)
    assert.strictEqual(anthropic.tools.some(({ name }) => name === "x".repeat(100)), true)
  })

  it("of a root property is replaced for Anthropic and restored in the call", () => {
    const offer = ToolDefinitions.anthropic([definition("tool", {
      type: "object",
      properties: { "$filter": { type: "string" }, "_filter": { type: "string" }, "größe": { type: "string" } },
      required: ["$filter"]
    })])
    const schema = offer.tools[0]!.input_schema
    const names = Object.keys(schema["properties"] as object)
    assert.deepStrictEqual(names, ["_filter_2", "_filter", "gr__e"])
    assert.deepStrictEqual(schema["required"], ["_filter_2"])
    const input = { _filter_2: "1", _filter: "2", gr__e: "3", other: "4" }
    assert.deepStrictEqual(
      offer.calls({ content: [{ type: "tool_use", id: "1", name: "tool", input }] })[0]!.arguments,
      { "$filter": "1", "_filter": "2", "größe": "3", other: "4" }
    )
  })
})

describe("the calls in a response", () => {
  it("may be missing, and other items are ignored", () => {
    assert.deepStrictEqual(ToolDefinitions.openAiChat([]).calls({ tool_calls: null }), [])
    assert.deepStrictEqual(ToolDefinitions.openAiChat([]).calls({ tool_calls: [{ id: "1" }] }), [])
    assert.deepStrictEqual(ToolDefinitions.openAiResponses([]).calls([{ type: "message" }]), [])
    assert.deepStrictEqual(ToolDefinitions.anthropic([]).calls({ content: [{ type: "text" }] }), [])
  })

  it("belong to the given session", () => {
    const [call] = ToolDefinitions.anthropic([]).calls(
      { content: [{ type: "tool_use", id: "1", name: "elsewhere", input: { a: 1 } }] },
      "talk"
    )
    assert.deepStrictEqual(call, { id: "1", name: "elsewhere", arguments: { a: 1 }, session: "talk" })
  })
})

const output = (more: Partial<ToolHandler.Output>): ToolHandler.Output => ({
  callId: "1",
  name: "tool",
  text: "seen",
  attachments: [],
  isError: false,
  error: undefined,
  result: undefined,
  ...more
})

const image = { _tag: "Image", mimeType: "image/JPG", data: Adapters.png, reference: "image-1" } as const

describe("the outputs for an API", () => {
  const url = `data:image/jpeg;base64,${Adapters.png}`

  it("are texts for chat completions, followed by one message with the images", () => {
    const messages = ToolDefinitions.openAiChatResults([output({ attachments: [image] }), output({ callId: "2" })])
    assert.deepStrictEqual(messages, [
      { role: "tool", tool_call_id: "1", content: "seen\n(image-1 is in the next message.)" },
      { role: "tool", tool_call_id: "2", content: "seen" },
      {
        role: "user",
        content: [
          { type: "text", text: "image-1 of the tool call 1:" },
          { type: "image_url", image_url: { url } }
        ]
      }
    ])
  })

  it("contain their images for Responses", () => {
    assert.deepStrictEqual(ToolDefinitions.openAiResponsesResults([output({ attachments: [image] }), output({})]), [
      {
        type: "function_call_output",
        call_id: "1",
        output: [{ type: "input_text", text: "seen" }, { type: "input_image", image_url: url, detail: "auto" }]
      },
      { type: "function_call_output", call_id: "1", output: "seen" }
    ])
  })

  it("are blocks for Anthropic; errors are text only, and no block is empty", () => {
    const source = { type: "base64" as const, media_type: "image/jpeg" as const, data: Adapters.png }
    const { content } = ToolDefinitions.anthropicResults([
      output({ attachments: [image], isError: true }),
      output({ callId: "2", attachments: [image], text: " " })
    ])
    assert.deepStrictEqual(content, [
      { type: "tool_result", tool_use_id: "1", is_error: true, content: [{ type: "text", text: "seen" }] },
      {
        type: "tool_result",
        tool_use_id: "2",
        is_error: false,
        content: [{ type: "text", text: "(empty)" }, { type: "image", source }]
      },
      { type: "image", source }
    ])
  })

  it("contain nothing that an API rejects", () => {
    const attachments = [
      { ...image, data: "no base64" },
      { ...image, data: `${Adapters.png}AAAA` },
      { ...image, mimeType: "image/svg+xml" },
      { ...image, data: "A".repeat(8 * 1024 * 1024) }
    ]
    const { content } = ToolDefinitions.anthropicResults([output({ attachments })])
    assert.deepStrictEqual(content.map((block) => block.type === "tool_result" && block.content.length), [1])
    assert.strictEqual(ToolDefinitions.openAiChatResults([output({ attachments })]).length, 1)
  })
})

/** Each API as a turn: the tools that it is given, and the outputs as it gets them for calls that it makes. */
const apis = {
  "chat completions": {
    names: (definitions: ReadonlyArray<ToolHandler.Definition>) =>
      ToolDefinitions.openAiChat(definitions, { strict: true }).tools.map(({ function: { name } }) => name),
    calls: (definitions: ReadonlyArray<ToolHandler.Definition>, calls: ReadonlyArray<readonly [string, unknown]>) =>
      ToolDefinitions.openAiChat(definitions, { strict: true }).calls({
        tool_calls: calls.map(([name, args], at) => ({
          id: `call-${at}`,
          type: "function",
          function: { name, arguments: JSON.stringify(args) }
        }))
      }),
    results: ToolDefinitions.openAiChatResults as (outputs: ReadonlyArray<ToolHandler.Output>) => unknown
  },
  "Responses": {
    names: (definitions: ReadonlyArray<ToolHandler.Definition>) =>
      ToolDefinitions.openAiResponses(definitions).tools.map(({ name }) => name),
    calls: (definitions: ReadonlyArray<ToolHandler.Definition>, calls: ReadonlyArray<readonly [string, unknown]>) =>
      ToolDefinitions.openAiResponses(definitions).calls(
        calls.map(([name, args], at) => ({
          type: "function_call",
          call_id: `call-${at}`,
          name,
          arguments: JSON.stringify(args)
        }))
      ),
    results: ToolDefinitions.openAiResponsesResults as (outputs: ReadonlyArray<ToolHandler.Output>) => unknown
  },
  "Messages": {
    names: (definitions: ReadonlyArray<ToolHandler.Definition>) =>
      ToolDefinitions.anthropic(definitions).tools.map(({ name }) => name),
    calls: (definitions: ReadonlyArray<ToolHandler.Definition>, calls: ReadonlyArray<readonly [string, unknown]>) =>
      ToolDefinitions.anthropic(definitions).calls({
        content: calls.map(([name, input], at) => ({ type: "tool_use", id: `call-${at}`, name, input }))
      }),
    results: ToolDefinitions.anthropicResults as (outputs: ReadonlyArray<ToolHandler.Output>) => unknown
  }
}

for (const [api, { calls, names, results }] of Object.entries(apis)) {
  describe(`a turn over ${api}`, () => {
    const turn = (handler: ToolHandler.ToolHandler["Type"], ...made: ReadonlyArray<readonly [string, unknown]>) =>
      Effect.gen(function*() {
        const { tools } = yield* handler.definitions()
        const outputs = yield* Effect.forEach(calls(tools, made), (call) => handler.handle(call))
        return { names: names(tools), outputs, told: JSON.stringify(results(outputs)) }
      })

    it.scoped("lists the tools and answers a call", () =>
      Adapters.run(({ handler }) =>
        Effect.gen(function*() {
          const { names, outputs, told } = yield* turn(handler, ["mcp__one__echo", { text: "hello" }])
          assert.includeMembers(names, ["mcp__one__echo", "list_mcp_resources"])
          assert.deepStrictEqual(outputs.map(({ callId, isError }) => [callId, isError]), [["call-0", false]])
          assert.include(told, "hello")
          assert.include(told, "call-0")
        })
      ))

    it.scoped("shows images of supported types", () =>
      Adapters.run(({ handler }) =>
        Effect.gen(function*() {
          const { told } = yield* turn(handler, ["mcp__one__draw", {}], ["mcp__one__bad_picture", {}])
          assert.strictEqual(told.split(Adapters.png).length, 2)
          assert.notInclude(told, "not base64")
        })
      ))

    it.scoped("reports failures to the model", () =>
      Adapters.run(({ handler }) =>
        Effect.gen(function*() {
          const { outputs, told } = yield* turn(handler, ["mcp__one__fail", {}], ["mcp__one__refuse", {}], [
            "no_tool",
            {}
          ])
          assert.deepStrictEqual(outputs.map(({ isError }) => isError), [true, true, true])
          for (const words of ["out of paper", "no such city", "NotFound"]) assert.include(told, words)
        })
      ))

    it.scoped("follows changes of the servers", () =>
      Adapters.run(({ change, handler }) =>
        Effect.gen(function*() {
          yield* change([Adapters.tool("fresh")])
          const { names, told } = yield* turn(handler, ["mcp__one__fresh", {}])
          assert.include(names, "mcp__one__fresh")
          assert.notInclude(names, "mcp__one__echo")
          assert.include(told, "fresh")
        })
      ))

    it.scoped("shortens a name of 80 characters, and distinguishes equal names of two servers", () =>
      Adapters.run(({ handler }) =>
        Effect.gen(function*() {
          const long = (yield* turn(handler)).names.find((name) => name.includes("a_long_name"))!
          assert.match(long, /^[a-zA-Z0-9_-]{1,64}$/)
          const { outputs } = yield* turn(handler, [long, {}], ["mcp__one__same", {}], ["mcp__two__same", {}])
          assert.include(outputs[0]!.text, "a long way")
          assert.include(outputs[1]!.text, "of one")
          assert.include(outputs[2]!.text, "of two")
        })
      ))
  })
}
