import { assert, describe, it } from "@effect/vitest"
import { Duration, Redacted } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as Document from "../../src/config/document.ts"
import * as Fingerprint from "../../src/config/Fingerprint.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Configs from "../support/configs.ts"
import { runs } from "../support/runs.ts"

const names = FastCheck.oneof(
  FastCheck.constantFrom("__proto__", "constructor", "toString", "A", "a", "A:B", "\"", "\ud800", "\ud801"),
  FastCheck.string({ maxLength: 4 })
)
const secrets = FastCheck.array(FastCheck.tuple(names, names), { maxLength: 4 }).map((entries) => new Map(entries))
const words = FastCheck.array(names, { maxLength: 3 })

type Env = ReadonlyMap<string, string>

const stdio = (env: Env, args: ReadonlyArray<string> = []) =>
  Configs.stdio({ name: "s", command: "node", args, env: redacted(env) })

const redacted = (texts: Env): ReadonlyMap<string, Redacted.Redacted> =>
  new Map(Array.from(texts, ([name, value]) => [name, Redacted.make(value)]))

const http: ServerConfig.HttpInput = { name: "h", url: "https://mcp.example/mcp" }

/** One change of each field of a server of each kind. */
const whatItIs: ReadonlyArray<readonly [ServerConfig.ServerConfig, ReadonlyArray<ServerConfig.ServerConfig>]> = [
  [
    Configs.stdio({ name: "s", command: "node" }),
    [
      Configs.stdio({ name: "s", command: "deno" }),
      Configs.stdio({ name: "s", command: "node", args: ["a"] }),
      Configs.stdio({ name: "s", command: "node", args: ["a", "b"] }),
      Configs.stdio({ name: "s", command: "node", args: ["b", "a"] }),
      Configs.stdio({ name: "s", command: "node", args: ["a,b"] }),
      Configs.stdio({ name: "s", command: "node", env: { A: "1" } }),
      Configs.stdio({ name: "s", command: "node", env: { A: "2" } }),
      Configs.stdio({ name: "s", command: "node", env: { B: "1" } }),
      Configs.stdio({ name: "s", command: "node", inheritEnv: true }),
      Configs.stdio({ name: "s", command: "node", inheritEnv: ["A"] }),
      Configs.stdio({ name: "s", command: "node", cwd: "/tmp" }),
      Configs.stdio({ name: "s", command: "node", protocol: "session" }),
      Configs.stdio({ name: "s", command: "node", protocol: "stateless" })
    ]
  ],
  [
    Configs.docker({ name: "d" }),
    [
      Configs.docker({ name: "d", command: "podman" }),
      Configs.docker({ name: "d", profile: "p" }),
      Configs.docker({ name: "d", servers: ["p"] }),
      Configs.docker({ name: "d", args: ["p"] }),
      Configs.docker({ name: "d", env: { A: "1" } }),
      Configs.docker({ name: "d", inheritEnv: true })
    ]
  ],
  [
    Configs.http(http),
    [
      Configs.http({ ...http, url: "https://mcp.example/other" }),
      Configs.http({ ...http, headers: { Authorization: "Bearer 1" } }),
      Configs.http({ ...http, headers: { Authorization: "Bearer 2" } }),
      Configs.http({ ...http, bearerTokenEnvVar: "TOKEN" }),
      Configs.http({ ...http, headersCommand: ["TOKEN"] }),
      Configs.http({ ...http, sseFallback: false }),
      Configs.http({ ...http, protocol: "session" }),
      Configs.sse(http),
      Configs.ws({ ...http, url: "wss://mcp.example/mcp" })
    ]
  ]
]

const usages: ReadonlyArray<Partial<ServerConfig.HttpInput>> = [
  { name: "other" },
  { title: "t" },
  { description: "d" },
  { enabled: false },
  { required: true },
  { lazy: true },
  { trusted: true },
  { startupTimeout: 1 },
  { requestTimeout: 1 },
  { toolTimeout: 1 },
  { listTimeout: 1 },
  { stallTimeout: 1 },
  { discoverPatience: 1 },
  { keepAlive: 1 },
  { idleTimeout: 1 },
  { concurrency: 1 },
  { maxMessageBytes: 1 },
  { enabledTools: [] },
  { disabledTools: [] },
  { autoApprove: [] }
]

