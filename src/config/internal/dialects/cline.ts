/**
 * Cline and Roo: times in seconds. Cline takes an address without a word for SSE, Roo does not take it at all.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

const time = { timeout: { is: "requestTimeout", unit: "s" } } as const

/** @internal */
export const cline: HostTable = {
  host: "cline",
  title: "Cline",
  format: "json",
  locations: [
    {
      scope: "user",
      origin: "home",
      path: "~/.cline/data/settings/cline_mcp_settings.json",
      variable: ["CLINE_DIR", "data/settings/cline_mcp_settings.json"]
    },
    {
      scope: "user",
      origin: "home",
      path: [
        "{vscode}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "~/Documents/Cline/MCP/cline_mcp_settings.json"
      ]
    }
  ],
  typeless: "sse",
  nested: true,
  fields: {
    ...time,
    transportType: { is: "type", deprecated: true },
    oauthClient: { is: "extra" },
    metadata: { is: "extra" }
  }
}

/** @internal */
export const roo: HostTable = {
  host: "roo",
  title: "Roo Code",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.roo/mcp.json" },
    {
      scope: "user",
      origin: "home",
      path: "{vscode}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
    }
  ],
  typeRequired: { for: "url", is: "host-would-reject" },
  variables: { syntax: { env: true, places: new Map([["workspaceFolder", "workspaceFolder"]]) } },
  fields: { ...time, watchPaths: { is: "extra" } }
}
