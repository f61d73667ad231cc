/**
 * A client whose requests carry a login, and are sent again when they were refused for one that another has replaced.
 * What is refused was not done, so sending it again does nothing twice.
 *
 * @internal
 */
// @effect-diagnostics nodeBuiltinImport:off - reads responses of node:http
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { IncomingMessage } from "node:http"
import * as McpError from "../../McpError.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import * as Challenge from "./challenge.ts"
import type * as HttpClient from "./httpClient.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly url: URL
  readonly login: RemoteHeaders.Login
  readonly now: () => number
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
}

type Headers = ReadonlyMap<string, Redacted.Redacted>

const flat = (headers: Headers): Array<string> =>
  Array.from(headers).flatMap(([name, value]) => [name, Redacted.value(value)])

const unexpected = (server: string) =>
  new McpError.AuthorizationFailed({ server, reason: "login", detail: "asking for a token came to an unexpected end" })

/** @internal */
export const client = (
  inner: HttpClient.HttpClient,
  { login, now, run, server, url }: Options
): HttpClient.HttpClient => {
  const exchange: HttpClient.HttpClient["exchange"] = (call, reply) => {
    const request = { method: call.method, url: new URL(call.path, url.origin).href }
    let current: HttpClient.Exchange | undefined
    let asking: Fiber.RuntimeFiber<unknown, unknown> | undefined
    let over = false

    const ask = <A>(
      question: Effect.Effect<A, McpError.AuthorizationFailed>,
      answered: (answer: A) => void,
      failed: (error: McpError.AuthorizationFailed) => void
    ): void => {
      const fiber = run(question)
      asking = fiber
      fiber.addObserver((exit) => {
        asking = undefined
        if (over) return
        if (Exit.isSuccess(exit)) return answered(exit.value)
        const error = Cause.failureOption(exit.cause)
        if (Option.isSome(error)) return failed(error.value)
        // a connection that ends tells of it itself; anything else would be waited for in vain
        if (!Cause.isInterruptedOnly(exit.cause)) failed(unexpected(server))
      })
    }

    const send = (headers: Headers, attempt: number): void => {
      current = inner.exchange({ ...call, headers: call.headers.concat(flat(headers)) }, {
        failed: reply.failed,
        response: (response) => onResponse(response, headers, attempt)
      })
    }

    const sendLater = (headers: Headers, attempt: number): void => {
      try {
        send(headers, attempt)
      } catch {
        reply.failed(new McpError.ConfigurationError({ server, path: "url", detail: "no request can be made of it" }))
      }
    }

    const again = (attempt: number): void =>
      ask(login.headers(request), (headers) => sendLater(headers, attempt), reply.failed)

    const onResponse = (response: IncomingMessage, sent: Headers, attempt: number): void => {
      const nonce = response.headers["dpop-nonce"]
      if (typeof nonce === "string") login.nonce(nonce)
      const { statusCode } = response
      if (statusCode !== 401 && statusCode !== 403) return reply.response(response)
      const { error, resourceMetadata, schemes, scope } = Challenge.parse(response.headers["www-authenticate"])
      ask(
        login.refused({
          status: statusCode,
          challenge: { schemes, error, resourceMetadata, scope },
          sent,
          attempt,
          foreground: call.foreground === true,
          waiting: (open) => reply.waiting?.(open)
        }),
        (isOther) => {
          if (!isOther) return reply.response(response)
          response.resume()
          again(attempt + 1)
        },
        (failure) => {
          response.destroy()
          reply.failed(failure)
        }
      )
    }

    const headers = login.now(now())
    if (headers === undefined) again(0)
    else send(headers, 0)

    return {
      destroy: () => {
        over = true
        asking?.unsafeInterruptAsFork(FiberId.none)
        current?.destroy()
      }
    }
  }

  return { exchange, destroy: inner.destroy }
}
