import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Document from "../../src/config/document.ts"
import * as Merge from "../../src/config/merge.ts"
import type { Item } from "../../src/config/readEntry.ts"
import * as Scope from "../../src/config/Scope.ts"
import type * as ServerEntry from "../../src/config/serverEntry.ts"

const raw = (fields: object): Document.Value => new Map(Object.entries(fields))

const from = (root: string, name: string): Scope.Provenance => ({
  provider: "native",
  scope: "user",
  origin: "home",
  pointer: [root, name]
})

const stdio = (name: string, command: string, more: Partial<ServerEntry.StdioEntry> = {}): Item => ({
  _tag: "Server",
  name,
  provenance: from("mcpServers", name),
  raw: raw({ command, ...more }),
  entry: { transport: "stdio", name, enabled: true, command, args: [], ...more },
  warnings: []
})

const remote = (name: string, url: string, more: Partial<ServerEntry.RemoteEntry> = {}): Item => ({
  _tag: "Server",
  name,
  provenance: from("mcp", name),
  raw: raw({ url, ...more }),
  entry: { transport: "auto", name, enabled: true, url, ...more },
  warnings: []
})

const invalid = (name: string, kind: "invalid-type" | "invalid-url" = "invalid-type"): Item => ({
  _tag: "Invalid",
  name,
  provenance: from("mcp", name),
  raw: raw({ kind }),
  kind
})

const patch = (name: string, enabled: boolean): Item => ({
  _tag: "Patch",
  name,
  provenance: from("mcp", name),
  raw: raw({ enabled }),
  enabled
})

const layer = (
  scope: Scope.Scope,
  items: ReadonlyArray<Item>,
  { provider = "native", ...more }: Partial<Merge.Layer> = {}
): Merge.Layer => {
  const path = more.path ?? `/${provider}/${scope}/${more.rank ?? 0}/${more.distance ?? 0}`
  return {
    provider,
    scope,
    path,
    rank: 0,
    distance: 0,
    exclusive: false,
    ...more,
    items: items.map((item) => ({ ...item, provenance: { ...item.provenance, provider, scope, path } }))
  }
}

const openCode = (scope: Scope.Scope, ...items: ReadonlyArray<Item>): Merge.Layer =>
  layer(scope, items, { provider: "opencode" })

const only = (layers: ReadonlyArray<Merge.Layer>): Merge.Merged => {
  const merged = Merge.merge(layers)
  assert.strictEqual(merged.length, 1)
  return merged[0]!
}

const entryOf = (item: Merge.Merged): ServerEntry.Entry => {
  assert.strictEqual(item._tag, "Server")
  if (item._tag !== "Server") throw new Error(item._tag)
  return item.entry
}

/** A merged entry without what the merge says about it. */
const itemOf = (merged: Merge.Merged | undefined): unknown =>
  merged && { ...merged, shadows: [], sources: [], dropped: [], sameAs: undefined }

const summary = (merged: Merge.Merged): unknown => [
  merged.name,
  merged._tag === "Server" && "command" in merged.entry ? merged.entry.command : merged._tag,
  merged.provenance.scope,
  merged.shadows.map(({ scope }) => scope)
]

const names = FastCheck.constantFrom("a", "b", "__proto__", "constructor", "toString")

const item: FastCheck.Arbitrary<Item> = FastCheck.tuple(names, FastCheck.nat(3), FastCheck.nat(5)).map(
  ([name, kind, value]) =>
    kind === 0
      ? invalid(name)
      : kind === 1
      ? patch(name, value > 2)
      : kind === 2
      ? stdio(name, `c${value}`, { env: new Map([[`E${value}`, "1"]]) })
      : remote(name, `https://h${value}.example`, { headers: new Map([["Authorization", `${value}`]]) })
)

