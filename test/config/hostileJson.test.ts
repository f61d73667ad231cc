import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Document from "../../src/config/document.ts"
import * as Trust from "../../src/config/Trust.ts"

interface HostileText {
  readonly id: string
  readonly why: string
  readonly content: string | Uint8Array
  /** What the document comes to: its keys in order, or the fault for which there is none. */
  readonly is: ReadonlyArray<string> | string
  readonly warnings?: ReadonlyArray<string> | undefined
}

const text = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

/** The ids are those of the collection of hostile inputs of parsers that the product is held to. */
const hostile: ReadonlyArray<HostileText> = [
  {
    id: "json-002",
    why: "a prototype in the depths",
    content: `{"a":{"__proto__":{"x":1},"b":[{"__proto__":{"x":1}}]}}`,
    is: ["a"]
  },
  { id: "json-003", why: "a constructor", content: `{"constructor":{"prototype":{"x":1}}}`, is: ["constructor"] },
  {
    id: "json-004",
    why: "a prototype that is written otherwise",
    content: `{"\\u005f\\u005fproto\\u005f\\u005f":{"x":1}}`,
    is: ["__proto__"]
  },
  // in a file of servers it is an error: see below
  { id: "json-005", why: "a key twice", content: `{"a":1,"a":2}`, is: ["a"], warnings: ["duplicate-key"] },
  { id: "json-007", why: "a number that is none", content: `{"a":NaN}`, is: "syntax" },
  { id: "json-009", why: "an integer that no double holds", content: `{"id":9007199254740993}`, is: ["id"] },
  { id: "json-010", why: "a number that is infinite", content: `{"a":1e400}`, is: ["a"] },
  { id: "json-011", why: "lists without end", content: "[".repeat(100_000), is: "nesting-too-deep" },
  { id: "json-012", why: "tables without end", content: "{\"a\":".repeat(100_000), is: "nesting-too-deep" },
  // a person who has just made the file has done nothing wrong, so it is said and is no fault (config-samples/_nasty)
  { id: "json-013", why: "nothing", content: "", is: [], warnings: ["empty-file"] },
  { id: "json-014", why: "a byte order mark", content: "\ufeff{}", is: [], warnings: ["bom-stripped"] },
  // Nothing is replaced in a configuration, because what stands there could become something else by it: the whole file
  // is refused (research/config.md §7.2). A wire may replace.
  { id: "json-015", why: "bytes that are no text", content: Uint8Array.of(0xc3, 0x28), is: "encoding" },
  { id: "json-016", why: "a character that is too long", content: Uint8Array.of(0xc0, 0xaf), is: "encoding" },
  { id: "json-018", why: "half a character", content: `{"a":"\\ud800"}`, is: ["a"] },
  { id: "json-019", why: "a key of a megabyte", content: `{"${"k".repeat(1_000_000)}":1}`, is: "syntax" },
  {
    id: "json-020",
    why: "names of methods",
    content: `{"toString":1,"valueOf":2,"then":3,"toJSON":4}`,
    is: ["toString", "valueOf", "then", "toJSON"]
  },
  { id: "json-022", why: "a key that is an index", content: `{"4294967294":1}`, is: ["4294967294"] }
]

const read = (content: string | Uint8Array) => Document.decode(text(content), "json")

/** What is found where these files are. */
const discovered = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(Layer.provide(ConfigDiscovery.layerTest(new Map(Object.entries(files))), Trust.layerMemory()))
  )

const shared = "/project/.mcp.json"

const root = (content: string) =>
  Effect.map(read(content), ({ root }) => {
    assert.isDefined(root)
    return root!
  })

describe("a hostile text", () => {
  for (const { content, id, is, warnings = [], why } of hostile) {
    it.effect(`is data or refused: ${id}, ${why}`, () =>
      Effect.gen(function*() {
        const { issues, root } = yield* read(content)
        if (typeof is === "string") {
          assert.isUndefined(root)
          assert.deepStrictEqual(issues.map(({ kind, severity }) => [kind, severity]), [[is, "error"]])
        } else {
          assert.deepStrictEqual(Array.from(root?.keys() ?? []), is)
          assert.deepStrictEqual(issues.map(({ kind }) => kind), warnings)
        }
        for (const key of ["x", "a", "prototype"]) assert.isUndefined(Reflect.get({}, key), key)
      }))

    it.effect(`costs no other file anything: ${id}`, () =>
      Effect.gen(function*() {
        const good = JSON.stringify({ mcpServers: { good: { command: "x" } } })
        const user = "/home/me/.config/mcp-runtime/mcp-client.json"
        const found = yield* discovered({ [shared]: text(content), [user]: good })
        assert.deepStrictEqual(found.servers.map(({ name, state }) => [name, state._tag]), [["good", "Ready"]])
        assert.isTrue(found.issues.every(({ path }) => path === shared))
        assert.isNotEmpty(found.issues)
      }))
  }

  it.effect("keeps what it holds as it is, and gives nothing away (json-002, json-009, json-010, json-018)", () =>
    Effect.gen(function*() {
      const inner = (yield* root(`{"a":{"__proto__":{"x":1},"b":[{"__proto__":{"x":1}}]}}`)).get("a")
      assert.instanceOf(inner, Map)
      const polluting = new Map([["__proto__", new Map([["x", 1]])]])
      assert.deepStrictEqual<unknown>(inner, new Map<string, unknown>([...polluting, ["b", [polluting]]]))
      assert.isUndefined(Reflect.get(inner as object, "x"))
      assert.strictEqual((yield* root(`{"id":9007199254740993}`)).get("id"), 9007199254740993n)
      assert.strictEqual((yield* root(`{"a":1e400}`)).get("a"), Infinity)
      assert.strictEqual((yield* root(`{"a":"\\ud800"}`)).get("a"), "\ufffd")
    }))

  it.effect("is not waited for as if it were a promise (json-020)", () =>
    Effect.gen(function*() {
      const data = yield* root(`{"toString":1,"valueOf":2,"then":3,"toJSON":4}`)
      assert.strictEqual(yield* Effect.promise(async () => data), data)
      assert.isUndefined(Reflect.get(data, "then"))
    }))

  it.effect("makes no server of a number that is infinite, or too large to be exact (json-009, json-010)", () =>
    Effect.gen(function*() {
      const file = `{"mcpServers":{"a":{"command":"x","args":[1e400]},"b":{"command":"x","args":[9007199254740993]}}}`
      const found = yield* discovered({ [shared]: file })
      const [a, b] = found.servers
      assert.deepStrictEqual(a?.state, { _tag: "Invalid", kind: "invalid-type" })
      assert.deepStrictEqual(b?.entry?.transport === "stdio" ? b.entry.args : undefined, ["9007199254740993"])
    }))

  it.effect("names a server twice for nobody to choose between (json-005)", () =>
    Effect.gen(function*() {
      for (const file of [`{"mcpServers":{},"mcpServers":{"a":{"command":"x"}}}`, `{"a":1,"a":2,"mcpServers":{}}`]) {
        const found = yield* discovered({ [shared]: file })
        assert.deepStrictEqual(found.servers, [])
        assert.deepStrictEqual(found.issues.map(({ kind, severity }) => [kind, severity]), [
          ["duplicate-root-key", "error"]
        ])
      }
    }))
})
