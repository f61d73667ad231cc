// @effect-diagnostics strictEffectProvide:off -- the arguments decide what is provided
/** `mcp-runtime serve`: serves all servers as one MCP server. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
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
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Answers from "../answers.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import { Usage, usage } from "../Command.ts"
import type * as ExitCode from "../ExitCode.ts"
import { counted } from "../layout.ts"
import * as NodeTerminal from "../nodeTerminal.ts"
import { orNull } from "../orNull.ts"
import * as Person from "../person.ts"
import * as Screen from "../Screen.ts"
import * as Unattended from "../unattended.ts"

/** The document of `serve --http PORT --json`, printed once it listens. */
export const Serving = Schema.Struct({
  url: Schema.String,
  /** The generated token; null if a token was given, or none is needed. */
  token: orNull(Schema.String),
  servers: Schema.Array(Schema.String),
  /** The calls that are allowed if no rule covers them and the client does not support elicitation. */
  unattended: Unattended.Unattended
})

const variable = "MCP_RUNTIME_TOKEN"

/** The nesting depth of gateways, passed to their servers, so that a gateway that starts itself exits. */
const depthVariable = "MCP_RUNTIME_SERVING"

/** The maximum depth of gateways with explicit servers (--config, --stdio, --url). */
const maxDepth = 3

/** Adds the depth to the environment of the servers. */
const withDepth = (
  { configs, stdio, urls }: Command.Shared,
  host: HostEnvironment.Host
): Effect.Effect<HostEnvironment.Host, Usage> => {
  const depth = Number(host.variables()[depthVariable]) || 0
  const hasOwnServers = configs.length + stdio.length + urls.length > 0
  return depth < (hasOwnServers ? maxDepth : 1)
    ? Effect.succeed({ ...host, variables: () => ({ ...host.variables(), [depthVariable]: String(depth + 1) }) })
    : usage(
      "this gateway was started by another gateway and would start itself again",
      "Remove the entry that runs `mcp-runtime serve` from the configuration, or give it other servers with --config."
    )
}

/** The minimum length of a token. */
const minToken = 16

const portOf = (text: string): Effect.Effect<number, Usage> => {
  const port = Number(text)
  return /^\d{1,5}$/.test(text) && port < 65_536
    ? Effect.succeed(port)
    : usage(`invalid port "${text}" for --http`, "Use a number from 0 to 65535; 0 picks a free port.")
}

/** The token of clients: from the file or the variable, or generated. */
const tokenOf = ({ isSet, value }: Command.Invocation) =>
  Effect.gen(function*() {
    if (isSet("no-token")) return { tokens: {}, made: undefined }
    const file = value("token-file")
    const { variables } = yield* HostEnvironment.HostEnvironment
    const known = file === undefined
      ? variables()[variable] ?? ""
      : yield* Effect.mapError(
        (yield* FileSystem.FileSystem).readFileString(file),
        () => new Usage({ detail: `cannot read the file ${UntrustedText.quote(file)} (--token-file)` })
      )
    const isMade = file === undefined && known === ""
    const token = isMade ? yield* (yield* Nonce.Nonce) : known.trim()
    if (token.length < minToken || /\s/.test(token)) {
      const detail = `a token must have at least ${minToken} characters and no spaces`
      return yield* new McpError.ConfigurationError({ server: "", path: file ?? variable, detail })
    }
    return { tokens: { caller: Redacted.make(token) }, made: isMade ? token : undefined }
  }).pipe(Effect.provide(NodeContext.layer))

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
    const parsed = PermissionRule.parse(rule)
    return Either.isRight(parsed) ? Effect.succeed(rule) : usage(
      `invalid rule "${tool}" for --allow: ${parsed.left.detail}`,
      "Use SERVER/TOOL or SERVER/*, with one --allow per rule, or --caller-decides to allow every call."
    )
  })

/** The file with `permissions.allow` for this gateway, if there is one. */
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

/** The screen that asks at the terminal of this process while it is in the foreground, also if stdin is the protocol. */
const terminalOf = (isHttp: boolean): Effect.Effect<Screen.Screen["Type"], never, Screen.Screen> =>
  Effect.map(Screen.Screen, (screen) => {
    const interrupt = () => void process.kill(process.pid, "SIGINT")
    const ask = isHttp
      ? (screen.isInteractive ? screen.ask : undefined)
      : NodeTerminal.askAtTerminal(process.stderr, interrupt)
    if (ask === undefined || !NodeTerminal.isForeground()) return { ...screen, isInteractive: false }
    const none: ReturnType<typeof ask> = Effect.as(Effect.void, undefined)
    return {
      ...screen,
      isInteractive: true,
      ask: (question, isSecret) => Effect.suspend(() => NodeTerminal.isForeground() ? ask(question, isSecret) : none)
    }
  })

/** Notes on stderr which servers are not served, because stdout may be the protocol. */
const reportBlocked = ({ servers }: ConfigDiscovery.Discovery) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const untrusted = servers.filter(({ config }) => config?.blocked === "untrusted").map(({ name }) => name)
    if (untrusted.length > 0) {
      yield* screen.note(`These servers need approval: ${untrusted.join(", ")}. Run \`mcp-runtime approve\`.`)
    }
    if (servers.length === 0) yield* screen.note("No servers are configured.")
  })

