/**
 * The fields of a server, one row each. From these rows come the Schema of `ServerConfig`, the native file format and its
 * published JSON Schema, the fingerprint, the texts that may hold templates, the rules of merging and the consent lines.
 */
import {
  Affinity,
  Argv,
  Blocked,
  Count,
  EnvFile,
  Flag,
  Folder,
  Headers,
  HttpAddress,
  Inherited,
  Listed,
  Names,
  Path,
  ProfileName,
  Protocol,
  ProxyAddress,
  type Rows,
  Text,
  Time,
  VariableName,
  VariableNames,
  Variables,
  WebSocketAddress,
  Words
} from "./fieldSchema.ts"
import { Login } from "./Login.ts"
import { Expansion, Provenance } from "./Scope.ts"

/** The fields of all servers that a file may set. */
export const common = {
  title: { schema: Text, identity: false, connection: false, description: "The display name." },
  description: { schema: Text, identity: false, connection: false, description: "What the server is for." },
  enabled: { schema: Flag, identity: false, description: "Whether the server is used (default: true)." },
  required: {
    schema: Flag,
    identity: false,
    connection: false,
    description: "Fails the start of the application if the server cannot connect (default: false)."
  },
  lazy: {
    schema: Flag,
    identity: false,
    description: "Connects on first use instead of at the start (default: false)."
  },
  trusted: {
    schema: Flag,
    identity: false,
    connection: false,
    restrictedTo: "approveTools",
    overlay: "credential",
    description: "Trusts the annotations of its tools, such as `readOnlyHint`."
  },
  protocol: {
    schema: Protocol,
    identity: true,
    words: { legacy: "session", "2026-07-28": "stateless" },
    description:
      "The protocol era: `session` (up to 2025-11-25), `stateless` (2026-07-28) or `auto` (detected from the server's answer)."
  },
  startupTimeout: {
    schema: Time,
    identity: false,
    aliases: ["startupTimeoutMs"],
    description: "Time limit for connecting."
  },
  requestTimeout: {
    schema: Time,
    identity: false,
    aliases: ["requestTimeoutMs"],
    description: "Time limit for a call without an answer or progress."
  },
  toolTimeout: {
    schema: Time,
    identity: false,
    description: "Time limit for a whole call, with or without progress."
  },
  listTimeout: {
    schema: Time,
    identity: false,
    description: "Time limit for listing, reading a resource or getting a prompt."
  },
  stallTimeout: {
    schema: Time,
    identity: false,
    description: "Time limit for the server to read what was written; then the connection counts as lost."
  },
  discoverPatience: {
    schema: Time,
    identity: false,
    description: "How long to wait for an answer to `server/discover` before also sending `initialize` (stdio)."
  },
  keepAlive: { schema: Time, identity: false, description: "How long an idle socket stays open." },
  idleTimeout: {
    schema: Time,
    identity: false,
    description: "Disconnects after this time without a call (default: never)."
  },
  concurrency: {
    schema: Count,
    identity: false,
    connection: false,
    description: "Limit of concurrent calls."
  },
  affinity: {
    schema: Affinity,
    identity: false,
    restrictedTo: "environment",
    overlay: "credential",
    description:
      "`shared`: all users share one connection and one login. `identity` (default): each user has its own. `session`: in a fleet, each runtime has its own."
  },
  maxMessageBytes: { schema: Count, identity: false, description: "Size limit of one message, in bytes." },
  maxResultChars: {
    schema: Count,
    identity: false,
    connection: false,
    description:
      "Size limit of a result for a model, in characters. Only a limit below that of the application has an effect."
  },
  enabledTools: {
    schema: Names,
    identity: false,
    connection: false,
    description: "The tools to offer, as patterns with * and ? (default: all)."
  },
  disabledTools: {
    schema: Names,
    identity: false,
    connection: false,
    description: "The tools to hide; overrides `enabledTools`."
  },
  autoApprove: {
    schema: Names,
    identity: false,
    connection: false,
    restrictedTo: "approveTools",
    overlay: "credential",
    aliases: ["alwaysAllow"],
    description: "The tools that a model may call without approval."
  }
} as const satisfies Rows

/** The fields that discovery sets. No file may set them. */
export const found = {
  blocked: {
    schema: Blocked,
    identity: false,
    description: "Why the server must not be used: denied by a policy, or not approved."
  },
  expansion: {
    schema: Expansion,
    identity: false,
    description: "The values that its templates may be resolved with."
  },
  provenance: { schema: Provenance, identity: false, connection: false, description: "The file that it was read from." }
} as const satisfies Rows

