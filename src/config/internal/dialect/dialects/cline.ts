/**
 * Cline, Roo and the Kilo Code that was made of it: times in seconds. Cline takes an address without a word for SSE, Roo does not take it at all.
 *
 * @internal
 */
import { type HostTable, otherLogin } from "./table.ts"

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
    transportType: { is: "type", deprecated: true, instead: "type" },
    oauthClient: { is: "extra", lacking: otherLogin },
    metadata: { is: "extra" }
  }
}

const rooShape: Pick<HostTable, "format" | "typeRequired" | "mixing" | "variables" | "fields"> = {
  format: "json",
  typeRequired: { for: "url", is: "host-would-reject" },
  mixing: "host-would-reject",
  variables: { syntax: { env: true, places: new Map([["workspaceFolder", "workspaceFolder"]]) } },
  fields: { ...time, watchPaths: { is: "extra", lacking: "the server is not restarted when these files change" } }
}

/** @internal */
export const roo: HostTable = {
  host: "roo",
  title: "Roo Code",
  ...rooShape,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.roo/mcp.json" },
    {
      scope: "user",
      origin: "home",
      path: "{vscode}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
    }
  ]
}

/** @internal */
export const kiloLegacy: HostTable = {
  host: "kilo-legacy",
  title: "Kilo Code before its own command line",
  ...rooShape,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.kilocode/mcp.json" },
    {
      scope: "user",
      origin: "home",
      path: "{vscode}/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"
    }
  ]
}
