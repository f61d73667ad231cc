/**
 * mcporter: many spellings of the same fields, a command as one line, and other hosts to read too.
 *
 * @internal
 */
import { isList, isText } from "../values.ts"
import type { HostTable } from "./table.ts"

/** The words of a line: quotes keep words together, a backslash takes what follows as it is; nothing else is special. */
const words = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let word = ""
  let quote = ""
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (char === "\\" && at + 1 < line.length) word += line[++at]!
    else if (char === quote) quote = ""
    else if (quote === "" && (char === "\"" || char === "'")) quote = char
    else if (quote !== "" || char !== " ") word += char
    else if (word !== "") {
      found.push(word)
      word = ""
    }
  }
  return word === "" ? found : [...found, word]
}

/** @internal */
export const mcporter: HostTable = {
  host: "mcporter",
  title: "mcporter",
  format: "jsonc",
  locations: [
    {
      scope: "project",
      origin: "workspace",
      path: "{root}/config/mcporter.json"
    },
    {
      scope: "user",
      origin: "home",
      path: [
        "{config}/mcporter/mcporter.json",
        "{config}/mcporter/mcporter.jsonc",
        "~/.mcporter/mcporter.json",
        "~/.mcporter/mcporter.jsonc"
      ],
      variable: ["MCPORTER_CONFIG", ""]
    }
  ],
  aside: ["imports"],
  variables: { syntax: { bare: true, powershell: true } },
  fields: {
    executable: { is: "command" },
    baseUrl: { is: "url" },
    base_url: { is: "url" },
    serverUrl: { is: "url" },
    server_url: { is: "url" },
    bearerToken: { is: "bearer" },
    bearer_token: { is: "bearer" },
    bearerTokenEnv: { is: "bearerVariable" },
    bearer_token_env: { is: "bearerVariable" },
    allowedTools: { is: "allow" },
    allowed_tools: { is: "allow" },
    blockedTools: { is: "deny" },
    blocked_tools: { is: "deny" },
    auth: { is: "oauth", mode: true },
    oauthClientId: { is: "oauth", part: "clientId" },
    oauth_client_id: { is: "oauth", part: "clientId" },
    oauthClientSecret: { is: "oauth", part: "clientSecret" },
    oauth_client_secret: { is: "oauth", part: "clientSecret" },
    oauthScope: { is: "oauth", part: "scopes" },
    oauth_scope: { is: "oauth", part: "scopes" },
    oauthRedirectUrl: { is: "oauth", part: "redirectUri" },
    oauth_redirect_url: { is: "oauth", part: "redirectUri" },
    oauthTokenEndpointAuthMethod: { is: "oauth", part: "tokenEndpointAuthMethod" },
    oauth_token_endpoint_auth_method: { is: "oauth", part: "tokenEndpointAuthMethod" },
    tokenCacheDir: { is: "extra" },
    token_cache_dir: { is: "extra" },
    clientName: { is: "extra" },
    client_name: { is: "extra" },
    refresh: { is: "extra" },
    lifecycle: { is: "extra" },
    logging: { is: "extra" },
    protocolVersion: { is: "extra" },
    protocol_version: { is: "extra" },
    resultMapping: { is: "extra" }
  },
  prepare: (entry, { warn }) => {
    const names = Array.from(entry.keys())
    if (names.some((name) => /^allowed_?tools$/i.test(name)) && names.some((name) => /^blocked_?tools$/i.test(name))) {
      // it takes one of them
      warn("host-would-reject")
    }
    const key = entry.has("command") ? "command" : "executable"
    const line = entry.get(key)
    const args = entry.get("args")
    if (!isText(line) || (isList(args) && args.length > 0)) return entry
    const argv = words(line)
    return argv.length > 1 ? new Map([...entry, [key, argv]]) : entry
  },
  imports: (root) => {
    const imports = root.get("imports")
    return isList(imports) ? imports.filter(isText) : undefined
  }
}