describe("the fingerprint of a configuration", () => {
  it("differs with whatever makes another server", () => {
    for (const [config, others] of whatItIs) {
      const all = [config, ...others]
      assert.strictEqual(new Set(all.map(Fingerprint.of)).size, all.length)
      assert.strictEqual(new Set(all.map(Fingerprint.configuration)).size, all.length)
    }
  })

  it("is the same however the server is named, filtered, bounded and trusted", () => {
    const docker = Configs.docker({ name: "d" })
    assert.strictEqual(Fingerprint.of({ ...docker, lazy: false, idleTimeout: Duration.zero }), Fingerprint.of(docker))
    for (const usage of usages) {
      assert.strictEqual(
        Fingerprint.of(Configs.http({ ...http, ...usage })),
        Fingerprint.of(Configs.http(http))
      )
    }
  })

  it("of all there is differs with every field, and knows durations by their length", () => {
    const all = [Configs.http(http), ...usages.map((usage) => Configs.http({ ...http, ...usage }))]
    assert.strictEqual(new Set(all.map(Fingerprint.configuration)).size, usages.length + 1)
    assert.strictEqual(
      Fingerprint.configuration(Configs.http({ ...http, toolTimeout: "1 second" })),
      Fingerprint.configuration(Configs.http({ ...http, toolTimeout: Duration.millis(1000) }))
    )
    assert.notStrictEqual(
      Fingerprint.configuration(Configs.http({ ...http, toolTimeout: "1 second" })),
      Fingerprint.configuration(Configs.http({ ...http, toolTimeout: "2 seconds" }))
    )
  })

  it("does not depend on the order in which fields and variables are written", () => {
    FastCheck.assert(FastCheck.property(secrets, (env) => {
      const turned = new Map(Array.from(env).toReversed())
      const config = stdio(env)
      const rewritten: ServerConfig.ServerConfig = Object.fromEntries(
        Object.entries(stdio(turned)).toReversed()
      ) as typeof config
      assert.strictEqual(Fingerprint.of(rewritten), Fingerprint.of(config))
      assert.strictEqual(Fingerprint.configuration(rewritten), Fingerprint.configuration(config))
    }))
  })

  it("is equal for equal variables and arguments only, whatever characters they are made of", () => {
    const sameMap = (a: Env, b: Env) => a.size === b.size && Array.from(a).every(([k, v]) => b.get(k) === v && b.has(k))
    const sameList = (a: ReadonlyArray<string>, b: ReadonlyArray<string>) =>
      a.length === b.length && a.every((word, at) => word === b[at])
    FastCheck.assert(
      FastCheck.property(secrets, words, secrets, words, (env, args, otherEnv, otherArgs) => {
        assert.strictEqual(
          Fingerprint.of(stdio(env, args)) === Fingerprint.of(stdio(otherEnv, otherArgs)),
          sameMap(env, otherEnv) && sameList(args, otherArgs)
        )
      }),
      { numRuns: runs(500) }
    )
  })

  it("is 64 hexadecimal digits, in which no secret can be read", () => {
    const config = stdio(new Map([["TOKEN", "hush-hush"]]))
    assert.match(Fingerprint.of(config), /^[0-9a-f]{64}$/)
    assert.match(Fingerprint.configuration(config), /^[0-9a-f]{64}$/)
  })

  it("leaves out what is written as undefined", () => {
    const config = Configs.http(http)
    assert.strictEqual(Fingerprint.of({ ...config, bearerTokenEnvVar: undefined }), Fingerprint.of(config))
  })
})

