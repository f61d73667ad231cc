import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as PermissionRule from "../../src/safety/PermissionRule.ts"
import * as ToolName from "../../src/tools/ToolName.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { lengths, runs } from "../support/runs.ts"

type Decision = PermissionRule.Decision

interface Lists {
  readonly allow?: ReadonlyArray<string>
  readonly ask?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
}

const inputs = (lists: Lists, source: PermissionRule.Source = "user"): ReadonlyArray<PermissionRule.Input> =>
  (["allow", "ask", "deny"] as const).flatMap((decision) =>
    (lists[decision] ?? []).map((tool) => ({ decision, tool, source }))
  )

const set = (lists: Lists) => PermissionRule.compile(inputs(lists))

const tool = (server: string, name: string, args?: JsonRpc.JsonObject): PermissionRule.Subject => ({
  kind: "tool",
  server,
  name,
  args
})

/** What a model gets. */
const decided = (rules: PermissionRule.RuleSet, subject: PermissionRule.Subject): Decision =>
  rules.decide(subject)?.decision ?? "ask"

const why = (decision: Decision, text: string, source: PermissionRule.Source = "user"): string | undefined =>
  Either.match(PermissionRule.parse({ decision, tool: text, source }), {
    onLeft: ({ detail }) => detail,
    onRight: () => undefined
  })

