/**
 * JetBrains: Junie and the AI Assistant.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

const shape: Pick<HostTable, "format" | "fields"> = {
  format: "json",
  fields: { workingDirectory: { is: "cwd" } }
}

const both = (folder: string): HostTable["locations"] => [
  { scope: "project", origin: "workspace", path: `{root}/${folder}/mcp.json` },
  { scope: "user", origin: "home", path: `~/${folder}/mcp.json` }
]

/** @internal */
export const junie: HostTable = { host: "junie", title: "Junie", ...shape, locations: both(".junie/mcp") }

/** @internal */
export const jetbrainsAi: HostTable = {
  host: "jetbrains-ai",
  title: "JetBrains AI Assistant",
  ...shape,
  locations: both(".ai/mcp")
}
