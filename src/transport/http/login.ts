/** What `WWW-Authenticate` asks for, and the headers of a login: asked for before a request, and again after a refusal. */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Client from "./client.ts"

/** What a `WWW-Authenticate` header asks for: untrusted. */
export interface Challenge {
  /** In lower case. */
  readonly schemes: ReadonlyArray<string>
  readonly error: string | undefined
  /** The header itself, escaped and bounded. */
  readonly challenge?: string | undefined
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
}

const longestChallenge = 8 * 1024
const parameter = /([a-z_]{1,32})=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi
/** A challenge begins with a word that no `=` follows. */
const schemeName = /(?:^|,)\s*([a-z][a-z0-9-]{0,31})(?=\s+[a-z_]|\s*(?:,|$))/gi

export const challengeOf = (header: string | undefined): Challenge => {
  const text = (header ?? "").slice(0, longestChallenge)
  const parameters = new Map<string, string>()
  for (const [, name, quoted, token] of text.matchAll(parameter)) {
    const key = name!.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, "$1") ?? token!)
  }
  return {
    schemes: Array.from(text.matchAll(schemeName), ([, name]) => name!.toLowerCase()),
    error: parameters.get("error"),
    challenge: header === undefined ? undefined : UntrustedText.excerpt(text),
    resourceMetadata: parameters.get("resource_metadata"),
    scope: parameters.get("scope")
  }
}

const asked = <A>(server: string, question: Effect.Effect<A, McpError.AuthorizationFailed>) =>
  Effect.catchAllDefect(question, () =>
    new McpError.AuthorizationFailed({
      server,
      reason: "login",
      detail: "asking for a token came to an unexpected end"
    }))

export const headers = (server: string, url: URL, login: RemoteHeaders.Login, { method, path }: Client.Call) =>
  asked(server, Effect.suspend(() => login.headers({ method, url: new URL(path, url.origin).href })))

/**
 * True if the request was refused for its login and can be sent again with another, which repeats nothing: a refused
 * request was not executed. Nothing to ask for most responses.
 */
export const refused = (
  server: string,
  login: RemoteHeaders.Login,
  call: Client.Call,
  { headers, statusCode: status }: IncomingMessage,
  sent: RemoteHeaders.Headers,
  attempt: number
): Effect.Effect<boolean, McpError.AuthorizationFailed> | undefined => {
  const nonce = headers["dpop-nonce"]
  if (typeof nonce === "string") login.nonce(nonce)
  if (status !== 401 && status !== 403) return undefined
  const challenge = challengeOf(headers["www-authenticate"])
  return asked(
    server,
    Effect.suspend(() =>
      login.refused({
        status,
        challenge,
        sent,
        attempt,
        foreground: call.foreground === true,
        waiting: (open) => call.waiting?.(open)
      })
    )
  )
}
