import { nearestOf } from "../../text/nearest.ts"
import type * as Tool from "../Tool.ts"
import * as ToolFilter from "../ToolFilter.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import type * as ToolName from "../ToolName.ts"
import { bare, parse, qualifier } from "./qualifiedName.ts"

/**
 * How the tools of a server get their names, and what those get instead that would share one.
 *
 * @internal
 */
export interface Naming {
  readonly usual: (server: string) => (tool: string) => string
  readonly collided: (server: string, tool: string) => string
}

/** @internal */
export const naming = (style: ToolName.Style): Naming => ({
  usual: (server) => qualifier(server, style),
  collided: (server, tool) => bare(server, tool, style)
})

type Sorted<A> = ReadonlyArray<readonly [name: string, A]>

const sorted = <A>(map: ReadonlyMap<string, A>): Sorted<A> =>
  Array.from(map).toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)

/** The tools that are offered, by server and by name. */
const offered = (contributions: Iterable<ToolIndex.Contribution>): Sorted<Sorted<Tool.Tool>> => {
  const servers = new Map<string, Map<string, Tool.Tool>>()
  for (const contribution of contributions) {
    const passes = ToolFilter.make(contribution)
    let tools = servers.get(contribution.server)
    if (tools === undefined) servers.set(contribution.server, tools = new Map())
    for (const tool of contribution.tools) {
      if (!tools.has(tool.name) && passes(tool.name)) tools.set(tool.name, tool)
    }
  }
  return sorted(servers).map(([server, tools]) => [server, sorted(tools)])
}

const none: ReadonlyArray<never> = []

const index = (servers: Sorted<Sorted<Tool.Tool>>, usual: Naming["usual"]) => {
  const entries: Array<ToolIndex.Entry> = []
  const byServer = new Map<string, ReadonlyArray<ToolIndex.Entry>>()
  const toolsByName = new Map<string, Array<ToolIndex.Entry>>()
  const byQualifiedName = new Map<string, ToolIndex.Entry>()
  const collisions = new Set<string>()
  for (const [server, tools] of servers) {
    const nameOf = usual(server)
    const own: Array<ToolIndex.Entry> = []
    for (const [toolName, tool] of tools) {
      const entry = { name: nameOf(toolName), server, tool }
      entries.push(entry)
      own.push(entry)
      if (byQualifiedName.has(entry.name)) collisions.add(entry.name)
      byQualifiedName.set(entry.name, entry)
      const same = toolsByName.get(toolName)
      if (same === undefined) toolsByName.set(toolName, [entry])
      else same.push(entry)
    }
    byServer.set(server, own)
  }
  return { entries, byServer, toolsByName, byQualifiedName, collisions }
}

const apart = (collisions: ReadonlySet<string>, { collided, usual }: Naming): Naming["usual"] => (server) => {
  const nameOf = usual(server)
  return (tool) => {
    const name = nameOf(tool)
    return collisions.has(name) ? collided(server, tool) : name
  }
}

/** @internal */
export const make = (contributions: Iterable<ToolIndex.Contribution>, naming: Naming): ToolIndex.ToolIndex => {
  const servers = offered(contributions)
  const first = index(servers, naming.usual)
  const { byQualifiedName, byServer, entries, toolsByName } = first.collisions.size === 0
    ? first
    : index(servers, apart(first.collisions, naming))

  const find = (server: string, tool: string): ToolIndex.Entry | undefined =>
    toolsByName.get(tool)?.find((entry) => entry.server === server)

  return {
    entries,
    toolsByName,
    byQualifiedName,
    find,
    resolve: (name) => {
      const entry = byQualifiedName.get(name)
      if (entry !== undefined) return entry
      const identity = parse(name)
      if (identity !== undefined) return find(identity.server, identity.tool)
      // a server could call its tool like the qualified name of another server's
      if (name.startsWith("mcp_")) return undefined
      const [only, another] = toolsByName.get(name) ?? none
      return another === undefined ? only : undefined
    },
    ofServer: (server) => byServer.get(server) ?? none,
    // the server's name may be part of what was asked for, and models write the prefix in several ways
    suggest: (name) =>
      nearestOf(name.replace(/^mcp_+/i, ""), entries, ({ server, tool }) => [tool.name, `${server}_${tool.name}`], 5)
        .map((entry) => entry.name)
  }
}
