/**
 * Continue: a list of servers with their names in them; files beside it of the same kind, or of the kind other hosts
 * write, or with one server alone.
 *
 * @internal
 */
import { isTable, withoutNulls } from "../values.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const continueYaml: HostTable = {
  host: "continue",
  title: "Continue",
  format: "yaml",
  shared: ["user"],
  locations: [
    {
      scope: "project",
      origin: "workspace",
      path: ["{root}/.continue/mcpServers/*.yaml", "{root}/.continue/mcpServers/*.yml"]
    },
    { scope: "user", origin: "home", path: "~/.continue/config.yaml" }
  ],
  list: true,
  single: true,
  variables: { syntax: { mustache: true } },
  fields: {
    connectionTimeout: { is: "startupTimeout", unit: "ms" },
    apiKey: { is: "bearer" },
    faviconUrl: { is: "extra" },
    requestOptions: {
      is: "extra",
      lacking: "its headers are sent, and its proxies, certificates and limits are not used"
    },
    sourceFile: { is: "extra" }
  },
  prepare: (written) => {
    const entry = withoutNulls(written)
    const options = entry.get("requestOptions")
    if (!isTable(options) || !options.has("headers")) return entry
    const others = new Map(Array.from(options).filter(([key]) => key !== "headers"))
    return new Map([
      ...Array.from(entry).filter(([key]) => key !== "requestOptions"),
      ["headers", options.get("headers") ?? null],
      ...(others.size > 0 ? [["requestOptions", others] as const] : [])
    ])
  }
}

/** @internal */
export const continueJson: HostTable = {
  host: "continue-json",
  title: "Continue",
  format: "jsonc",
  locations: [{ scope: "project", origin: "workspace", path: "{root}/.continue/mcpServers/*.json" }],
  single: true,
  variables: { syntax: { bare: true, env: true } }
}
