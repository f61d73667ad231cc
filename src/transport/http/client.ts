/**
 * HTTP requests to one origin as Effects, over `node:http`: redirects inside the origin, sockets that went stale, and
 * bodies with a cap. The node callbacks end here.
 */
// @effect-diagnostics nodeBuiltinImport:off - the one module that makes HTTP requests, on node's own client
import * as Effect from "effect/Effect"
import type * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex, Readable } from "node:stream"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Failure from "../failure.ts"

export interface Call {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: ReadonlyArray<string>
  readonly body?: string | undefined
  /** True if the server may see it twice without harm. */
  readonly repeatable: boolean
  /** True if a caller waits for it, so that a person may be asked to log in. */
  readonly foreground?: boolean | undefined
  /** Called when a person is asked on behalf of this call, and when that is over. */
  readonly waiting?: ((open: boolean) => void) | undefined
}

export interface HttpClient {
  /** `read` gets the head of the final response. Anything but success, interruption included, destroys the socket. */
  readonly exchange: <A, E>(
    call: Call,
    read: (response: Http.IncomingMessage) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | McpError.ConnectError>
  /** Leaves a response that is of no further interest to its reader; the oldest of more than eight is destroyed. */
  readonly linger: (response: Http.IncomingMessage) => void
  readonly destroy: () => void
}

const maxRedirects = 5
const maxRemembered = 8
const maxLingering = 8
const unhintedIdle = 4000
const freshAfterStale = 32
const redirects = new Set([301, 302, 303, 307, 308])

// loaded with the first client, because most processes reach no server over HTTP
const nodeHttp = () => process.getBuiltinModule("node:http")
const nodeHttps = () => process.getBuiltinModule("node:https")

const agentFor = (secure: boolean, keepAlive: number) => {
  const options = { keepAlive: true, keepAliveMsecs: keepAlive, maxFreeSockets: Infinity }
  const agent = secure ? new (nodeHttps().Agent)(options) : new (nodeHttp().Agent)(options)
  let idle = Math.min(unhintedIdle, keepAlive)
  // node's own version keeps a socket forever when the server gives no hint, and then reuses closed ones
  const keepSocketAlive = (socket: Socket): boolean => {
    socket.setKeepAlive(true, keepAlive)
    socket.unref()
    socket.setTimeout(idle)
    return idle > 0
  }
  Object.assign(agent, { keepSocketAlive })
  const hint = (header: string | ReadonlyArray<string> | undefined): void => {
    const seconds = typeof header === "string" ? /(?:^|[,\s])timeout=(\d{1,9})/i.exec(header)?.[1] : undefined
    if (seconds !== undefined) idle = Math.min(Math.max(0, Number(seconds) * 1000 - 1000), keepAlive)
  }
  return { agent, hint }
}

/** A client with sockets of its own, which are kept alive for as long as the server says. */
export const make = (server: string, url: URL, keepAlive: number): HttpClient => {
  const secure = url.protocol === "https:"
  const { agent, hint } = agentFor(secure, keepAlive)
  const { request } = secure ? nodeHttps() : nodeHttp()
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  const lingering = new Set<Http.IncomingMessage>()
  // many servers answer `/mcp` with 307 to `/mcp/`, every time
  const moved = new Map<string, string>()
  let distrust = 0
  let destroyed = false

  const exchange: HttpClient["exchange"] = (call, read) =>
    Effect.suspend(() => {
      let path = moved.get(call.path) ?? call.path
      let current: Http.ClientRequest | undefined

      const send = (fresh: boolean): Effect.Effect<Http.IncomingMessage, McpError.ConnectError> =>
        Effect.async((resume) => {
          if (destroyed) return resume(Effect.interrupt)
          let answered = false
          const { headers, method } = call
          try {
            current = request({ host, port, path, method, headers: headers.slice(), agent: fresh ? false : agent })
          } catch {
            const detail = "the URL or a header cannot be sent"
            return resume(new McpError.ConfigurationError({ server, path: "url", detail }))
          }
          const outgoing = current
          outgoing.on("response", (response) => {
            answered = true
            resume(Effect.succeed(response))
          })
          outgoing.on("error", (error: SystemError) => {
            if (answered) return
            if (outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
              // the server closed either an idle socket or the socket of this request: nothing tells which
              distrust = freshAfterStale
              if (call.repeatable) return resume(send(true))
            }
            resume(network(server, error, isSecuring(outgoing.socket)))
          })
          outgoing.end(call.body)
        })

      const follow = (fresh: boolean, hops: number): Effect.Effect<Http.IncomingMessage, McpError.ConnectError> =>
        Effect.flatMap(send(fresh), (response) => {
          const status = response.statusCode ?? 0
          hint(response.headers["keep-alive"])
          if (!redirects.has(status)) {
            if (status === 404 || status === 410) moved.delete(call.path)
            return Effect.succeed(response)
          }
          const location = response.headers.location
          const base = new URL(path, url.origin)
          if (location === undefined || !URL.canParse(location, base.href)) {
            return Failure.redirected(server, location ?? "", "malformed")
          }
          const to = new URL(location, base)
          if (to.origin !== url.origin) {
            return Failure.redirected(server, location, "other-origin")
          }
          if (status !== 307 && status !== 308 && call.method !== "GET") {
            return Failure.redirected(server, to.href, "method")
          }
          const next = to.pathname + to.search
          if (next === path || hops === maxRedirects) {
            return Failure.redirected(server, to.href, "loop")
          }
          response.resume()
          path = next
          if (moved.size < maxRemembered) moved.set(call.path, next)
          return follow(false, hops + 1)
        })

      const fresh = !call.repeatable && distrust > 0
      if (fresh) distrust--
      return Effect.onError(
        Effect.flatMap(follow(fresh, 0), read),
        () => Effect.sync(() => current?.destroy())
      )
    })

  return {
    exchange,
    linger: (response) => {
      lingering.add(response)
      response.once("close", () => lingering.delete(response))
      const [oldest] = lingering
      if (lingering.size <= maxLingering || oldest === undefined) return
      lingering.delete(oldest)
      oldest.destroy()
    },
    destroy: () => {
      destroyed = true
      for (const response of lingering) response.destroy()
      agent.destroy()
    }
  }
}

/** The fields of a system error that decide. */
export interface SystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly errors?: ReadonlyArray<SystemError>
}

