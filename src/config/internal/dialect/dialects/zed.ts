/**
 * Zed: `context_servers` among the settings, without words for transports and with times in seconds. Entries that only
 * set up an extension are not ours to start.
 *
 * @internal
 */
import { isTable } from "../values.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const zed: HostTable = {
  host: "zed",
  title: "Zed",
  format: "jsonc",
  shared: true,
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.zed/settings.json" },
    {
      scope: "user",
      origin: "home",
      path: {
        linux: "{config}/zed/settings.json",
        darwin: "~/.config/zed/settings.json",
        win32: "{appdata}/Zed/settings.json"
      }
    }
  ],
  roots: [["context_servers"]],
  typeless: "streamable-http",
  fields: {
    timeout: { is: "requestTimeout", unit: "s" },
    source: { is: "extra" },
    remote: { is: "extra", lacking: "the server runs on this machine", unless: [false] },
    settings: { is: "extra" }
  },
  prepare: (entry, { fail, warn }) => {
    if (entry.get("source") === "extension" || (entry.has("settings") && !entry.has("command") && !entry.has("url"))) {
      fail("not-an-mcp-server")
    }
    const command = entry.get("command")
    if (!isTable(command) || !command.has("path")) return entry
    warn("deprecated", "command.path", "write the path as the command itself")
    const { path, ...parts } = { path: command.get("path") ?? null, args: command.get("args"), env: command.get("env") }
    const older = Object.entries(parts).flatMap(([key, value]) => value === undefined ? [] : [[key, value] as const])
    return new Map([...entry, ["command", path], ...older])
  }
}