const overHttp = (
  invocation: Command.Invocation,
  gateway: McpServe.Gateway,
  discovery: ConfigDiscovery.Discovery,
  unattended: Unattended.Unattended,
  port: number
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen | Scope.Scope> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const { shared, value, values } = invocation
    const { made, tokens } = yield* tokenOf(invocation)
    const { url } = yield* NodeHttpListener.serve(gateway, {
      port,
      host: value("host") ?? NodeHttpListener.defaults.host,
      hosts: ["localhost", "127.0.0.1", "[::1]", ...values("allow-host")],
      origins: values("allow-origin"),
      tokens,
      pages: McpServe.pages(gateway)
    })
    const servers = discovery.configs.map(({ name }) => name)
    if (shared.json) yield* screen.json(Serving, { url, token: made, servers, unattended })
    else {
      yield* screen.out(`Serving ${counted(servers.length, "server")} at ${url}`)
      if (made !== undefined) yield* screen.out(`Clients must send this header: Authorization: Bearer ${made}`)
      yield* screen.note(...Unattended.banner(unattended), "Press Ctrl-C to stop.")
    }
    return yield* Effect.never
  })

const run: Command.Command["run"] = (invocation) => {
  const { isSet, shared, value } = invocation
  return Effect.gen(function*() {
    const http = value("http")
    const port = http === undefined ? undefined : yield* portOf(http)
    const rules = yield* allowed(invocation)
    const host = value("print-config")
    if (host !== undefined) {
      const printConfig = yield* Effect.promise(() => import("../printConfig.ts"))
      return yield* Application.over(shared, (found) => printConfig.run(invocation, host, found))
    }
    const environment = yield* withDepth(shared, yield* HostEnvironment.HostEnvironment)
    return yield* Application.over(shared, ({ adapt, discovery }) =>
      Effect.scoped(Effect.gen(function*() {
        yield* reportBlocked(discovery)
        const terminal = yield* terminalOf(port !== undefined)
        const resolution = yield* Effect.provideService(
          Answers.make(shared, discovery.servers, new Set(shared.servers)),
          Screen.Screen,
          terminal
        )
        const isAttended = terminal.isInteractive && !isSet("caller-decides")
        const approval = isAttended ? Person.approval(terminal, yield* Effect.makeSemaphore(1)) : Layer.empty
        const runtimes = NodeMcpServe.layerRuntimesDiscovered({
          adapt,
          follow: true,
          logs: shared.verbose,
          resolution,
          permissions: permissionsOf(invocation, rules, rulesFile(discovery))
        })
        const needed = yield* Layer.build(
          Layer.merge(
            Layer.provide(runtimes, approval),
            NodeMcpServe.layerGuards({ output: { wrap: value("output") === "wrap" } })
          )
        )
        const gateway = yield* Effect.provide(McpServe.make(optionsOf(invocation)), needed)
        const unattended = Unattended.of(invocation, discovery, isAttended)
        if (port !== undefined) return yield* overHttp(invocation, gateway, discovery, unattended, port)
        const screen = yield* Screen.Screen
        if (discovery.configs.length > 0) yield* screen.note(...Unattended.banner(unattended))
        return yield* Effect.provide(StdioServer.serve(gateway), NodeStdioLink.layer)
      }))).pipe(Effect.provideService(HostEnvironment.HostEnvironment, environment))
  })
}

export const command: Command.Command = {
  description: [
    "Tool and prompt names are prefixed with their server. Each client gets its own connections to the servers, except "
    + "those in --share. Changes to configuration files take effect while it runs, and servers that need approval are not "
    + "started.",
    "If no permission rule covers a call, the client is asked to confirm it with its user (elicitation). If the client "
    + "does not support that, this terminal asks. Without a terminal, only read-only tools of trusted servers are allowed, "
    + "plus those in --allow; --caller-decides allows everything. Servers from user, administrator or --config files are "
    + "trusted; servers from a workspace or a plugin are not.",
    "Without --http it serves over stdin and stdout. With --http it listens on 127.0.0.1, and clients need a "
    + "bearer token: MCP_RUNTIME_TOKEN, --token-file, or a generated token that is printed. /health needs no token; /status "
    + "and /metrics do."
  ],
  args: [],
  options: [
    { name: "http", value: "PORT", about: "Serve over HTTP on this port; 0 picks a free port" },
    { name: "host", value: "ADDRESS", about: "Address to listen on (default: 127.0.0.1)" },
    { name: "allow-host", value: "NAME", repeated: true, about: "Accept this host name in addition to localhost" },
    { name: "allow-origin", value: "ORIGIN", repeated: true, about: "Accept requests from this web origin" },
    { name: "token-file", value: "FILE", about: "Read the bearer token from this file" },
    { name: "no-token", about: "Accept clients without a token; any local program can then call it" },
    { name: "search", about: "Offer three tools (search, describe, call) instead of all tools" },
    { name: "plain", about: "Keep original tool names, unless two servers use the same name" },
    {
      name: "output",
      value: "HOW",
      choices: ["clean", "wrap", "asis"],
      about: "Server text: hidden characters removed (clean, default), also marked as untrusted (wrap), or unchanged"
    },
    { name: "share", value: "SERVER", repeated: true, about: "Share one connection to this server among all clients" },
    {
      name: "allow",
      value: "RULE",
      repeated: true,
      about: "Allow calls without asking: demo/echo, demo/* or demo/resource:URI"
    },
    { name: "caller-decides", about: "Allow all calls that no rule covers; the client must ask its user" },
    {
      name: "print-config",
      value: "HOST",
      about: "Print the configuration entry for a host: claude-desktop, cursor, vscode, codex, …"
    }
  ],
  examples: [
    ["serve --print-config cursor", "Print the entry for Cursor's mcp.json"],
    ["serve --http 3333 --server github --server files", "Serve two servers at http://127.0.0.1:3333/mcp"],
    ["serve --allow 'github/*'", "Allow all tools of a server for clients without elicitation"]
  ],
  run
}
