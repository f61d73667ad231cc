import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ToolName from "../../src/tools/ToolName.ts"
import { runs } from "../support/runs.ts"
import * as names from "./names.ts"

const styles: ReadonlyArray<ToolName.Style> = ["double", "single"]

const style = FastCheck.constantFrom(...styles)

const accepted = /^mcp_[a-zA-Z0-9_-]{1,60}$/

const hashed = /_[0-9b-df-hj-np-tv-z]{12}$/

const same = (a: ToolName.Identity, b: ToolName.Identity): boolean => a.server === b.server && a.tool === b.tool

const holds = <A>(arbitrary: FastCheck.Arbitrary<A>, predicate: (value: A) => boolean | void): void =>
  FastCheck.assert(FastCheck.property(arbitrary, predicate), { numRuns: runs(2000) })

describe("ToolName.qualify", () => {
  it("writes what fits as it is, and always the same for what does not", () => {
    const cases: ReadonlyArray<readonly [server: string, tool: string, double: string, single: string]> = [
      ["github", "create_issue", "mcp__github__create_issue", "mcp_github_create_issue"],
      ["google-maps", "maps_geocode", "mcp__google-maps__maps_geocode", "mcp_google-maps_maps_geocode"],
      ["google_maps", "geocode", "mcp__google_maps__geocode", "mcp_google__maps_geocode"],
      ["GitHub", "API-post-search", "mcp__GitHub__API-post-search", "mcp_GitHub_API-post-search"],
      ["a", "b__c", "mcp__a__b__c", "mcp_a_b__c"],
      ["a__b", "c", "mcp__a_b__c_n6vjs4sxfwd7", "mcp_a____b_c"],
      ["a_", "b", "mcp__a__b_c3fjkjw4w63x", "mcp_a___b"],
      ["a", "_b", "mcp__a___b", "mcp_a_b_hsb09njps68z"],
      ["_a", "b", "mcp___a__b", "mcp_a_b_7zzczkbvdmrb"],
      ["foo.bar", "get", "mcp__foo_bar__get_j5psmyy8ktw4", "mcp_foo_bar_get_j5psmyy8ktw4"],
      ["天気", "予報", "mcp__server__tool_sscjtsw9gm9b", "mcp_server_tool_sscjtsw9gm9b"],
      ["🔧", "🔧🔧", "mcp__server__tool_53wztpm7fw35", "mcp_server_tool_53wztpm7fw35"],
      ["météo", "prévisions/jour", "mcp__meteo__previsions_jour_qf03f5whrvlm", "mcp_meteo_previsions_jour_qf03f5whrvlm"]
    ]
    const written = cases.map(([server, tool]) =>
      [server, tool, ToolName.qualify(server, tool, "double"), ToolName.qualify(server, tool, "single")] as const
    )
    assert.deepStrictEqual(written, cases)
  })

  it("leaves the words of published tools alone, however much they look like a hash", () => {
    for (
      const tool of ["list_organizations", "list_organisation", "get_applications", "browser_snapshot", "run_2024"]
    ) {
      assert.strictEqual(ToolName.qualify("s", tool, "double"), `mcp__s__${tool}`)
    }
  })

  it("gives only names that models accept", () => {
    holds(FastCheck.tuple(names.identity, style), ([{ server, tool }, style]) => {
      assert.match(ToolName.qualify(server, tool, style), accepted)
    })
  })

  it("uses the length that there is before it shortens anything", () => {
    for (const style of styles) {
      const overhead = ToolName.qualify("s", "t", style).length - 2
      const tool = "t".repeat(64 - overhead - 4)
      assert.notMatch(ToolName.qualify("serv", tool, style), hashed)
      const longer = ToolName.qualify("serve", tool, style)
      assert.match(longer, hashed)
      assert.strictEqual(longer.length, 64)
    }
  })

  it("leaves at least twenty characters of a server and as much of a tool where both are long", () => {
    assert.match(
      ToolName.qualify("s".repeat(100), "t".repeat(100), "double"),
      /^mcp__s{20}__t{24}_[0-9b-df-hj-np-tv-z]{12}$/
    )
    assert.match(
      ToolName.qualify("s".repeat(100), "t".repeat(10), "double"),
      /^mcp__s{34}__t{10}_[0-9b-df-hj-np-tv-z]{12}$/
    )
  })

  it("ends in a hash where anything had to be changed, and only there", () => {
    holds(FastCheck.tuple(names.identity, style), ([{ server, tool }, style]) => {
      const name = ToolName.qualify(server, tool, style)
      const whole = style === "double" ? `mcp__${server}__${tool}` : `mcp_${server.replaceAll("_", "__")}_${tool}`
      if (!hashed.test(name)) assert.strictEqual(name, whole)
      else if (style === "double" && !/_$|__/.test(server)) {
        assert.isTrue(!accepted.test(whole) || hashed.test(whole), `${whole} needed no change`)
      }
    })
  })

  it("never gives two identities one name, in one style or in both", () => {
    const many = FastCheck.array(names.identity, { minLength: 2, maxLength: 30 })
    FastCheck.assert(
      FastCheck.property(many, (identities) => {
        const owners = new Map<string, string>()
        for (const { server, tool } of identities) {
          for (const style of styles) {
            for (const name of [ToolName.qualify(server, tool, style), ToolName.bare(server, tool, style)]) {
              const owner = JSON.stringify([style, server, tool])
              assert.strictEqual(owners.get(name) ?? owner, owner, name)
              owners.set(name, owner)
            }
          }
        }
      }),
      { numRuns: 400 }
    )
  })

  it("cannot be led to another's name by any way to cut that name into a server and a tool", () => {
    FastCheck.assert(
      FastCheck.property(names.identity, style, (own, style) => {
        const name = ToolName.qualify(own.server, own.tool, style)
        for (let from = 3; from <= 6; from++) {
          for (let at = from; at < name.length; at++) {
            for (const separator of [0, 1, 2]) {
              const other = { server: name.slice(from, at), tool: name.slice(at + separator) }
              const unescaped = { ...other, server: other.server.replaceAll("__", "_") }
              for (const forged of [other, unescaped]) {
                if (same(forged, own)) continue
                assert.notStrictEqual(ToolName.qualify(forged.server, forged.tool, style), name, JSON.stringify(forged))
              }
            }
          }
        }
      }),
      { numRuns: 40 }
    )
  })

  it("tells apart what differs only in case, in normal form or in unpaired surrogates", () => {
    const tools = [
      "Get",
      "get",
      "Ж",
      "ж",
      "caf\u00e9",
      "cafe\u0301",
      "cafe",
      "\ud800",
      "\udfff",
      "\ufffd",
      "ﬁle",
      "file",
      "f\u0456le"
    ]
    for (const style of styles) {
      assert.strictEqual(new Set(tools.map((tool) => ToolName.qualify("s", tool, style))).size, tools.length)
    }
  })

  it("takes no longer for names of any length", () => {
    const begun = process.cpuUsage()
    for (const char of ["_", "-", "a", "é", "工", "."]) {
      const long = `a${char.repeat(1e6)}a`
      for (const style of styles) {
        assert.isAtMost(ToolName.qualify(long, long, style).length, 64)
      }
    }
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((user + system) / 1000, 2000)
  })
})

