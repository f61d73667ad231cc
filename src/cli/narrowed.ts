/** A runtime as if it had only some of its servers: what a command is told that is to see no others. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as McpRuntime from "../McpRuntime.ts"

type Runtime = McpRuntime.McpRuntime["Type"]

export const narrowed = (runtime: Runtime, names: ReadonlySet<string>): Runtime => {
  const mine = <A extends { readonly server: string }>(all: ReadonlyArray<A>) =>
    all.filter(({ server }) => names.has(server))
  const named = (all: ReadonlyArray<McpRuntime.ServerInfo>) => all.filter(({ name }) => names.has(name))
  const among = (all: ReadonlyArray<McpRuntime.RuntimeTool>) => all.filter(({ serverName }) => names.has(serverName))
  const toolsOf = (all: McpRuntime.Tools): McpRuntime.Tools => ({
    tools: among(all.tools),
    apps: among(all.apps),
    toolsByName: new Map(
      Array.from(all.toolsByName, ([name, tools]) => [name, among(tools)] as const).filter(([, tools]) =>
        tools.length > 0
      )
    ),
    missing: mine(all.missing),
    rejected: mine(all.rejected),
    quarantined: mine(all.quarantined),
    denied: mine(all.denied)
  })
  const gathered = <A>(all: Effect.Effect<McpRuntime.Gathered<A>>) =>
    Effect.map(all, ({ items, missing }) => ({ items: mine(items), missing: mine(missing) }))
  return {
    ...runtime,
    tools: Effect.map(runtime.tools, toolsOf),
    refreshTools: (server) => Effect.map(runtime.refreshTools(server), toolsOf),
    resources: gathered(runtime.resources),
    resourceTemplates: gathered(runtime.resourceTemplates),
    prompts: gathered(runtime.prompts),
    offered: (wait) => {
      const { prompts, resourceTemplates, resources, tools } = runtime.offered(wait)
      return {
        tools: Effect.map(tools, toolsOf),
        resources: gathered(resources),
        resourceTemplates: gathered(resourceTemplates),
        prompts: gathered(prompts)
      }
    },
    servers: {
      ...runtime.servers,
      list: Effect.map(runtime.servers.list, named),
      changes: Stream.map(runtime.servers.changes, named)
    },
    events: Stream.filter(runtime.events, (event) => !("server" in event) || names.has(event.server ?? ""))
  }
}
