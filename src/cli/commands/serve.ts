// @effect-diagnostics strictEffectProvide:off -- what is typed decides what is provided
/** `mcp-runtime serve`: all servers behind one. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as NodeHttpListener from "../../node/NodeHttpListener.ts"
import * as NodeMcpServe from "../../node/NodeMcpServe.ts"
import * as NodeStdioLink from "../../node/NodeStdioLink.ts"
import * as Nonce from "../../safety/Nonce.ts"
import * as PermissionRule from "../../safety/PermissionRule.ts"
import type * as Permissions from "../../safety/Permissions.ts"
import * as McpServe from "../../server/McpServe.ts"
import * as StdioServer from "../../server/StdioServer.ts"
import * as ShellWords from "../../text/shellWords.ts"
import * as Answers from "../answers.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"

/** The document of `serve --http PORT --json`, written once it listens. */
export const Serving = Schema.Struct({
  url: Schema.String,
  /** The token that was made; null if callers have one already, or need none. */
  token: Schema.NullOr(Schema.String),
  servers: Schema.Array(Schema.String),
  /** Calls that are allowed where no rule decides and the client cannot ask a person. */
  unattended: Schema.Struct({
    /** `read-only`: the read-only tools of the trusted servers, and what `allow` covers. */
    allows: Schema.Literal("read-only", "everything"),
    trusted: Schema.Array(Schema.String),
    /** The rules of --allow. */
    allow: Schema.Array(Schema.String),
    /** Flags that allow more. */
    flags: Schema.Array(Schema.String)
  })
})

const variable = "MCP_RUNTIME_TOKEN"

/** A token that can be guessed is none. */
const shortest = 16

const usage = (detail: string, next: string) => new Usage({ detail, next })

const portOf = (text: string): Effect.Effect<number, Usage> => {
  const port = Number(text)
  return /^\d{1,5}$/.test(text) && port < 65_536
    ? Effect.succeed(port)
    : Effect.fail(usage(`--http wants a port, and ${text} is none.`, "Say a number below 65536, or 0 for any."))
}

interface Token {
  readonly value: Redacted.Redacted | undefined
  readonly isMade: boolean
}

const tokenIn = (file: string): Effect.Effect<string, McpError.ConfigurationError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.mapError(
      files.readFileString(file),
      ({ message }) => new McpError.ConfigurationError({ server: "", path: file, detail: message })
    ))

const given = (token: string, where: string): Effect.Effect<Token, McpError.ConfigurationError> => {
  const text = token.trim()
  return text.length < shortest || /\s/.test(text)
    ? Effect.fail(
      new McpError.ConfigurationError({
        server: "",
        path: where,
        detail: `a token is one word of ${shortest} characters or more`
      })
    )
    : Effect.succeed({ value: Redacted.make(text), isMade: false })
}

const tokenOf = ({ isSet, value }: Command.Invocation) =>
  Effect.gen(function*() {
    if (isSet("no-token")) return { value: undefined, isMade: false }
    const file = value("token-file")
    if (file !== undefined) return yield* given(yield* tokenIn(file), file)
    const { variables } = yield* HostEnvironment.HostEnvironment
    const known = variables()[variable]
    if (known !== undefined && known !== "") return yield* given(known, variable)
    const nonce = yield* Nonce.Nonce
    return { value: Redacted.make(yield* nonce), isMade: true }
  }).pipe(Effect.provide(NodeFileSystem.layer))

const optionsOf = ({ isSet, value, values }: Command.Invocation): Partial<McpServe.Options> => {
  const shared = new Set(values("share"))
  const output = value("output")
  return {
    single: value("http") === undefined,
    search: isSet("search"),
    naming: isSet("plain") ? "plain" : "qualified",
    output: output === "wrap" || output === "asis" ? output : "clean",
    shared: (server) => shared.has(server)
  }
}

/** The rules of --allow. */
const allowed = ({ values }: Command.Invocation): Effect.Effect<ReadonlyArray<PermissionRule.Input>, Usage> =>
  Effect.forEach(values("allow"), (tool) => {
    const rule: PermissionRule.Input = { decision: "allow", tool, source: "user" }
    return Either.match(PermissionRule.parse(rule), {
      onLeft: ({ detail }) =>
        Effect.fail(
          usage(`--allow needs a rule such as demo/echo or demo/*, and ${tool} is not valid: ${detail}.`, advice)
        ),
      onRight: () => Effect.succeed(rule)
    })
  })

const advice = "Write --allow SERVER/TOOL, once for each rule, or --caller-decides to allow every call."

