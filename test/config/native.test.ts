import { assert, describe, expect, it } from "@effect/vitest"
import Ajv from "ajv/dist/2020.js"
import { Effect, Either } from "effect"
import * as FastCheck from "effect/FastCheck"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { jsonSchema } from "../../schema/nativeDocument.ts"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import type * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import { tables } from "../../src/config/fields.ts"
import type * as FieldSchema from "../../src/config/fieldSchema.ts"
import * as Fingerprint from "../../src/config/Fingerprint.ts"
import * as Merge from "../../src/config/merge.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as ServerEntry from "../../src/config/serverEntry.ts"
import * as ServerPolicy from "../../src/config/ServerPolicy.ts"
import * as Templates from "../../src/config/templates.ts"
import * as Trust from "../../src/config/Trust.ts"
import { costlyRuns } from "../support/runs.ts"

const read = (text: string, ending = "json") =>
  ConfigFile.decode(new TextEncoder().encode(text), {
    host: "native",
    scope: "user",
    origin: "home",
    path: `mcp-client.${ending}`
  })

const schemaFile = new URL("../../schema/mcp-client.schema.json", import.meta.url)
const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(schemaFile, "utf8")))

/** What is said about the meaning of what is written, and not about its form. */
const aboutMeaning: ReadonlySet<ConfigIssue.Kind> = new Set<ConfigIssue.Kind>([
  "command-substitution",
  "conflicting-enabled",
  "empty-file",
  "insecure-url",
  "looks-like-variable",
  "name-not-portable",
  "no-servers",
  "timeout-suspicious",
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

const http = FastCheck.constantFrom(
  "https://h.example/mcp",
  "http://localhost:1/x?y=z",
  "${env:URL}",
  "https://${env:H}/x"
)
const dictionary = (keys: FastCheck.Arbitrary<string>, values: FastCheck.Arbitrary<string>) =>
  FastCheck.dictionary(keys, values, { maxKeys: 3 })
const time = FastCheck.oneof(FastCheck.integer({ min: 1, max: 1e9 }), FastCheck.constantFrom("30 seconds", "1 minute"))
const count = FastCheck.integer({ min: 1, max: 1e6 })
const flag = FastCheck.boolean()
const globs = FastCheck.oneof(
  FastCheck.constant("*"),
  FastCheck.array(text.filter((name) => name !== ""), { maxLength: 3 })
)

const oauth = record({
  enabled: orNot(flag),
  clientId: FastCheck.constantFrom("c", "${env:ID}"),
  clientMetadataUrl: orNot(text),
  scopes: orNot(FastCheck.oneof(text, FastCheck.array(FastCheck.constantFrom("read", "write")))),
  redirectUri: orNot(text),
  callbackPort: orNot(FastCheck.integer({ min: 1, max: 65_535 })),
  issuer: orNot(text),
  clientSecret: orNot(text),
  resource: orNot(text),
  grantType: orNot(text),
  tokenEndpointAuthMethod: orNot(text),
  authServerMetadataUrl: orNot(text),
  public: orNot(flag),
  legacy: orNot(flag),
  dpop: orNot(flag)
})

/** What a file may say of each field. */
const values: { readonly [Key in string]: FastCheck.Arbitrary<unknown> } = {
  title: text,
  description: text,
  enabled: flag,
  required: flag,
  lazy: flag,
  trusted: flag,
  protocol: FastCheck.constantFrom("auto", "session", "stateless", "legacy", "2026-07-28"),
  startupTimeout: time,
  requestTimeout: time,
  toolTimeout: time,
  listTimeout: time,
  stallTimeout: time,
  discoverPatience: time,
  keepAlive: time,
  idleTimeout: time,
  concurrency: count,
  affinity: FastCheck.constantFrom("identity", "shared"),
  maxMessageBytes: count,
  maxResultChars: count,
  enabledTools: globs,
  disabledTools: globs,
  autoApprove: globs,
  command: FastCheck.oneof(word, FastCheck.tuple(word, text)),
  args: texts,
  cwd: word,
  env: dictionary(variable, text),
  withoutEnv: FastCheck.constant(["HIDDEN"]),
  envFile: word,
  inheritEnv: FastCheck.oneof(flag, FastCheck.array(variable, { maxLength: 2 })),
  url: http,
  headers: dictionary(header, text.map(latin)),
  headersCommand: FastCheck.tuple(word, text),
  oauth: FastCheck.oneof(flag, FastCheck.constant("oauth"), oauth),
  proxy: FastCheck.constantFrom("direct", "http://p.example:3128"),
  allowUnencrypted: flag,
  sseFallback: flag
}

const serverOf = (transport: "stdio" | "streamable-http") =>
  FastCheck.record(
    Object.fromEntries(
      // a header and a variable for the same token would be one too many
      Object.keys(tables[transport]).filter((key) => key !== "bearerTokenEnvVar").map((key) => [key, values[key]!])
    ),
    { requiredKeys: [transport === "stdio" ? "command" : "url"] }
  )

const server: FastCheck.Arbitrary<Record<string, unknown>> = FastCheck.oneof(
  serverOf("stdio"),
  serverOf("streamable-http")
)

const rules = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom("a", "*").map((name) => ({ name })),
    FastCheck.tuple(word, text).map((command) => ({ command })),
    word.map((commandLine) => ({ commandLine })),
    word.map((program) => ({ program })),
    FastCheck.constantFrom("*", "https://*.corp/*").map((url) => ({ url })),
    FastCheck.constant({ fingerprint: "sha256:ab" })
  ),
  { maxLength: 2 }
)

