/**
 * Factory's droid: `timeoutMs`, and OAuth in all its detail.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/** @internal */
export const factory: HostTable = {
  host: "factory",
  title: "Factory",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{dir}/.factory/mcp.json" },
    { scope: "user", origin: "home", path: "~/.factory/mcp.json" }
  ],
  variables: { syntax: { bare: true } },
  fields: { timeoutMs: { is: "requestTimeout", unit: "ms" } }
}
