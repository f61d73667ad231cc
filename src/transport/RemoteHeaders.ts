/**
 * The headers that a remote server wants beside those of the protocol: from its configuration, an environment variable
 * or a program, and, where a Layer says so, from a login.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as ChildEnvironment from "../config/childEnvironment.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Program from "../config/program.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as RequestHeaders from "./http/headers.ts"
import type { Challenge } from "./http/login.ts"

/** A server that is reached over the network. */
export type RemoteServer = ServerConfig.HttpServer | ServerConfig.SseServer | ServerConfig.WebSocketServer

export type Headers = ReadonlyMap<string, Redacted.Redacted>

/** A request that the server refused for its login. */
export interface Refusal {
  readonly status: 401 | 403
  readonly challenge: Challenge
  /** What `Login.headers` gave for the request. */
  readonly sent: Headers
  /** How often the request was sent before. */
  readonly attempt: number
  /** True for a call that a caller waits for, false for what keeps a connection. */
  readonly foreground: boolean
  /** To be called when a person is asked, and when that is over: clocks stand still meanwhile. */
  readonly waiting: (open: boolean) => void
}

/** Credentials that change while a connection lives. */
export interface Login {
  /** The headers of a request where no question to a person or server is needed; the time is in milliseconds. */
  readonly now: (time: number) => Headers | undefined
  /** The headers of one request, asked for right before it is sent. */
  readonly headers: (
    request: { readonly method: string; readonly url: string }
  ) => Effect.Effect<Headers, McpError.AuthorizationFailed>
  /** A number for the next proof (`DPoP-Nonce`), which can come with any response. */
  readonly nonce: (nonce: string) => void
  /** True if there are other headers now, and the request is to be sent again. */
  readonly refused: (refusal: Refusal) => Effect.Effect<boolean, McpError.AuthorizationFailed>
}

/** The headers of one connection. */
export interface Source {
  /** Asked before each request; the same map as long as nothing has changed. */
  readonly current: () => Headers
  /** Told when the server has refused them. */
  readonly refused: (error: McpError.AuthorizationFailed | McpError.HttpError) => void
  readonly login?: Login | undefined
}

/** Headers that stay the same for a connection's life. */
export const constant = (headers: Headers): Source => ({ current: () => headers, refused: () => undefined })

/** Headers that change the framing of a message; the transport sets them. */
const framing: ReadonlySet<string> = new Set(
  ("connection content-encoding content-length expect host keep-alive proxy-connection te trailer " +
    "transfer-encoding upgrade").split(" ")
)

/** Why a header cannot be sent. The value stays out of it, because it may be a secret. */
const faultOf = (name: string, value: Redacted.Redacted): string | undefined => {
  if (!RequestHeaders.isName(name)) return "the name of the header is not a token"
  if (framing.has(name.toLowerCase())) return "this header is set by the transport"
  return RequestHeaders.isValue(Redacted.value(value))
    ? undefined
    : "the value holds characters that a header cannot carry"
}

const decode = Schema.decode(Schema.parseJson(ServerConfig.Secrets))

/**
 * Runs a program (argv, no shell) that prints a JSON object of headers. It gets no more of the environment than a server,
 * because the configuration chose it.
 */
const printed = (argv: readonly [string, ...ReadonlyArray<string>]): Effect.Effect<Headers, string> =>
  HostEnvironment.HostEnvironment.pipe(
    Effect.flatMap((host) => Program.run({ argv, environment: ChildEnvironment.make({}, host) })),
    Effect.flatMap((text) => Effect.mapError(decode(text), () => "did not print a JSON object of texts"))
  )

const bearer = (variable: string): Effect.Effect<Headers, string> =>
  Config.redacted(variable).pipe(
    Effect.mapError(() => `the variable ${JSON.stringify(variable)} is not set`),
    Effect.map((token) => new Map([["authorization", Redacted.make(`Bearer ${Redacted.value(token).trim()}`)]]))
  )

/**
 * The headers of a configuration, later ones in place of earlier ones whatever the case of their names: `headers`, the
 * bearer token, then those that the program prints. Untraced, because a span would keep an error as it is before its
 * secrets are hidden.
 */
