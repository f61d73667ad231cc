/**
 * Goose: `extensions` of many kinds, of which those that run or reach a server are ours.
 *
 * @internal
 */
import * as Variables from "../../../environmentVariables.ts"
import { isList, withoutNulls } from "../values.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const goose: HostTable = {
  host: "goose",
  title: "Goose",
  format: "yaml",
  shared: true,
  locations: [
    {
      scope: "user",
      origin: "home",
      path: {
        linux: "{config}/goose/config.yaml",
        darwin: "~/.config/goose/config.yaml",
        win32: "{appdata}/Block/goose/config/config.yaml"
      },
      variable: ["GOOSE_PATH_ROOT", "config/config.yaml"]
    }
  ],
  roots: [["extensions"]],
  words: {
    builtin: "not-an-mcp-server",
    platform: "not-an-mcp-server",
    frontend: "not-an-mcp-server",
    inline_python: "not-an-mcp-server"
  },
  variables: { syntax: { bare: true, dollar: true }, in: ["url", "headers"] },
  fields: {
    // the key of the map is the name; this one is for people
    name: { is: "ignored" },
    cmd: { is: "command" },
    envs: { is: "env" },
    env_keys: { is: "envSecrets" },
    uri: { is: "url" },
    timeout: { is: "requestTimeout", unit: "s" },
    available_tools: { is: "allow" },
    bundled: { is: "extra" },
    display_name: { is: "title" }
  },
  refusesVariable: Variables.isRefusedByGoose,
  // Goose itself writes nothing where there is nothing, and an empty list where all tools are meant
  prepare: (entry, { reject }) => {
    const written = withoutNulls(entry)
    // it once had this transport, and passes over such entries now
    if (written.get("type") === "sse") reject("unknown-transport", "type")
    const tools = written.get("available_tools")
    return isList(tools) && tools.length === 0
      ? new Map(Array.from(written).filter(([key]) => key !== "available_tools"))
      : written
  }
}