describe("rules", () => {
  const cases: ReadonlyArray<readonly [id: string, lists: Lists, subject: PermissionRule.Subject, Decision]> = [
    [
      "perm-001 deny-beats-allow",
      { allow: ["github.*"], deny: ["github.delete_repo"] },
      tool("github", "delete_repo"),
      "deny"
    ],
    [
      "perm-002 deny-beats-more-specific-allow",
      { allow: ["github.delete_repo"], deny: ["github.*"] },
      tool("github", "delete_repo"),
      "deny"
    ],
    ["perm-003 ask-beats-allow", { allow: ["*"], ask: ["github.delete_*"] }, tool("github", "delete_repo"), "ask"],
    ["perm-010 wildcard-no-cross-server", { allow: ["git.*"] }, tool("github", "get"), "ask"],
    ["perm-014 star-star", { allow: ["s.**"] }, tool("s", "get"), "allow"],
    ["perm-021 tool-with-star", { allow: ["s.read"] }, tool("s", "*"), "ask"],
    ["perm-022 alias-lossy", { allow: ["mcp__foo_bar__get"] }, tool("foo.bar", "get"), "ask"],
    ["perm-023 double-underscore", { deny: ["a__b.c"] }, tool("a", "b__c"), "ask"],
    ["perm-023 double-underscore, the other", { deny: ["a__b.c"] }, tool("a__b", "c"), "deny"],
    [
      "perm-025 arg-scoped",
      { allow: ["fs.read(path=/repo/**)"] },
      tool("fs", "read", { path: "/repo/../etc/passwd" }),
      "ask"
    ],
    [
      "perm-026 arg-scoped-array",
      { allow: ["fs.read(path=/repo/**)"] },
      tool("fs", "read", { path: ["/etc/passwd"] }),
      "ask"
    ],
    [
      "perm-027 arg-scoped-extra",
      { allow: ["fs.read(path=/repo/**)"] },
      tool("fs", "read", { path: "/repo/a", PATH: "/etc" }),
      "ask"
    ],
    ["what is meant", { allow: ["fs.read(path=/repo/**)"] }, tool("fs", "read", { path: "/repo/a/b.ts" }), "allow"],
    [
      "perm-034 resources-too",
      { deny: ["s.resource:file:///secret/*"] },
      { kind: "resource", server: "s", name: "file:///secret/a" },
      "deny"
    ],
    ["perm-036 subscribe-too", { deny: ["s.resource:*"] }, { kind: "resource", server: "s", name: "x://y" }, "deny"],
    ["a resource is no tool", { allow: ["s.*"] }, { kind: "resource", server: "s", name: "x://y" }, "ask"],
    ["a server is all it has", { deny: ["mcp__s"] }, { kind: "prompt", server: "s", name: "p" }, "deny"]
  ]
  for (const [id, lists, subject, expected] of cases) {
    it(id, () => assert.strictEqual(decided(set(lists), subject), expected))
  }

  it("perm-004 managed-deny-beats-user-allow", () => {
    const rules = PermissionRule.compile([
      ...inputs({ deny: ["*.shell"] }, "managed"),
      ...inputs({ allow: ["x/*"] })
    ])
    assert.strictEqual(decided(rules, tool("x", "shell")), "deny")
    assert.strictEqual(decided(rules, tool("x", "get")), "allow")
  })

  it("perm-011 wildcard-server: an allow needs a literal server", () => {
    for (const text of ["git*.*", "*", "*/*", "mcp__*__*", "mcp__git*__get", "*/get", "mcp__git*"]) {
      assert.include(why("allow", text), "without `*`", text)
      assert.isUndefined(why("deny", text), text)
      assert.isUndefined(why("ask", text), text)
    }
    assert.strictEqual(decided(set({ allow: ["git*.*"] }), tool("github", "get")), "ask")
  })

  it("accept an allow for all tools of all servers only as `mcp__*`", () => {
    const rules = set({ allow: ["mcp__*"], ask: ["b/put"] })
    assert.deepStrictEqual(rules.faults, [])
    assert.strictEqual(decided(rules, tool("a", "get")), "allow")
    assert.strictEqual(decided(rules, tool("b", "put")), "ask")
    // like the allow of one server, it covers tools and nothing else
    assert.strictEqual(decided(rules, { kind: "resource", server: "a", name: "x://y" }), "ask")
    assert.strictEqual(decided(rules, { kind: "prompt", server: "a", name: "p" }), "ask")
    const args = set({ allow: ["mcp__*(path=/repo/**)"] })
    assert.strictEqual(decided(args, tool("a", "get", { path: "/repo/a" })), "allow")
    assert.strictEqual(decided(args, tool("a", "get", { path: "/repo/a", other: 1 })), "ask")
    assert.include(why("allow", "mcp__*", "workspace"), "can only restrict")
  })

  it("ignore case in a deny, for servers, tools, prompts, resources and letters of any script", () => {
    const allow = ["Shop/*", "Shop/prompt:*", "Shop/resource:mem://**"]
    const subjects = [
      tool("Shop", "Delete"),
      { kind: "prompt", server: "Shop", name: "Review" },
      { kind: "resource", server: "Shop", name: "mem://Secret/a" }
    ] as const
    for (const [at, deny] of ["SHOP/delete", "sHop/prompt:reVIEW", "SHOP/resource:MEM://secret/*"].entries()) {
      const rules = set({ allow, deny: [deny] })
      assert.deepStrictEqual(subjects.map((one) => decided(rules, one)), ["allow", "allow", "allow"].with(at, "deny"))
    }
    for (
      const [name, other] of [["ΣΊΣΥΦΟΣ", "σίσυφος"], ["STRAẞE", "Straße"], ["Éa", "éA"], ["Привет", "ПРИВЕТ"]] as const
    ) {
      for (const [server, of] of [[name, other], [other, name]] as const) {
        const rules = PermissionRule.compile([
          { decision: "allow", tool: "get", server: of },
          { decision: "deny", tool: "*", server }
        ])
        assert.strictEqual(decided(rules, tool(of, "get")), "deny", server)
        const asking = PermissionRule.compile([{ decision: "ask", tool: "*", server }])
        assert.isUndefined(asking.decide(tool(of, "get")), server)
      }
    }
  })

  it("perm-037 bad-rule: what cannot be read is at least as strict", () => {
    for (const bad of ["[", "", "get", "a(b", "s/t(x)", "s/t(=1)", "a b/c", "s/\u0000", "mcp____x", "s/t(*=1)"]) {
      const rules = set({ allow: ["s/get"], deny: [bad] })
      assert.strictEqual(rules.faults.length, 1, bad)
      assert.strictEqual(decided(rules, tool("s", "get")), "deny", bad)
      assert.strictEqual(decided(set({ allow: ["s/get"], ask: [bad] }), tool("s", "get")), "ask", bad)
      assert.strictEqual(decided(set({ allow: ["s/get", bad] }), tool("s", "get")), "allow", bad)
      const workspace = PermissionRule.compile([
        ...inputs({ allow: ["s/get"] }),
        ...inputs({ deny: [bad] }, "workspace")
      ])
      assert.strictEqual(decided(workspace, tool("s", "get")), "ask", bad)
    }
  })

  it("perm-038 glob-bomb, perm-039 rule-flood: take their time from nobody", () => {
    const bomb = `s.${"*a".repeat(40)}`
    const name = `${"a".repeat(100_000)}b`
    const rules = PermissionRule.compile([
      ...inputs({ allow: [bomb] }),
      ...Array.from({ length: lengths(100_000) }, (_, at) => ({ decision: "deny" as const, tool: `s/tool${at}` }))
    ])
    // a matcher that goes back, or rules that are looked through one by one, would never get through this
    for (let at = 0; at < lengths(500); at++) assert.strictEqual(decided(rules, tool("s", name)), "ask")
    assert.strictEqual(decided(rules, tool("s", `tool${lengths(100_000) - 1}`)), "deny")
  })

  it("in a workspace allow nothing", () => {
    assert.include(why("allow", "s/get", "workspace"), "can only restrict")
    const rules = PermissionRule.compile(inputs({ allow: ["s/get"], deny: ["s/put"] }, "workspace"))
    assert.strictEqual(decided(rules, tool("s", "get")), "ask")
    assert.strictEqual(decided(rules, tool("s", "put")), "deny")
  })

  it("take a name as a model sees it for that of one tool", () => {
    for (
      const [server, name] of [["a__b", "c"], ["sé", "x"], ["s", "y".repeat(90)], ["a.b", "c.d"], [
        "plain",
        "t"
      ]] as const
    ) {
      for (const style of ["double", "single"] as const) {
        const rules = set({ allow: [ToolName.qualify(server, name, style)] })
        assert.deepStrictEqual(rules.faults, [], server)
        assert.strictEqual(decided(rules, tool(server, name)), "allow", `${server} ${style}`)
        assert.strictEqual(decided(rules, tool(server, `${name}x`)), "ask", `${server} ${style}`)
      }
    }
  })

  it("hold back a dotted name in every way it can be read, and let it through in none", () => {
    const rules = set({ deny: ["a.b.c"] })
    assert.strictEqual(decided(rules, tool("a", "b.c")), "deny")
    assert.strictEqual(decided(rules, tool("a.b", "c")), "deny")
    assert.include(why("allow", "a.b.c"), "ambiguous")
    assert.strictEqual(decided(set({ allow: ["a.b/c"] }), tool("a.b", "c")), "allow")
  })

  it("let no detour through, and hold every detour back", () => {
    const through = set({ allow: ["fs/read(path=/repo/**)"] })
    const back = set({ deny: ["fs/read(path=/etc/**)"] })
    for (
      const path of [
        "/repo/../etc/passwd",
        "/repo/./../etc/passwd",
        "/repo//../etc/passwd",
        "/repo/%2e%2e/etc/passwd",
        "/repo/%252e%252e/etc/passwd",
        "/repo\\..\\..\\etc\\passwd",
        "\\etc\\passwd",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " /etc/passwd",
        "/etc//passwd",
        "/%65tc/passwd"
      ]
    ) {
      assert.strictEqual(decided(through, tool("fs", "read", { path })), "ask", path)
      assert.strictEqual(decided(back, tool("fs", "read", { path })), "deny", path)
    }
    for (const path of ["/repo", "/repox/a", "repo/a", "/repo/a\n/etc/passwd", "/repo/a\u0000", ""]) {
      assert.strictEqual(decided(through, tool("fs", "read", { path })), "ask", path)
    }
    for (
      const args of [
        { path: ["/etc/passwd"] },
        { PATH: "/etc/passwd" },
        { path: { of: { it: ["x", "/etc/passwd"] } } },
        { path: "/etc/passwd", mode: 0 }
      ]
    ) assert.strictEqual(decided(back, tool("fs", "read", args)), "deny", JSON.stringify(args))
  })

  it("read `*` within one part of a path, and `**` over parts, where they let through", () => {
    const rules = set({ allow: ["fs/read(path=/a/*/c/**)", "api/get(url=https://x.example/*)"] })
    const read = (path: string) => decided(rules, tool("fs", "read", { path }))
    assert.strictEqual(read("/a/b/c/d/e"), "allow")
    assert.strictEqual(read("/a/b/b/c/d"), "ask")
    const get = (url: string) => decided(rules, tool("api", "get", { url }))
    assert.strictEqual(get("https://x.example/one"), "allow")
    for (
      const url of [
        "https://x.example/one/two",
        "https://x.example.evil/one",
        "https://x.example@evil/one",
        "http://x.example/one",
        "https://evil/https://x.example/one"
      ]
    ) assert.strictEqual(get(url), "ask", url)
  })

  it("look at arguments within arguments, numbers and answers of yes and no", () => {
    const rules = set({ allow: ["s/t(a.b=x, n=5, yes=true)"] })
    assert.strictEqual(decided(rules, tool("s", "t", { a: { b: "x" }, n: 5, yes: true })), "allow")
    assert.strictEqual(decided(rules, tool("s", "t", { a: { b: "x", c: 1 }, n: 5, yes: true })), "ask")
    assert.strictEqual(decided(rules, tool("s", "t", { a: { b: "x" }, n: 6, yes: true })), "ask")
    assert.strictEqual(decided(rules, tool("s", "t", { a: { b: "x" }, n: 5 })), "ask")
    const given = PermissionRule.compile([{ decision: "allow", tool: "s/t", args: { q: "a,b (c)" } }])
    assert.strictEqual(decided(given, tool("s", "t", { q: "a,b (c)" })), "allow")
    assert.strictEqual(decided(set({ allow: ["s/t(q=a\\,b)"] }), tool("s", "t", { q: "a,b" })), "allow")
  })

  it("find no argument on a prototype", () => {
    const rules = set({ deny: ["s/t(constructor=*)", "s/t(__proto__.x=*)"], allow: ["s/t(toString=*)"] })
    assert.strictEqual(decided(rules, tool("s", "t", {})), "ask")
    assert.strictEqual(decided(rules, tool("s", "t", JSON.parse(`{"__proto__":{"x":"1"}}`))), "deny")
  })

  it.prop("never lets through with more rules that hold back", [
    FastCheck.array(FastCheck.string({ maxLength: 12 })),
    FastCheck.string({ maxLength: 8 }),
    FastCheck.string({ maxLength: 8 })
  ], ([texts, server, name]) => {
    const allowed = set({ allow: ["s/t", `${server}/${name}`] })
    const both = set({ allow: ["s/t", `${server}/${name}`], deny: texts })
    for (const subject of [tool("s", "t"), tool(server, name, {})]) {
      if (decided(allowed, subject) !== "allow") assert.notStrictEqual(decided(both, subject), "allow")
    }
  })
})

