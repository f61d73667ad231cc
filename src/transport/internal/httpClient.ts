/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - this is the one module that makes HTTP requests, on node's own client
import type * as Http from "node:http"
import type { Socket } from "node:net"
import * as McpError from "../../McpError.ts"
import * as HttpErrors from "./httpErrors.ts"

/** @internal */
export interface Call {
  readonly method: "POST" | "GET" | "DELETE"
  readonly path: string
  /** Flat: name, value, name, value. */
  readonly headers: Array<string>
  readonly body?: string | undefined
  /** Whether the server may see it twice without harm. */
  readonly repeatable: boolean
  /** Whether somebody wants just this done, and may be asked to log in for it. */
  readonly foreground?: boolean | undefined
}

/** @internal */
export interface Reply {
  /** The head of the final response; redirects inside the origin are followed before. */
  readonly response: (response: Http.IncomingMessage) => void
  /** There will be no response. */
  readonly failed: (error: Failure) => void
  /** A person is waited for, or is no longer. */
  readonly waiting?: ((open: boolean) => void) | undefined
}

/** @internal */
export type Failure =
  | McpError.AuthorizationFailed
  | McpError.ConfigurationError
  | McpError.NetworkError
  | McpError.TlsError
  | McpError.RedirectBlocked

/** @internal */
export interface Exchange {
  /** Ends it at once, with its socket; nothing is told of it any more. */
  readonly destroy: () => void
}

/** @internal */
export interface HttpClient {
  /** Throws only if a header or the path cannot be sent; does nothing once the client is destroyed. */
  readonly exchange: (call: Call, reply: Reply) => Exchange
  readonly destroy: () => void
}

// loaded with the first client: who reaches no server by HTTP does not wait for it
const nodeHttp = () => process.getBuiltinModule("node:http")
const nodeHttps = () => process.getBuiltinModule("node:https")

const maxRedirects = 5
const unhintedIdle = 4000
const freshAfterStale = 32

const agentFor = (secure: boolean, keepAlive: number) => {
  const options = { keepAlive: true, keepAliveMsecs: keepAlive, maxFreeSockets: 64 }
  const agent = secure ? new (nodeHttps().Agent)(options) : new (nodeHttp().Agent)(options)
  let idle = Math.min(unhintedIdle, keepAlive)
  // Node's own version trusts a socket for ever where the server gives no hint, and then meets closed ones.
  const keep = (socket: Socket): boolean => {
    socket.setKeepAlive(true, keepAlive)
    socket.unref()
    socket.setTimeout(idle)
    return idle > 0
  }
  Object.assign(agent, { keepSocketAlive: keep })
  const hint = (header: string) => {
    const seconds = /(?:^|[,\s])timeout=(\d{1,9})/i.exec(header)?.[1]
    if (seconds !== undefined) idle = Math.min(Math.max(0, Number(seconds) * 1000 - 1000), keepAlive)
  }
  return { agent, hint }
}

const redirects = new Set([301, 302, 303, 307, 308])

const connecting = (socket: Socket | null): boolean =>
  socket !== null && "secureConnecting" in socket && socket.secureConnecting === true

/**
 * A client of one origin with its own sockets: kept alive for as long as the server says, never shared, all destroyed
 * at the end.
 *
 * @internal
 */
export const make = (server: string, url: URL, keepAlive: number): HttpClient => {
  const secure = url.protocol === "https:"
  const { agent, hint } = agentFor(secure, keepAlive)
  const { request } = secure ? nodeHttps() : nodeHttp()
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port)
  const open = new Set<Exchange>()
  // A redirect inside the origin is remembered: many servers answer `/mcp` with 307 to `/mcp/`, every time.
  const moved = new Map<string, string>()
  let distrust = 0
  let destroyed = false

  const redirect = (from: string, location: string | undefined): URL | "malformed" | "other-origin" => {
    const base = new URL(from, url.origin)
    if (location === undefined || !URL.canParse(location, base.href)) return "malformed"
    const to = new URL(location, base)
    return to.origin === url.origin ? to : "other-origin"
  }

  const exchange = (call: Call, reply: Reply): Exchange => {
    if (destroyed) return { destroy: () => undefined }
    let path = moved.get(call.path) ?? call.path
    let hops = 0
    let over = false
    let resent = false
    let current: Http.ClientRequest | undefined

    const fail = (error: Parameters<Reply["failed"]>[0]) => {
      over = true
      open.delete(self)
      reply.failed(error)
    }

    const blocked = (response: Http.IncomingMessage, to: string, reason: McpError.RedirectBlocked["reason"]) => {
      response.destroy()
      fail(new McpError.RedirectBlocked({ server, to: to.slice(0, 2048), reason }))
    }

    const follow = (response: Http.IncomingMessage, status: number) => {
      const location = response.headers.location
      const to = redirect(path, location)
      if (typeof to === "string") return blocked(response, location ?? "", to)
      if (status !== 307 && status !== 308 && call.method !== "GET") return blocked(response, to.href, "method")
      const next = to.pathname + to.search
      if (next === path || ++hops > maxRedirects) return blocked(response, to.href, "loop")
      response.resume()
      path = next
      if (moved.size < 8) moved.set(call.path, next)
      attempt(false)
    }

    const onResponse = (response: Http.IncomingMessage) => {
      if (over) return void response.resume()
      const status = response.statusCode ?? 0
      const keepAliveHint = response.headers["keep-alive"]
      if (typeof keepAliveHint === "string") hint(keepAliveHint)
      if (redirects.has(status)) return follow(response, status)
      if (status === 404 || status === 410) moved.delete(call.path)
      over = true
      reply.response(response)
    }

    const onError = (request: Http.ClientRequest, error: HttpErrors.SystemError) => {
      if (over) return
      if (request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
        // Nobody can tell an idle socket that the server had closed from one that it closed over this request.
        distrust = freshAfterStale
        if (call.repeatable && !resent) {
          resent = true
          return attempt(true)
        }
      }
      fail(HttpErrors.network(server, error, connecting(request.socket)))
    }

    const attempt = (fresh: boolean) => {
      const outgoing = request({
        host,
        port,
        path,
        method: call.method,
        headers: call.headers,
        agent: fresh ? false : agent
      })
      current = outgoing
      outgoing.on("response", onResponse)
      outgoing.on("error", (error) => onError(outgoing, error))
      outgoing.on("close", () => {
        if (current === outgoing) open.delete(self)
      })
      outgoing.end(call.body)
    }

    const self: Exchange = {
      destroy: () => {
        over = true
        open.delete(self)
        current?.destroy()
      }
    }
    const fresh = !call.repeatable && distrust > 0
    if (fresh) distrust--
    attempt(fresh)
    open.add(self)
    return self
  }

  return {
    exchange,
    destroy: () => {
      destroyed = true
      for (const exchange of open) exchange.destroy()
      agent.destroy()
    }
  }
}
