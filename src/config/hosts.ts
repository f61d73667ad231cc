/**
 * The hosts whose files are read, one row each, in the order in which their files count within one scope. A row is data for
 * the one reader; what only one host has is a function in quirks.ts, named here.
 */
import type { Dialect, Field, Fields, Transport } from "./Dialect.ts"
import { native } from "./Interpolation.ts"

/** The words for transports that files of every host may have, in lower case. */
export const transportWords: ReadonlyMap<string, Transport> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["command", "stdio"],
  ["http", "streamable-http"],
  ["streamable-http", "streamable-http"],
  ["streamablehttp", "streamable-http"],
  ["streamable_http", "streamable-http"],
  ["sse", "sse"],
  ["ws", "ws"],
  ["websocket", "ws"],
  ["remote", "auto"],
  ["auto", "auto"]
])

/** The sandbox fields that several hosts share. */
const sandboxed: Field = {
  is: "extra",
  lacking: "the server is not confined here",
  ofPrograms: true,
  unless: [false, null]
}

/** The fields that are read in files of every host, because people copy entries from one file to another. */
export const common: Fields = {
  type: { is: "type" },
  transport: { is: "type" },
  command: { is: "command" },
  args: { is: "args" },
  env: { is: "env" },
  envFile: { is: "envFile" },
  cwd: { is: "cwd" },
  url: { is: "url" },
  headers: { is: "headers" },
  oauth: { is: "oauth" },
  serverUrl: { is: "url", foreign: true },
  timeout: { is: "requestTimeout", unit: "ms" },
  enabled: { is: "enabled" },
  disabled: { is: "disabled" },
  enabledTools: { is: "enabledTools" },
  disabledTools: { is: "disabledTools" },
  autoApprove: { is: "autoApprove" },
  description: { is: "description" },
  isDisabled: { is: "disabled" },
  alwaysAllow: { is: "autoApprove" },
  sandbox: sandboxed,
  sandboxEnabled: sandboxed
}

export const otherLogin = "this way to log in is not supported"

const sampled = "the application decides whether the server may sample"

const discovered = "the server's metadata names the address"

/** Settings of a login that have no effect here, in lower case and without joining characters, and what is lacking. */
export const lackingLogin: ReadonlyMap<string, string> = new Map([
  ["audiences", "no audience is asked for"],
  ["authorizationurl", discovered],
  ["enterprisemanaged", otherLogin],
  ["registrationurl", discovered],
  ["tokenparamname", "the token is sent in the header Authorization"],
  ["tokenurl", discovered]
])

/** The variables of editors, in the spelling of VS Code. */
const editorBuiltins = new Map(
  [
    ["workspaceFolder", "workspaceFolder"],
    ["workspaceRoot", "workspaceFolder"],
    ["workspaceFolderBasename", "workspaceFolderBasename"],
    ["userHome", "userHome"],
    ["pathSeparator", "pathSeparator"],
    ["/", "pathSeparator"]
  ] as const
)

