/**
 * Cursor: `${env:NAME}` and the places of an editor, and clients of OAuth in `auth`.
 *
 * @internal
 */
import type { HostTable } from "./table.ts"

/**
 * The places that editors know, in the spelling of VS Code.
 *
 * @internal
 */
export const editorPlaces = new Map(
  [
    ["workspaceFolder", "workspaceFolder"],
    ["workspaceRoot", "workspaceFolder"],
    ["workspaceFolderBasename", "workspaceFolderBasename"],
    ["userHome", "userHome"],
    ["pathSeparator", "pathSeparator"],
    ["/", "pathSeparator"]
  ] as const
)

/** @internal */
export const cursor: HostTable = {
  host: "cursor",
  title: "Cursor",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.cursor/mcp.json" },
    { scope: "user", origin: "home", path: "~/.cursor/mcp.json" }
  ],
  variables: { syntax: { env: true, places: editorPlaces } },
  fields: {
    auth: { is: "oauth" }
  }
}
