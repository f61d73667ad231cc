/**
 * Docker's catalogs and its registry of what a person has chosen from them: images that Docker's gateway runs, and
 * servers behind addresses.
 *
 * @internal
 */
import { isTable, scalar, withoutNulls } from "../values.ts"
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
  fields: { transport_type: { is: "type" }, title: { is: "title" } },
  prepare: (entry, notes) => {
    const remote = entry.get("remote")
    if (entry.has("image") || !isTable(remote)) {
      notes.fail("needs-gateway", undefined, scalar(entry.get("image")))
      return entry
    }
    // the rest is for Docker: what its pages show, and how its gateway runs images
    const shown = Array.from(entry).filter(([key]) => key === "title" || key === "description")
    return withoutNulls(new Map([...shown, ...remote]))
  }
}
