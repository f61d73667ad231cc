/**
 * Codex: `config.toml` in seconds, with variables handed on by name and none in texts.
 *
 * @internal
 */
import * as hostPolicy from "../../policy/hostPolicy.ts"
import type { HostTable } from "./table.ts"

const requirements = "requirements.toml"

/** @internal */
export const codex: HostTable = {
  host: "codex",
  title: "Codex",
  format: "toml",
  merge: "deep",
  shared: true,
  locations: [
    {
      scope: "managed",
      origin: "system",
      path: {
        linux: `/etc/codex/${requirements}`,
        darwin: `/etc/codex/${requirements}`,
        win32: `{programdata}/OpenAI/Codex/${requirements}`
      },
      policyOnly: true
    },
    { scope: "project", origin: "workspace", path: "{dir}/.codex/config.toml" },
    { scope: "user", origin: "home", path: "~/.codex/config.toml", variable: ["CODEX_HOME", "config.toml"] },
    {
      // of the machine, and yet the weakest: Codex lets everybody override it
      scope: "user",
      origin: "system",
      path: {
        linux: "/etc/codex/config.toml",
        darwin: "/etc/codex/config.toml",
        win32: "{programdata}/OpenAI/Codex/config.toml"
      }
    }
  ],
  roots: [["mcp_servers"]],
  typeless: "streamable-http",
  mixing: "unsupported-field",
  fields: {
    type: { is: "ignored" },
    transport: { is: "ignored" },
    env_vars: { is: "envNames" },
    http_headers: { is: "headers" },
    env_http_headers: { is: "headerVariables" },
    http_headers_helper: { is: "headersLine" },
    bearer_token_env_var: { is: "bearerVariable" },
    bearer_token: { is: "refused" },
    startup_timeout_sec: { is: "startupTimeout", unit: "s" },
    startup_timeout_ms: { is: "startupTimeout", unit: "ms" },
    tool_timeout_sec: { is: "requestTimeout", unit: "s" },
    required: { is: "required" },
    enabled_tools: { is: "allow" },
    disabled_tools: { is: "deny" },
    tools: { is: "tools", shape: "approvals" },
    default_tools_approval_mode: {
      is: "extra",
      lacking: "the permissions of this runtime decide which of its tools a person is asked about"
    },
    scopes: { is: "oauth", part: "scopes" },
    oauth_resource: { is: "oauth", part: "resource" },
    auth: { is: "oauth", mode: true },
    environment_id: { is: "extra", lacking: "the server runs on this machine" },
    supports_parallel_tool_calls: {
      is: "extra",
      lacking: "its tools may be called at the same time",
      unless: [true]
    }
  },
  policy: (root, context) => hostPolicy.codex(root, { ...context, provider: "codex" }).policy,
  inspect: (root, context) => hostPolicy.issues(hostPolicy.codex(root, { ...context, provider: "codex" }))
}
