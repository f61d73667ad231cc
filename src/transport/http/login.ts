/**
 * A client whose requests carry a login. A request that is refused for an outdated login is sent again, which repeats
 * nothing: a refused request was not executed.
 */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { IncomingMessage } from "node:http"
import * as McpError from "../../McpError.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Client from "./client.ts"
import * as Refusal from "./refusal.ts"

export const client = (
  inner: Client.HttpClient,
  server: string,
  url: URL,
  login: RemoteHeaders.Login
): Client.HttpClient => {
  const asked = <A>(question: Effect.Effect<A, McpError.AuthorizationFailed>) =>
    Effect.catchAllDefect(question, () =>
      new McpError.AuthorizationFailed({
        server,
        reason: "login",
        detail: "asking for a token came to an unexpected end"
      }))

  const isOutdated = (call: Client.Call, response: IncomingMessage, sent: RemoteHeaders.Headers, attempt: number) => {
    const nonce = response.headers["dpop-nonce"]
    if (typeof nonce === "string") login.nonce(nonce)
    const { statusCode } = response
    if (statusCode !== 401 && statusCode !== 403) return Effect.succeed(false)
    const { error, resourceMetadata, schemes, scope } = Refusal.challengeOf(response.headers["www-authenticate"])
    return asked(login.refused({
      status: statusCode,
      challenge: { schemes, error, resourceMetadata, scope },
      sent,
      attempt,
      foreground: call.foreground === true,
      waiting: (open) => call.waiting?.(open)
    }))
  }

  const headersOf = ({ method, path }: Client.Call) =>
    Effect.suspend(() => asked(login.headers({ method, url: new URL(path, url.origin).href })))

  const exchange: Client.HttpClient["exchange"] = <A, E>(
    call: Client.Call,
    read: (response: IncomingMessage) => Effect.Effect<A, E>
  ) => {
    const send = (headers: RemoteHeaders.Headers, attempt: number): Effect.Effect<A, E | McpError.ConnectError> => {
      const flat = Array.from(headers).flatMap(([name, value]) => [name, Redacted.value(value)])
      const answer = inner.exchange(
        { ...call, headers: call.headers.concat(flat) },
        (response): Effect.Effect<Option.Option<A>, E | McpError.AuthorizationFailed> =>
          Effect.flatMap(isOutdated(call, response, headers, attempt), (isOutdated) => {
            if (!isOutdated) return Effect.asSome(read(response))
            response.resume()
            return Effect.succeedNone
          })
      )
      return Effect.flatMap(
        answer,
        Option.match({
          onNone: () => Effect.flatMap(headersOf(call), (next) => send(next, attempt + 1)),
          onSome: Effect.succeed
        })
      )
    }
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const headers = login.now(now)
      return headers === undefined
        ? Effect.flatMap(headersOf(call), (first) => send(first, 0))
        : send(headers, 0)
    })
  }

  return { ...inner, exchange }
}
