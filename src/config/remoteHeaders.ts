/**
 * The headers of remote servers: those that a configuration names, written, from a variable or from a program; and the
 * addresses that credentials must not be sent to, because they are not encrypted.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import { isCredential } from "../text/credentialName.ts"
import * as HeaderField from "../text/headerField.ts"
import { quote } from "../text/UntrustedText.ts"
import { Secrets } from "./fieldSchema.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Program from "./program.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as ServerEntry from "./serverEntry.ts"

/** A server that is reached over the network. */
export type RemoteServer = ServerConfig.HttpServer | ServerConfig.SseServer | ServerConfig.WebSocketServer

export type Headers = ReadonlyMap<string, Redacted.Redacted>

/** Headers that change the framing of a message; the transport sets them. */
const framing: ReadonlySet<string> = new Set(
  ("connection content-encoding content-length expect host keep-alive proxy-connection te trailer " +
    "transfer-encoding upgrade").split(" ")
)

/** The fault of a header that cannot be sent. It does not quote the value, because that may be a secret. */
const faultOf = (name: string, value: Redacted.Redacted): string | undefined => {
  if (!HeaderField.isName(name)) return "the name of the header is not a token"
  if (framing.has(name.toLowerCase())) return "this header is set by the transport"
  return HeaderField.isValue(Redacted.value(value))
    ? undefined
    : "the value contains characters that a header cannot contain"
}

const decode = Schema.decode(Schema.parseJson(Secrets))

/**
 * Runs a program (argv, no shell) that prints a JSON object of headers. It gets no more of the environment than a server,
 * because the configuration chose it.
 */
const printed = (argv: readonly [string, ...ReadonlyArray<string>]): Effect.Effect<Headers, string> =>
  HostEnvironment.HostEnvironment.pipe(
    Effect.flatMap((host) => Program.run({ argv, host })),
    Effect.flatMap((text) => Effect.mapError(decode(text), () => "did not print a JSON object of strings"))
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
  const isExposed = config.allowUnencrypted !== true && isClear(new URL(config.url))
  const exposed = isExposed ? Array.from(headers.keys()).find((name) => isCredential(name)) : undefined
  if (exposed !== undefined) {
    const detail = `it is not encrypted, and the header ${
      quote(exposed)
    } is sent to it: use https, or set allowUnencrypted`
    return yield* invalid("url", detail)
  }
  return headers
})

/** True for a host, as the URL parser writes it, that is this machine. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host.replace(/\.$/, ""))

/** True for an address of another machine without encryption. */
export const isClear = ({ hostname, protocol }: URL): boolean =>
  (protocol === "http:" || protocol === "ws:") && !isLoopback(hostname)

type Sent = "headers" | "headersCommand" | "oauth"

/** True if the requests to a server have credentials, by their names and sources. */
export const hasCredentials = (
  { headers, headersCommand, oauth }: Pick<RemoteServer, Sent> | Pick<ServerEntry.RemoteEntry, Sent>
): boolean =>
  headersCommand !== undefined || (typeof oauth === "object" && oauth.clientSecret !== undefined) ||
  Array.from<readonly [string, string | Redacted.Redacted]>(headers ?? []).some(([name, value]) =>
    isCredential(name) || Interpolation.references(typeof value === "string" ? value : Redacted.value(value)).length > 0
  )
