/** The parts of the published JSON Schema of the native format beside its servers, which nativeDocument.ts makes. */

const names = (description: string) => ({ type: "array", items: { type: "string", minLength: 1 }, description })
const serverRules = (description: string) => ({ type: "array", items: { $ref: "#/$defs/rule" }, description })

/** The keys of a document beside its servers. */
export const beside = {
  inputs: {
    type: "array",
    items: { $ref: "#/$defs/input" },
    description: "Questions to the user, whose answers replace ${input:id}."
  },
  imports: {
    type: "array",
    items: { type: "string" },
    description: "Other hosts whose files are also read, highest priority first; []: none."
  },
  policy: { $ref: "#/$defs/policy" },
  permissions: { $ref: "#/$defs/permissions" },
  security: {
    type: "object",
    properties: {
      mcp_server_allowlist: names("Allows only the servers with these names."),
      mcp_server_denylist: names("Denies the servers with these names.")
    }
  }
}

/** The values of `type` for each kind of server, and the older ones that `instead` replaces. */
export const transports = {
  stdio: {
    words: ["stdio"],
    description: "A child process that speaks MCP over stdin and stdout.",
    olderWords: ["local", "command"],
    instead: "stdio"
  },
  docker: {
    words: ["docker"],
    description: "Servers that Docker runs in containers, as one server.",
    olderWords: [],
    instead: "docker"
  },
  remote: {
    words: ["streamable-http", "http", "sse", "ws", "auto"],
    description: "The transport. `auto` (default) tries Streamable HTTP, then the older HTTP+SSE.",
    olderWords: ["streamableHttp", "streamablehttp", "streamable_http", "websocket", "remote"],
    instead: "streamable-http"
  }
}

/** The keys of an entry of any kind that have no effect here. */
export const ignored = {
  source: { description: "Where the entry came from: registry, version, sha256." },
  sandbox: { description: "Not supported: the server is not sandboxed, and an issue reports it." }
}

/** The keys of a login that no configuration has. */
export const ofLogin = {
  enabled: { type: "boolean", description: "Whether to log in (default: true)." },
  public: { type: "boolean", description: "The client has no secret." }
}

/** What a rule matches: one of these. */
export const rules = {
  name: {
    type: "string",
    minLength: 1,
    description: "The server name; * matches any characters. It is no protection, because any server can take a name."
  },
  command: {
    type: "array",
    prefixItems: [{ type: "string", minLength: 1 }],
    items: { type: "string" },
    minItems: 1,
    description: "The whole command line, word by word."
  },
  commandLine: {
    type: "string",
    minLength: 1,
    description: "The command line, its words joined by spaces; * matches any characters."
  },
  program: { type: "string", minLength: 1, description: "The program; any arguments match." },
  url: {
    type: "string",
    pattern:
      "^(?:\\*|(?:[Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[^:/?#\\s]*\\*[^:/?#\\s]*)://(?:\\[[0-9A-Fa-f:.*]+\\](?::[0-9*]+)?|[^/?#\\s<>^|%\\\\[\\]]+)(?:[/?#]\\S*)?|.*\\$\\{.*)$",
    description: "The address; * matches any characters: https://*.example.com/*"
  },
  fingerprint: { type: "string", minLength: 1, description: "The fingerprint of the configuration." }
}

/** The other definitions of a document: objects with these keys and no others. */
export const definitions = {
  policy: {
    title: "Which servers may be used",
    properties: {
      allow: serverRules("Allows only these servers."),
      deny: serverRules("Denies these servers; overrides `allow`."),
      managedOnly: {
        type: "boolean",
        description: "Ignores `allow` in all files except those of an administrator."
      },
      requireIdentity: {
        type: "boolean",
        description: "Rules by name do not allow a server; it needs a rule by command or url."
      },
      managed_only: {
        type: "boolean",
        description: "Deprecated: use `managedOnly`.",
        deprecated: true
      },
      exclusive: { type: "boolean", description: "In an administrator's file: disables all other files." },
      providers: names("The hosts whose files may be read.")
    }
  },
  permission: {
    required: ["tool", "action"],
    properties: {
      tool: {
        type: "string",
        minLength: 1,
        description: "`server/tool`, `mcp__server__tool` or `server/resource:URI`; * matches any characters."
      },
      action: { enum: ["allow", "ask", "deny"], description: "The decision." },
      args: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "Matches only calls with these arguments, each a pattern."
      }
    }
  },
  permissions: {
    title: "Which tools may be used",
    properties: {
      rules: {
        type: "array",
        items: { $ref: "#/$defs/permission" },
        description: "Rules with arguments. `deny` overrides `ask`, and `ask` overrides `allow`."
      },
      allow: names("Tools that a model may use without approval. Each names one server, or is `mcp__*`."),
      ask: names("Tools that need approval."),
      deny: names("Tools that may not be used.")
    }
  },
  input: {
    title: "A question to the user",
    required: ["id"],
    properties: {
      id: { type: "string", minLength: 1, description: "The id in ${input:id}." },
      description: { type: "string", description: "The question." },
      secret: { type: "boolean", description: "Hides the answer while it is typed." },
      default: { type: "string", description: "The default answer." },
      choices: { type: "array", items: { type: "string" }, description: "The possible answers." }
    }
  }
}