describe("ToolName.parse", () => {
  it("reads back every name that was written as it is", () => {
    holds(FastCheck.tuple(names.ordinary, names.ordinary, style), ([server, tool, style]) => {
      assert.deepStrictEqual(ToolName.parse(ToolName.qualify(server, tool, style)), { server, tool })
    })
  })

  it("reads of any name that was written its own identity or nothing", () => {
    holds(FastCheck.tuple(names.identity, style), ([own, style]) => {
      const name = ToolName.qualify(own.server, own.tool, style)
      assert.deepStrictEqual(ToolName.parse(name), hashed.test(name) ? undefined : own)
    })
  })

  it("reads what somebody spelled out who did not know what models accept", () => {
    assert.deepStrictEqual(ToolName.parse("mcp__foo.bar__get it"), { server: "foo.bar", tool: "get it" })
    assert.deepStrictEqual(ToolName.parse("mcp_google_maps_search"), { server: "google", tool: "maps_search" })
    const long = { server: "s".repeat(128), tool: "t".repeat(128) }
    assert.deepStrictEqual(ToolName.parse(`mcp__${long.server}__${long.tool}`), long)
  })

  it("reads nothing from what is no such name", () => {
    for (
      const name of [
        "",
        "mcp",
        "mcp_",
        "mcp__",
        "mcp___",
        "mcp____",
        "mcp_____",
        "mcp__a",
        "mcp__a__",
        "mcp____a",
        "mcp_a",
        "mcp_a_",
        "mcp_a__b",
        "create_issue",
        "MCP__a__b",
        "a__b",
        `mcp__a__${"b".repeat(10_000)}`
      ]
    ) assert.isUndefined(ToolName.parse(name), name)
  })

  it("takes no long time over anything", () => {
    const begun = process.cpuUsage()
    for (const text of ["_".repeat(1e6), "_".repeat(490), "a_".repeat(245), "__a".repeat(160)]) {
      ToolName.parse(`mcp_${text}`)
    }
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((user + system) / 1000, 1000)
  })
})
