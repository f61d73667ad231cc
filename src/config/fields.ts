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
  title: { schema: Text, identity: false, connection: false, description: "What people call it." },
  description: { schema: Text, identity: false, connection: false, description: "What it is for." },
  enabled: { schema: Flag, identity: false, description: "Whether it is used; default: true." },
  required: {
    schema: Flag,
    identity: false,
    connection: false,
    description: "Whether the application does not start without it; default: false."
  },
  lazy: {
    schema: Flag,
    identity: false,
    description: "Whether it is started only when it is needed; default: false."
  },
  trusted: {
    schema: Flag,
    identity: false,
    connection: false,
    restrictedTo: "approveTools",
    overlay: "credential",
    description: "Whether the annotations of its tools are believed. Not read from files of a project."
  },
  protocol: {
    schema: Protocol,
    identity: true,
    words: { legacy: "session", "2026-07-28": "stateless" },
    description: "Which era of the protocol is spoken: with sessions, without, or what the server answers to."
  },
  startupTimeout: {
    schema: Time,
    identity: false,
    aliases: ["startupTimeoutMs"],
    description: "How long connecting may take."
  },
  requestTimeout: {
    schema: Time,
    identity: false,
    aliases: ["requestTimeoutMs"],
    description: "How long a call may go without an answer or progress."
  },
  toolTimeout: {
    schema: Time,
    identity: false,
    description: "How long a call may take, whatever progress it reports."
  },
  listTimeout: { schema: Time, identity: false, description: "How long a list, a read or a prompt may take." },
  stallTimeout: {
    schema: Time,
    identity: false,
    description: "How long the server may leave written bytes unread before it counts as lost."
  },
  discoverPatience: {
    schema: Time,
    identity: false,
    description: "How long a silent program is asked only `server/discover` before it is asked `initialize` as well."
  },
  keepAlive: { schema: Time, identity: false, description: "How long an idle socket is kept open." },
  idleTimeout: {
    schema: Time,
    identity: false,
    description: "After how long without a call a lazy server is disconnected; default: never."
  },
  concurrency: {
    schema: Count,
    identity: false,
    connection: false,
    description: "How many calls may be in flight at once."
  },
  affinity: {
    schema: Affinity,
    identity: false,
    restrictedTo: "environment",
    overlay: "credential",
    description: "`shared`: all users of an application have one connection and one login. Default: each has its own."
  },
  maxMessageBytes: { schema: Count, identity: false, description: "The largest message that is read." },
  maxResultChars: {
    schema: Count,
    identity: false,
    connection: false,
    description: "The most characters of a result for a model, if that is less than the limit of the application."
  },
  enabledTools: {
    schema: Names,
    identity: false,
    connection: false,
    description: "The tools that are offered, with * and ?; absent: all, []: none."
  },
  disabledTools: {
    schema: Names,
    identity: false,
    connection: false,
    description: "The tools that are not offered, even if they are enabled."
  },
  autoApprove: {
    schema: Names,
    identity: false,
    connection: false,
    restrictedTo: "approveTools",
    overlay: "credential",
    aliases: ["alwaysAllow"],
    description:
      "The tools that are called without asking. Not read from files of a project, which may not allow themselves."
  }
} as const satisfies Rows

/** The fields that discovery sets. No file may set them. */
export const found = {
  blocked: {
    schema: Blocked,
    identity: false,
    description: "Why it must not be used, by policy or for want of trust. It is there to be seen."
  },
  expansion: {
    schema: Expansion,
    identity: false,
    description: "Its texts are templates, and this is what they may be resolved with."
  },
  provenance: { schema: Provenance, identity: false, connection: false, description: "Where it was found." }
} as const satisfies Rows

const variables = {
  schema: Variables,
  identity: true,
  template: "argument",
  overlay: "credential",
  label: "variable",
  description: "Its variables. A value can take others: ${env:NAME}, ${input:id}, ${secret:id}."
} as const

const inheritEnv = {
  schema: Inherited,
  identity: true,
  restrictedTo: "environment",
  overlay: "credential",
  label: "environment",
  description:
    "What it gets of the environment: false, only what every program needs (default); true, all; a list, these too."
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
    description: "One program, by name or path: no line for a shell."
  },
  args: { ...args, description: "Its arguments, each by itself." },
  cwd: {
    schema: Folder,
    identity: true,
    template: "cwd",
    overlay: "target",
    label: "folder",
    description: "The folder it is started in. A relative one begins at the project, or beside this file."
  },
  env: variables,
  withoutEnv: {
    schema: VariableNames,
    identity: true,
    overlay: "credential",
    label: "not inherited",
    description: "Variables that it does not get, even if they are inherited."
  },
  envFile: {
    schema: EnvFile,
    identity: true,
    template: "argument",
    overlay: "credential",
    label: "variables from",
    description: "A file of NAME=value lines, read at each start; `env` is stronger."
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
    description: "The program `docker`, by name or path."
  },
  profile: {
    schema: ProfileName,
    identity: true,
    template: "argument",
    overlay: "target",
    description: "The profile whose servers it runs; Docker takes either this or `servers`."
  },
  servers: {
    schema: Listed,
    identity: true,
    template: "argument",
    overlay: "target",
    description: "The servers of the catalog that it runs."
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
    description: "What it is sent with every request. Secrets are better not written here: ${env:NAME}."
  },
  bearerTokenEnvVar: {
    schema: VariableName,
    identity: true,
    overlay: "credential",
    label: "token from the variable",
    description: "The name of an environment variable that holds a bearer token."
  },
  headersCommand: {
    schema: Argv,
    identity: true,
    template: "command",
    overlay: "credential",
    label: "program for headers",
    description: "A program and its arguments, without a shell, that prints more headers as a JSON object."
  },
  oauth: {
    schema: Login,
    identity: true,
    overlay: "credential",
    label: "login",
    description: "How to log in if the server asks for it; false: not at all."
  },
  proxy: {
    schema: ProxyAddress,
    identity: true,
    restrictedTo: "environment",
    overlay: "target",
    label: "proxy",
    description:
      "The HTTP proxy that it is reached through, or `direct`. Default: as the environment says (HTTPS_PROXY)."
  },
  allowUnencrypted: {
    schema: Flag,
    identity: true,
    restrictedTo: "environment",
    overlay: "target",
    description:
      "Whether credentials may be sent to an address of another machine without encryption, where others can read them."
  }
} as const satisfies Rows

const address = {
  required: true,
  identity: true,
  template: "url",
  overlay: "target",
  label: "address",
  description: "Where it is. It can have variables: ${env:NAME}, ${input:id}, ${secret:id}."
} as const

/** A server behind an HTTP endpoint. */
export const http = {
  url: { ...address, schema: HttpAddress },
  ...remote,
  sseFallback: {
    schema: Flag,
    identity: true,
    description:
      "Whether 400, 404 or 405 to the first request means that HTTP+SSE (2024-11-05) is tried; default: true."
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
