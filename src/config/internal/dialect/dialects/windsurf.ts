/**
 * Windsurf, and Devin Local after it: addresses are called `serverUrl`.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

const shape: Pick<HostTable, "format" | "variables" | "fields"> = {
  format: "json",
  variables: { syntax: { env: true, file: true } },
  fields: { serverUrl: { is: "url" } }
}

/** @internal */
export const windsurf: HostTable = {
  host: "windsurf",
  title: "Windsurf",
  ...shape,
  locations: [
    {
      scope: "user",
      origin: "home",
      path: [
        "~/.codeium/windsurf/mcp_config.json",
        "~/.codeium/windsurf-next/mcp_config.json",
        "~/.codeium/mcp_config.json"
      ]
    }
  ]
}

/** @internal */
export const devinLocal: HostTable = {
  host: "devin-local",
  title: "Devin Local",
  ...shape,
  locations: [
    { scope: "local", origin: "workspace", path: "{root}/.devin/mcp_config.local.json" },
    { scope: "project", origin: "workspace", path: "{root}/.devin/mcp_config.json" },
    { scope: "user", origin: "home", path: "~/.config/devin/mcp_config.json" }
  ]
}
