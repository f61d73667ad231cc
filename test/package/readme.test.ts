import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import * as Protocol from "../../src/client/Protocol.ts"
import * as Limits from "../../src/config/Limits.ts"
import * as FleetConnector from "../../src/fleet/FleetConnector.ts"
import * as FleetHome from "../../src/fleet/FleetHome.ts"
import * as NodeFleet from "../../src/fleet/NodeFleet.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeHttpListener from "../../src/node/NodeHttpListener.ts"
import * as NodeInteraction from "../../src/node/NodeInteraction.ts"
import * as Bulkhead from "../../src/resilience/Bulkhead.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as RetryPolicy from "../../src/resilience/RetryPolicy.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as Servers from "../../src/runtime/Servers.ts"
import * as OutputGuard from "../../src/safety/OutputGuard.ts"
import * as Permissions from "../../src/safety/Permissions.ts"
import * as Spill from "../../src/safety/Spill.ts"
import * as AgentServer from "../../src/server/AgentServer.ts"
import * as HttpEndpoint from "../../src/server/HttpEndpoint.ts"
import * as McpServe from "../../src/server/McpServe.ts"
import * as McpServer from "../../src/server/McpServer.ts"
import * as AutoSearch from "../../src/tools/AutoSearch.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as ToolCatalog from "../../src/tools/ToolCatalog.ts"
import { root, sources } from "./project.ts"

const readme = readFileSync(new URL("README.md", root), "utf8")
const limits = readFileSync(new URL("docs/limits.md", root), "utf8")
const errors = readFileSync(new URL("docs/errors.md", root), "utf8")

/** The defaults of each table of docs/limits.md, in the order of the page. */
const tables: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  Limits.defaults,
  { ...Servers.defaults, ...McpRuntime.defaults },
  { ...Bulkhead.defaults },
  { ...CircuitBreaker.defaults },
  { ...RetryPolicy.defaults },
  { ...ReconnectPolicy.defaults },
  { ...HealthCheck.defaults },
  { ...Teardown.defaults },
  { ...ToolCatalog.defaults },
  { ...ToolCache.defaults },
  { ...OutputGuard.defaults },
  { ...Spill.defaults },
  { ...AutoSearch.defaults },
  { ...Permissions.defaults },
  { ...NodeInteraction.defaults },
  { ...McpServer.defaults },
  without(HttpEndpoint.defaults, McpServer.defaults),
  without(NodeHttpListener.defaults, { port: 0 }),
  { ...McpServe.defaults },
  { ...AgentServer.defaults },
  { ...FleetConnector.defaults },
  { ...FleetHome.defaults },
  { ...NodeFleet.defaults }
]

function without(options: object, others: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([key]) => !Object.hasOwn(others, key)))
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  days: 86_400_000,
  KiB: 1024,
  MiB: 1024 * 1024
}

/** The number in a cell such as `10,000`, `16 MiB` or `5 min`; durations in milliseconds. */
const numberIn = (cell: string): number => {
  const [, digits = "", unit] = /^([\d,.]+)(?: (\w+))?$/.exec(cell)!
  return Number(digits.replaceAll(",", "")) * (unit === undefined ? 1 : units[unit]!)
}

const limit = (value: unknown): number | undefined =>
  typeof value === "number" ? value : Duration.isDuration(value) ? Duration.toMillis(value) : undefined

const tags = McpError.McpError.members.map(({ _tag }) => _tag)

/** The reasons of a tag: the literals of its field `reason` or `why`. */
const reasonsOf = (tag: string): ReadonlyArray<string> => {
  const fields: Readonly<Record<string, unknown>> = McpError.McpError.members.find(({ _tag }) => _tag === tag)?.fields
    ?? {}
  const literals = String(fields["reason"] ?? fields["why"]).matchAll(/"([\w-]+)"/g)
  // a field with a default names its literals twice
  return Array.from(new Set(Array.from(literals, ([, literal]) => literal!)))
}

describe("the README", () => {
  it("opens with the two commands", () => {
    const commands = /```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
    assert.match(commands, /^npm install && npm run demo\b.*\nnpm install && npm test\b.*\n$/)
    assert.isBelow(readme.indexOf(commands), 100)
  })

  it("is short", () => {
    assert.isBelow(readme.split("\n").length, 190)
  })
})

describe("the version", () => {
  it("is the same in package.json, the handshake and the changelog", () => {
    const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"))
    const changelog = readFileSync(new URL("CHANGELOG.md", root), "utf8")
    assert.strictEqual(Protocol.clientInfo.version, version)
    assert.include(changelog, `\n## ${version}\n`)
  })
})

describe("docs/limits.md", () => {
  it("has every limit with its default", () => {
    const found = limits.split(/^\| Option \|.*\n\|[-|]+\n/m).slice(1).map((text) =>
      text.slice(0, text.indexOf("\n\n"))
    )
    const documented = found.map((rows) =>
      Object.fromEntries(
        Array.from(rows.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm), ([, key, value]) => [key!, numberIn(value!.trim())])
      )
    )
    const expected = tables.map((table) =>
      Object.fromEntries(
        Object.entries(table).flatMap(([key, value]) => {
          const number = limit(value)
          return number === undefined ? [] : [[key, number]]
        })
      )
    )
    assert.deepStrictEqual(documented, expected)
  })
})

describe("docs/errors.md", () => {
  it("has every tag, with all its reasons", () => {
    const sections = new Map(
      errors.split(/^### /m).slice(1).map((text) => [text.slice(0, text.indexOf("\n")), text] as const)
    )
    assert.sameMembers(Array.from(sections.keys()), tags)
    for (const tag of tags) {
      for (const reason of reasonsOf(tag)) {
        assert.match(sections.get(tag)!, new RegExp(`^\\| .*\`${reason}\``, "m"), tag)
      }
    }
  })
})

describe("the README's links", () => {
  it("lead to existing files", () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      assert.doesNotThrow(() => new URL(target!, root))
    }
    for (const [, path] of readme.matchAll(/`(src\/[\w./]+)`/g)) {
      const inside = path!.slice("src/".length)
      assert.isTrue(sources.some((source) => source.path === inside || source.path.startsWith(`${inside}/`)), path)
    }
  })
})
