/**
 * cocode: its own TOML, and the JSON of Claude Code under its own names.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/** @internal */
export const cocode: HostTable = {
  host: "cocode",
  title: "cocode",
  format: "toml",
  locations: [
    {
      scope: "managed",
      origin: "home",
      path: ["~/.cocode/managed-mcp.json", "~/.cocode/enterprise-mcp.json"],
      format: "json"
    },
    { scope: "local", origin: "workspace", path: "{root}/.cocode.local.toml" },
    { scope: "local", origin: "workspace", path: "{root}/.cocode.local/mcp.json", format: "json" },
    { scope: "project", origin: "workspace", path: "{root}/.mcp.toml" },
    { scope: "project", origin: "workspace", path: ["{root}/.mcp.json", "{root}/.cocode/mcp.json"], format: "json" },
    { scope: "user", origin: "home", path: "{config}/cocode/mcp.toml" },
    { scope: "user", origin: "home", path: "~/.cocode/mcp.json", format: "json" }
  ],
  roots: [["mcp_servers"], ["mcpServers"]],
  typeless: "sse",
  variables: { syntax: { bare: true }, in: ["env", "headers", "url"] },
  fields: {
    program: { is: "command" },
    bearer_token_env_var: { is: "bearerVariable" },
    env_http_headers: { is: "headerVariables" },
    startup_timeout_sec: { is: "startupTimeout", unit: "s" },
    tool_timeout_sec: { is: "requestTimeout", unit: "s" },
    enabled_tools: { is: "allow" },
    disabled_tools: { is: "deny" }
  }
}