describe(`${runs(100_000)} sets of rules`, () => {
  // a model of the rules that shares nothing with them: names from a small alphabet, patterns as regular expressions
  const servers = ["a", "ab", "b", "a__b", "a.b", "A", "aB"]
  const names = ["x", "xy", "y", "b__x", "get_x", "get_y", "X", "Get_x"]
  const values = ["/r/a", "/r/a/b", "/r/../a", "/e/a", "/R/A", 5, ["/r/a"], undefined]
  const pattern = (text: string, flags = ""): RegExp =>
    new RegExp(`^${text.split("*").map((part) => part.replace(/[.\\/]/g, "\\$&")).join("[^]*")}$`, flags)

  interface Written {
    readonly decision: Decision
    readonly server: string
    readonly name: string
    readonly arg: string | undefined
  }

  const speaks = ({ arg, decision, name, server }: Written, subject: PermissionRule.Subject): boolean => {
    if (decision === "allow" && server.includes("*")) return false
    const flags = decision === "deny" ? "i" : ""
    if (!pattern(server, flags).test(subject.server) || !pattern(name, flags).test(subject.name)) return false
    if (arg === undefined) return true
    const value = subject.args?.p
    if (decision === "allow") {
      return (typeof value === "string" || typeof value === "number") && !`${value}`.includes("..") &&
        new RegExp(`^${arg.replace("**", "#").replace("*", "[^/]*").replace("#", ".+")}$`).test(`${value}`)
    }
    const text = Array.isArray(value) ? value[0] : value
    if (text === undefined) return false
    const readings = [`${text}`, `${text}`.replace("/r/..", "")]
    return readings.some((one) => pattern(arg.replace("**", "*"), "i").test(one))
  }

  const model = (rules: ReadonlyArray<Written>, subject: PermissionRule.Subject): Decision => {
    const all = new Set(rules.filter((rule) => speaks(rule, subject)).map(({ decision }) => decision))
    return all.has("deny") ? "deny" : all.has("ask") ? "ask" : all.has("allow") ? "allow" : "ask"
  }

  it("are decided as by the model", () => {
    // a plain generator: it makes the same sets in every run, and fast
    let seed = 42
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((seed / 4_294_967_296) * below)
    }
    const pick = <A>(all: ReadonlyArray<A>): A => all[random(all.length)]!
    const seen = { allow: 0, ask: 0, deny: 0 }
    for (let round = 0; round < runs(100_000); round++) {
      const rules = Array.from({ length: random(9) }, (): Written => ({
        decision: pick(["allow", "allow", "allow", "ask", "deny"] as const),
        server: pick([...servers, "*", "a*", "*b", "A*"]),
        name: pick([...names, "*", "*", "get_*", "*x", "*_*", "GET_*"]),
        arg: pick([undefined, undefined, "/r/**", "/r/*", "/e/*", "5"])
      }))
      const subject = tool(pick(servers), pick(names), { p: pick(values) })
      const compiled = PermissionRule.compile(rules.map(({ arg, decision, name, server }) => ({
        decision,
        tool: `${server}/${name}`,
        args: arg === undefined ? undefined : { p: arg }
      })))
      const expected = model(rules, subject)
      seen[expected]++
      if (decided(compiled, subject) !== expected) {
        assert.fail(JSON.stringify({ rules, subject, expected }))
      }
      const decision = compiled.decide(subject)?.decision
      if (decision === "allow" || decision === "ask") assert.isTrue(compiled.admits(subject.server))
    }
    // the sets are about something
    for (const decision of ["allow", "ask", "deny"] as const) assert.isAbove(seen[decision], runs(2_000), decision)
  }, 60_000)
})