/** The file whose `permissions.allow` this gateway follows, if there is one. */
const rulesFile = ({ files }: ConfigDiscovery.Discovery): string | undefined =>
  files.find(({ provider, scope }) => provider === "native" && (scope === "session" || scope === "user"))?.path

const permissionsOf = (
  { isSet }: Command.Invocation,
  rules: ReadonlyArray<PermissionRule.Input>,
  file: string | undefined
): Partial<Permissions.Options> => ({
  rules,
  unattended: "read-only",
  remedy: ({ allow, rule }) => {
    if (rule !== undefined) return "change that rule, or use a client that can ask a person (elicitation)"
    if (allow === undefined) return "to allow every call, add --caller-decides to mcp-runtime serve"
    const inFile = file === undefined ? "" : `, or add "${allow}" to permissions.allow in ${file}`
    return `to allow it, add --allow ${ShellWords.quote(allow)} to mcp-runtime serve, ` +
      `or --caller-decides to allow every call${inFile}`
  },
  ...(isSet("caller-decides") ? { otherwise: { model: "allow", program: "allow", person: "allow" } } : {})
})

const unattendedOf = (
  { isSet, values }: Command.Invocation,
  { configs }: ConfigDiscovery.Discovery
): typeof Serving.Type["unattended"] => {
  const isOpen = isSet("caller-decides")
  const usable = configs.filter(({ blocked, enabled }) => blocked === undefined && enabled !== false)
  const patterns = usable.flatMap(({ name: server }) => {
    const tool = `${server}/*`
    // a server's name may have characters that a rule cannot have
    const rule = PermissionRule.parse({ decision: "allow", tool })
    const isRule = Either.isRight(rule) && rule.right.matches({ kind: "tool", server, name: "any" })
    return isRule ? [`--allow ${ShellWords.quote(tool)}`] : []
  })
  return {
    allows: isOpen ? "everything" : "read-only",
    trusted: usable.filter(ServerConfig.isTrusted).map(({ name }) => name),
    allow: values("allow"),
    flags: isOpen ? [] : [...patterns, "--caller-decides"]
  }
}

const most = 5

const listed = (names: ReadonlyArray<string>): string =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ")

/** Printed at the start, because most calls of a client without elicitation are refused. */
const banner = (
  { allow, allows, flags, trusted }: typeof Serving.Type["unattended"]
): ReadonlyArray<string> => {
  if (allows === "everything") {
    return ["Calls that no rule decides are allowed (--caller-decides): the client must ask its user before each call."]
  }
  const allowed = [
    ...(trusted.length === 0 ? [] : [`read-only tools of ${listed(trusted)}`]),
    ...(allow.length === 0 ? [] : [`calls that the rule ${listed(allow)} covers`])
  ]
  return [
    "A call that no rule decides is put to the person behind the client, if the client can ask (elicitation).",
    allowed.length === 0
      ? "For a client that cannot ask, all such calls are refused, because no server here is trusted."
      : `For a client that cannot ask, only these are allowed: ${allowed.join(", and ")}.`,
    `To allow more, add ${flags.slice(0, -1).slice(0, most).concat(flags.slice(-1)).join(" or ")} to this command.`
  ]
}

/** Who waits to be agreed to is told on the side: whoever starts this may not see it. */
const tellBlocked = ({ servers }: ConfigDiscovery.Discovery) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const untrusted = servers.filter(({ config }) => config?.blocked === "untrusted").map(({ name }) => name)
    if (untrusted.length > 0) {
      yield* screen.note(`Nobody has agreed to these servers: ${untrusted.join(", ")}. Look with: mcp-runtime approve`)
    }
    if (servers.length === 0) yield* screen.note("No server is configured.")
  })

const overHttp = (
  invocation: Command.Invocation,
  gateway: McpServe.Gateway,
  discovery: ConfigDiscovery.Discovery,
  unattended: typeof Serving.Type["unattended"],
  port: number
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen | Scope.Scope> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { shared, value, values } = invocation
    const token = yield* tokenOf(invocation)
    const { url } = yield* NodeHttpListener.serve(gateway, {
      port,
      host: value("host") ?? NodeHttpListener.defaults.host,
      hosts: ["localhost", "127.0.0.1", "[::1]", ...values("allow-host")],
      origins: values("allow-origin"),
      tokens: token.value === undefined ? {} : { caller: token.value },
      pages: McpServe.pages(gateway)
    })
    const servers = discovery.configs.map(({ name }) => name)
    const made = token.isMade && token.value !== undefined ? Redacted.value(token.value) : undefined
    if (shared.json) yield* screen.json(Serving, { url, token: made ?? null, servers, unattended })
    else {
      yield* screen.out(`Serving ${servers.length} ${servers.length === 1 ? "server" : "servers"} at ${url}`)
      if (made !== undefined) yield* screen.out(`Callers send this header: Authorization: Bearer ${made}`)
      yield* screen.note(...banner(unattended), "Ctrl-C ends it.")
    }
    return yield* Effect.never
  })