export const fromConfig = Effect.fnUntraced(function*(config: RemoteServer) {
  const { bearerTokenEnvVar, headersCommand } = config
  const headers = new Map<string, Redacted.Redacted>()
  const invalid = (path: string, detail: string) =>
    new McpError.ConfigurationError({ server: config.name, path, detail })
  const add = (path: string, source: Effect.Effect<Headers, string>) =>
    Effect.flatMap(Effect.mapError(source, (detail) => invalid(path, detail)), (more) => {
      for (const [name, value] of more) {
        const fault = faultOf(name, value)
        if (fault !== undefined) return invalid(`${path}.${name}`, fault)
        headers.set(name.toLowerCase(), value)
      }
      return Effect.void
    })
  yield* add("headers", Effect.succeed(config.headers ?? new Map()))
  if (bearerTokenEnvVar !== undefined) yield* add("bearerTokenEnvVar", bearer(bearerTokenEnvVar))
  if (headersCommand !== undefined) yield* add("headersCommand", printed(headersCommand))
  return headers
})

/** Turns the configuration of a server into headers, at each connect. By default: the configuration alone. */
export class RemoteHeaders extends Context.Reference<RemoteHeaders>()("effect-mcp-runtime/transport/RemoteHeaders", {
  defaultValue: (): {
    readonly resolve: (config: RemoteServer) => Effect.Effect<Source, McpError.ConnectError, Scope.Scope>
  } => ({ resolve: (config) => Effect.map(fromConfig(config), constant) })
}) {}

/**
 * The headers of the fiber that opens a connection, because the credentials of a runtime may be made after its transports;
 * without any, those of the environment that this is run in.
 */
export const whenOpened: Effect.Effect<RemoteHeaders["Type"]> = Effect.map(RemoteHeaders, (built) => ({
  resolve: (config) =>
    Effect.contextWithEffect((context: Context.Context<never>) =>
      (context.unsafeMap.has(RemoteHeaders.key) ? Context.get(context, RemoteHeaders) : built).resolve(config)
    )
}))

/** Headers whose values are no secrets; errors quote them. */
const harmless: ReadonlySet<string> = new Set(
  ("accept accept-encoding accept-language baggage cache-control content-type mcp-protocol-version " +
    "origin referer traceparent tracestate user-agent").split(" ")
)

const scheme = /^[A-Za-z][\w-]{1,20}\s+/

/** The credential after the name of its scheme with the password in it, or the whole value and the cookies in it. */
const secretsIn = (header: string): ReadonlyArray<string> => {
  const named = scheme.exec(header)
  if (named === null) return header.split(/;\s*/).flatMap((pair) => [pair, pair.slice(pair.indexOf("=") + 1)])
  const credential = header.slice(named[0].length)
  if (!/^basic\s/i.test(header)) return [credential]
  const pair = Buffer.from(credential, "base64").toString("utf8")
  return [credential, pair, pair.slice(pair.indexOf(":") + 1)]
}

/** Shorter values of headers with unknown names are `1`, `true` and `eu-west`. */
const shortest = 8

const isSecret = (name: string, value: string): boolean =>
  value.length >= shortest || (value !== "" && /auth|cookie|key|pass|secret|token/i.test(name))

/** Makes `Redaction` hide what the source gives until the scope closes, because servers echo what they were sent. */
export const secret = (source: Source): Effect.Effect<Source, never, Scope.Scope> =>
  Effect.gen(function*() {
    const redaction = yield* Redaction.Redaction
    const releases: Array<() => void> = []
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const release of releases) release()
      })
    )
    let seen: Headers | undefined
    const current = (): Headers => {
      const headers = source.current()
      if (headers === seen) return headers
      seen = headers
      for (const [name, header] of headers) {
        if (harmless.has(name.toLowerCase())) continue
        for (const value of secretsIn(Redacted.value(header))) {
          if (isSecret(name, value)) releases.push(redaction.unsafeKnow(Redacted.make(value)))
        }
      }
      return headers
    }
    return { login: source.login, refused: source.refused, current }
  })
