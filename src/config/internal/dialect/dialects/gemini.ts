/**
 * Gemini CLI and Qwen Code, which was made of it: several words for an address, of which the first in this order counts,
 * before a command.
 *
 * @internal
 */
import * as hostPolicy from "../../policy/hostPolicy.ts"
import type { Fields, HostTable } from "./table.ts"

const fields: Fields = {
  httpUrl: { is: "url", transport: "streamable-http", deprecated: true, instead: "url, and the type http" },
  url: { is: "url" },
  tcp: { is: "url", transport: "ws" },
  includeTools: { is: "allow" },
  excludeTools: { is: "deny" },
  trust: { is: "trust" },
  authProviderType: {
    is: "extra",
    lacking: "no Google credentials are sent to the server",
    unless: ["dynamic_discovery"]
  },
  targetAudience: { is: "extra" },
  targetServiceAccount: { is: "extra" },
  extension: { is: "extra" },
  extensionName: { is: "extra" }
}

const shape: Pick<HostTable, "format" | "shared" | "prefers" | "urlsInOrder" | "variables"> = {
  format: "jsonc",
  shared: true,
  prefers: "url",
  urlsInOrder: true,
  variables: {
    syntax: {
      bare: true,
      dollar: true,
      places: new Map([["extensionPath", "pluginRoot"], ["workspacePath", "workspaceFolder"], ["/", "pathSeparator"]])
    }
  }
}

const system = (name: string) => ({
  linux: `/etc/gemini-cli/${name}`,
  darwin: `/Library/Application Support/GeminiCli/${name}`,
  win32: `{programdata}/gemini-cli/${name}`
})

/** @internal */
export const geminiCli: HostTable = {
  host: "gemini-cli",
  title: "Gemini CLI",
  ...shape,
  locations: [
    { scope: "managed", origin: "system", path: system("settings.json") },
    { scope: "project", origin: "workspace", path: "{root}/.gemini/settings.json" },
    { scope: "user", origin: "home", path: "~/.gemini/settings.json" },
    // of the machine, and yet the weakest: what holds where nobody says anything else
    { scope: "user", origin: "system", path: system("system-defaults.json") },
    { scope: "plugin", origin: "plugin", path: "~/.gemini/extensions/*/gemini-extension.json" }
  ],
  fields,
  policy: (root, context) => hostPolicy.gemini(root, { ...context, provider: "gemini-cli" }).policy,
  inspect: (root, context) => hostPolicy.issues(hostPolicy.gemini(root, { ...context, provider: "gemini-cli" }))
}

/** @internal */
export const qwenCode: HostTable = {
  host: "qwen-code",
  title: "Qwen Code",
  ...shape,
  // `.mcp.json` is read by the same rules
  locations: [
    { scope: "project", origin: "workspace", path: ["{root}/.qwen/settings.json", "{root}/.mcp.json"] },
    { scope: "user", origin: "home", path: "~/.qwen/settings.json" }
  ],
  typeless: "sse",
  words: { sdk: "not-an-mcp-server" },
  fields: {
    ...fields,
    discoveryTimeoutMs: { is: "startupTimeout", unit: "ms" },
    alwaysLoadTools: { is: "extra" }
  },
  policy: (root, context) => hostPolicy.gemini(root, { ...context, provider: "qwen-code" }).policy,
  inspect: (root, context) => hostPolicy.issues(hostPolicy.gemini(root, { ...context, provider: "qwen-code" }))
}
