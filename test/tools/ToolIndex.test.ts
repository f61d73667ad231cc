import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Tool from "../../src/tools/Tool.ts"
import * as ToolFilter from "../../src/tools/ToolFilter.ts"
import * as ToolIndex from "../../src/tools/ToolIndex.ts"
import * as ToolName from "../../src/tools/ToolName.ts"
import { runs } from "../support/runs.ts"
import * as names from "./names.ts"

const tool = (name: string, description?: string): Tool.Tool => ({
  name,
  title: undefined,
  description,
  inputSchema: { type: "object" },
  outputSchema: undefined,
  annotations: {},
  taskSupport: "forbidden",
  raw: { name }
})

const server = (
  name: string,
  tools: ReadonlyArray<string>,
  filters: ToolFilter.Options = {}
): ToolIndex.Contribution => ({
  server: name,
  tools: tools.map((name) => tool(name)),
  enabledTools: filters.enabledTools,
  disabledTools: filters.disabledTools
})

const identities = (entries: ReadonlyArray<ToolIndex.Entry> = []): ReadonlyArray<string> =>
  entries.map(({ server, tool }) => `${server}/${tool.name}`)

const contribution = FastCheck.record({
  server: names.name,
  tools: FastCheck.uniqueArray(names.name, { maxLength: 6 }),
  disabledTools: FastCheck.option(FastCheck.array(names.name, { maxLength: 2 }), { nil: undefined })
}).map(({ disabledTools, server: name, tools }) => server(name, tools, { disabledTools }))

const contributions = FastCheck.uniqueArray(contribution, { maxLength: 6, selector: ({ server }) => server })

const style = FastCheck.constantFrom<ToolName.Style>("double", "single")

const holds = <A>(arbitrary: FastCheck.Arbitrary<A>, predicate: (value: A) => void): void =>
  FastCheck.assert(FastCheck.property(arbitrary, predicate), { numRuns: runs(500) })

const shown = ({ byQualifiedName, entries, toolsByName }: ToolIndex.ToolIndex) => ({
  entries,
  names: Array.from(byQualifiedName),
  byName: Array.from(toolsByName)
})

