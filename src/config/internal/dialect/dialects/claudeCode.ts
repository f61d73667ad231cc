/**
 * Claude Code: `.mcp.json` of a project, `~/.claude.json` with what a person has for everything and for one project, and
 * what an administrator has laid down.
 *
 * @internal
 */
import type * as ConfigDocument from "../../../ConfigDocument.ts"
import * as hostApproval from "../../policy/hostApproval.ts"
import * as hostPolicy from "../../policy/hostPolicy.ts"
import { isText, list, table } from "../values.ts"
import type { HostTable } from "./table.ts"

const home = "~/.claude.json"
const variable = ["CLAUDE_CONFIG_DIR", ".claude.json"] as const

const settings = ["CLAUDE_CONFIG_DIR", "settings.json"] as const

const managed = (name: string) => ({
  linux: `/etc/claude-code/${name}`,
  darwin: `/Library/Application Support/ClaudeCode/${name}`,
  win32: `C:/Program Files/ClaudeCode/${name}`
})

/** @internal */
export const claudeCode: HostTable = {
  host: "claude-code",
  title: "Claude Code",
  format: "json",
  shared: ["local", "user"],
  locations: [
    { scope: "managed", origin: "system", path: managed("managed-mcp.json"), exclusive: true },
    { scope: "managed", origin: "system", path: managed("managed-settings.json"), policyOnly: true },
    { scope: "local", origin: "workspace", path: "{root}/.claude/settings.local.json", policyOnly: true },
    { scope: "project", origin: "workspace", path: "{root}/.claude/settings.json", policyOnly: true },
    { scope: "user", origin: "home", path: "~/.claude/settings.json", variable: settings, policyOnly: true },
    { scope: "local", origin: "home", path: home, variable, pointer: ["projects", "{root}", "mcpServers"] },
    { scope: "project", origin: "workspace", path: "{dir}/.mcp.json" },
    { scope: "user", origin: "home", path: home, variable }
  ],
  // marketplaces have plugins with and without the key
  bare: ["plugin"],
  typeRequired: { for: "url", is: "host-would-reject" },
  variables: {
    syntax: {
      bare: true,
      places: new Map([
        ["CLAUDE_PLUGIN_ROOT", "pluginRoot"],
        ["CLAUDE_PLUGIN_DATA", "pluginData"],
        ["CLAUDE_PROJECT_DIR", "projectDir"]
      ]),
      inputPrefix: "user_config."
    }
  },
  fields: {
    headersHelper: { is: "headersLine" },
    alwaysLoad: { is: "extra" }
  },
  policy: (root, context) => hostPolicy.claude(root, { ...context, provider: "claude-code" }).policy,
  // a name that was switched on is no approval of what bears that name today
  switches: (root, { pointer, scope }) => {
    const own = scope === "local" && pointer !== undefined
      ? pointer.slice(0, -1).reduce((at: ConfigDocument.Table, key) => table(at.get(key)), root)
      : root
    return { off: [...hostApproval.rejected(own), ...list(own.get("disabledMcpServers")).filter(isText)], on: [] }
  },
  inspect: (root, context) => hostPolicy.issues(hostPolicy.claude(root, { ...context, provider: "claude-code" }))
}
