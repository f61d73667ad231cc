/** The parts of the published JSON Schema of the native format that are no servers, whose parts nativeDocument.ts makes. */

/** The keys of a document beside its servers. */
export const beside = {
  inputs: {
    type: "array",
    items: { $ref: "#/$defs/input" },
    description: "Questions to a person, for ${input:id}."
  },
  imports: {
    type: "array",
    items: { type: "string" },
    description: "Other hosts whose files are read too, the strongest first; []: none."
  },
  policy: { $ref: "#/$defs/policy" },
  permissions: { $ref: "#/$defs/permissions" },
  security: {
    type: "object",
    properties: {
      mcp_server_allowlist: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Only the servers with these names."
      },
      mcp_server_denylist: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Not the servers with these names."
      }
    }
  }
}

/** How each kind of server is spoken to: the words for it, and the older ones in place of `instead`. */
export const transports = {
  stdio: {
    words: ["stdio"],
    description: "A child process, over stdin and stdout.",
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
    description: "The transport; `auto` (default): Streamable HTTP, then the older HTTP+SSE.",
    olderWords: ["streamableHttp", "streamablehttp", "streamable_http", "websocket", "remote"],
    instead: "streamable-http"
  }
}

/** The keys of an entry of any kind that have no effect here. */
export const ignored = {
  source: { description: "The origin of the entry: registry, version, sha256." },
  sandbox: { description: "Not supported: the server is not sandboxed, and an issue reports it." }
}

/** The keys of a login that no configuration has. */
export const ofLogin = {
  enabled: { type: "boolean", description: "Logs in (default: true)." },
  public: { type: "boolean", description: "The client has no secret." }
}

/** The aspects of a server that a rule can be about, one for each rule. */
export const rules = {
  name: {
    type: "string",
    minLength: 1,
    description: "The name, with * for any characters. Not a protection, because names can be changed."
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
    description: "The command line, its words joined by spaces, with * for any characters."
  },
  program: { type: "string", minLength: 1, description: "The program, with any arguments." },
  url: {
    type: "string",
    pattern:
      "^(?:\\*|(?:[Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[^:/?#\\s]*\\*[^:/?#\\s]*)://(?:\\[[0-9A-Fa-f:.*]+\\](?::[0-9*]+)?|[^/?#\\s<>^|%\\\\[\\]]+)(?:[/?#]\\S*)?|.*\\$\\{.*)$",
    description: "The address, with * for any characters: https://*.example.com/*"
  },
  fingerprint: { type: "string", minLength: 1, description: "The fingerprint of the configuration." }
}

/** The other definitions that a document refers to: tables with these keys and no others. */
export const definitions = {
  policy: {
    title: "Which servers may be used",
    properties: {
      allow: {
        type: "array",
        items: { $ref: "#/$defs/rule" },
        description: "Allows only these servers."
      },
      deny: {
        type: "array",
        items: { $ref: "#/$defs/rule" },
        description: "Denies these servers; overrides `allow`."
      },
      managedOnly: {
        type: "boolean",
        description: "Ignores the `allow` lists of all files but those of an administrator."
      },
      requireIdentity: {
        type: "boolean",
        description: "Rules about names allow nothing; each server needs a rule about its command or url."
      },
      managed_only: {
        type: "boolean",
        description: "The same as `managedOnly`, which is better written.",
        deprecated: true
      },
      exclusive: { type: "boolean", description: "An administrator's file disables all other files." },
      providers: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "The hosts whose files may be read."
      }
    }
  },
  permission: {
    required: ["tool", "action"],
    properties: {
      tool: {
        type: "string",
        minLength: 1,
        description: "`server/tool`, `mcp__server__tool` or `server/resource:URI`, with * for any characters."
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
      allow: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Tools that a model may use without an approval; each names its server, or is `mcp__*`."
      },
      ask: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Tools that need an approval."
      },
      deny: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Tools that may not be used."
      }
    }
  },
  input: {
    title: "A question to a person",
    required: ["id"],
    properties: {
      id: { type: "string", minLength: 1, description: "The id in ${input:id}." },
      description: { type: "string", description: "The question." },
      secret: { type: "boolean", description: "Hides the answer while it is typed." },
      default: { type: "string", description: "The answer if there is no other." },
      choices: { type: "array", items: { type: "string" }, description: "The possible answers." }
    }
  }
}
