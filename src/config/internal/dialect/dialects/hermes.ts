/**
 * Hermes: YAML, seconds, and tools by `include` and `exclude`.
 *
 * @internal
 */
import { withoutNulls } from "../values.ts"
import { type HostTable, sampled } from "./table.ts"

/** @internal */
export const hermes: HostTable = {
  host: "hermes",
  title: "Hermes",
  format: "yaml",
  shared: true,
  locations: [
    {
      scope: "user",
      origin: "home",
      path: {
        linux: "~/.hermes/config.yaml",
        darwin: "~/.hermes/config.yaml",
        win32: "{localappdata}/hermes/config.yaml"
      }
    }
  ],
  roots: [["mcp_servers"]],
  variables: { syntax: { bare: true } },
  fields: {
    timeout: { is: "requestTimeout", unit: "s" },
    connect_timeout: { is: "startupTimeout", unit: "s" },
    tools: { is: "tools", shape: "include" },
    auth: { is: "oauth", mode: true },
    trust: { is: "extra", lacking: "its content is treated like that of any server", unless: ["untrusted"] },
    sampling: { is: "extra", lacking: sampled }
  },
  prepare: withoutNulls
}
