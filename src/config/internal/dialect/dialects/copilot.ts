/**
 * Copilot, on the command line and in the cloud: lists of `tools`, and `local` for a program.
 *
 * @internal
 */
import type { Fields, HostTable } from "./table.ts"

const fields: Fields = {
  tools: { is: "tools", shape: "list" },
  oauthClientId: { is: "oauth", part: "clientId" },
  oauthPublicClient: { is: "oauth", part: "public" },
  oauthGrantType: { is: "oauth", part: "grantType" },
  auth: { is: "oauth" },
  oidc: { is: "extra", lacking: "no OIDC token is sent to the server", unless: [false] },
  deferTools: { is: "extra" },
  disableToolCache: { is: "extra" },
  filterMapping: { is: "extra", lacking: "the rules of this runtime filter what its tools return" }
}

/** @internal */
export const copilotCli: HostTable = {
  host: "copilot-cli",
  title: "Copilot CLI",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: ["{dir}/.mcp.json", "{dir}/.github/mcp.json"] },
    { scope: "user", origin: "home", path: "~/.copilot/mcp-config.json", variable: ["COPILOT_HOME", "mcp-config.json"] }
  ],
  bare: ["project"],
  typeless: "streamable-http",
  variables: { syntax: { bare: true, dollar: true } },
  fields
}

/** @internal */
export const copilotCloud: HostTable = {
  host: "copilot-cloud",
  title: "Copilot cloud agent",
  format: "json",
  // it is a page of a repository's settings
  locations: [],
  typeless: "streamable-http",
  typeRequired: { for: "all", is: "host-would-reject" },
  variables: { syntax: { bare: true, dollar: true } },
  fields,
  prepare: (entry, { reject }) => {
    if (!entry.has("tools")) reject("missing-transport", "tools")
    return entry
  }
}