const run: Command.Command["run"] = (invocation) => {
  const { shared, value } = invocation
  return Effect.gen(function*() {
    const http = value("http")
    const port = http === undefined ? undefined : yield* portOf(http)
    const rules = yield* allowed(invocation)
    return yield* Application.over(shared, ({ discovery }, ground) =>
      Effect.scoped(Effect.gen(function*() {
        yield* tellBlocked(discovery)
        const runtimes = NodeMcpServe.layerRuntimesDiscovered({
          follow: true,
          logs: shared.verbose,
          resolution: (yield* Answers.make(shared)).sources,
          permissions: permissionsOf(invocation, rules, rulesFile(discovery))
        })
        const needed = yield* Layer.build(
          Layer.merge(
            Layer.provide(runtimes, Layer.succeedContext(ground)),
            NodeMcpServe.layerGuards({ output: { wrap: value("output") === "wrap" } })
          )
        )
        const gateway = yield* Effect.provide(McpServe.make(optionsOf(invocation)), needed)
        const unattended = unattendedOf(invocation, discovery)
        if (port !== undefined) return yield* overHttp(invocation, gateway, discovery, unattended, port)
        const screen = yield* Screen.Screen
        if (discovery.configs.length > 0) yield* screen.note(...banner(unattended))
        yield* Effect.provide(StdioServer.serve(gateway), NodeStdioLink.layer)
        return ExitCode.ok
      })))
  })
}

export const command: Command.Command = {
  description: [
    "Tools and prompts are named after their server. A server that fails costs the others nothing, changes of files are "
    + "followed, and what nobody has agreed to is not started. Every caller has connections of its own to the servers that "
    + "it calls, except those that --share names.",
    "A tool that a rule denies is not offered. A call that no rule decides is put to the person behind the client, if the "
    + "client can ask (elicitation). For a client that cannot ask, read-only tools of trusted servers are allowed and all "
    + "other calls are refused, unless --allow or --caller-decides allows them. A server is trusted if a file of the user or "
    + "the administrator, or of --config, names it; one that a workspace or a plugin names is not.",
    "Without --http it speaks over the standard input and output until the input ends. With --http it listens on this "
    + "machine alone, and callers show a bearer token: that of the variable MCP_RUNTIME_TOKEN or of --token-file, or one "
    + "that is made and told. /health is for anybody; /status and /metrics want the token."
  ],
  args: [],
  options: [
    { name: "http", value: "PORT", about: "At this port of this machine; 0 is any that is free." },
    { name: "host", value: "ADDRESS", about: "The address to listen at (default: 127.0.0.1)." },
    { name: "allow-host", value: "NAME", repeated: true, about: "A name by which it may be called, beside localhost." },
    { name: "allow-origin", value: "ORIGIN", repeated: true, about: "A page of a browser that may call it." },
    { name: "token-file", value: "FILE", about: "The bearer token of callers is in this file." },
    { name: "no-token", about: "Callers need no token. Any program of this machine can call it then." },
    { name: "search", about: "Offer a search, a description and a call in place of all tools." },
    { name: "plain", about: "Name tools as their servers do, where no two servers have the same name." },
    {
      name: "output",
      value: "HOW",
      choices: ["clean", "wrap", "asis"],
      about:
        "What becomes of the texts of servers: what hides in them is taken out (clean, the default), they are also "
        + "marked as somebody else's (wrap), or nothing (asis)."
    },
    { name: "share", value: "SERVER", repeated: true, about: "All callers share the connection to this server." },
    {
      name: "allow",
      value: "RULE",
      repeated: true,
      about: "Allow these calls without asking: demo/echo, demo/* or demo/resource:URI."
    },
    { name: "caller-decides", about: "Allow every call that no rule decides. The client must ask its user." }
  ],
  examples: [
    ["serve", "For the configuration of another program: command mcp-runtime, argument serve."],
    ["serve --http 3333 --server github --server files", "Two servers, at http://127.0.0.1:3333/mcp."],
    ["serve --allow 'github/*'", "All tools of a server, for clients that cannot ask a person."],
    ["serve --search", "Three tools, however many there are."]
  ],
  run
}
