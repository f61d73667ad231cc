/**
 * Grok Build: a table for each server, as Codex has it.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/** @internal */
export const grokBuild: HostTable = {
  host: "grok-build",
  title: "Grok Build",
  format: "toml",
  shared: true,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.grok/config.toml" },
    { scope: "user", origin: "home", path: "~/.grok/config.toml", variable: ["GROK_HOME", "config.toml"] }
  ],
  roots: [["mcp_servers"]],
  fields: {
    http_headers: { is: "headers" },
    bearer_token_env_var: { is: "bearerVariable" },
    startup_timeout_sec: { is: "startupTimeout", unit: "s" },
    tool_timeout_sec: { is: "requestTimeout", unit: "s" },
    enabled_tools: { is: "allow" },
    disabled_tools: { is: "deny" }
  }
}