describe("ToolIndex", () => {
  it("has every tool that its server's filter lets through once, under all its names", () => {
    holds(FastCheck.tuple(contributions, style), ([contributions, style]) => {
      const index = ToolIndex.make(contributions, style)
      const expected = contributions.flatMap((contribution) =>
        contribution.tools.filter(({ name }) => ToolFilter.make(contribution)(name))
          .map(({ name }) => `${contribution.server}/${name}`)
      )
      assert.sameMembers([...identities(index.entries)], expected)
      for (const entry of index.entries) {
        assert.strictEqual(entry.name, ToolName.qualify(entry.server, entry.tool.name, style))
        assert.strictEqual(index.byQualifiedName.get(entry.name), entry)
        assert.strictEqual(index.find(entry.server, entry.tool.name), entry)
        assert.strictEqual(index.resolve(entry.name), entry)
        assert.isTrue(index.toolsByName.get(entry.tool.name)?.includes(entry))
        assert.isTrue(index.ofServer(entry.server).includes(entry))
      }
      assert.strictEqual(index.byQualifiedName.size, index.entries.length)
      assert.strictEqual(Array.from(index.toolsByName.values()).flat().length, index.entries.length)
      assert.strictEqual(contributions.flatMap(({ server }) => index.ofServer(server)).length, index.entries.length)
    })
  })

  it("does not depend on the order in which servers and tools come", () => {
    const shuffled = contributions.chain((contributions) =>
      FastCheck.tuple(
        FastCheck.constant(contributions),
        FastCheck.shuffledSubarray(contributions, { minLength: contributions.length }).chain((servers) =>
          FastCheck.tuple(...servers.map((server) =>
            FastCheck.shuffledSubarray([...server.tools], { minLength: server.tools.length })
              .map((tools) => ({ ...server, tools }))
          ))
        ),
        style
      )
    )
    holds(shuffled, ([contributions, others, style]) => {
      assert.deepStrictEqual(
        shown(ToolIndex.make(others, style)),
        shown(ToolIndex.make(contributions, style))
      )
    })
  })

  it("names and orders the tools of a server the same whatever other servers and tools there are", () => {
    const some = contributions.chain((all) =>
      FastCheck.tuple(FastCheck.constant(all), FastCheck.subarray(all), FastCheck.nat(5), style)
    )
    holds(some, ([all, chosen, kept, style]) => {
      const fewer = chosen.map((server) => ({ ...server, tools: server.tools.slice(kept) }))
      const few = ToolIndex.make(fewer, style)
      const remaining = ToolIndex.make(all, style).entries
        .filter(({ server, tool }) => fewer.some((other) => other.server === server && other.tools.includes(tool)))
      assert.deepStrictEqual(few.entries, remaining)
    })
  })

  it("orders by the server's and then by the tool's name, by code units and no locale's rules", () => {
    const index = ToolIndex.make([server("b", ["z", "B", "a", "_"]), server("a-", ["x"]), server("a", ["é", "f"])])
    assert.deepStrictEqual(identities(index.entries), ["a/f", "a/é", "a-/x", "b/B", "b/_", "b/a", "b/z"])
  })

  it("keeps tools of one name apart by their servers", () => {
    const index = ToolIndex.make([server("gitlab", ["create_issue"]), server("github", ["create_issue", "get_me"])])
    assert.deepStrictEqual(identities(index.toolsByName.get("create_issue")), [
      "github/create_issue",
      "gitlab/create_issue"
    ])
    assert.deepStrictEqual(Array.from(index.byQualifiedName.keys()), [
      "mcp__github__create_issue",
      "mcp__github__get_me",
      "mcp__gitlab__create_issue"
    ])
    assert.strictEqual(index.find("gitlab", "create_issue")?.server, "gitlab")
    assert.isUndefined(index.find("gitlab", "get_me"))
  })

  it("leaves out what the configuration does", () => {
    const index = ToolIndex.make([
      server("a", ["get", "put", "delete"], { enabledTools: ["get", "put"], disabledTools: ["p*"] }),
      server("b", ["get", "put"]),
      server("c", ["get"], { enabledTools: [] })
    ])
    assert.deepStrictEqual(identities(index.entries), ["a/get", "b/get", "b/put"])
    assert.deepStrictEqual(index.ofServer("c"), [])
    assert.deepStrictEqual(index.ofServer("d"), [])
  })

  it("lets the first of two tools of one identity count", () => {
    const twice = (first: string, second: string): ToolIndex.Contribution => ({
      ...server("a", []),
      tools: [tool("x", first), tool("x", second)]
    })
    const index = ToolIndex.make([twice("1", "2"), twice("3", "4")])
    assert.deepStrictEqual(index.entries.map(({ tool }) => tool.description), ["1"])
    assert.strictEqual(index.toolsByName.get("x")?.length, 1)
  })

  it("finds nothing that nobody has, even under names that objects have", () => {
    const index = ToolIndex.make([server("a", ["x"])])
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      assert.isUndefined(index.find(name, "x"))
      assert.isUndefined(index.find("a", name))
      assert.isUndefined(index.toolsByName.get(name))
      assert.isUndefined(index.byQualifiedName.get(name))
      assert.isUndefined(index.resolve(name))
      assert.deepStrictEqual(index.ofServer(name), [])
    }
  })

  it("takes the tool that has a name before the one whose server and tool it spells out", () => {
    const index = ToolIndex.make([server("a", ["b__c"]), server("a__b", ["c"]), server("foo.bar", ["get it"])])
    assert.strictEqual(identities([index.resolve("mcp__a__b__c")!])[0], "a/b__c")
    assert.strictEqual(identities([index.resolve("mcp__foo.bar__get it")!])[0], "foo.bar/get it")
    assert.strictEqual(identities([index.resolve("mcp_a_b__c")!])[0], "a/b__c")
  })

  it("resolves a bare name that one server has, and none that two have", () => {
    const index = ToolIndex.make([server("a", ["echo", "add"]), server("b", ["add"])])
    assert.strictEqual(identities([index.resolve("echo")!])[0], "a/echo")
    assert.isUndefined(index.resolve("add"))
    assert.deepStrictEqual(index.suggest("add"), ["mcp__a__add", "mcp__b__add"])
  })

  it("resolves no bare name that looks like the qualified name of another server's tool", () => {
    const safe = ToolIndex.make([server("foo.bar", ["get"]), server("safe", ["read"])]).entries.map(({ name }) => name)
    const index = ToolIndex.make([server("bad", [...safe, "mcp_safe_read"])])
    for (const name of [...safe, "mcp_safe_read"]) assert.isUndefined(index.resolve(name))
  })

  it("resolves no name to a tool that only looks like its owner", () => {
    const owner = ToolIndex.make([server("foo.bar", ["get"])]).entries[0]!
    const forged = owner.name.slice("mcp__foo_bar__".length)
    const index = ToolIndex.make([server("foo_bar", ["get", forged]), server("a__b", ["c"])])
    assert.isUndefined(index.resolve(owner.name))
    assert.isUndefined(index.resolve("mcp__a__b__c"))
    assert.notStrictEqual(index.find("foo_bar", forged)?.name, owner.name)
  })

  it("gives tools whose names collide other names, and none of them the name that they share", () => {
    const colliding: typeof ToolName.qualifier = (server, style) => (tool) =>
      tool.startsWith("evil") ? "mcp__a__x_0123456789bc" : ToolName.qualify(server, tool, style)
    const all = [server("a", ["evil1", "fine"]), server("b", ["evil2", "evil3"])]
    const index = ToolIndex.make(all, "double", colliding)
    assert.deepStrictEqual(shown(ToolIndex.make(all.toReversed(), "double", colliding)), shown(index))
    assert.deepStrictEqual(identities(index.entries), ["a/evil1", "a/fine", "b/evil2", "b/evil3"])
    assert.strictEqual(index.byQualifiedName.size, 4)
    assert.isUndefined(index.resolve("mcp__a__x_0123456789bc"))
    assert.strictEqual(index.find("a", "fine")?.name, "mcp__a__fine")
    for (const entry of index.entries) {
      assert.match(entry.name, /^[a-zA-Z0-9_-]{1,64}$/)
      assert.strictEqual(index.byQualifiedName.get(entry.name), entry)
      assert.strictEqual(index.find(entry.server, entry.tool.name), entry)
    }
    const alone = ToolIndex.make([server("b", ["evil2"])], "double", colliding)
    assert.strictEqual(alone.entries[0]?.name, "mcp__a__x_0123456789bc")
  })

  it("indexes ten thousand tools in no time that anybody notices", () => {
    const all = Array.from(
      { length: 100 },
      (_, at) =>
        server(`server.${at}`, Array.from({ length: 100 }, (_, at) => `a_tool_of_some_length_${at}`), {
          disabledTools: ["*secret*", "admin_?"]
        })
    )
    const begun = process.cpuUsage()
    const index = ToolIndex.make(all)
    const { system, user } = process.cpuUsage(begun)
    assert.strictEqual(index.entries.length, 10_000)
    assert.isBelow((user + system) / 1000, 1000)
  })
})

