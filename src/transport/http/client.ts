/**
 * HTTP requests to one origin as Effects, over `node:http`: redirects inside the origin, sockets that went stale, logins
 * that are outdated, and bodies with a cap. The node callbacks end here.
 */
// @effect-diagnostics nodeBuiltinImport:off - the one module that makes HTTP requests, on node's own client
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex, Readable } from "node:stream"
import type * as Zlib from "node:zlib"
import * as McpError from "../../McpError.ts"
import * as HeaderField from "../../text/headerField.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Failure from "../failure.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import * as Headers from "./headers.ts"
import * as Proxy from "./proxy.ts"
import type * as Refusal from "./refusal.ts"

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

/** Reads a response from its head on, and goes on with `done`, which takes an `Exit` at no cost. */
export type Read<A, E> = (response: Http.IncomingMessage, done: (result: Effect.Effect<A, E>) => void) => void

export type HttpClient = ReturnType<typeof make>

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
  Object.assign(agent, {
    // node's own version keeps a socket forever when the server gives no hint, and then reuses closed ones
    keepSocketAlive: (socket: Socket): boolean => {
      socket.setKeepAlive(true, keepAlive)
      socket.unref()
      socket.setTimeout(idle)
      return idle > 0
    }
  })
  const hint = (header: string | ReadonlyArray<string> | undefined): void => {
    const seconds = typeof header === "string" ? /(?:^|[,\s])timeout=(\d{1,9})/i.exec(header)?.[1] : undefined
    if (seconds !== undefined) idle = Math.min(Math.max(0, Number(seconds) * 1000 - 1000), keepAlive)
  }
  return { agent, hint }
}

/** What differs between the requests of one exchange. */
export interface Attempt {
  readonly path: string
  /** On a socket of its own, because a kept one may have been closed. */
  readonly fresh: boolean
  readonly hops: number
  /** The headers of the login, which is asked for them where they are absent. */
  readonly sent: RemoteHeaders.Headers | undefined
  /** How often the login was refused. */
  readonly refusals: number
}

