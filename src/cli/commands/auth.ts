/** `mcp-runtime auth`: logs in to and out of remote servers. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Credentials from "../../auth/Credentials.ts"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as ErrorRow from "../../errorRow.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import { Usage, usage } from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Layout from "../layout.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as View from "../serverView.ts"

const State = Schema.Literal("logged-in", "logged-out", "configured", "off", "needs approval", "failed", "unknown")

const Login = Schema.Struct({
  server: Schema.String,
  /** `configured`: the configuration has the credentials. */
  state: State,
  issuer: orNull(Schema.String),
  scopes: Schema.Array(Schema.String),
  /** Milliseconds since 1970. */
  expiresAt: orNull(Schema.Number),
  /** True if it is renewed automatically. */
  renewable: Schema.Boolean,
  error: orNull(View.Failure)
})

/** The document of `auth --json`. */
export const Logins = Schema.Struct({
  /** For people. */
  keptIn: Schema.String,
  servers: Schema.Array(Login)
})

type Login = typeof Login.Type

/** The outcome of an action: the logins for the document, and the output for people. */
interface Outcome {
  readonly logins: ReadonlyArray<Login>
  readonly out: ReadonlyArray<Screen.Line>
  readonly notes: ReadonlyArray<string>
}

const without = (server: string, state: Login["state"], error?: McpRuntime.ConnectFailure): Login => ({
  server,
  state,
  scopes: [],
  renewable: false,
  error: error && View.failureOf(error)
})

const scopesOf = (text: string): ReadonlyArray<string> => text.split(" ").filter((scope) => scope !== "")

const loginOf = (server: string, status: Credentials.Status): Login =>
  status._tag === "LoggedIn"
    ? { ...status, server, state: "logged-in", scopes: scopesOf(status.scope ?? "") }
    : without(server, status._tag === "Configured" ? "configured" : "logged-out")

const styles: Record<Login["state"], Screen.Style> = {
  "logged-in": "good",
  "logged-out": "warning",
  "configured": "plain",
  "off": "weak",
  "needs approval": "warning",
  "failed": "bad",
  "unknown": "bad"
}

const minute = (milliseconds: number): string =>
  `${DateTime.formatIso(DateTime.unsafeMake(milliseconds)).slice(0, 16).replace("T", " ")} UTC`

const until = ({ expiresAt, renewable, state }: Login): string => {
  if (state !== "logged-in") return "-"
  if (renewable) return "renewed automatically"
  return typeof expiresAt === "number" ? minute(expiresAt) : "unknown"
}

const columns: ReadonlyArray<Layout.Column<Login>> = [
  { title: "SERVER", cell: ({ server }) => ({ text: server, style: "strong" }) },
  { title: "LOGIN", cell: ({ state }) => ({ text: state, style: styles[state] }) },
  { title: "SCOPES", rank: 3, cell: ({ scopes }) => scopes.join(" ") || "-" },
  { title: "EXPIRES", rank: 2, cell: until },
  { title: "ISSUER", rank: 1, cell: ({ issuer }) => issuer ?? "-" }
]

const isRemote = (found: ConfigDiscovery.Found): boolean => {
  const transport = View.transportOf(found)
  return transport !== undefined && transport !== "stdio" && transport !== "docker"
}

/** The named remote server, those of `--server`, or all. */
const meant = (
  server: string | undefined,
  names: ReadonlyArray<string>,
  discovery: ConfigDiscovery.Discovery
): Effect.Effect<ReadonlyArray<ConfigDiscovery.Found>, Command.Failure> =>
  Effect.gen(function*() {
    const named = yield* Application.named(names, discovery)
    if (server === undefined) return (named.length === 0 ? discovery.servers : named).filter(isRemote)
    yield* NoServers.refuse(discovery)
    const found = yield* Application.server(server, discovery)
    if (isRemote(found)) return [found]
    return yield* new Usage({
      detail: `the server "${server}" is local and needs no login`,
      next: "`mcp-runtime auth status` lists the remote servers."
    })
  })

/** Notes that the login succeeded although the connection failed. */
const unused = ({ runtime }: Application.Application, server: string, error: McpRuntime.ConnectFailure) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    if (
      (error._tag === "AuthorizationFailed" && error.reason !== "unauthorized") ||
      (yield* runtime.servers.loginStatus(server))._tag !== "LoggedIn"
    ) return
    yield* screen.note(`You are logged in to ${server}, but the connection failed.`)
  })

