import { assert, describe, it } from "@effect/vitest"
import Ajv from "ajv/dist/2020.js"
import { Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import type * as ConfigDocument from "../../src/config/ConfigDocument.ts"
import type * as ConfigEntry from "../../src/config/ConfigEntry.ts"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import type * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import type * as Dialect from "../../src/config/Dialect.ts"
import * as NativeConfig from "../../src/config/NativeConfig.ts"
import type * as ServerPolicy from "../../src/config/ServerPolicy.ts"
import { costlyRuns } from "../support/runs.ts"

const read = (text: string, ending = "json") =>
  ConfigFile.decode(new TextEncoder().encode(text), { host: "native", scope: "user", path: `mcp-client.${ending}` })

const published = readFileSync(new URL("../../schema/mcp-client.schema.json", import.meta.url), "utf8")
const validate = new Ajv({ strict: false }).compile(JSON.parse(published))
const isDocument = Schema.is(NativeConfig.Document, { onExcessProperty: "error" })

/** What is said about the meaning of what is written, and not about its form. */
const aboutMeaning: ReadonlySet<ConfigIssue.Kind> = new Set<ConfigIssue.Kind>([
  "command-substitution",
  "conflicting-enabled",
  "empty-file",
  "insecure-url",
  "looks-like-variable",
  "name-not-portable",
  "no-servers",
  "url-userinfo",
  "whitespace"
])

const orNot = <A>(arbitrary: FastCheck.Arbitrary<A>): FastCheck.Arbitrary<A | undefined> =>
  FastCheck.option(arbitrary, { nil: undefined })

/** Without what is not there. */
const filled = <A extends object>(fields: A): A =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as A

const record = <A extends object>(
  fields: { readonly [K in keyof A]: FastCheck.Arbitrary<A[K]> }
): FastCheck.Arbitrary<A> => FastCheck.record<A>({ ...fields }).map(filled)

const text = FastCheck.oneof(
  FastCheck.constantFrom(
    "x",
    "a b",
    "--flag",
    "${env:NAME}/x",
    "${env:N:-d}",
    "${input:id}",
    "ü\u0001\"\\",
    "'''",
    "\u007f"
  ),
  FastCheck.fullUnicodeString({ maxLength: 6 }).filter((some) => !/[$%{!`\0\r\n]/.test(some))
)
const word = FastCheck.constantFrom("npx", "/usr/bin/x", "C:\\x.exe", "${var:projectDir}/x", "a b")
const variable = FastCheck.constantFrom("A", "TOKEN", "with space", "a.b", "\"", "ü", "toString", "=".slice(1) + "_")
const header = FastCheck.constantFrom("Authorization", "X-Key", "x.y", "toString")
/** What can be sent in a header. */
const latin = (some: string): string => some.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/gu, "é")
const texts = FastCheck.array(text, { maxLength: 3 })
const mapOf = (keys: FastCheck.Arbitrary<string>, values: FastCheck.Arbitrary<string>) =>
  FastCheck.array(FastCheck.tuple(keys, values), { minLength: 1, maxLength: 3 }).map((all) => new Map(all))
const some = (of: FastCheck.Arbitrary<string>) => FastCheck.array(of, { minLength: 1, maxLength: 3 })
const millis = FastCheck.integer({ min: 1, max: 1e9 })

const http = FastCheck.constantFrom(
  "https://h.example/mcp",
  "http://localhost:1/x?y=z",
  "${env:URL}",
  "https://${env:H}/x"
)
const address = FastCheck.oneof(
  FastCheck.record({
    transport: FastCheck.constantFrom("streamable-http" as const, "sse" as const, "auto" as const),
    url: http
  }),
  FastCheck.record({
    transport: FastCheck.constant("ws" as const),
    url: FastCheck.constantFrom("wss://h.example/x", "${env:URL}")
  })
)

const oauth = record<ConfigEntry.OAuth>({
  enabled: orNot(FastCheck.boolean()),
  clientId: FastCheck.constantFrom("c", "${env:ID}"),
  clientSecret: orNot(text),
  clientMetadataUrl: orNot(text),
  scopes: orNot(FastCheck.array(FastCheck.constantFrom("read", "write"))),
  redirectUri: orNot(text),
  callbackPort: orNot(FastCheck.integer({ min: 1, max: 65_535 })),
  issuer: orNot(text),
  resource: orNot(text),
  grantType: orNot(text),
  tokenEndpointAuthMethod: orNot(text),
  authServerMetadataUrl: orNot(text),
  public: orNot(FastCheck.boolean()),
  legacy: orNot(FastCheck.boolean()),
  dpop: orNot(FastCheck.boolean())
})

/** What a file can hold of which nobody knows what it means. */
const { value: foreign } = FastCheck.letrec<{ value: ConfigDocument.Value }>((tie) => ({
  value: FastCheck.oneof(
    { depthSize: "small" },
    FastCheck.boolean(),
    FastCheck.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number === 0 ? 0 : number),
    FastCheck.constantFrom(9007199254740993n, -9223372036854775808n),
    text,
    FastCheck.array(tie("value"), { maxLength: 2 }),
    FastCheck.array(FastCheck.tuple(text, tie("value")), { maxLength: 2 }).map((all) => new Map(all))
  )
}))
const extra = FastCheck.array(
  FastCheck.tuple(FastCheck.constantFrom("source", "sandbox", "x y", "_comment"), foreign),
  {
    minLength: 1,
    maxLength: 2
  }
).map((all) => new Map(all))

const common = {
  name: FastCheck.constantFrom("a", "with space", "a.b", "\"quoted\"", "ü", "toString", "valueOf"),
  enabled: FastCheck.boolean(),
  required: orNot(FastCheck.boolean()),
  lazy: orNot(FastCheck.boolean()),
  title: orNot(text),
  description: orNot(text),
  protocol: orNot(FastCheck.constantFrom("auto" as const, "session" as const, "stateless" as const)),
  timeouts: orNot(record({ startupMs: millis, requestMs: orNot(millis) })),
  tools: orNot(record<ConfigEntry.Tools>({ allow: texts, deny: orNot(some(text)), autoApprove: orNot(some(text)) })),
  extra: orNot(extra)
}

const stdio: FastCheck.Arbitrary<ConfigEntry.ConfigEntry> = record<ConfigEntry.StdioEntry>({
  ...common,
  transport: FastCheck.constant("stdio"),
  command: word,
  args: texts,
  env: orNot(
    FastCheck.array(FastCheck.tuple(variable, FastCheck.option(text)), { minLength: 1, maxLength: 3 })
      .map((all) => new Map(all))
  ),
  envFile: orNot(word),
  inheritEnv: orNot(FastCheck.oneof(FastCheck.boolean(), FastCheck.array(variable, { maxLength: 2 }))),
  cwd: orNot(word)
})

const remote: FastCheck.Arbitrary<ConfigEntry.ConfigEntry> = FastCheck.tuple(
  address,
  record({
    ...common,
    headers: orNot(mapOf(header, text.map(latin))),
    headersCommand: orNot(FastCheck.tuple(word, text).map((argv) => [...argv])),
    env: orNot(mapOf(variable, text)),
    oauth: orNot(FastCheck.oneof(FastCheck.constant(false as const), oauth))
  })
).map(([target, rest]) => ({ ...rest, ...target }))

const entries = FastCheck.uniqueArray(FastCheck.oneof(stdio, remote), { maxLength: 2, selector: ({ name }) => name })

const matcher: FastCheck.Arbitrary<ServerPolicy.Matcher> = FastCheck.oneof(
  FastCheck.constantFrom("a", "*").map((pattern) => ({ _tag: "Name", pattern }) as const),
  FastCheck.tuple(word, text).map((argv) => ({ _tag: "Command", argv: [...argv] }) as const),
  word.map((pattern) => ({ _tag: "CommandLine", pattern }) as const),
  word.map((command) => ({ _tag: "Program", pattern: command }) as const),
  FastCheck.constantFrom("*", "https://*.corp/*").map((pattern) => ({ _tag: "Url", pattern }) as const),
  FastCheck.constant({ _tag: "Fingerprint", pattern: "sha256:ab" } as const)
)
const matchers = FastCheck.array(matcher, { maxLength: 2 })

const inputs = FastCheck.uniqueArray(
  record<Dialect.Input>({
    id: FastCheck.constantFrom("a", "b c"),
    description: orNot(text),
    secret: orNot(FastCheck.constant(true)),
    default: orNot(text),
    choices: orNot(texts)
  }),
  { minLength: 1, maxLength: 2, selector: ({ id }) => id }
)

/** Its entries in one order, as maps say nothing about it. */
const sorted = (of: ReadonlyMap<string, string | null> | undefined) =>
  of === undefined ? undefined : Array.from(of).toSorted(([self], [that]) => self < that ? -1 : 1)

const comparable = (entry: ConfigEntry.ConfigEntry): unknown => ({ ...entry, env: sorted(entry.env) })

/** A document of the format, as JSON. */
const written = FastCheck.record({ entries, inputs: orNot(inputs), allow: matchers, deny: matchers }).map(
  ({ allow, deny, entries, inputs }): Record<string, unknown> =>
    JSON.parse(
      NativeConfig.encode(
        {
          entries: entries.map(({ env, extra: _, ...entry }) =>
            entry.transport === "stdio" && env !== undefined ? { ...entry, env } : entry
          ),
          inputs,
          imports: ["cursor"],
          policy: { allow, deny }
        },
        "json"
      )
    )
)

/** What somebody may write in the place of something, or beside it. */
const anything = FastCheck.constantFrom<unknown>(
  null,
  0,
  1,
  -1,
  1.5,
  "",
  " ",
  "x",
  "*",
  "http",
  "sse",
  "ws",
  "stdio",
  "true",
  true,
  false,
  [],
  {},
  ["x"],
  [1],
  [null],
  { x: 1 },
  { x: "y" },
  { name: "x" },
  "https://h.example",
  "ftp://h.example",
  "//h/x",
  "a\nb",
  ["a\u0000b"]
)
const aKey = FastCheck.constantFrom(
  "command",
  "args",
  "env",
  "url",
  "headers",
  "oauth",
  "cwd",
  "envFile",
  "inheritEnv",
  "withoutEnv",
  "enabled",
  "enabledTools",
  "autoApprove",
  "alwaysAllow",
  "disabled",
  "startupTimeoutMs",
  "requestTimeoutMs",
  "protocol",
  "title",
  "required",
  "lazy",
  "headersCommand",
  "timeout",
  "tool_timeout_sec",
  "commnad",
  "serverUrl",
  "type",
  "id",
  "secret",
  "choices",
  "name",
  "clientId",
  "scopes",
  "callbackPort",
  "__proto__",
  "Host",
  "Mcp-Session-Id",
  "a b",
  "-x"
)

const paths = (
  value: unknown,
  path: ReadonlyArray<string | number> = []
): ReadonlyArray<ReadonlyArray<string | number>> =>
  typeof value !== "object" || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([key, inner]) => paths(inner, [...path, key]))]

type Change = {
  readonly at: number
  readonly key: string
  readonly value: unknown
  readonly kind: "put" | "add" | "drop"
}

/** One thing of a document is another, or is added, or gone. */
const changed = (document: unknown, { at, key, kind, value }: Change): unknown => {
  const copy: unknown = structuredClone(document)
  const all = paths(copy)
  const path = all[at % all.length]!
  const parent = path.slice(0, -1).reduce<unknown>((of, step) => Reflect.get(Object(of), step), copy)
  const last = path.at(-1)
  if (last === undefined) return copy
  const held: unknown = Reflect.get(Object(parent), last)
  if (kind === "put") Reflect.set(Object(parent), last, value)
  else if (kind === "drop") {
    if (Array.isArray(parent)) parent.splice(Number(last), 1)
    else Reflect.deleteProperty(Object(parent), last)
  } else if (Array.isArray(held)) held.push(value)
  else if (typeof held === "object" && held !== null) {
    Object.defineProperty(held, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return copy
}

const change: FastCheck.Arbitrary<Change> = FastCheck.record({
  at: FastCheck.nat(200),
  key: aKey,
  value: anything,
  kind: FastCheck.constantFrom("put" as const, "add" as const, "drop" as const)
})

/** Whether the reader finds nothing to say about the form of a document. */
const isRead = (document: unknown): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    read(JSON.stringify(document)),
    ({ issues }) => issues.filter(({ kind }) => !aboutMeaning.has(kind)).map(({ at, kind }) => `${kind}:${at}`)
  )

const agree = (document: unknown) =>
  Effect.map(isRead(document), (faults) => {
    const told = JSON.stringify(document)
    assert.strictEqual(validate(document), faults.length === 0, `${told} ${faults} ${JSON.stringify(validate.errors)}`)
    return faults.length === 0
  })

describe("NativeConfig", () => {
  it("publishes the schema that the code has", () => {
    assert.strictEqual(published, `${JSON.stringify(NativeConfig.jsonSchema(), null, 2)}\n`, "npm run schema")
  })

  it.effect.prop("publishes a schema that takes what is read without a word, and refuses the rest", [
    written,
    FastCheck.array(change, { maxLength: 2 })
  ], ([document, changes]) =>
    Effect.gen(function*() {
      assert.isTrue(yield* agree(document))
      const other = changes.reduce<unknown>(changed, document)
      yield* agree(other)
    }), { fastCheck: { numRuns: costlyRuns(100) } })

  it.effect("agrees with the reader on what people get wrong", () =>
    Effect.gen(function*() {
      const good: ReadonlyArray<unknown> = [
        {},
        { mcpServers: {} },
        { mcpServers: { a: { command: ["npx", "-y", "x"] } } },
        { mcpServers: { a: { command: "x", disabled: true, alwaysAllow: "*" } } },
        { mcpServers: { a: { type: "http", url: "https://h.example", oauth: true } } },
        { mcpServers: { a: { transport: "sse", url: "https://h.example", oauth: { scopes: "a b" } } } },
        { mcpServers: { a: { url: "wss://h.example/x" } } },
        { mcpServers: { a: { url: "https://h.example", args: [], env: {} } } },
        { mcpServers: { a: { command: "x", headers: {}, oauth: false } } },
        { mcpServers: { a: { type: "streamableHttp", url: "${env:URL}" } } },
        { policy: { deny: [{ url: "*" }], managed_only: true, providers: ["native"] }, other: 1 },
        { security: { mcp_server_denylist: ["a"], other: 1 } }
      ]
      const bad: ReadonlyArray<unknown> = [
        { mcpServers: [] },
        { mcpServers: { a: {} } },
        { mcpServers: { a: null } },
        { mcpServers: { "": { command: "x" } } },
        { mcpServers: { "-a": { command: "x" } } },
        { mcpServers: { constructor: { command: "x" } } },
        { mcpServers: { a: { command: "" } } },
        { mcpServers: { a: { command: [] } } },
        { mcpServers: { a: { command: ["", "x"] } } },
        { mcpServers: { a: { command: "\\\\evil\\x" } } },
        { mcpServers: { a: { command: "x", args: "y" } } },
        { mcpServers: { a: { command: "x", args: ["a\nb"] } } },
        { mcpServers: { a: { command: "x", args: [1] } } },
        { mcpServers: { a: { command: "x", env: { A: null } } } },
        { mcpServers: { a: { command: "x", env: { "A=B": "c" } } } },
        { mcpServers: { a: { command: "x", url: "https://h.example" } } },
        { mcpServers: { a: { command: "x", headers: { A: "b" } } } },
        { mcpServers: { a: { command: "x", enabled: "false" } } },
        { mcpServers: { a: { command: "x", timeout: 30 } } },
        { mcpServers: { a: { command: "x", startupTimeoutMs: 0 } } },
        { mcpServers: { a: { command: "x", protocol: "2025-11-25" } } },
        { mcpServers: { a: { command: "x", commnad: "y" } } },
        { mcpServers: { a: { type: "sse", command: "x" } } },
        { mcpServers: { a: { type: "sse", url: "https://h.example", command: [] } } },
        { mcpServers: { a: { url: "https://h.example", env: { A: "b" } } } },
        { mcpServers: { a: { type: "tcp", url: "https://h.example" } } },
        { mcpServers: { a: { type: "ws", url: "https://h.example" } } },
        { mcpServers: { a: { type: "http", url: "wss://h.example" } } },
        { mcpServers: { a: { url: "h.example" } } },
        { mcpServers: { a: { url: "file:///etc/passwd" } } },
        { mcpServers: { a: { url: "https://h.example", headers: { hOST: "b" } } } },
        { mcpServers: { a: { url: "https://h.example", headers: { "MCP-Session-Id": "b" } } } },
        { mcpServers: { a: { url: "https://h.example", headers: { A: "b\r\nc" } } } },
        { mcpServers: { a: { url: "https://h.example", oauth: { callbackPort: 0 } } } },
        { mcpServers: { a: { serverUrl: "https://h.example" } } },
        { inputs: {} },
        { inputs: [{}] },
        { inputs: [{ id: "a", default: 1 }] },
        { inputs: [{ id: "a", password: true }] },
        { imports: "cursor" },
        { policy: { deny: [{ url: "[" }] } },
        { policy: { deny: [{ url: "ftp://h.example" }] } },
        { policy: { deny: [{ name: "a", url: "*" }] } },
        { policy: { denied: [] } }
      ]
      for (const document of good) assert.isTrue(yield* agree(document), JSON.stringify(document))
      for (const document of bad) assert.isFalse(yield* agree(document), JSON.stringify(document))
    }))

  it.prop("is in code what is published", [written], ([document]) => {
    assert.isTrue(isDocument(document))
  })

  it.effect.prop(
    "writes entries from which the same are read, in JSON and in TOML",
    [entries],
    ([given]) =>
      Effect.gen(function*() {
        for (const format of ["json", "toml"] as const) {
          const text = NativeConfig.encode({ entries: given }, format)
          const { decoded, document } = yield* read(text, format)
          assert.deepStrictEqual(document.issues, [], text)
          const items = decoded.items.map((item) => item._tag === "Server" ? comparable(item.entry) : item)
          assert.deepStrictEqual(items, given.map(comparable), text)
        }
      }),
    { fastCheck: { numRuns: costlyRuns(70) } }
  )

  it.effect.prop("writes questions, imports and rules that are read as they were", [
    inputs,
    matchers,
    matchers,
    FastCheck.boolean(),
    FastCheck.boolean()
  ], ([questions, allow, deny, managedOnly, requireIdentity]) =>
    Effect.gen(function*() {
      for (const format of ["json", "toml"] as const) {
        const policy = { allow, deny, managedOnly, requireIdentity, exclusive: false, providers: ["native"] }
        const text = NativeConfig.encode(
          { entries: [], inputs: questions, imports: ["cursor", "vscode"], policy },
          format
        )
        const { decoded, issues } = yield* read(text, format)
        assert.deepStrictEqual(issues, [], text)
        assert.deepStrictEqual(decoded.inputs, questions)
        assert.deepStrictEqual(decoded.imports, ["cursor", "vscode"])
        const { allow: a, deny: d, managedOnly: m, requireIdentity: r } = decoded.policy!
        assert.deepStrictEqual([a, d, m, r ?? false], [allow, deny, managedOnly, requireIdentity])
      }
    }), { fastCheck: { numRuns: costlyRuns(50) } })

  it.effect("writes a large number so that it does not become an exact one", () =>
    Effect.gen(function*() {
      const extra = new Map<string, ConfigDocument.Value>([["source", [2 ** 60, 2n ** 60n, 1e300, -0.5]]])
      const entry = { transport: "stdio", name: "a", enabled: true, command: "x", args: [], extra } as const
      for (const format of ["json", "toml"] as const) {
        const { decoded } = yield* read(NativeConfig.encode({ entries: [entry] }, format), format)
        assert.deepStrictEqual(decoded.items.map((item) => item._tag === "Server" && item.entry.extra), [extra])
      }
    }))

  it.effect("writes no limit as the longest there is, and nothing under a name of its own that is foreign", () =>
    Effect.gen(function*() {
      const { decoded } = yield* read(
        NativeConfig.encode({
          entries: [{
            transport: "stdio",
            name: "a",
            enabled: true,
            command: "x",
            args: [],
            timeouts: { requestMs: 0 },
            extra: new Map<string, ConfigDocument.Value>([["url", "https://evil.example"], ["mine", null]])
          }]
        }, "toml"),
        "toml"
      )
      const [item] = decoded.items
      assert.strictEqual(item?._tag, "Server")
      if (item?._tag !== "Server") return
      assert.strictEqual(item.entry.timeouts?.requestMs, 27 * 3_600_000)
      assert.deepStrictEqual(item.warnings, [])
      assert.isUndefined(item.entry.extra)
    }))
})