describe("the fingerprint of an entry", () => {
  type Value = Document.Value

  const { value } = FastCheck.letrec<{ readonly value: Value }>((tie) => ({
    value: FastCheck.oneof(
      { maxDepth: 4, depthSize: "small" },
      FastCheck.constantFrom<Array<Value>>(null, true, false, 0, -0, Infinity, NaN, 1.5, "", "null", "0", "NaN", "[]"),
      FastCheck.bigInt(),
      names,
      FastCheck.date(),
      FastCheck.array(tie("value"), { maxLength: 3 }),
      FastCheck.array(FastCheck.tuple(names, tie("value")), { maxLength: 4 }).map((entries) => new Map(entries))
    )
  }))

  const tables = FastCheck.array(FastCheck.tuple(names, value), { minLength: 1, maxLength: 5 })
    .map((entries): Document.Table => new Map(entries))

  const of = (raw: Value, more: { readonly name?: string; readonly root?: string; readonly provider?: string } = {}) =>
    Fingerprint.entry(
      { name: more.name ?? "docs", raw },
      [{ provider: more.provider ?? "native", scope: "project", origin: "workspace", path: "/work/.mcp.json" }],
      more.root ?? "/work"
    )

  const isTable = (of: Value): of is Document.Table => of instanceof Map
  const isList = (of: Value): of is ReadonlyArray<Value> => Array.isArray(of)

  /** The same, with the keys of every table the other way round. */
  const turned = (of: Value): Value => {
    if (isTable(of)) return new Map(Array.from(of, ([key, value]) => [key, turned(value)] as const).toReversed())
    return isList(of) ? of.map(turned) : of
  }

  /** Everything that it can become when one of its parts is changed, taken away or added. */
  const changed = (of: Value): ReadonlyArray<Value> => {
    const parts: Array<Value> = [of === "other" ? "another" : "other", [of], new Map([["of", of]])]
    if (isTable(of)) {
      parts.push(new Map(of).set("a key that no other has", null))
      for (const [key, value] of of) {
        parts.push(new Map(Array.from(of).filter(([other]) => other !== key)))
        parts.push(new Map(Array.from(of, ([other, kept]) => [other === key ? `${key}.` : other, kept] as const)))
        for (const part of changed(value)) parts.push(new Map(of).set(key, part))
      }
    }
    if (isList(of)) {
      parts.push([...of, null])
      for (const [at, value] of of.entries()) {
        parts.push(of.filter((_, other) => other !== at))
        for (const part of changed(value)) parts.push(of.map((kept, other) => other === at ? part : kept))
      }
    }
    return parts
  }

  it("is another when any of its fields is, known or not, and the same in any order of keys", () => {
    FastCheck.assert(FastCheck.property(tables, (raw) => {
      const own = of(raw)
      assert.match(own, /^sha256:[0-9a-f]{64}$/)
      assert.strictEqual(of(turned(raw)), own)
      const all = changed(raw)
      const others = new Set(all.map((part) => of(part)))
      assert.isFalse(others.has(own))
    }))
  })

  it("tells apart what is written alike", () => {
    const alike: ReadonlyArray<Value> = [
      null,
      "null",
      "",
      [],
      [[]],
      new Map(),
      [new Map()],
      0,
      -0,
      "0",
      0n,
      Infinity,
      -Infinity,
      NaN,
      "NaN",
      true,
      "true",
      new Date(0),
      new Date(1),
      new Date(NaN),
      "1970-01-01T00:00:00.000Z",
      ["a", "b"],
      ["b", "a"],
      ["a,b"],
      ["a\",\"b"],
      new Map([["a", "b"]]),
      new Map([["b", "a"]]),
      [["a", "b"]],
      "\ud800",
      "\ud801",
      "\ufffd"
    ]
    assert.strictEqual(new Set(alike.map((raw) => of(raw))).size, alike.length)
  })

  it("is another in another place, under another name, and with other defaults of what it asks for", () => {
    const raw = new Map([["command", "node"]])
    const place = { provider: "native", scope: "project", origin: "workspace", path: "/work/.mcp.json" } as const
    const below = { ...place, path: "/work/a/.mcp.json" }
    const all = [
      of(raw),
      of(raw, { name: "other" }),
      of(raw, { root: "/elsewhere" }),
      of(raw, { provider: "claude-code" }),
      Fingerprint.entry({ name: "docs", raw }, [{ ...place, scope: "local" }], "/work"),
      Fingerprint.entry({ name: "docs", raw }, [{ ...place, origin: "home" }], "/work"),
      Fingerprint.entry({ name: "docs", raw }, [{ ...place, path: undefined }], "/work"),
      Fingerprint.entry({ name: "docs", raw }, [below], "/work"),
      Fingerprint.entry({ name: "docs", raw }, [place, below], "/work"),
      Fingerprint.entry({ name: "docs", raw }, [below, place], "/work"),
      Fingerprint.entry({ name: "docs", raw, inputs: [{ id: "x", default: "safe" }] }, [place], "/work"),
      Fingerprint.entry({ name: "docs", raw, inputs: [{ id: "x", default: "--evil" }] }, [place], "/work")
    ]
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(
      Fingerprint.entry({ name: "docs", raw, inputs: [{ id: "x" }, { id: "y" }] }, [place], "/work"),
      Fingerprint.entry({ name: "docs", raw, inputs: [{ id: "y" }, { id: "x" }] }, [place], "/work")
    )
  })
})
