/**
 * VS Code: `servers` with the questions (`inputs`) that their texts ask, in files of their own, in the settings, and in
 * those of a development container.
 *
 * @internal
 */
import { isList, isText, scalar, tables } from "../values.ts"
import { editorPlaces } from "./cursor.ts"
import { type HostTable, sandboxed } from "./table.ts"

/** @internal */
export const vscode: HostTable = {
  host: "vscode",
  title: "VS Code",
  format: "jsonc",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.vscode/mcp.json" },
    {
      scope: "project",
      origin: "workspace",
      path: ["{root}/.devcontainer/devcontainer.json", "{root}/.devcontainer.json"],
      pointer: ["customizations", "vscode", "mcp", "servers"]
    },
    { scope: "project", origin: "workspace", path: "{root}/.vscode/settings.json", pointer: ["mcp", "servers"] },
    {
      scope: "user",
      origin: "home",
      path: ["{vscode}/mcp.json", "{vscode}/profiles/*/mcp.json", "~/.vscode-server/data/User/mcp.json"]
    },
    { scope: "user", origin: "home", path: "{vscode}/settings.json", pointer: ["mcp", "servers"] }
  ],
  roots: [["servers"]],
  nullEnv: true,
  variables: { syntax: { env: true, input: true, places: editorPlaces } },
  fields: {
    dev: {
      is: "extra",
      lacking: "the server is not restarted when its files change, and no debugger is attached"
    },
    gallery: { is: "extra" },
    version: { is: "extra" }
  },
  beside: { sandbox: sandboxed },
  inputs: (beside) =>
    tables(beside.get("inputs")).flatMap((input) => {
      const [id, description, fallback] = [input.get("id"), input.get("description"), input.get("default")]
      const options = input.get("options")
      return isText(id) && id !== ""
        ? [{
          id,
          ...(isText(description) ? { description } : {}),
          ...(input.get("password") === true ? { secret: true } : {}),
          ...(scalar(fallback) === undefined ? {} : { default: scalar(fallback) }),
          ...(isList(options) ? { choices: options.filter(isText) } : {})
        }]
        : []
    })
}
