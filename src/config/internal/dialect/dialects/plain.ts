/**
 * The hosts that write what most hosts write, with a word of their own at most.
 *
 * @internal
 */
import { editorPlaces } from "./cursor.ts"
import type { HostTable } from "./table.ts"

/** @internal */
export const lmstudio: HostTable = {
  host: "lmstudio",
  title: "LM Studio",
  format: "json",
  locations: [{ scope: "user", origin: "home", path: ["~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"] }]
}

/** @internal */
export const antigravity: HostTable = {
  host: "antigravity",
  title: "Antigravity",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.agents/mcp_config.json" },
    {
      scope: "user",
      origin: "home",
      path: ["~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"]
    }
  ],
  fields: { serverUrl: { is: "url" } }
}

/** @internal */
export const trae: HostTable = {
  host: "trae",
  title: "Trae",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.trae/mcp.json" },
    {
      scope: "user",
      origin: "home",
      path: {
        linux: ["{config}/Trae/User/mcp.json", "{config}/Trae CN/User/mcp.json"],
        darwin: [
          "~/Library/Application Support/Trae/User/mcp.json",
          "~/Library/Application Support/Trae CN/User/mcp.json"
        ],
        win32: ["{appdata}/Trae/User/mcp.json", "{appdata}/Trae CN/User/mcp.json"]
      }
    }
  ],
  list: true,
  variables: { syntax: { places: editorPlaces } }
}

/** @internal */
export const warp: HostTable = {
  host: "warp",
  title: "Warp",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.warp/.mcp.json" },
    { scope: "user", origin: "home", path: "~/.warp/.mcp.json" }
  ],
  bare: true,
  variables: { syntax: { handlebars: true } },
  fields: { working_directory: { is: "cwd" } }
}

/** @internal */
export const kimiCode: HostTable = {
  host: "kimi-code",
  title: "Kimi Code",
  format: "json",
  locations: [
    { scope: "project", origin: "workspace", path: "{root}/.kimi-code/mcp.json" },
    { scope: "user", origin: "home", path: "~/.kimi-code/mcp.json", variable: ["KIMI_CODE_HOME", "mcp.json"] }
  ]
}

/** @internal */
export const sidecar: HostTable = {
  host: "sidecar",
  title: "SideCar",
  format: "json",
  locations: [
    {
      scope: "user",
      origin: "home",
      path: "{vscode}/settings.json",
      format: "jsonc",
      pointer: ["sidecar.mcpServers"]
    },
    { scope: "project", origin: "workspace", path: "{root}/.mcp.json" }
  ],
  variables: { syntax: { bare: true } },
  fields: {
    tools: { is: "tools", shape: "switches" },
    maxResultChars: { is: "extra", lacking: "the limits of this runtime cut its results" }
  }
}

/** @internal */
export const codebuddy: HostTable = {
  host: "codebuddy",
  title: "CodeBuddy",
  format: "jsonc",
  shared: ["local", "user"],
  locations: [
    { scope: "local", origin: "home", path: "~/.codebuddy.json", pointer: ["projects", "{root}", "mcpServers"] },
    { scope: "project", origin: "workspace", path: ["{root}/.codebuddy/mcp.json", "{root}/.mcp.json"] },
    { scope: "user", origin: "home", path: ["~/.codebuddy.json", "~/.codebuddy/mcp.json"] }
  ],
  roots: [["mcpServers"], ["servers"]],
  list: true,
  variables: { syntax: { bare: true } }
}
