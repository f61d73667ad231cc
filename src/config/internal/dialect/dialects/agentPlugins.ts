/**
 * Agent Plugins 1.x: the closed `mcp.json` of a plugin. A bad top disables the file, a bad entry only itself; programs
 * and paths stay inside the plugin, and addresses are encrypted or on this machine.
 *
 * @internal
 */
import type * as ConfigDocument from "../../../ConfigDocument.ts"
import { isTable, isText } from "../values.ts"
import type { HostTable, Notes } from "./table.ts"

const schema = /^https:\/\/agent-plugins\.org\/schemas\/1\.\d+\.\d+\/mcp\.schema\.json$/

const top: ReadonlySet<string> = new Set(["$schema", "mcpServers"])

const inspect = (root: ConfigDocument.Table): ReadonlyArray<ConfigDocument.DocumentIssue> => {
  const named = root.get("$schema")
  if (!isText(named) || !schema.test(named)) return [{ kind: "unsupported-schema", severity: "error", at: "$schema" }]
  if (!isTable(root.get("mcpServers"))) return [{ kind: "servers-not-a-map", severity: "error", at: "mcpServers" }]
  const other = Array.from(root.keys()).find((key) => !top.has(key))
  return other === undefined ? [] : [{ kind: "unsupported-schema", severity: "error", at: other }]
}

/** Whether a relative path leads above where it begins. */
const escapes = (path: string): boolean => {
  let depth = 0
  for (const part of path.split(/[/\\]/)) {
    if (part === "..") depth--
    else if (part !== "" && part !== ".") depth++
    if (depth < 0) return true
  }
  return false
}

const command = (written: ConfigDocument.Value | undefined, { fail }: Notes): void => {
  if (!isText(written) || written === "") return
  const isPath = written.startsWith("./")
  // a folder is no program, and what is no path is one word
  if (isPath ? /[/\\]\.?$/.test(written) : /\s/.test(written)) fail("invalid-value", "command")
  if (escapes(written) || (!isPath && /[/\\]/.test(written))) fail("path-escape", "command")
}

const folder = (written: ConfigDocument.Value | undefined, { fail }: Notes): void => {
  if (!isText(written)) return
  const inside = /^(?:\.(?=\/)|\$\{PLUGIN_(?:ROOT|DATA)\}(?=\/|$))(.*)$/s.exec(written)?.[1]
  if (inside === undefined || escapes(inside)) fail("path-escape", "cwd")
}

const address = (written: ConfigDocument.Value | undefined, { fail }: Notes): void => {
  if (!isText(written) || !URL.canParse(written)) return
  const url = new URL(written)
  if (url.username !== "" || url.password !== "" || written.includes("#")) fail("invalid-url", "url")
}

/** @internal */
export const agentPlugins: HostTable = {
  host: "agent-plugins",
  title: "Agent Plugins",
  format: "json",
  // plugins are where their hosts put them
  locations: [],
  closed: true,
  typeRequired: { for: "all", is: "fault" },
  onlyWords: ["stdio", "streamable-http", "sse"],
  mixing: "unknown-key",
  encrypted: true,
  variables: {
    syntax: { places: new Map([["PLUGIN_ROOT", "pluginRoot"], ["PLUGIN_DATA", "pluginData"]]) },
    in: ["args", "env", "cwd"]
  },
  fields: {
    type: { is: "type" },
    command: { is: "command" },
    args: { is: "args" },
    env: { is: "env" },
    cwd: { is: "cwd" },
    url: { is: "url" },
    headers: { is: "headers" }
  },
  inspect,
  prepare: (entry, notes) => {
    command(entry.get("command"), notes)
    folder(entry.get("cwd"), notes)
    address(entry.get("url"), notes)
    const env = entry.get("env")
    if (isTable(env)) {
      for (const name of env.keys()) if (name.startsWith("PLUGIN_")) notes.fail("invalid-env", name)
    }
    return entry
  }
}
