/**
 * What Claude Code was told of a project's servers. That it was told to trust a name means nothing here, because what
 * the name stands for can change (CVE-2025-54136); that it was told to leave one out does.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as Scope from "../../Scope.ts"
import { names } from "./hostPolicy.ts"

/** @internal */
export interface Settings {
  readonly root: ConfigDocument.Table
  readonly origin: Scope.Origin
}

/** The names that a file of settings rejects. @internal */
export const rejected = (root: ConfigDocument.Table): ReadonlyArray<string> => names(root.get("disabledMcpjsonServers"))

/**
 * What the host itself would make of a server of `.mcp.json`: rejected by any file, approved by a file of this person;
 * what the workspace approves counts only if its folder is trusted.
 *
 * @internal
 */
export const verdict = (
  settings: ReadonlyArray<Settings>,
  server: string,
  trusted: boolean
): "approved" | "rejected" | "pending" => {
  if (settings.some(({ root }) => rejected(root).includes(server))) return "rejected"
  const counted = settings.filter(({ origin }) => trusted || origin !== "workspace")
  return counted.some(({ root }) =>
      root.get("enableAllProjectMcpServers") === true || names(root.get("enabledMcpjsonServers")).includes(server)
    )
    ? "approved"
    : "pending"
}