const inputs = FastCheck.uniqueArray(
  record({
    id: FastCheck.constantFrom("a", "b c"),
    description: orNot(text),
    secret: orNot(flag),
    default: orNot(text),
    choices: orNot(texts)
  }),
  { minLength: 1, maxLength: 2, selector: ({ id }) => id }
)

/** A document of the format. */
const written: FastCheck.Arbitrary<Record<string, unknown>> = FastCheck.record({
  mcpServers: FastCheck.dictionary(
    FastCheck.constantFrom("a", "with space", "a.b", "\"quoted\"", "ü", "toString", "valueOf"),
    server,
    { maxKeys: 2 }
  ),
  inputs: orNot(inputs),
  imports: FastCheck.constant(["cursor"]),
  policy: FastCheck.record({ allow: rules, deny: rules, managedOnly: flag, requireIdentity: flag })
}).map((document) => JSON.parse(JSON.stringify(document)))

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
  "startupTimeout",
  "requestTimeout",
  "keepAlive",
  "concurrency",
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

describe("the native format", () => {
  it("publishes the schema that the code has", () =>
    expect(`${JSON.stringify(jsonSchema(), null, 2)}\n`).toMatchFileSnapshot(fileURLToPath(schemaFile)))

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
        { mcpServers: { a: { type: "docker", profile: "work", args: ["--verbose"] } } },
        { mcpServers: { a: { transport: "docker", servers: ["time", "fetch"], env: { A: "b" }, lazy: false } } },
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
        { mcpServers: { a: { type: "docker", profile: "" } } },
        { mcpServers: { a: { type: "docker", servers: [] } } },
        { mcpServers: { a: { type: "docker", servers: ["a,b"] } } },
        { mcpServers: { a: { type: "docker", url: "https://h.example" } } },
        { mcpServers: { a: { type: "docker", cwd: "/x" } } },
        { mcpServers: { a: { type: "docker", args: "x" } } },
        { mcpServers: { a: { profile: "work", command: "docker" } } },
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

  it.effect.prop(
    "reads every field as it is written, and every server of it becomes a configuration",
    [server],
    ([fields]) =>
      Effect.gen(function*() {
        const { items } = yield* read(JSON.stringify({ mcpServers: { a: fields } }))
        const [item] = items
        assert(item?._tag === "Server", JSON.stringify(items))
        const { env: _, oauth: login, ...plain } = { oauth: undefined, ...item.entry }
        for (const [key, value] of Object.entries(plain)) {
          if (typeof fields[key] === typeof value && typeof value !== "object" && key !== "protocol") {
            assert.strictEqual(value, fields[key], key)
          }
        }
        for (const [key, value] of Object.entries(fields)) {
          const isEmpty = typeof value === "object" && Object.keys(Object(value)).length === 0
          if (!isEmpty && key !== "env" && key !== "oauth") assert.property(item.entry, key)
        }
        const isUseless = typeof login === "object" && login.clientSecret !== undefined && (login.issuer ?? "") === ""
        const provenance = { provider: "native", scope: "user", origin: "home", pointer: [] } as const
        const expansion = { origin: "home", grants: [], builtins: {}, directory: "/" } as const
        const config = ServerEntry.ofEntry(item.entry, { expansion, provenance })
        assert.strictEqual(Either.isRight(config), !isUseless, JSON.stringify(fields))
      }),
    { fastCheck: { numRuns: costlyRuns(200) } }
  )
})