const copilotFields: Fields = {
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

export const hosts: ReadonlyArray<Dialect> = [
  {
    host: "native",
    title: "this application",
    format: "json",
    locations: [
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: ["/etc/{app}/mcp-client.json", "/etc/{app}/mcp-client.jsonc", "/etc/{app}/mcp-client.toml"],
          darwin: [
            "/Library/Application Support/{app}/mcp-client.json",
            "/Library/Application Support/{app}/mcp-client.jsonc",
            "/Library/Application Support/{app}/mcp-client.toml"
          ],
          win32: [
            "{programdata}/{app}/mcp-client.json",
            "{programdata}/{app}/mcp-client.jsonc",
            "{programdata}/{app}/mcp-client.toml"
          ]
        },
        always: true
      },
      {
        scope: "local",
        origin: "workspace",
        path: [
          "{dir}/mcp-client.local.json",
          "{dir}/mcp-client.local.jsonc",
          "{dir}/mcp-client.local.toml",
          "{dir}/.cocode.local.toml"
        ],
        always: true
      },
      {
        scope: "project",
        origin: "workspace",
        path: ["{dir}/mcp-client.json", "{dir}/mcp-client.jsonc", "{dir}/mcp-client.toml", "{dir}/.mcp.toml"],
        always: true
      },
      {
        scope: "user",
        origin: "home",
        path: [
          "{config}/{app}/mcp-client.json",
          "{config}/{app}/mcp-client.jsonc",
          "{config}/{app}/mcp-client.toml",
          "{config}/{app}/mcp.toml"
        ],
        always: true
      }
    ],
    roots: [["mcpServers"], ["mcp_servers"]],
    aside: ["imports", "policy", "inputs", "security", "permissions"],
    variables: { syntax: native },
    everyField: true,
    fields: {
      timeout: { is: "unknown", instead: "requestTimeout" },
      source: { is: "extra" },
      program: { is: "command", deprecated: true, instead: "command" },
      env_file: { is: "envFile", deprecated: true, instead: "envFile" },
      inherit_env: { is: "inheritEnv", deprecated: true, instead: "inheritEnv" },
      env_http_headers: { is: "headerVariables", deprecated: true, instead: "headers" },
      bearer_token_env_var: { is: "bearerTokenEnvVar", deprecated: true, instead: "headers" },
      headers_command: { is: "headersCommand", deprecated: true, instead: "headersCommand" },
      startup_timeout_sec: { is: "startupTimeout", unit: "s", deprecated: true, instead: "startupTimeout" },
      startup_timeout_ms: { is: "startupTimeout", unit: "ms", deprecated: true, instead: "startupTimeout" },
      tool_timeout_sec: { is: "requestTimeout", unit: "s", deprecated: true, instead: "requestTimeout" },
      request_timeout_ms: { is: "requestTimeout", unit: "ms", deprecated: true, instead: "requestTimeout" },
      enabled_tools: { is: "enabledTools", deprecated: true, instead: "enabledTools" },
      disabled_tools: { is: "disabledTools", deprecated: true, instead: "disabledTools" },
      auto_approve: { is: "autoApprove", deprecated: true, instead: "autoApprove" }
    },
    under: {
      mcp_servers: {
        fields: {
          program: { is: "command" },
          env_file: { is: "envFile" },
          inherit_env: { is: "inheritEnv" },
          env_http_headers: { is: "headerVariables" },
          bearer_token_env_var: { is: "bearerTokenEnvVar" },
          headers_command: { is: "headersCommand" },
          startup_timeout_sec: { is: "startupTimeout", unit: "s" },
          startup_timeout_ms: { is: "startupTimeout", unit: "ms" },
          tool_timeout_sec: { is: "requestTimeout", unit: "s" },
          request_timeout_ms: { is: "requestTimeout", unit: "ms" },
          enabled_tools: { is: "enabledTools" },
          disabled_tools: { is: "disabledTools" },
          auto_approve: { is: "autoApprove" }
        }
      }
    },
    inputs: { secret: "secret", choices: "choices" },
    policy: "native",
    prepare: "dockerGateway",
    inspect: "native",
    imports: true
  },
  {
    host: "agent-plugins",
    title: "Agent Plugins",
    format: "json",
    // plugins are where their hosts put them
    locations: [{ scope: "plugin", origin: "plugin", path: "{plugin}/mcp.json", always: true }],
    closed: true,
    typeRequired: { for: "all", is: "fault" },
    onlyWords: ["stdio", "streamable-http", "sse"],
    mixing: "unknown-key",
    encrypted: true,
    variables: {
      syntax: {
        builtins: new Map([
          ["PLUGIN_ROOT", "pluginRoot"],
          ["PLUGIN_DATA", "pluginData"]
        ])
      },
      in: ["args", "env", "cwd"]
    },
    fields: {
      type: { is: "type" },
      command: { is: "command" },
      args: { is: "args" },
      env: { is: "env" },
      cwd: { is: "cwd" },
      url: { is: "url" },
      headers: { is: "headers" }
    },
    inspect: "closedDocument",
    prepare: "insidePlugin"
  },
  {
    host: "claude-code",
    title: "Claude Code",
    format: "json",
    locations: [
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: "/etc/claude-code/managed-mcp.json",
          darwin: "/Library/Application Support/ClaudeCode/managed-mcp.json",
          win32: "C:/Program Files/ClaudeCode/managed-mcp.json"
        },
        exclusive: true
      },
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: "/etc/claude-code/managed-settings.json",
          darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
          win32: "C:/Program Files/ClaudeCode/managed-settings.json"
        },
        policyOnly: true
      },
      { scope: "local", origin: "workspace", path: "{root}/.claude/settings.local.json", policyOnly: true },
      { scope: "project", origin: "workspace", path: "{root}/.claude/settings.json", policyOnly: true },
      {
        scope: "user",
        origin: "home",
        path: "~/.claude/settings.json",
        variable: ["CLAUDE_CONFIG_DIR", "settings.json"],
        policyOnly: true
      },
      {
        scope: "local",
        origin: "home",
        path: "~/.claude.json",
        variable: ["CLAUDE_CONFIG_DIR", ".claude.json"],
        pointer: ["projects", "{root}", "mcpServers"]
      },
      { scope: "project", origin: "workspace", path: "{dir}/.mcp.json", always: true },
      { scope: "user", origin: "home", path: "~/.claude.json", variable: ["CLAUDE_CONFIG_DIR", ".claude.json"] },
      { scope: "plugin", origin: "plugin", path: "{plugin}/.mcp.json", always: true }
    ],
    shared: ["local", "user"],
    // marketplaces have plugins with and without the key
    bare: ["plugin"],
    typeRequired: { for: "url", is: "host-would-reject" },
    variables: {
      syntax: {
        bare: true,
        builtins: new Map([
          ["CLAUDE_PLUGIN_ROOT", "pluginRoot"],
          ["CLAUDE_PLUGIN_DATA", "pluginData"],
          ["CLAUDE_PROJECT_DIR", "projectDir"]
        ]),
        inputPrefix: "user_config."
      }
    },
    fields: { headersHelper: { is: "headersLine" }, alwaysLoad: { is: "extra" } },
    policy: "claude",
    switches: { off: ["disabledMcpjsonServers", "disabledMcpServers"] }
  },
  {
    host: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    locations: [
      {
        scope: "user",
        origin: "home",
        path: {
          linux: "{config}/Claude/claude_desktop_config.json",
          darwin: "~/Library/Application Support/Claude/claude_desktop_config.json",
          win32: [
            // the Store version first, because it does not read the other file
            "{localappdata}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            "{appdata}/Claude/claude_desktop_config.json"
          ]
        }
      }
    ],
    shared: true,
    stdioOnly: true
  },
  {
    host: "cursor",
    title: "Cursor",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.cursor/mcp.json" },
      { scope: "user", origin: "home", path: "~/.cursor/mcp.json" }
    ],
    variables: { syntax: { env: true, builtins: editorBuiltins } },
    fields: { auth: { is: "oauth" } }
  },
  {
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
    variables: { syntax: { env: true, input: true, builtins: editorBuiltins } },
    fields: {
      dev: { is: "extra", lacking: "the server is not restarted when its files change, and no debugger is attached" },
      gallery: { is: "extra" },
      version: { is: "extra" }
    },
    beside: { sandbox: sandboxed },
    inputs: { secret: "password", choices: "options" }
  },
  {
    host: "copilot-cli",
    title: "Copilot CLI",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: ["{dir}/.mcp.json", "{dir}/.github/mcp.json"] },
      {
        scope: "user",
        origin: "home",
        path: "~/.copilot/mcp-config.json",
        variable: ["COPILOT_HOME", "mcp-config.json"]
      }
    ],
    bare: ["project"],
    typeless: "streamable-http",
    variables: { syntax: { bare: true, dollar: true } },
    fields: copilotFields
  },
  {
    host: "copilot-cloud",
    title: "Copilot cloud agent",
    format: "json",
    // a page of a repository's settings, and no file
    locations: [],
    typeless: "streamable-http",
    typeRequired: { for: "all", is: "host-would-reject" },
    variables: { syntax: { bare: true, dollar: true } },
    fields: copilotFields,
    prepare: "toolsRequired"
  },
  {
    host: "windsurf",
    title: "Windsurf",
    format: "json",
    locations: [
      {
        scope: "user",
        origin: "home",
        path: [
          "~/.codeium/windsurf/mcp_config.json",
          "~/.codeium/windsurf-next/mcp_config.json",
          "~/.codeium/mcp_config.json"
        ]
      }
    ],
    variables: { syntax: { env: true, file: true } },
    fields: { serverUrl: { is: "url" } }
  },
  {
    host: "devin-local",
    title: "Devin Local",
    partOf: "windsurf",
    format: "json",
    locations: [
      { scope: "local", origin: "workspace", path: "{root}/.devin/mcp_config.local.json" },
      { scope: "project", origin: "workspace", path: "{root}/.devin/mcp_config.json" },
      { scope: "user", origin: "home", path: "~/.config/devin/mcp_config.json" }
    ],
    variables: { syntax: { env: true, file: true } },
    fields: { serverUrl: { is: "url" } }
  },
  {
    host: "codex",
    title: "Codex",
    format: "toml",
    locations: [
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: "/etc/codex/requirements.toml",
          darwin: "/etc/codex/requirements.toml",
          win32: "{programdata}/OpenAI/Codex/requirements.toml"
        },
        policyOnly: true
      },
      { scope: "project", origin: "workspace", path: "{dir}/.codex/config.toml" },
      { scope: "user", origin: "home", path: "~/.codex/config.toml", variable: ["CODEX_HOME", "config.toml"] },
      // a file of the machine, and the weakest: every other file overrides it
      {
        scope: "user",
        origin: "system",
        path: {
          linux: "/etc/codex/config.toml",
          darwin: "/etc/codex/config.toml",
          win32: "{programdata}/OpenAI/Codex/config.toml"
        }
      }
    ],
    merge: "deep",
    shared: true,
    roots: [["mcp_servers"]],
    list: true,
    typeless: "streamable-http",
    mixing: "unsupported-field",
    fields: {
      type: { is: "ignored" },
      transport: { is: "ignored" },
      env_vars: { is: "envNames" },
      http_headers: { is: "headers" },
      env_http_headers: { is: "headerVariables" },
      http_headers_helper: { is: "headersLine" },
      bearer_token_env_var: { is: "bearerTokenEnvVar" },
      bearer_token: { is: "refused" },
      startup_timeout_sec: { is: "startupTimeout", unit: "s" },
      startup_timeout_ms: { is: "startupTimeout", unit: "ms" },
      tool_timeout_sec: { is: "requestTimeout", unit: "s" },
      required: { is: "required" },
      enabled_tools: { is: "enabledTools" },
      disabled_tools: { is: "disabledTools" },
      tools: { is: "tools", shape: "approvals" },
      default_tools_approval_mode: {
        is: "extra",
        lacking: "the permissions of this runtime decide which of its tools a person is asked about"
      },
      scopes: { is: "oauth", part: "scopes" },
      oauth_resource: { is: "oauth", part: "resource" },
      auth: { is: "oauth", mode: true },
      environment_id: { is: "extra", lacking: "the server runs on this machine" },
      supports_parallel_tool_calls: { is: "extra", lacking: "its tools may be called at the same time", unless: [true] }
    },
    policy: "codex"
  },
  {
    host: "gemini-cli",
    title: "Gemini CLI",
    format: "jsonc",
    locations: [
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: "/etc/gemini-cli/settings.json",
          darwin: "/Library/Application Support/GeminiCli/settings.json",
          win32: "{programdata}/gemini-cli/settings.json"
        }
      },
      { scope: "project", origin: "workspace", path: "{root}/.gemini/settings.json" },
      { scope: "user", origin: "home", path: "~/.gemini/settings.json" },
      // a file of the machine, and the weakest
      {
        scope: "user",
        origin: "system",
        path: {
          linux: "/etc/gemini-cli/system-defaults.json",
          darwin: "/Library/Application Support/GeminiCli/system-defaults.json",
          win32: "{programdata}/gemini-cli/system-defaults.json"
        }
      },
      { scope: "plugin", origin: "plugin", path: "~/.gemini/extensions/*/gemini-extension.json" }
    ],
    shared: true,
    prefers: "url",
    urlsInOrder: true,
    variables: {
      syntax: {
        bare: true,
        dollar: true,
        builtins: new Map([
          ["extensionPath", "pluginRoot"],
          ["workspacePath", "workspaceFolder"],
          ["/", "pathSeparator"]
        ])
      }
    },
    fields: {
      httpUrl: { is: "url", transport: "streamable-http", deprecated: true, instead: "url, and the type http" },
      url: { is: "url" },
      tcp: { is: "url", transport: "ws" },
      includeTools: { is: "enabledTools" },
      excludeTools: { is: "disabledTools" },
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
    },
    policy: "gemini"
  },
  {
    host: "qwen-code",
    title: "Qwen Code",
    format: "jsonc",
    locations: [
      // `.mcp.json` is read by the same rules
      { scope: "project", origin: "workspace", path: ["{root}/.qwen/settings.json", "{root}/.mcp.json"] },
      { scope: "user", origin: "home", path: "~/.qwen/settings.json" }
    ],
    shared: true,
    prefers: "url",
    urlsInOrder: true,
    variables: {
      syntax: {
        bare: true,
        dollar: true,
        builtins: new Map([
          ["extensionPath", "pluginRoot"],
          ["workspacePath", "workspaceFolder"],
          ["/", "pathSeparator"]
        ])
      }
    },
    typeless: "sse",
    words: { sdk: "not-an-mcp-server" },
    fields: {
      httpUrl: { is: "url", transport: "streamable-http", deprecated: true, instead: "url, and the type http" },
      url: { is: "url" },
      tcp: { is: "url", transport: "ws" },
      includeTools: { is: "enabledTools" },
      excludeTools: { is: "disabledTools" },
      trust: { is: "trust" },
      authProviderType: {
        is: "extra",
        lacking: "no Google credentials are sent to the server",
        unless: ["dynamic_discovery"]
      },
      targetAudience: { is: "extra" },
      targetServiceAccount: { is: "extra" },
      extension: { is: "extra" },
      extensionName: { is: "extra" },
      discoveryTimeoutMs: { is: "startupTimeout", unit: "ms" },
      alwaysLoadTools: { is: "extra" }
    },
    policy: "gemini"
  },
  {
    host: "zed",
    title: "Zed",
    format: "jsonc",
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
    shared: true,
    roots: [["context_servers"]],
    typeless: "streamable-http",
    fields: {
      timeout: { is: "requestTimeout", unit: "s" },
      source: { is: "extra" },
      remote: { is: "extra", lacking: "the server runs on this machine", unless: [false] },
      settings: { is: "extra" }
    },
    prepare: "commandTable"
  },
  {
    host: "opencode",
    title: "OpenCode",
    format: "jsonc",
    locations: [
      {
        scope: "managed",
        origin: "system",
        path: {
          linux: ["/etc/opencode/opencode.jsonc", "/etc/opencode/opencode.json"],
          darwin: [
            "/Library/Application Support/opencode/opencode.jsonc",
            "/Library/Application Support/opencode/opencode.json"
          ],
          win32: ["{programdata}/opencode/opencode.jsonc", "{programdata}/opencode/opencode.json"]
        }
      },
      { scope: "session", origin: "home", path: [], variable: ["OPENCODE_CONFIG", ""] },
      { scope: "session", origin: "home", path: [], variable: ["OPENCODE_CONFIG_DIR", "opencode.json"] },
      {
        scope: "project",
        origin: "workspace",
        path: [
          "{root}/.opencode/opencode.jsonc",
          "{root}/.opencode/opencode.json",
          "{dir}/opencode.jsonc",
          "{dir}/opencode.json"
        ]
      },
      {
        scope: "user",
        origin: "home",
        path: [
          "~/.config/opencode/opencode.jsonc",
          "~/.config/opencode/opencode.json",
          "~/.config/opencode/config.json"
        ]
      }
    ],
    merge: "deep",
    shared: true,
    patch: true,
    variables: { syntax: { braces: true } },
    beside: { tools: { is: "extra", lacking: "it switches none of its tools on or off here", byPrefix: true } },
    roots: [["mcp", "servers"], ["mcp"]],
    firstRoot: true,
    fields: { environment: { is: "env" }, timeout: { is: "timeouts", unit: "ms" } }
  },
  {
    host: "kilo",
    title: "Kilo Code",
    format: "jsonc",
    locations: [
      {
        scope: "project",
        origin: "workspace",
        path: [
          "{root}/.kilo/kilo.jsonc",
          "{root}/.kilo/kilo.json",
          "{root}/.kilocode/kilo.jsonc",
          "{root}/.kilocode/kilo.json",
          "{root}/kilo.jsonc",
          "{root}/kilo.json",
          "{root}/opencode.jsonc",
          "{root}/opencode.json"
        ]
      },
      { scope: "user", origin: "home", path: ["~/.config/kilo/kilo.jsonc", "~/.config/kilo/kilo.json"] }
    ],
    merge: "deep",
    shared: true,
    patch: true,
    variables: { syntax: { braces: true } },
    beside: { tools: { is: "extra", lacking: "it switches none of its tools on or off here", byPrefix: true } },
    roots: [["mcp"]],
    fields: { environment: { is: "env" }, timeout: { is: "timeouts", unit: "ms" } },
    prepare: "headersWithoutVariables"
  },
  {
    host: "kilo-legacy",
    title: "Kilo Code before its own command line",
    partOf: "kilo",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.kilocode/mcp.json" },
      { scope: "user", origin: "home", path: "{vscode}/globalStorage/kilocode.kilo-code/settings/mcp_settings.json" }
    ],
    typeRequired: { for: "url", is: "host-would-reject" },
    mixing: "host-would-reject",
    variables: { syntax: { env: true, builtins: new Map([["workspaceFolder", "workspaceFolder"]]) } },
    fields: {
      timeout: { is: "requestTimeout", unit: "s" },
      watchPaths: { is: "extra", lacking: "the server is not restarted when these files change" }
    }
  },
  {
    host: "amp",
    title: "Amp",
    format: "jsonc",
    locations: [
      { scope: "project", origin: "workspace", path: ["{root}/.amp/settings.json", "{root}/.amp/settings.jsonc"] },
      { scope: "user", origin: "home", path: ["~/.config/amp/settings.json", "~/.config/amp/settings.jsonc"] }
    ],
    shared: true,
    roots: [["amp.mcpServers"]],
    variables: { syntax: { bare: true }, in: ["env", "headers", "url"] },
    fields: { includeTools: { is: "enabledTools" } },
    policy: "amp"
  },
  {
    host: "cline",
    title: "Cline",
    format: "json",
    locations: [
      {
        scope: "user",
        origin: "home",
        path: "~/.cline/data/settings/cline_mcp_settings.json",
        variable: ["CLINE_DIR", "data/settings/cline_mcp_settings.json"]
      },
      {
        scope: "user",
        origin: "home",
        path: [
          "{vscode}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
          "~/Documents/Cline/MCP/cline_mcp_settings.json"
        ]
      }
    ],
    typeless: "sse",
    nested: true,
    fields: {
      timeout: { is: "requestTimeout", unit: "s" },
      transportType: { is: "type", deprecated: true, instead: "type" },
      oauthClient: { is: "extra", lacking: otherLogin },
      metadata: { is: "extra" }
    }
  },
  {
    host: "roo",
    title: "Roo Code",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.roo/mcp.json" },
      {
        scope: "user",
        origin: "home",
        path: "{vscode}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
      }
    ],
    typeRequired: { for: "url", is: "host-would-reject" },
    mixing: "host-would-reject",
    variables: { syntax: { env: true, builtins: new Map([["workspaceFolder", "workspaceFolder"]]) } },
    fields: {
      timeout: { is: "requestTimeout", unit: "s" },
      watchPaths: { is: "extra", lacking: "the server is not restarted when these files change" }
    }
  },
  {
    host: "cocode",
    title: "cocode",
    format: "toml",
    locations: [
      {
        scope: "managed",
        origin: "home",
        path: ["~/.cocode/managed-mcp.json", "~/.cocode/enterprise-mcp.json"],
        format: "json"
      },
      { scope: "local", origin: "workspace", path: "{root}/.cocode.local.toml" },
      { scope: "local", origin: "workspace", path: "{root}/.cocode.local/mcp.json", format: "json" },
      { scope: "project", origin: "workspace", path: "{root}/.mcp.toml" },
      { scope: "project", origin: "workspace", path: ["{root}/.mcp.json", "{root}/.cocode/mcp.json"], format: "json" },
      { scope: "user", origin: "home", path: "{config}/cocode/mcp.toml" },
      { scope: "user", origin: "home", path: "~/.cocode/mcp.json", format: "json" }
    ],
    roots: [["mcp_servers"], ["mcpServers"]],
    list: true,
    typeless: "sse",
    variables: { syntax: { bare: true }, in: ["env", "headers", "url"] },
    fields: {
      program: { is: "command" },
      bearer_token_env_var: { is: "bearerTokenEnvVar" },
      env_http_headers: { is: "headerVariables" },
      startup_timeout_sec: { is: "startupTimeout", unit: "s" },
      tool_timeout_sec: { is: "requestTimeout", unit: "s" },
      enabled_tools: { is: "enabledTools" },
      disabled_tools: { is: "disabledTools" }
    }
  },
  {
    host: "agent-code",
    title: "agent-code",
    format: "toml",
    locations: [
      { scope: "local", origin: "workspace", path: "{root}/.agent/settings.local.toml" },
      { scope: "project", origin: "workspace", path: "{root}/.agent/settings.toml" },
      { scope: "user", origin: "home", path: "{config}/agent-code/config.toml" }
    ],
    shared: true,
    roots: [["mcp_servers"]],
    list: true,
    typeless: "sse",
    prefers: "command",
    policy: "native"
  },
  {
    host: "mistral-vibe",
    title: "Mistral Vibe",
    format: "toml",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.vibe/config.toml" },
      { scope: "user", origin: "home", path: "~/.vibe/config.toml", variable: ["VIBE_HOME", "config.toml"] }
    ],
    shared: true,
    roots: [["mcp_servers"]],
    list: true,
    // for the header that the quirk makes: the host has no variables
    variables: { syntax: native, in: ["headers"] },
    fields: {
      api_key_env: { is: "ignored" },
      api_key_header: { is: "ignored" },
      api_key_format: { is: "ignored" },
      auth: { is: "extra", lacking: otherLogin },
      prompt: { is: "extra" },
      sampling_enabled: { is: "extra", lacking: sampled },
      startup_timeout_sec: { is: "startupTimeout", unit: "s" },
      tool_timeout_sec: { is: "requestTimeout", unit: "s" },
      disabled_tools: { is: "disabledTools" }
    },
    prepare: "apiKeyHeader"
  },
  {
    host: "grok-build",
    title: "Grok Build",
    format: "toml",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.grok/config.toml" },
      { scope: "user", origin: "home", path: "~/.grok/config.toml", variable: ["GROK_HOME", "config.toml"] }
    ],
    shared: true,
    roots: [["mcp_servers"]],
    fields: {
      http_headers: { is: "headers" },
      bearer_token_env_var: { is: "bearerTokenEnvVar" },
      startup_timeout_sec: { is: "startupTimeout", unit: "s" },
      tool_timeout_sec: { is: "requestTimeout", unit: "s" },
      enabled_tools: { is: "enabledTools" },
      disabled_tools: { is: "disabledTools" }
    }
  },
  {
    host: "continue",
    title: "Continue",
    format: "yaml",
    locations: [
      {
        scope: "project",
        origin: "workspace",
        path: ["{root}/.continue/mcpServers/*.yaml", "{root}/.continue/mcpServers/*.yml"]
      },
      { scope: "user", origin: "home", path: "~/.continue/config.yaml" }
    ],
    shared: ["user"],
    list: true,
    single: true,
    variables: { syntax: { mustache: true } },
    fields: {
      connectionTimeout: { is: "startupTimeout", unit: "ms" },
      apiKey: { is: "bearer" },
      faviconUrl: { is: "extra" },
      requestOptions: {
        is: "extra",
        lacking: "its headers are sent, and its proxies, certificates and limits are not used"
      },
      sourceFile: { is: "extra" }
    },
    prepare: "requestOptions"
  },
  {
    host: "continue-json",
    title: "Continue",
    partOf: "continue",
    format: "jsonc",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.continue/mcpServers/*.json" }
    ],
    single: true,
    variables: { syntax: { bare: true, env: true } }
  },
  {
    host: "goose",
    title: "Goose",
    format: "yaml",
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
    shared: true,
    roots: [["extensions"]],
    words: {
      builtin: "not-an-mcp-server",
      platform: "not-an-mcp-server",
      frontend: "not-an-mcp-server",
      inline_python: "not-an-mcp-server"
    },
    variables: { syntax: { bare: true, dollar: true }, in: ["url", "headers"] },
    fields: {
      // the key of the map is the name of the server
      name: { is: "ignored" },
      cmd: { is: "command" },
      envs: { is: "env" },
      env_keys: { is: "envSecrets" },
      uri: { is: "url" },
      timeout: { is: "requestTimeout", unit: "s" },
      available_tools: { is: "enabledTools" },
      bundled: { is: "extra" },
      display_name: { is: "title" }
    },
    prepare: "emptyFields",
    refusesVariables: true
  },
  {
    host: "hermes",
    title: "Hermes",
    format: "yaml",
    locations: [
      {
        scope: "user",
        origin: "home",
        path: {
          linux: "~/.hermes/config.yaml",
          darwin: "~/.hermes/config.yaml",
          win32: "{localappdata}/hermes/config.yaml"
        }
      }
    ],
    shared: true,
    roots: [["mcp_servers"]],
    variables: { syntax: { bare: true } },
    fields: {
      timeout: { is: "requestTimeout", unit: "s" },
      connect_timeout: { is: "startupTimeout", unit: "s" },
      tools: { is: "tools", shape: "include" },
      auth: { is: "oauth", mode: true },
      trust: { is: "extra", lacking: "its content is treated like that of any server", unless: ["untrusted"] },
      sampling: { is: "extra", lacking: sampled }
    },
    prepare: "withoutNulls"
  },
  {
    host: "crush",
    title: "Crush",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: ["{dir}/.crush.json", "{dir}/crush.json"] },
      // a file of the machine, and the weakest
      {
        scope: "user",
        origin: "home",
        path: {
          linux: "{config}/crush/crush.json",
          darwin: "{config}/crush/crush.json",
          win32: ["~/.config/crush/crush.json", "{localappdata}/crush/crush.json"]
        },
        variable: ["CRUSH_GLOBAL_CONFIG", "crush.json"]
      },
      { scope: "user", origin: "system", path: { linux: "/etc/crush/crush.json", darwin: "/etc/crush/crush.json" } }
    ],
    shared: true,
    roots: [["mcp"]],
    typeRequired: { for: "all", is: "host-would-reject" },
    variables: { syntax: { bare: true, dollar: true, command: true } },
    fields: {
      timeout: { is: "startupTimeout", unit: "s" },
      enabled_tools: { is: "enabledTools" },
      disabled_tools: { is: "disabledTools" },
      oauth_client_id: { is: "oauth", part: "clientId" },
      oauth_client_secret: { is: "oauth", part: "clientSecret" },
      oauth_callback_port: { is: "oauth", part: "callbackPort" }
    }
  },
  {
    host: "mcporter",
    title: "mcporter",
    format: "jsonc",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/config/mcporter.json" },
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
      bearerTokenEnv: { is: "bearerTokenEnvVar" },
      bearer_token_env: { is: "bearerTokenEnvVar" },
      allowedTools: { is: "enabledTools" },
      allowed_tools: { is: "enabledTools" },
      blockedTools: { is: "disabledTools" },
      blocked_tools: { is: "disabledTools" },
      auth: { is: "oauth", mode: true },
      oauthClientId: { is: "oauth", part: "clientId" },
      oauth_client_id: { is: "oauth", part: "clientId" },
      oauthClientSecret: { is: "oauth", part: "clientSecret" },
      oauth_client_secret: { is: "oauth", part: "clientSecret" },
      oauthClientSecretEnv: { is: "oauth", part: "clientSecret", variable: true },
      oauth_client_secret_env: { is: "oauth", part: "clientSecret", variable: true },
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
    prepare: "commandLine",
    imports: true
  },
  {
    host: "oh-my-pi",
    title: "oh-my-pi",
    format: "json",
    locations: [
      {
        scope: "project",
        origin: "workspace",
        path: ["{root}/.omp/mcp.json", "{root}/.omp/.mcp.json", "{root}/mcp.json", "{root}/.mcp.json"]
      },
      { scope: "user", origin: "home", path: "~/.omp/agent/mcp.json" }
    ],
    aside: ["disabledServers", "enabledServers"],
    typeless: "streamable-http",
    variables: { syntax: { bare: true, bang: true } },
    fields: {
      timeout: { is: "requestTimeout", unit: "ms", zeroIsOff: true },
      auth: { is: "extra", lacking: otherLogin },
      requestIdFormat: { is: "extra" },
      instructions: { is: "extra" }
    },
    policy: "ohMyPi",
    switches: { on: ["enabledServers"] }
  },
  {
    host: "docker-mcp",
    title: "Docker MCP",
    format: "yaml",
    // the servers that were chosen; a catalog has hundreds, and is read only if its file is named
    locations: [
      { scope: "user", origin: "home", path: "~/.docker/mcp/registry.yaml" }
    ],
    roots: [["registry"]],
    variables: { syntax: { bare: true } },
    fields: { transport_type: { is: "type" }, title: { is: "title" } },
    prepare: "catalogEntry"
  },
  {
    host: "factory",
    title: "Factory",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{dir}/.factory/mcp.json" },
      { scope: "user", origin: "home", path: "~/.factory/mcp.json" }
    ],
    variables: { syntax: { bare: true } },
    fields: { timeoutMs: { is: "requestTimeout", unit: "ms" } }
  },
  {
    host: "junie",
    title: "Junie",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.junie/mcp/mcp.json" },
      { scope: "user", origin: "home", path: "~/.junie/mcp/mcp.json" }
    ],
    fields: { workingDirectory: { is: "cwd" } }
  },
  {
    host: "jetbrains-ai",
    title: "JetBrains AI Assistant",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.ai/mcp/mcp.json" },
      { scope: "user", origin: "home", path: "~/.ai/mcp/mcp.json" }
    ],
    fields: { workingDirectory: { is: "cwd" } }
  },
  {
    host: "lmstudio",
    title: "LM Studio",
    format: "json",
    locations: [
      { scope: "user", origin: "home", path: ["~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"] }
    ]
  },
  {
    host: "kiro",
    title: "Kiro",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.kiro/settings/mcp.json" },
      { scope: "user", origin: "home", path: "~/.kiro/settings/mcp.json" }
    ],
    variables: { syntax: { bare: true, env: true }, in: ["env", "headers", "url"] },
    fields: { oauthScopes: { is: "oauth", part: "scopes" } }
  },
  {
    host: "amazon-q",
    title: "Amazon Q",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.amazonq/mcp.json" },
      { scope: "user", origin: "home", path: "~/.aws/amazonq/mcp.json" }
    ],
    variables: { syntax: { bare: true, env: true }, in: ["env", "headers", "url"] },
    fields: { oauthScopes: { is: "oauth", part: "scopes" } }
  },
  {
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
  },
  {
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
    variables: { syntax: { builtins: editorBuiltins } }
  },
  {
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
  },
  {
    host: "kimi-code",
    title: "Kimi Code",
    format: "json",
    locations: [
      { scope: "project", origin: "workspace", path: "{root}/.kimi-code/mcp.json" },
      { scope: "user", origin: "home", path: "~/.kimi-code/mcp.json", variable: ["KIMI_CODE_HOME", "mcp.json"] }
    ]
  },
  {
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
    variables: { syntax: { bare: true }, fromEntry: ["user"] },
    fields: {
      tools: { is: "tools", shape: "switches" },
      maxResultChars: { is: "maxResultChars" }
    }
  },
  {
    host: "codebuddy",
    title: "CodeBuddy",
    format: "jsonc",
    locations: [
      { scope: "local", origin: "home", path: "~/.codebuddy.json", pointer: ["projects", "{root}", "mcpServers"] },
      { scope: "project", origin: "workspace", path: ["{root}/.codebuddy/mcp.json", "{root}/.mcp.json"] },
      { scope: "user", origin: "home", path: ["~/.codebuddy.json", "~/.codebuddy/mcp.json"] }
    ],
    shared: ["local", "user"],
    roots: [["mcpServers"], ["servers"]],
    list: true,
    variables: { syntax: { bare: true } }
  },
  {
    host: "sep-2633",
    title: "SEP-2633",
    format: "json",
    // a draft: no host has such files yet
    locations: [],
    typeRequired: { for: "all", is: "fault" },
    variables: { syntax: { env: true, input: true, pipes: true } },
    fields: { title: { is: "title" } }
  }
]
