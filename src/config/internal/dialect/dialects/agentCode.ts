/**
 * agent-code: no variables, old HTTP+SSE behind every address, and its lists of what is allowed beside the servers.
 *
 * @internal
 */
import * as ServerPolicy from "../../../ServerPolicy.ts"
import * as hostPolicy from "../../policy/hostPolicy.ts"
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
  // `[security]` is written as in our own files
  policy: (root, context) => ServerPolicy.fromDocument(root, { ...context, provider: "agent-code" }).policy,
  inspect: (root, context) => hostPolicy.issues(ServerPolicy.fromDocument(root, { ...context, provider: "agent-code" }))
}