describe("an entry of the type docker", () => {
  it.effect("is the gateway that the constructor describes", () =>
    Effect.gen(function*() {
      const entry = { type: "docker", servers: ["time", "fetch"], args: ["--verbose"], env: { A: "${env:B}" } }
      const { issues, items: [item] } = yield* read(JSON.stringify({ mcpServers: { a: entry } }))
      assert.deepStrictEqual(issues, [])
      assert(item?._tag === "Server")
      const config = Either.getOrThrow(ServerEntry.ofEntry(item.entry, { expansion, provenance }))
      const given = yield* ServerConfig.docker({ name: "a", servers: ["time", "fetch"], args: ["--verbose"] })
      const argvOf = (of: ServerConfig.ServerConfig) => ServerPolicy.subject(of).argv
      assert.deepStrictEqual(argvOf(config), argvOf(given))
      assert.deepInclude(config, { transport: "docker", lazy: given.lazy, idleTimeout: given.idleTimeout })
    }))
})

/** One value of each field, and another one. */
const samples: { readonly [Key in string]: readonly [one: unknown, other: unknown] } = {
  title: ["a", "b"],
  description: ["a", "b"],
  enabled: [true, false],
  required: [true, false],
  lazy: [true, false],
  trusted: [true, false],
  protocol: ["session", "stateless"],
  startupTimeout: [1000, "2 seconds"],
  requestTimeout: [1000, "2 seconds"],
  toolTimeout: [1000, "2 seconds"],
  listTimeout: [1000, "2 seconds"],
  stallTimeout: [1000, "2 seconds"],
  discoverPatience: [1000, "2 seconds"],
  keepAlive: [1000, "2 seconds"],
  idleTimeout: [1000, "2 seconds"],
  concurrency: [1, 2],
  affinity: ["identity", "shared"],
  maxMessageBytes: [1, 2],
  maxResultChars: [1, 2],
  enabledTools: [["a"], ["b"]],
  disabledTools: [["a"], ["b"]],
  autoApprove: [["a"], ["b"]],
  command: ["a", "b"],
  args: [["a"], ["b"]],
  cwd: ["a", "b"],
  env: [{ A: "1" }, { A: "2" }],
  withoutEnv: [["A"], ["B"]],
  envFile: ["a", "b"],
  inheritEnv: [["A"], ["B"]],
  url: ["https://a.example/", "https://b.example/"],
  headers: [{ A: "1" }, { A: "2" }],
  bearerTokenEnvVar: ["A", "B"],
  headersCommand: [["a"], ["b"]],
  oauth: [{ clientId: "a" }, { clientId: "b" }],
  proxy: ["direct", "http://p.example:3128"],
  allowUnencrypted: [true, false],
  sseFallback: [true, false]
}

/** Fields that are written under another name in the entry. */
const places: { readonly [Key in string]: string } = { bearerTokenEnvVar: "headers" }

const provenance = {
  provider: "native",
  scope: "user",
  origin: "home",
  pointer: [],
  path: "/u/mcp-client.json"
} as const
const expansion = { origin: "home", grants: [], builtins: {}, directory: "/" } as const

