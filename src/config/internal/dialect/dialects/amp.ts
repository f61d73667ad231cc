/**
 * Amp: one key with a dot in its name, beside rules of which the first that matches decides.
 *
 * @internal
 */
import * as hostPolicy from "../../policy/hostPolicy.ts"
import type { HostTable } from "./table.ts"

const both = (folder: string): ReadonlyArray<string> => [`${folder}/settings.json`, `${folder}/settings.jsonc`]

/** @internal */
export const amp: HostTable = {
  host: "amp",
  title: "Amp",
  format: "jsonc",
  shared: true,
  locations: [
    { scope: "project", origin: "workspace", path: both("{root}/.amp") },
    { scope: "user", origin: "home", path: both("~/.config/amp") }
  ],
  roots: [["amp.mcpServers"]],
  variables: { syntax: { bare: true }, in: ["env", "headers", "url"] },
  fields: { includeTools: { is: "allow" } },
  policy: (root, context) => hostPolicy.amp(root, { ...context, provider: "amp" }).policy,
  inspect: (root, context) => hostPolicy.issues(hostPolicy.amp(root, { ...context, provider: "amp" }))
}