describe("ToolIndex.suggest", () => {
  const index = ToolIndex.make([
    server("github", [
      "create_issue",
      "update_issue",
      "list_issues",
      "search_repositories",
      "get_me",
      "fork_repository"
    ]),
    server("gitlab", ["create_issue", "search_repositories"]),
    server("browser", ["browser_click", "browser_screenshot", "browser_close"]),
    server("foo.bar", ["getWeather"])
  ])

  const first: ReadonlyArray<readonly [asked: string, suggested: string]> = [
    ["mcp__github__create_isue", "mcp__github__create_issue"],
    ["mcp__gitlab__create_isue", "mcp__gitlab__create_issue"],
    ["mcp_gitlab_create_issue", "mcp__gitlab__create_issue"],
    ["create_issue", "mcp__github__create_issue"],
    ["createIssue", "mcp__github__create_issue"],
    ["issue_create", "mcp__github__create_issue"],
    ["CREATE-ISSUE", "mcp__github__create_issue"],
    ["lsit_issues", "mcp__github__list_issues"],
    ["gte_me", "mcp__github__get_me"],
    ["screenshot", "mcp__browser__browser_screenshot"],
    ["mcp__browser__click", "mcp__browser__browser_click"],
    ["serach_repositories", "mcp__github__search_repositories"],
    ["foo.bar/get_weather", ToolName.qualify("foo.bar", "getWeather", "double")]
  ]

  for (const [asked, suggested] of first) {
    it(`answers ${asked} with ${suggested}`, () => assert.strictEqual(index.suggest(asked)[0], suggested))
  }

  it("compares with the server's name where that is most of what was asked for", () => {
    const index = ToolIndex.make([server("a-rather-long-name", ["ls"])])
    assert.deepStrictEqual(index.suggest("mcp__a-rather-long-nmae__ls"), ["mcp__a-rather-long-name__ls"])
  })

  it("does not take the prefix for something in common", () => {
    assert.deepStrictEqual(ToolIndex.make([server("mcp", ["ab"])]).suggest("mcp__cd__ef"), [])
  })

  it("prefers the first of many that are as near", () => {
    const many = Array.from({ length: 40 }, (_, at) => server(`s${at + 10}`, ["create_issue"]))
    assert.deepStrictEqual(
      ToolIndex.make(many).suggest("create_isue"),
      [10, 11, 12, 13, 14].map((at) => `mcp__s${at}__create_issue`)
    )
  })

  it("names every server that has what was asked for", () => {
    assert.deepStrictEqual(index.suggest("create_issue").slice(0, 2), [
      "mcp__github__create_issue",
      "mcp__gitlab__create_issue"
    ])
  })

  it("is silent where nothing comes near", () => {
    for (const name of ["", "_", "a", "mcp__", "xyzzy", "send_email", "get_forecast", "予報"]) {
      assert.deepStrictEqual(index.suggest(name), [], name)
    }
  })

  it("gives at most five names, all of tools that there are, and the same for any order", () => {
    holds(FastCheck.tuple(contributions, names.name), ([contributions, name]) => {
      const index = ToolIndex.make(contributions)
      const suggested = index.suggest(name)
      assert.isAtMost(suggested.length, 5)
      assert.strictEqual(new Set(suggested).size, suggested.length)
      for (const one of suggested) assert.isTrue(index.byQualifiedName.has(one))
      assert.deepStrictEqual(ToolIndex.make(contributions.toReversed()).suggest(name), suggested)
    })
  })

  it("finds a tool of any server by its name with one character gone", () => {
    const some = FastCheck.tuple(FastCheck.stringMatching(/^[a-z]{4,8}_[a-z]{4,8}$/), FastCheck.nat(7))
    holds(some, ([name, at]) => {
      const slip = name.slice(0, at) + name.slice(at + 1)
      const index = ToolIndex.make([server("s", [name])])
      assert.deepStrictEqual(index.suggest(slip), [`mcp__s__${name}`])
      assert.deepStrictEqual(index.suggest(`mcp__s__${slip}`), [`mcp__s__${name}`])
    })
  })

  it("takes no long time among ten thousand tools with long names", () => {
    const all = Array.from(
      { length: 100 },
      (_, at) => server(`s${at}`, Array.from({ length: 100 }, (_, at) => `${"ab".repeat(200)}${at}`))
    )
    const longest = server("longest", Array.from({ length: 30 }, (_, at) => `${"ab".repeat(5000)}${at}`))
    const index = ToolIndex.make([...all, longest])
    const begun = process.cpuUsage()
    assert.strictEqual(index.suggest("ab".repeat(5000)).length, 5)
    assert.strictEqual(index.suggest("_".repeat(1e6)).length, 0)
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((user + system) / 1000, 2000)
  })
})