/** Layers that no two of which are the same file. */
const layersOf = (exclusive: FastCheck.Arbitrary<boolean>): FastCheck.Arbitrary<ReadonlyArray<Merge.Layer>> =>
  FastCheck.uniqueArray(
    FastCheck.record({
      scope: FastCheck.constantFrom(...Scope.order),
      provider: FastCheck.constantFrom("native", "opencode"),
      rank: FastCheck.nat(1),
      distance: FastCheck.nat(1),
      exclusive,
      items: FastCheck.uniqueArray(item, { maxLength: 3, selector: ({ name }) => name })
    }),
    { maxLength: 6, selector: ({ distance, provider, rank, scope }) => `${scope}${provider}${rank}${distance}` }
  ).map((all) => all.map(({ items, scope, ...more }) => layer(scope, items, more)))

const layers = layersOf(FastCheck.constant(false))

describe("Merge", () => {
  it("lets the whole entry of the strongest scope win and names whom it shadows", () => {
    const merged = Merge.merge([
      layer("user", [stdio("c", "user-c"), stdio("d", "user-d")]),
      layer("managed", [stdio("a", "managed-a")]),
      layer("plugin", [stdio("d", "plugin-d"), stdio("e", "plugin-e")]),
      layer("local", [stdio("b", "local-b")]),
      layer("project", [stdio("a", "project-a"), stdio("b", "project-b"), stdio("c", "project-c")])
    ])
    assert.deepStrictEqual(merged.map(summary), [
      ["a", "managed-a", "managed", ["project"]],
      ["b", "local-b", "local", ["project"]],
      ["c", "project-c", "project", ["user"]],
      ["d", "user-d", "user", ["plugin"]],
      ["e", "plugin-e", "plugin", []]
    ])
  })

  it("prefers the nearer folder, and then the provider that comes first", () => {
    const item = only([
      layer("project", [stdio("a", "far")], { distance: 1, rank: 0 }),
      layer("project", [stdio("a", "second")], { distance: 0, rank: 2 }),
      layer("project", [stdio("a", "first")], { distance: 0, rank: 1 })
    ])
    assert.strictEqual(item._tag === "Server" && "command" in item.entry && item.entry.command, "first")
  })

  it("leaves a name to an entry that is invalid or disabled", () => {
    const merged = Merge.merge([
      layer("project", [invalid("a"), stdio("b", "off", { enabled: false })]),
      layer("user", [stdio("a", "on"), stdio("b", "on")])
    ])
    assert.deepStrictEqual(merged.map(summary), [["a", "Invalid", "project", ["user"]], ["b", "off", "project", [
      "user"
    ]]])
  })

  it("hears nobody but an exclusive layer, even if that is empty", () => {
    const others = [layer("session", [stdio("s", "s")]), layer("user", [stdio("u", "u")])]
    const own = layer("managed", [stdio("m", "m")], { exclusive: true })
    assert.deepStrictEqual(Merge.merge([...others, own]).map(({ name }) => name), ["m"])
    assert.deepStrictEqual(Merge.merge([...others, layer("managed", [], { exclusive: true })]), [])
    const plain = layer("managed", [stdio("n", "n")], { rank: 1 })
    assert.deepStrictEqual(Merge.merge([...others, plain, own]).map(({ name }) => name), ["m"])
  })

  it("lets no weaker layer silence a stronger one", () => {
    const merged = Merge.merge([
      layer("managed", [stdio("m", "m")]),
      layer("project", [stdio("p", "p")], { exclusive: true }),
      layer("user", [stdio("u", "u")])
    ])
    assert.deepStrictEqual(merged.map(({ name }) => name), ["m", "p"])
  })

  it("says which server is another one under a second name, and keeps both", () => {
    const env = new Map([["A", "1"], ["B", "2"]])
    const turned = new Map([["B", "2"], ["A", "1"]])
    const merged = Merge.merge([
      layer("project", [stdio("a", "x", { env }), stdio("b", "x", { env: turned, title: "B" }), stdio("c", "x")]),
      layer("user", [remote("d", "https://h", { headers: new Map([["X-A", "1"]]) })]),
      layer("plugin", [
        remote("e", "https://h", { headers: new Map([["x-a", "1"]]) }),
        remote("f", "https://h", { headers: new Map([["x-a", "1"]]), oauth: { clientId: "other" } }),
        remote("g", "https://h", { headers: new Map([["x-a", "1"]]), oauth: { scopes: ["r"] } })
      ])
    ])
    assert.deepStrictEqual(merged.map(({ name, sameAs }) => [name, sameAs]), [
      ["a", undefined],
      ["b", "a"],
      ["c", undefined],
      ["d", undefined],
      ["e", "d"],
      ["f", undefined],
      ["g", "d"]
    ])
  })

  const addresses: ReadonlyArray<readonly [id: string, address: string, isSame: boolean]> = [
    ["url-100", "https://mcp.example/mcp", true],
    ["url-101", "HTTPS://MCP.Example:443/mcp", true],
    ["url-102", "https://mcp.example/mcp/", false],
    ["url-104", "https://mcp.example/mcp#frag", true],
    ["url-105", "https://mcp.example./mcp", true],
    ["url-106", "https://mcp.example\\@attacker.example/", false],
    ["another port", "https://mcp.example:8443/mcp", false],
    ["another query", "https://mcp.example/mcp?a=1", false],
    ["a way around", "https://mcp.example/a/../mcp", true],
    ["a variable", "https://mcp.example/${env:MCP}", false]
  ]
  for (const [id, address, isSame] of addresses) {
    it(`knows an address however it is written: ${id}, ${address}`, () => {
      const merged = Merge.merge([layer("user", [remote("a", "https://mcp.example/mcp"), remote("b", address)])])
      assert.strictEqual(merged[1]?.sameAs, isSame ? "a" : undefined)
    })
  }

  it("lays the entries of a deep host over each other, field by field", () => {
    const merged = only([
      openCode(
        "user",
        remote("api", "https://h", {
          headers: new Map([["A", "1"], ["B", "1"]]),
          oauth: { clientId: "c", scopes: ["r"] },
          startupTimeout: 1,
          requestTimeout: 1,
          title: "T",
          enabled: false
        })
      ),
      openCode(
        "project",
        remote("api", "https://h", {
          headers: new Map([["B", "2"]]),
          oauth: { scopes: ["w"] },
          requestTimeout: 2,
          enabledTools: []
        })
      )
    ])
    assert.deepStrictEqual(entryOf(merged), {
      transport: "auto",
      name: "api",
      enabled: false,
      url: "https://h",
      headers: new Map([["A", "1"], ["B", "2"]]),
      oauth: { clientId: "c", scopes: ["w"] },
      startupTimeout: 1,
      requestTimeout: 2,
      title: "T",
      enabledTools: []
    })
    assert.deepStrictEqual(merged.sources.map(({ scope }) => scope), ["user", "project"])
    assert.deepStrictEqual([merged.provenance.scope, merged.shadows, merged.dropped], ["project", [], []])
  })

  it("keeps a server switched off below an entry that says nothing about it", () => {
    const above: Item = { ...stdio("s", "x"), raw: raw({ command: "x" }) }
    const below: Item = {
      ...stdio("s", "x", { enabled: false }),
      raw: raw({ command: "x", enabled: false })
    }
    assert.isFalse(entryOf(only([openCode("project", above), openCode("user", below)])).enabled)
    assert.isFalse(entryOf(only([openCode("project", above), openCode("user", patch("s", false))])).enabled)
    const says: Item = { ...above, raw: raw({ command: "x", enabled: true }) }
    assert.isTrue(entryOf(only([openCode("project", says), openCode("user", below)])).enabled)
  })

  it("leaves what was meant for one address behind when a layer leads to another", () => {
    const merged = only([
      openCode(
        "user",
        remote("api", "https://good", {
          headers: new Map([["Authorization", "Bearer ${env:TOK}"]]),
          oauth: { clientId: "c" },
          autoApprove: ["*"],
          disabledTools: ["rm"]
        })
      ),
      openCode("project", remote("api", "https://evil"))
    ])
    assert.deepStrictEqual(entryOf(merged), {
      transport: "auto",
      name: "api",
      enabled: true,
      url: "https://evil",
      disabledTools: ["rm"]
    })
    assert.deepStrictEqual(merged.dropped, ["headers", "oauth", "autoApprove"])
    assert.deepStrictEqual(merged.sources.map(({ scope }) => scope), ["user", "project"])
  })

  it("leaves the environment of one command behind when a layer starts another", () => {
    const env = new Map([["TOKEN", "t"]])
    const other = only([
      openCode("user", stdio("s", "good", { env, envFile: "f", inheritEnv: true })),
      openCode("project", stdio("s", "good", { args: ["--evil"], env: new Map([["OWN", "o"]]) }))
    ])
    assert.deepStrictEqual(other.dropped, ["env", "envFile", "inheritEnv"])
    const entry = entryOf(other)
    assert.deepStrictEqual(entry.env, new Map([["OWN", "o"]]))
    const kind = only([openCode("user", stdio("s", "good", { env })), openCode("project", remote("s", "https://evil"))])
    assert.deepStrictEqual(kind.dropped, ["env"])
    assert.isUndefined(entryOf(kind).env)
  })

  it("leaves it behind too when the same words are said in another folder, or to another login", () => {
    const env = new Map([["TOKEN", "t"]])
    const elsewhere = only([
      openCode("user", stdio("s", "node", { args: ["server.js"], cwd: "/good", env })),
      openCode("project", stdio("s", "node", { args: ["server.js"], cwd: "/evil" }))
    ])
    assert.deepStrictEqual([elsewhere.dropped, entryOf(elsewhere).transport], [["env"], "stdio"])
    assert.isFalse("env" in entryOf(elsewhere))
    const oauth = { clientId: "c", clientSecret: "secret", issuer: "https://good" }
    const login = only([
      openCode("user", remote("api", "https://h", { oauth, headers: new Map([["X", "1"]]) })),
      openCode("project", remote("api", "https://h", { oauth: { issuer: "https://evil" } }))
    ])
    assert.deepInclude(entryOf(login), { oauth: { issuer: "https://evil" } })
    assert.deepStrictEqual(login.dropped, ["headers"])
  })

  it("starts what lies beside the file of a person, and not what has its name in the workspace", () => {
    const env = new Map([["TOKEN", "t"]])
    const mine = openCode("user", stdio("s", "./bin/x", { env, envFile: "~/e" }))
    const { path } = mine.items[0]!.provenance
    const command = `${path!.replace(/\/[^/]*$/, "")}/bin/x`
    const switched = only([mine, openCode("project", patch("s", true))])
    assert.deepInclude(entryOf(switched), { command, env, envFile: "~/e" })
    const same = only([mine, openCode("project", stdio("s", "./bin/x"))])
    assert.deepStrictEqual([same.dropped, same.shadows], [["env", "envFile"], []])
    assert.deepInclude(entryOf(same), { command: "./bin/x" })
    assert.deepInclude(entryOf(only([mine])), { command: "./bin/x" })
  })

  it("does not get back on the way home what was left behind on the way out", () => {
    const headers = new Map([["Authorization", "secret"]])
    const merged = only([
      openCode("user", remote("api", "https://good", { headers })),
      openCode("project", remote("api", "https://evil")),
      openCode("local", remote("api", "https://good"))
    ])
    const entry = entryOf(merged)
    assert.isFalse("headers" in entry)
    assert.deepStrictEqual(merged.dropped, ["headers"])
  })

  it("switches a server of the same host by a patch, and no other's", () => {
    const off = only([openCode("project", patch("s", false)), openCode("user", stdio("s", "x"))])
    assert.isFalse(entryOf(off).enabled)
    assert.deepStrictEqual([off.provenance.scope, off.sources.map(({ scope }) => scope)], ["project", [
      "user",
      "project"
    ]])
    const other = only([openCode("project", patch("s", false)), layer("user", [stdio("s", "x")])])
    assert.deepStrictEqual([other._tag, other.shadows.map(({ scope }) => scope)], ["Invalid", ["user"]])
  })

  it("makes a patch with nothing below it a fault that says what is missing", () => {
    const item = only([openCode("project", patch("s", true)), openCode("user", patch("s", false))])
    assert.strictEqual(item._tag === "Invalid" && item.kind, "missing-transport")
  })

  it("lets a patch not mend what is invalid, and a fault hide what is below it", () => {
    const patched = only([openCode("project", patch("s", true)), openCode("user", invalid("s", "invalid-url"))])
    assert.strictEqual(patched._tag === "Invalid" && patched.kind, "invalid-url")
    const hidden = only([
      openCode("local", stdio("s", "x")),
      openCode("project", invalid("s")),
      openCode("user", stdio("s", "x", { env: new Map([["A", "1"]]) }))
    ])
    const entry = entryOf(hidden)
    assert.isFalse("env" in entry)
    assert.deepStrictEqual(hidden.shadows.map(({ scope }) => scope), ["project", "user"])
  })

  it("has in a merged entry's words those of all that it is made of", () => {
    const at = (command: string) =>
      only([openCode("project", patch("s", true)), openCode("user", stdio("s", command))]).raw
    assert.notDeepEqual(at("one"), at("two"))
  })

  it("takes thousands of servers in several layers", () => {
    const many = Scope.order.map((scope) =>
      layer(scope, Array.from({ length: 3_000 }, (_, at) => stdio(`s${at}`, `${scope}${at}`)))
    )
    const merged = Merge.merge(many)
    assert.strictEqual(merged.length, 3_000)
    assert.isTrue(merged.every(({ shadows }) => shadows.length === Scope.order.length - 1))
  })

  it.prop(
    "gives the same whatever the order of the layers",
    [
      layersOf(FastCheck.boolean()).chain((all) =>
        FastCheck.tuple(FastCheck.constant(all), FastCheck.shuffledSubarray([...all], { minLength: all.length }))
      )
    ],
    ([[given, shuffled]]) => assert.deepStrictEqual(Merge.merge(shuffled), Merge.merge(given))
  )

  it.prop("loses no name and counts every entry exactly once", [layers], ([all]) => {
    const merged = Merge.merge(all)
    const given = all.flatMap(({ items }) => items)
    assert.sameMembers(merged.map(({ name }) => name), [...new Set(given.map(({ name }) => name))])
    const counted = merged.flatMap(({ provenance, shadows, sources }) => [
      ...(sources.length === 0 ? [provenance] : sources),
      ...shadows
    ])
    assert.sameMembers(counted, given.map(({ provenance }) => provenance))
    assert.strictEqual(counted.length, given.length)
    assert.isUndefined(Reflect.get({}, "entry"))
  })

  it.prop("gives what it did if something weaker is added, and the names to what is stronger", [
    layers.filter((all) => all.every(({ provider }) => provider !== "opencode")),
    FastCheck.uniqueArray(item, { maxLength: 3, selector: ({ name }) => name })
  ], ([all, items]) => {
    const between = all.filter(({ scope }) => scope !== "managed" && scope !== "plugin")
    const before = new Map(Merge.merge(between).map((merged) => [merged.name, merged]))
    const weaker = new Map(Merge.merge([...between, layer("plugin", items)]).map((merged) => [merged.name, merged]))
    for (const [name, merged] of before) assert.deepStrictEqual(itemOf(weaker.get(name)), itemOf(merged))
    const stronger = new Map(Merge.merge([...between, layer("managed", items)]).map((merged) => [merged.name, merged]))
    const own = new Set(items.map(({ name }) => name))
    for (const [name, merged] of stronger) {
      assert.strictEqual(merged.provenance.scope === "managed", own.has(name))
      if (!own.has(name)) assert.deepStrictEqual(itemOf(merged), itemOf(before.get(name)))
    }
  })
})