const variables = {
  schema: Variables,
  identity: true,
  template: "argument",
  overlay: "credential",
  label: "variable",
  description: "Environment variables. Values can contain ${env:NAME}, ${input:id} and ${secret:id}."
} as const

const inheritEnv = {
  schema: Inherited,
  identity: true,
  restrictedTo: "environment",
  overlay: "credential",
  label: "environment",
  description:
    "Environment variables to inherit: false: a minimal set (default); true: all; a list: these beside the minimal set."
} as const

const args = {
  schema: Words,
  identity: true,
  template: "argument",
  overlay: "target",
  label: "argument"
} as const

/** A server that is a child process. */
export const stdio = {
  command: {
    schema: Path,
    required: true,
    identity: true,
    template: "command",
    overlay: "target",
    label: "program",
    description: "The program, by name or path. Not a shell command line."
  },
  args: { ...args, description: "The arguments, one per item." },
  cwd: {
    schema: Folder,
    identity: true,
    template: "cwd",
    overlay: "target",
    label: "folder",
    description: "The working directory, relative to the project or to the folder of this file."
  },
  env: variables,
  withoutEnv: {
    schema: VariableNames,
    identity: true,
    overlay: "credential",
    label: "removed",
    description: "Environment variables to remove, even if inherited."
  },
  envFile: {
    schema: EnvFile,
    identity: true,
    template: "argument",
    overlay: "credential",
    label: "env file",
    description: "A file of NAME=value lines, read at each start; `env` overrides it."
  },
  inheritEnv
} as const satisfies Rows

/** The MCP gateway of Docker. */
export const docker = {
  command: {
    schema: Path,
    identity: true,
    template: "command",
    overlay: "target",
    label: "program",
    description: "The `docker` program, by name or path."
  },
  profile: {
    schema: ProfileName,
    identity: true,
    template: "argument",
    overlay: "target",
    description: "The profile to run. Docker takes either this or `servers`."
  },
  servers: {
    schema: Listed,
    identity: true,
    template: "argument",
    overlay: "target",
    description: "The servers of the catalog to run."
  },
  args: { ...args, description: "More arguments of `docker mcp gateway run`." },
  env: variables,
  inheritEnv
} as const satisfies Rows

/** A server behind an address, without the address. */
export const remote = {
  headers: {
    schema: Headers,
    identity: true,
    template: "header",
    overlay: "credential",
    secret: true,
    label: "header",
    description: "Headers of every request. Use ${env:NAME} in place of a secret."
  },
  bearerTokenEnvVar: {
    schema: VariableName,
    identity: true,
    overlay: "credential",
    label: "token variable",
    description: "The environment variable with the bearer token."
  },
  headersCommand: {
    schema: Argv,
    identity: true,
    template: "command",
    overlay: "credential",
    label: "headers command",
    description: "A program and its arguments (no shell) that prints more headers as a JSON object."
  },
  oauth: {
    schema: Login,
    identity: true,
    overlay: "credential",
    label: "login",
    description: "How to log in if the server requires it. false: never log in."
  },
  proxy: {
    schema: ProxyAddress,
    identity: true,
    restrictedTo: "environment",
    overlay: "target",
    label: "proxy",
    description: "The HTTP proxy, or `direct` (default: as in the environment, such as HTTPS_PROXY)."
  },
  allowUnencrypted: {
    schema: Flag,
    identity: true,
    restrictedTo: "environment",
    overlay: "target",
    description: "Allows credentials to be sent to another machine without encryption, where others can read them."
  }
} as const satisfies Rows

const address = {
  required: true,
  identity: true,
  template: "url",
  overlay: "target",
  label: "address",
  description: "The address. It can contain ${env:NAME}, ${input:id} and ${secret:id}."
} as const

/** A server behind an HTTP endpoint. */
export const http = {
  url: { ...address, schema: HttpAddress },
  ...remote,
  sseFallback: {
    schema: Flag,
    identity: true,
    description: "Falls back to HTTP+SSE (2024-11-05) if the first request gets 400, 404 or 405 (default: true)."
  }
} as const satisfies Rows

export const sse = { url: { ...address, schema: HttpAddress }, ...remote } as const satisfies Rows

export const webSocket = { url: { ...address, schema: WebSocketAddress }, ...remote } as const satisfies Rows

/** The rows of every transport that a file may set, in the order in which a person is shown them. */
export const tables = {
  stdio: { ...stdio, ...common },
  docker: { ...docker, ...common },
  "streamable-http": { ...http, ...common },
  sse: { ...sse, ...common },
  ws: { ...webSocket, ...common }
} as const

export type Transport = keyof typeof tables
