/**
 * agent-code: no variables, old HTTP+SSE behind every address, and its lists of what is allowed beside the servers.
 *
 * @internal
 */
import * as ServerPolicy from "../../../ServerPolicy.ts"
import * as hostPolicy from "../../policy/hostPolicy.ts"
import * as permissionsDocument from "../../policy/permissionsDocument.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const agentCode: HostTable = {
  host: "agent-code",
  title: "agent-code",
  format: "toml",
  shared: true,
  locations: [
    { scope: "local", origin: "workspace", path: "{root}/.agent/settings.local.toml" },
    { scope: "project", origin: "workspace", path: "{root}/.agent/settings.toml" },
    { scope: "user", origin: "home", path: "{config}/agent-code/config.toml" }
  ],
  roots: [["mcp_servers"]],
  typeless: "sse",
  prefers: "command",
  // `[security]` and `[permissions]` are written as in our own files
  policy: (root, context) => ServerPolicy.fromDocument(root, { ...context, provider: "agent-code" }).policy,
  permissions: (root, context) => permissionsDocument.fromDocument(root, context).rules,
  inspect: (root, context) => [
    ...hostPolicy.issues(ServerPolicy.fromDocument(root, { ...context, provider: "agent-code" })),
    ...permissionsDocument.fromDocument(root, context).faults
      .map(({ at, detail }) => ({ kind: "invalid-permission", severity: "warning", at, detail }) as const)
  ]
}
