/** All tools of all servers under names that a model can use: pure data, made anew after each change. */
import { nearestOf } from "../text/nearest.ts"
import type * as Tool from "./Tool.ts"
import * as ToolFilter from "./ToolFilter.ts"
import * as ToolName from "./ToolName.ts"

/** The tools of one server, and its filter. */
export interface Contribution extends ToolFilter.Options {
  readonly server: string
  readonly tools: ReadonlyArray<Tool.Tool>
}

/** A tool and its names. `server` and `tool.name` are its identity; `name` is the one for models. */
export interface Entry {
  readonly name: string
  readonly server: string
  readonly tool: Tool.Tool
}

export interface ToolIndex {
  /** In the order of the servers' names, then of the tools' names. */
  readonly entries: ReadonlyArray<Entry>
  /** By the name that the server gives; more than one if several servers have a tool of that name. */
  readonly toolsByName: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly byQualifiedName: ReadonlyMap<string, Entry>
  readonly find: (server: string, tool: string) => Entry | undefined
  /**
   * The tool of a name: the one with this qualified name, else the one whose server and tool the name spells out in either
   * style, else the only tool with this bare name. A bare name that begins with `mcp_` is not resolved.
   */
  readonly resolve: (name: string) => Entry | undefined
  readonly ofServer: (server: string) => ReadonlyArray<Entry>
  /** Similar names, best first, for errors. */
  readonly suggest: (name: string) => ReadonlyArray<string>
}

const sorted = <A>(map: ReadonlyMap<string, A>): ReadonlyArray<readonly [name: string, A]> =>
  Array.from(map).toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)

const grouped = (entries: ReadonlyArray<Entry>, keyOf: (entry: Entry) => string): Map<string, Array<Entry>> => {
  const groups = new Map<string, Array<Entry>>()
  for (const entry of entries) {
    const group = groups.get(keyOf(entry)) ?? []
    group.push(entry)
    groups.set(keyOf(entry), group)
  }
  return groups
}

/** The tools that pass the filters with their usual names, sorted by server and tool. */
const offered = (
  contributions: Iterable<Contribution>,
  style: ToolName.Style,
  qualifier: typeof ToolName.qualifier
): ReadonlyArray<Entry> => {
  const servers = new Map<string, Map<string, Tool.Tool>>()
  for (const contribution of contributions) {
    const passes = ToolFilter.make(contribution)
    const tools = servers.get(contribution.server) ?? new Map<string, Tool.Tool>()
    servers.set(contribution.server, tools)
    for (const tool of contribution.tools) {
      if (!tools.has(tool.name) && passes(tool.name)) tools.set(tool.name, tool)
    }
  }
  return sorted(servers).flatMap(([server, tools]) => {
    const nameOf = qualifier(server, style)
    return sorted(tools).map(([tool, definition]) => ({ name: nameOf(tool), server, tool: definition }))
  })
}

/**
 * Indexes the tools that pass their server's filter. Names and order depend on the identities of the tools alone. Of two
 * tools with one identity the first is kept.
 *
 * If two identities get one name, which takes a search for equal hashes, both get a name of a longer hash instead.
 */
export const make = (
  contributions: Iterable<Contribution>,
  style: ToolName.Style = "double",
  qualifier = ToolName.qualifier
): ToolIndex => {
  const named = offered(contributions, style, qualifier)
  const sameName = grouped(named, ({ name }) => name)
  const entries = named.map((entry): Entry => {
    const { name, server, tool } = entry
    return sameName.get(name)?.length === 1 ? entry : { name: ToolName.bare(server, tool.name, style), server, tool }
  })
  const byQualifiedName = new Map(entries.map((entry) => [entry.name, entry]))
  const toolsByName = grouped(entries, ({ tool }) => tool.name)
  const byServer = grouped(entries, ({ server }) => server)

  const find = (server: string, tool: string): Entry | undefined =>
    toolsByName.get(tool)?.find((entry) => entry.server === server)

  return {
    entries,
    toolsByName,
    byQualifiedName,
    find,
    resolve: (name) => {
      const entry = byQualifiedName.get(name)
      if (entry !== undefined) return entry
      const identity = ToolName.parse(name)
      if (identity !== undefined) return find(identity.server, identity.tool)
      // a server could give its tool the qualified name of another server's tool
      if (name.startsWith("mcp_")) return undefined
      const [only, another] = toolsByName.get(name) ?? []
      return another === undefined ? only : undefined
    },
    ofServer: (server) => byServer.get(server) ?? [],
    // the name may contain the server's name, and models write the prefix in several ways
    suggest: (name) =>
      nearestOf(name.replace(/^mcp_+/i, ""), entries, ({ server, tool }) => [tool.name, `${server}_${tool.name}`], 5)
        .map((entry) => entry.name)
  }
}
