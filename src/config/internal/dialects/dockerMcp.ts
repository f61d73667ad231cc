/**
 * Docker's catalogs and its registry of what a person has chosen from them: images that Docker's gateway runs, and
 * servers behind addresses.
 *
 * @internal
 */
import { isTable, scalar, table } from "../values.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const dockerMcp: HostTable = {
  host: "docker-mcp",
  title: "Docker MCP",
  format: "yaml",
  // only what was chosen: a catalog holds hundreds that nobody asked for, and is read when somebody names the file
  locations: [{ scope: "user", origin: "home", path: "~/.docker/mcp/registry.yaml" }],
  roots: [["registry"]],
  variables: { syntax: { bare: true } },
  fields: {
    type: { is: "ignored" },
    transport_type: { is: "type" },
    title: { is: "title" },
    secrets: { is: "extra" },
    oauth: { is: "extra" },
    icon: { is: "ignored" },
    readme: { is: "ignored" },
    toolsUrl: { is: "ignored" },
    source: { is: "ignored" },
    upstream: { is: "ignored" },
    dateAdded: { is: "ignored" },
    metadata: { is: "ignored" },
    tags: { is: "ignored" },
    dynamic: { is: "ignored" },
    tools: { is: "ignored" },
    prompts: { is: "ignored" },
    resources: { is: "ignored" }
  },
  prepare: (entry, notes) => {
    const remote = entry.get("remote")
    if (entry.has("image") || !isTable(remote)) {
      notes.fail("needs-gateway", undefined, scalar(entry.get("image")))
      return entry
    }
    return new Map([...entry, ...table(remote)].filter(([key]) => key !== "remote"))
  }
}
