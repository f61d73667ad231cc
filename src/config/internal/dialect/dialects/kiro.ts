/**
 * Kiro, and Amazon Q before it: times in milliseconds, and variables only where they are not part of a command.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

const shape: Pick<HostTable, "format" | "variables" | "fields"> = {
  format: "json",
  variables: { syntax: { bare: true, env: true }, in: ["env", "headers", "url"] },
  fields: { oauthScopes: { is: "oauth", part: "scopes" } }
}

/** @internal */
export const kiro: HostTable = {
  host: "kiro",
  title: "Kiro",
  ...shape,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.kiro/settings/mcp.json" },
    { scope: "user", origin: "home", path: "~/.kiro/settings/mcp.json" }
  ]
}

/** @internal */
export const amazonQ: HostTable = {
  host: "amazon-q",
  title: "Amazon Q",
  ...shape,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.amazonq/mcp.json" },
    { scope: "user", origin: "home", path: "~/.aws/amazonq/mcp.json" }
  ]
}
