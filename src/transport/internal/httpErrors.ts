/** @internal */
import * as Duration from "effect/Duration"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Challenge from "./challenge.ts"

/**
 * The fields of a system error that decide.
 *
 * @internal
 */
export interface SystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly errors?: ReadonlyArray<SystemError>
}

const tls =
  /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$)/

const beforeConnected = (error: SystemError): boolean =>
  error.syscall === "connect" || error.syscall === "getaddrinfo" ||
  (error.errors !== undefined && error.errors.length > 0 && error.errors.every(beforeConnected))

/**
 * What a failed socket means; `connecting` says that the connection was not ready yet, so nothing can have been sent.
 *
 * @internal
 */
export const network = (
  server: string,
  error: SystemError,
  connecting: boolean
): McpError.NetworkError | McpError.TlsError => {
  const code = error.code ?? error.errors?.[0]?.code ?? "UNKNOWN"
  const detail = UntrustedText.excerpt(error.message === "" ? code : error.message, 256)
  return tls.test(code)
    ? new McpError.TlsError({ server, code, detail })
    : new McpError.NetworkError({
      server,
      code,
      detail,
      outcome: connecting || beforeConnected(error) ? "not-sent" : "unknown"
    })
}

/** The three forms of a date in HTTP. `Date.parse` alone takes `-5` and `1.5` for dates. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{10,40}$/

/**
 * `Retry-After` as a duration: whole seconds, or an HTTP date; `undefined` for anything else.
 *
 * @internal
 */
export const retryAfter = (header: string | undefined, now: number): Duration.Duration | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Duration.seconds(Number(text))
  if (!httpDate.test(text)) return undefined
  const date = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`)
  return Number.isNaN(date) ? undefined : Duration.millis(Math.max(0, date - now))
}

/**
 * The headers of a refusal that matter.
 *
 * @internal
 */
export interface RefusalHeaders {
  readonly "www-authenticate"?: string | undefined
  readonly "retry-after"?: string | undefined
}

/**
 * What a status of 400 or more means, where the status alone decides; otherwise `undefined`.
 *
 * @internal
 */
export const decisive = (
  server: string,
  status: number,
  headers: RefusalHeaders,
  body: string,
  now: number
): McpError.Unauthorized | McpError.Forbidden | McpError.RateLimited | McpError.Unavailable | undefined => {
  switch (status) {
    case 401: {
      const { challenge, resourceMetadata, scope } = Challenge.parse(headers["www-authenticate"])
      return new McpError.Unauthorized({ server, challenge, resourceMetadata, scope })
    }
    case 403: {
      const { challenge, scope } = Challenge.parse(headers["www-authenticate"])
      return new McpError.Forbidden({ server, challenge, scope })
    }
    case 429:
      return new McpError.RateLimited({
        server,
        retryAfter: retryAfter(headers["retry-after"], now),
        detail: UntrustedText.excerpt(body)
      })
    case 503: {
      const wait = retryAfter(headers["retry-after"], now)
      return wait === undefined
        ? undefined
        : new McpError.Unavailable({ server, retryAfter: wait, detail: UntrustedText.excerpt(body) })
    }
    default:
      return undefined
  }
}

/** @internal */
export const status = (server: string, status: number, body: string): McpError.HttpStatus =>
  new McpError.HttpStatus({ server, status, excerpt: UntrustedText.excerpt(body), outcome: "unknown" })
