/** The parts of the published JSON Schema of the native format that are no servers, whose parts nativeDocument.ts makes. */

/** The keys of a document beside its servers. */
export const beside = {
  inputs: {
    type: "array",
    items: { $ref: "#/$defs/input" },
    description: "What is asked before a server is connected."
  },
  imports: {
    type: "array",
    items: { type: "string" },
    description: "The hosts whose files are read too, the strongest first; []: none; absent: what is usual."
  },
  policy: { $ref: "#/$defs/policy" },
  permissions: { $ref: "#/$defs/permissions" },
  security: {
    type: "object",
    properties: {
      mcp_server_allowlist: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Only the servers of these names."
      },
      mcp_server_denylist: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "Not the servers of these names."
      }
    }
  }
}

/** How each kind of server is spoken to: the words for it, and the older ones in place of `instead`. */
export const transports = {
  stdio: {
    words: ["stdio"],
    description: "A program that is started and spoken to over stdin and stdout.",
    olderWords: ["local", "command"],
    instead: "stdio"
  },
  docker: {
    words: ["docker"],
    description: "The servers that Docker runs in containers, as one.",
    olderWords: [],
    instead: "docker"
  },
  remote: {
    words: ["streamable-http", "http", "sse", "ws", "auto"],
    description: "How it is spoken to; `auto` and nothing: Streamable HTTP, then the older HTTP+SSE.",
    olderWords: ["streamableHttp", "streamablehttp", "streamable_http", "websocket", "remote"],
    instead: "streamable-http"
  }
}

/** The keys of an entry of any kind that have no effect here. */
export const ignored = {
  source: { description: "Where the entry came from: registry, version, sha256." },
  sandbox: { description: "Not supported: the server is not confined, and an issue says so." }
}

/** The keys of a login that no configuration has. */
export const ofLogin = {
  enabled: { type: "boolean", description: "Whether to log in." },
  public: { type: "boolean", description: "Whether the client has no secret." }
}

/** The aspects of a server that a rule can be about, one for each rule. */
export const rules = {
  name: {
    type: "string",
    minLength: 1,
    description: "By name, with * for any characters: a convenience, and no protection, because a name can be changed."
  },
  command: {
    type: "array",
    prefixItems: [{ type: "string", minLength: 1 }],
    items: { type: "string" },
    minItems: 1,
    description: "By the whole command line, word by word."
  },
  commandLine: {
    type: "string",
    minLength: 1,
    description: "By the command line, its words joined by spaces, with * for any characters."
  },
  program: { type: "string", minLength: 1, description: "By the program, whatever its arguments." },
  url: {
    type: "string",
    pattern:
      "^(?:\\*|(?:[Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[^:/?#\\s]*\\*[^:/?#\\s]*)://(?:\\[[0-9A-Fa-f:.*]+\\](?::[0-9*]+)?|[^/?#\\s<>^|%\\\\[\\]]+)(?:[/?#]\\S*)?|.*\\$\\{.*)$",
    description: "By address, with * for any characters: https://*.example.com/*"
  },
  fingerprint: { type: "string", minLength: 1, description: "By fingerprint: this very configuration." }
}

/** The other definitions that a document refers to: tables with these keys and no others. */
export const definitions = {
  policy: {
    title: "Which servers may be used",
    properties: {
      allow: {
        type: "array",
        items: { $ref: "#/$defs/rule" },
        description: "Only these servers, if there is any rule."
      },
      deny: {
        type: "array",
        items: { $ref: "#/$defs/rule" },
        description: "Not these servers, whatever allows them."
      },
      managedOnly: {
        type: "boolean",
        description: "Whether only an administrator's list of what is allowed counts."
      },
      requireIdentity: {
        type: "boolean",
        description:
          "Whether rules about names alone allow nothing: then each server needs one about its command or url."
      },
      managed_only: {
        type: "boolean",
        description: "The same as `managedOnly`, which is better written.",
        deprecated: true
      },
      exclusive: { type: "boolean", description: "Whether an administrator's file silences all other files." },
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
        description: "server/tool or mcp__server__tool, with * for any characters; server/resource:URI."
      },
      action: { enum: ["allow", "ask", "deny"] },
      args: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "Only calls with these arguments, each a pattern."
      }
    }
  },
  permissions: {
    title: "Which tools may be used",
    properties: {
      rules: {
        type: "array",
        items: { $ref: "#/$defs/permission" },
        description: "deny counts more than ask, and ask more than allow."
      },
      allow: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "What a model may use without asking: each needs the name of a server, or is mcp__*."
      },
      ask: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "What a person has to agree to."
      },
      deny: {
        type: "array",
        items: { type: "string", minLength: 1 },
        description: "What may not be used."
      }
    }
  },
  input: {
    title: "A question to a person",
    required: ["id"],
    properties: {
      id: { type: "string", minLength: 1, description: "What ${input:id} asks for." },
      description: { type: "string" },
      secret: { type: "boolean", description: "Whether the answer is hidden while it is typed." },
      default: { type: "string" },
      choices: { type: "array", items: { type: "string" } }
    }
  }
}