const login = (application: Application.Application, server: string) =>
  Effect.gen(function*() {
    const { keptIn, runtime: { servers } } = application
    if ((yield* servers.loginStatus(server))._tag === "Configured") {
      return yield* new Usage({
        detail: `the configuration of "${server}" contains credentials, so login is disabled`,
        next: "Remove the credentials, or `oauth: false`, from its configuration first."
      })
    }
    yield* Effect.tapError(servers.login(server), (error) => unused(application, server, error))
    const now = loginOf(server, yield* servers.loginStatus(server))
    return {
      logins: [now],
      out: [
        [{ text: "logged in", style: "good" }, ` to ${server} at ${now.issuer ?? "?"}`],
        ...(now.scopes.length === 0 ? [] : [`  scopes: ${now.scopes.join(" ")}`])
      ],
      notes: [`Login saved in ${yield* keptIn}`]
    } satisfies Outcome
  })

const logout = ({ runtime: { servers } }: Application.Application, server: string) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const before = yield* servers.loginStatus(server)
    // the client registration is deleted too, even without tokens
    const error = before._tag === "Configured" ? undefined : (yield* servers.logout(server)).error
    if (error !== undefined) {
      yield* screen.note(`Tokens were deleted but not revoked; they may stay valid until they expire: ${error.message}`)
    }
    const was = before._tag === "LoggedIn"
    return {
      logins: [loginOf(server, yield* servers.loginStatus(server))],
      out: was ? [[{ text: "logged out", style: "good" }, ` of ${server}`]] : [],
      notes: was ? [] : [`${server}: not logged in`]
    } satisfies Outcome
  })

const status = (
  { keptIn, runtime: { servers } }: Application.Application,
  found: ReadonlyArray<ConfigDiscovery.Found>
) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const logins = yield* Effect.forEach(found, ({ name, state }) =>
      state._tag === "Ready"
        ? Effect.match(servers.loginStatus(name), {
          onFailure: (error) => without(name, "unknown", error),
          onSuccess: (status) => loginOf(name, status)
        })
        : Effect.succeed(without(name, View.initial[state._tag])))
    return logins.length === 0
      ? { logins, out: [], notes: ["No remote servers are configured."] } satisfies Outcome
      : {
        logins,
        out: Layout.table(columns, logins, screen.columns),
        notes: [...logins.flatMap(({ error }) => error?.message ?? []), `Logins are saved in ${yield* keptIn}`]
      } satisfies Outcome
  })

const actions = ["login", "logout", "status"]

const run: Command.Command["run"] = ({ args: [action = "status", server], isSet, shared, values }) => {
  if (!actions.includes(action)) {
    return usage(`unknown action "${action}"`, suggestion(nearest(action, actions)))
  }
  if (server === undefined && action !== "status") {
    return usage(
      "missing argument SERVER",
      `Usage: mcp-runtime auth ${action} SERVER; \`mcp-runtime auth status\` lists the servers.`
    )
  }
  const changes = server !== undefined && action !== "status" ? server : undefined
  const choose = (discovery: ConfigDiscovery.Discovery) =>
    Effect.gen(function*() {
      const found = yield* meant(server, shared.servers, discovery)
      if (changes !== undefined) { for (const one of found) yield* Application.usable(one, discovery) }
      return {
        servers: found.map(({ name }) => name),
        consent: changes !== undefined,
        lazy: true,
        browser: !isSet("no-browser"),
        scopes: values("scope").flatMap(scopesOf)
      }
    })
  return Application.use(shared, choose, (application) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      const { discovery, keptIn } = application
      const { logins, notes, out }: Outcome = changes === undefined
        ? yield* status(application, yield* meant(server, shared.servers, discovery))
        : yield* (action === "login" ? login : logout)(application, changes)
      if (shared.json) yield* screen.json(Logins, { keptIn: yield* keptIn, servers: logins })
      else if (discovery.servers.length === 0) yield* NoServers.note
      else {
        yield* screen.out(...out)
        yield* screen.note(...notes)
      }
      const isMissing = action === "status" && server !== undefined && logins[0]?.state === "logged-out"
      if (isMissing) yield* screen.note(ErrorRow.logIn(server))
      return isMissing ? ExitCode.permission : ExitCode.ok
    }))
}

export const command: Command.Command = {
  description: [
    "`auth login SERVER` opens the login page in a browser and waits for the redirect (5 minutes, or --timeout). If the "
    + "browser is on another machine, open the printed URL there, and paste the URL of the final page into the terminal.",
    "`auth status` sends no requests. With a server, it exits with 5 if you are not logged in to that server."
  ],
  args: [
    { name: "action", about: "login, logout or status (default)", required: false, choices: actions },
    { name: "server", about: "Remote server", required: false }
  ],
  options: [
    { name: "no-browser", about: "Print the login URL and open no browser" },
    {
      name: "scope",
      value: "SCOPE",
      repeated: true,
      about: "Also request this OAuth scope (default: the scopes that the server names)"
    }
  ],
  examples: [
    ["auth login github", "Log in with the browser"],
    ["auth login github --no-browser", "Log in with a browser on another machine"],
    ["auth status --json", "Print all logins with scopes and expiry as JSON"],
    ["auth logout github", "Revoke and delete the login"]
  ],
  run
}