/** A client with sockets of its own, which are kept alive for as long as the server says. */
export const make = ({ limits, proxy, server, source: { login } }: Refusal.Peer, url: URL, clock: Clock.Clock) => {
  const secure = url.protocol === "https:"
  // a proxy tunnels connections with TLS; it gets other requests whole, with the URL in place of the path
  const tunnel = secure ? proxy : undefined
  const forward = secure ? undefined : proxy
  const overTls = forward?.secure ?? secure
  const { agent, hint } = agentFor(overTls, Duration.toMillis(limits.keepAlive))
  const ending = new AbortController()
  if (tunnel !== undefined) Proxy.tunneled(agent, tunnel, true, ending.signal)
  const unpooled = () => tunnel === undefined ? false : Proxy.agent(tunnel, true, ending.signal)
  const { request } = overTls ? nodeHttps() : nodeHttp()
  const { host, port, servername } = forward ?? {
    servername: undefined,
    host: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  }
  const prefix = forward === undefined ? "" : url.origin
  const proxyHeaders = Headers.flat(forward?.headers ?? [])
  const lingering = new Set<Http.IncomingMessage>()
  // many servers answer `/mcp` with 307 to `/mcp/`, every time
  const moved = new Map<string, string>()
  let distrust = 0
  let destroyed = false

  const asked = <A>(question: () => Effect.Effect<A, McpError.AuthorizationFailed>) =>
    Effect.catchAllDefect(Effect.suspend(question), () => {
      const detail = "asking for a token came to an unexpected end"
      return new McpError.AuthorizationFailed({ server, reason: "login", detail })
    })

  const first = ({ path, repeatable }: Call): Attempt => {
    const fresh = !repeatable && distrust > 0
    if (fresh) distrust--
    const sent = login?.now(clock.unsafeCurrentTimeMillis())
    return { path: moved.get(path) ?? path, fresh, hops: 0, sent, refusals: 0 }
  }

  const redirected = (call: Call, attempt: Attempt, { headers: { location }, statusCode }: Http.IncomingMessage) => {
    const base = new URL(attempt.path, url.origin)
    if (location === undefined || !URL.canParse(location, base.href)) {
      return Failure.redirected(server, location ?? "", "malformed")
    }
    const to = new URL(location, base)
    const path = to.pathname + to.search
    const refused = (why: McpError.HttpError["redirect"]) => Failure.redirected(server, to.href, why)
    if (to.origin !== url.origin) return refused("other-origin")
    if (statusCode !== 307 && statusCode !== 308 && call.method !== "GET") return refused("method")
    if (path === attempt.path || attempt.hops === maxRedirects) return refused("loop")
    if (moved.size < maxRemembered) moved.set(call.path, path)
    return Effect.succeed({ ...attempt, path, fresh: false, hops: attempt.hops + 1 })
  }

  /** The attempt that a response asks for, if it does; its Effect succeeds with nothing if the response is final. */
  const next = (
    call: Call,
    attempt: Attempt,
    response: Http.IncomingMessage
  ): Effect.Effect<Attempt | undefined, McpError.ConnectError> | undefined => {
    const status = response.statusCode ?? 0
    if (redirects.has(status)) return redirected(call, attempt, response)
    if (status === 404 || status === 410) moved.delete(call.path)
    if (login === undefined) return undefined
    const nonce = response.headers["dpop-nonce"]
    if (typeof nonce === "string") login.nonce(nonce)
    if (status !== 401 && status !== 403) return undefined
    const { refusals, sent = new Map() } = attempt
    const isOutdated = asked(() =>
      login.refused({
        status,
        challenge: HeaderField.challengeOf(response.headers["www-authenticate"]),
        sent,
        attempt: refusals,
        foreground: call.foreground === true,
        waiting: (open) => call.waiting?.(open)
      })
    )
    // this repeats nothing, because a refused request was not executed
    return Effect.map(
      isOutdated,
      (isOutdated) => isOutdated ? { ...attempt, fresh: false, sent: undefined, refusals: refusals + 1 } : undefined
    )
  }

  /** `read` gets the final response. Anything but success, interruption included, destroys the socket. */
  const exchange = <A, E>(
    call: Call,
    read: Read<A, E>,
    given?: Attempt
  ): Effect.Effect<A, E | McpError.ConnectError> =>
    Effect.async((resume) => {
      if (destroyed) return resume(Effect.interrupt)
      const attempt = given ?? first(call)
      if (login !== undefined && attempt.sent === undefined) {
        const headers = asked(() => login.headers({ method: call.method, url: new URL(call.path, url.origin).href }))
        return resume(Effect.flatMap(headers, (sent) => exchange(call, read, { ...attempt, sent })))
      }
      const { fresh, path, sent } = attempt
      const more = sent === undefined || sent.size === 0 ? proxyHeaders : Headers.flat(sent).concat(proxyHeaders)
      const headers = more.length === 0 ? call.headers : call.headers.concat(more)
      let outgoing: Http.ClientRequest
      try {
        const { method } = call
        const options = { host, port, servername, path: prefix + path, method, headers }
        outgoing = request({ ...options, agent: fresh ? unpooled() : agent })
      } catch {
        const detail = "the URL or a header cannot be sent"
        return resume(new McpError.ConfigurationError({ server, path: "url", detail }))
      }
      let isOver = false
      const destroy = Effect.sync(() => {
        isOver = true
        outgoing.destroy()
      })
      const done = (result: Effect.Effect<A, E | McpError.ConnectError>): void =>
        resume(Exit.isExit(result) ? result : Effect.onError(result, () => destroy))
      outgoing.on("response", (response) => {
        isOver = true
        hint(response.headers["keep-alive"])
        if (forward !== undefined && response.statusCode === 407) {
          return done(Proxy.failure(server, Proxy.refused(forward, 407)))
        }
        const following = next(call, attempt, response)
        if (following === undefined) return read(response, done)
        done(Effect.flatMap(following, (following) => {
          if (following === undefined) return Effect.async<A, E>((resume) => read(response, resume))
          response.resume()
          return exchange(call, read, following)
        }))
      })
      outgoing.on("error", (error: SystemError) => {
        if (isOver) return
        if (outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
          // the server closed either an idle socket or the socket of this request: nothing tells which
          distrust = freshAfterStale
          if (call.repeatable) return resume(exchange(call, read, { ...attempt, fresh: true }))
        }
        const isOfProxy = forward !== undefined && beforeConnected(error)
        resume(network(server, isOfProxy ? Proxy.unreachable(forward, error) : error, isSecuring(outgoing.socket)))
      })
      outgoing.end(call.body)
      return destroy
    })

  /** Leaves a response that is of no further interest to its reader; the oldest of more than eight is destroyed. */
  const linger = (response: Http.IncomingMessage): void => {
    lingering.add(response)
    response.once("close", () => lingering.delete(response))
    const [oldest] = lingering
    if (lingering.size <= maxLingering || oldest === undefined) return
    lingering.delete(oldest)
    oldest.destroy()
  }

  return {
    exchange,
    linger,
    /**
     * Reads a body that is of no interest, so that its socket can be used again; one over the limit costs the socket. It
     * does not wait for slow bodies: the body of a short response has ended by the next turn of the event loop.
     */
    drain: (response: Http.IncomingMessage): Effect.Effect<void> =>
      Effect.async((resume) => {
        let bytes = 0
        linger(response)
        read(response, (chunk) => (bytes += chunk.length) <= limits.errorBodyBytes, () => resume(Effect.void))
        setImmediate(() => resume(Effect.void))
      }),
    destroy: (): void => {
      destroyed = true
      ending.abort()
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
  if (error instanceof Proxy.ProxyError) return Proxy.failure(server, error)
  const code = error.code ?? error.errors?.[0]?.code ?? "UNKNOWN"
  const detail = UntrustedText.excerpt(error.message === "" ? code : error.message, 256)
  if (tls.test(code)) return new McpError.NetworkError({ server, reason: "tls", outcome: "not-sent", code, detail })
  const outcome = connecting || beforeConnected(error) ? "not-sent" : "unknown"
  return new McpError.NetworkError({ server, code, detail, outcome })
}

/** How a body ended: whole; over its cap; cut off by the network; not decodable; in an unknown encoding. */
export type End = "ended" | "oversize" | "cut" | "corrupt" | "encoding"

const decoders: ReadonlyMap<string, (zlib: typeof Zlib) => Duplex> = new Map([
  ["gzip", (zlib) => zlib.createGunzip()],
  ["x-gzip", (zlib) => zlib.createGunzip()],
  ["deflate", (zlib) => zlib.createInflate()],
  ["br", (zlib) => zlib.createBrotliDecompress()]
])

/** Reads the decoded body until it ends or `onChunk` returns `false`; calls `onEnd` once, and keeps no broken socket. */
export const read = (
  response: Http.IncomingMessage,
  onChunk: (chunk: Buffer) => boolean,
  onEnd: (end: End) => void
): void => {
  const encoding = response.headers["content-encoding"] ?? ""
  const isPlain = encoding === "" || encoding === "identity"
  // node:zlib is loaded with the first body that is compressed
  const decoding = isPlain
    ? undefined
    : decoders.get(encoding.trim().toLowerCase())?.(process.getBuiltinModule("node:zlib"))
  const source: Readable = decoding ?? response
  let done = false
  const finish = (end: End): void => {
    if (done) return
    done = true
    decoding?.destroy()
    if (end !== "ended") response.destroy()
    onEnd(end)
  }
  response.on("error", () => finish("cut"))
  if (response.destroyed) return finish("cut")
  if (!isPlain && decoding === undefined) return finish("encoding")
  source.on("data", (chunk: Buffer) => {
    if (!done && !onChunk(chunk)) finish("oversize")
  })
  source.on("end", () => finish("ended"))
  if (decoding === undefined) return
  decoding.on("error", () => finish("corrupt"))
  response.pipe(decoding)
}

/** Reads the body as text, up to the limit. */
export const text = (response: Http.IncomingMessage, limit: number, onEnd: (end: End, text: string) => void): void => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  const onChunk = (chunk: Buffer): boolean => {
    chunks.push(chunk)
    bytes += chunk.length
    return bytes <= limit
  }
  read(response, onChunk, (end) => {
    const text = Buffer.concat(chunks, Math.min(bytes, limit)).toString("utf8")
    onEnd(end, text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  })
}

export const isSuccess = ({ statusCode: status = 0 }: Http.IncomingMessage): boolean => status >= 200 && status < 300

/** Without parameters and in lower case. */
export const mediaType = ({ headers: { "content-type": type = "" } }: Http.IncomingMessage): string =>
  type === "application/json" ? type : type.replace(/;.*$/s, "").trim().toLowerCase()