describe("a server", () => {
  const table: ReadonlyArray<readonly [decision: Decision, tool: string, server: string, isAdmitted: boolean]> = [
    ["allow", "a/read_*", "a", true],
    ["allow", "a/read_*", "b", false],
    ["allow", "a/resource:x://*", "a", true],
    ["allow", "mcp__a__read", "a", true],
    ["allow", "mcp__a__read", "b", false],
    ["allow", "mcp_a_read", "a", true],
    ["allow", "mcp_a_read", "b", false],
    ["allow", ToolName.qualify("two words", "c", "double"), "two words", true],
    ["ask", "mcp__a__*", "a", true],
    ["ask", "*/read", "b", true],
    ["deny", "a/read", "a", false]
  ]

  it.each(table)("is named by the %s rule %s: %s, %s", (decision, tool, server, isAdmitted) => {
    assert.strictEqual(PermissionRule.compile([{ decision, tool }]).admits(server), isAdmitted)
  })
})

describe("the rule that allows one thing", () => {
  const table = [
    [{ kind: "tool", server: "demo", name: "echo" }, "demo/echo"],
    [{ kind: "tool", server: "a.b", name: "c/d" }, "a.b/c/d"],
    [{ kind: "prompt", server: "demo", name: "hi" }, "demo/prompt:hi"],
    [{ kind: "resource", server: "demo", name: "ui://a/b" }, "demo/resource:ui://a/b"],
    // a rule reads the first slash as the end of the server
    [{ kind: "tool", server: "a/b", name: "c" }, ToolName.qualify("a/b", "c", "double")],
    [{ kind: "tool", server: "two words", name: "c" }, ToolName.qualify("two words", "c", "double")],
    [{ kind: "prompt", server: "demo", name: "two words" }, undefined],
    [{ kind: "prompt", server: "demo", name: "any*" }, undefined],
    [{ kind: "resource", server: "demo", name: "ui://\u202ea" }, undefined],
    [{ kind: "resource", server: "demo", name: `ui://${"x".repeat(300)}` }, undefined]
  ] as const satisfies ReadonlyArray<readonly [PermissionRule.Subject, string | undefined]>

  it.each(table)("of %j is %s", (subject, tool) => {
    assert.strictEqual(PermissionRule.allowing(subject), tool)
    if (tool === undefined) return
    const { decide } = PermissionRule.compile([{ decision: "allow", tool }])
    assert.strictEqual(decide({ ...subject, args: { any: 1 } })?.decision, "allow")
    assert.isUndefined(decide({ ...subject, name: `${subject.name}x` }))
    assert.isUndefined(decide({ ...subject, server: `${subject.server}x` }))
  })
})