describe("a field of a server", () => {
  for (const transport of ["stdio", "streamable-http"] as const) {
    const rows: { readonly [Key in string]: FieldSchema.Row } = tables[transport]
    const target = transport === "stdio" ? { command: "x" } : { url: "https://x.example/" }
    for (const [key, row] of Object.entries(rows)) {
      it.effect(`${key} of ${transport} is read, published, hashed, resolved, merged and shown`, () =>
        Effect.gen(function*() {
          const of = (value: unknown, host = "native") =>
            Effect.map(
              ConfigFile.decode(
                new TextEncoder().encode(JSON.stringify({ mcpServers: { a: { ...target, [key]: value } } })),
                { host, scope: "user", origin: "home", path: "mcp-client.json" }
              ),
              ({ issues, items: [item] }) => {
                assert.deepStrictEqual(issues.map(({ message }) => message), [])
                assert(item?._tag === "Server")
                return item
              }
            )
          const [one, other] = yield* Effect.all([of(samples[key]![0]), of(samples[key]![1])])
          const config = (item: typeof one) =>
            Either.getOrThrow(ServerEntry.ofEntry(item.entry, { expansion, provenance }))
          const place = places[key] ?? key
          // the reader and the Schema
          assert.property(config(one), place)
          // the published JSON Schema
          for (const word of [key, ...(row.aliases ?? [])]) {
            const document = { mcpServers: { a: { ...target, [word]: samples[key]![0] } } }
            assert.isTrue(validate(document), JSON.stringify(validate.errors))
          }
          assert.isFalse(validate({ mcpServers: { a: { ...target, [key]: { none: 1 } } } }))
          // the fingerprint
          const isSame = Fingerprint.of(config(one)) === Fingerprint.of(config(other))
          assert.strictEqual(isSame, !row.identity)
          assert.notStrictEqual(Fingerprint.configuration(config(one)), Fingerprint.configuration(config(other)))
          // the texts that may be templates
          const sites = Templates.texts(config(one)).filter(({ at }) => at.split(".")[0] === place)
          assert.strictEqual(sites.length > 0, row.template !== undefined || place === "headers" || key === "oauth")
          // a stronger file that does not have the field, for the same server and for another one
          const merged = (fields: object) => {
            const strong: typeof one = { ...one, raw: new Map(), entry: { ...target, ...fields } as typeof one.entry }
            const layer = (scope: "project" | "user", item: typeof one): Merge.Layer => ({
              provider: "opencode",
              scope,
              path: undefined,
              rank: 0,
              distance: 0,
              exclusive: false,
              items: [{ ...item, provenance: { ...provenance, provider: "opencode", scope } }]
            })
            const [result] = Merge.merge([layer("project", strong), layer("user", one)])
            assert(result?._tag === "Server")
            return { entry: result.entry, dropped: result.dropped }
          }
          const base = {
            transport: one.entry.transport,
            name: "a",
            enabled: true,
            ...(transport === "stdio" ? { args: [] } : {})
          }
          const elsewhere = merged({
            ...base,
            ...(transport === "stdio" ? { command: "z" } : { url: "https://z.example/" })
          })
          if (row.overlay === undefined) assert.property(elsewhere.entry, place)
          if (row.overlay === "credential") {
            assert.notProperty(elsewhere.entry, place)
            assert.deepStrictEqual(elsewhere.dropped, [place])
          }
          if (row.overlay !== "target") assert.property(merged(base).entry, place)
          // the consent lines
          const lines = (item: typeof one) =>
            Trust.consent({
              root: "/",
              server: "a",
              fingerprint: "",
              entry: item.entry,
              provenance,
              variables: [],
              hazards: []
            }).map(({ label, text }) => `${label}: ${text}`)
          if (key === "enabled") return
          const without = yield* of(samples[key]![0]).pipe(
            Effect.map((item) => ({ ...item, entry: { ...item.entry, [place]: key === "args" ? [] : undefined } }))
          )
          if (row.required !== true) {
            assert.isAbove(lines(one).length, lines(without as typeof one).length, lines(one).join())
          }
        }))
    }
  }
})