const tls =
  /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$)/

const isSecuring = (socket: Socket | null): boolean =>
  socket !== null && "secureConnecting" in socket && socket.secureConnecting === true

const beforeConnected = (error: SystemError): boolean =>
  error.syscall === "connect" || error.syscall === "getaddrinfo" ||
  (error.errors !== undefined && error.errors.length > 0 && error.errors.every(beforeConnected))

/** The error of a failed socket; `connecting` says that it was not ready yet, so nothing can have been sent. */
export const network = (
  server: string,
  error: SystemError,
  connecting: boolean
): McpError.NetworkError => {
  const code = error.code ?? error.errors?.[0]?.code ?? "UNKNOWN"
  const detail = UntrustedText.excerpt(error.message === "" ? code : error.message, 256)
  if (tls.test(code)) return new McpError.NetworkError({ server, reason: "tls", outcome: "not-sent", code, detail })
  const outcome = connecting || beforeConnected(error) ? "not-sent" : "unknown"
  return new McpError.NetworkError({ server, code, detail, outcome })
}

/** How a body ended: whole; over its cap; cut off by the network; not decodable; in an unknown encoding. */
export type End = "ended" | "oversize" | "cut" | "corrupt" | "encoding"

const decoder = (encoding: string): Duplex | undefined => {
  // loaded with the first body that is compressed
  const zlib = process.getBuiltinModule("node:zlib")
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip()
    case "deflate":
      return zlib.createInflate()
    case "br":
      return zlib.createBrotliDecompress()
    default:
      return undefined
  }
}

/** Reads the decoded body until it ends or `onChunk` returns `false`; calls `onEnd` once. */
export const read = (
  response: Http.IncomingMessage,
  onChunk: (chunk: Buffer) => boolean,
  onEnd: (end: End) => void
): void => {
  const encoding = response.headers["content-encoding"] ?? ""
  const isPlain = encoding === "" || encoding === "identity"
  const decoding = isPlain ? undefined : decoder(encoding)
  const source: Readable = decoding ?? response
  let done = false
  const finish = (end: End): void => {
    if (done) return
    done = true
    decoding?.destroy()
    onEnd(end)
  }
  response.on("error", () => finish("cut"))
  if (response.destroyed) return finish("cut")
  if (!isPlain && decoding === undefined) {
    response.resume()
    return finish("encoding")
  }
  source.on("data", (chunk: Buffer) => {
    if (!done && !onChunk(chunk)) finish("oversize")
  })
  source.on("end", () => finish("ended"))
  if (decoding === undefined) return
  decoding.on("error", () => finish("corrupt"))
  response.pipe(decoding)
}

export interface Body {
  readonly end: End
  readonly text: string
}

/** The body as text; what exceeds the limit is left unread. */
export const text = (response: Http.IncomingMessage, limit: number): Effect.Effect<Body> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let bytes = 0
    read(
      response,
      (chunk) => {
        bytes += chunk.length
        chunks.push(bytes > limit ? chunk.subarray(0, Math.max(0, chunk.length - (bytes - limit))) : chunk)
        return bytes <= limit
      },
      (end) => {
        const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString("utf8")
        resume(Effect.succeed({ end, text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text }))
      }
    )
  })

/**
 * Reads a body that is of no interest, so that its socket can be used again; one over the limit costs the socket. It does
 * not wait for slow bodies: the body of a short response has ended by the next turn of the event loop.
 */
export const drain = (client: HttpClient, response: Http.IncomingMessage, limit: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    let bytes = 0
    client.linger(response)
    read(response, (chunk) => (bytes += chunk.length) <= limit, (end) => {
      if (end !== "ended") response.destroy()
      resume(Effect.void)
    })
    setImmediate(() => resume(Effect.void))
  })

export const isSuccess = (response: Http.IncomingMessage): boolean => {
  const status = response.statusCode ?? 0
  return status >= 200 && status < 300
}

/** Without parameters and in lower case. */
export const mediaType = (response: Http.IncomingMessage): string =>
  (response.headers["content-type"] ?? "").replace(/;.*$/s, "").trim().toLowerCase()
