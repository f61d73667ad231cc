/**
 * HTTP proxies: which proxy a URL is reached through, read from the environment as curl reads it, and tunnels (CONNECT)
 * through it.
 */
// @effect-diagnostics nodeBuiltinImport:off - opens the sockets of node's own client
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as Http from "node:http"
import type { Socket } from "node:net"
import type * as Tls from "node:tls"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import { isLoopback } from "../../config/remoteHeaders.ts"
import * as McpError from "../../McpError.ts"
import { percentDecoded } from "../../text/uriTemplate.ts"

/** `environment`: the proxies of HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY; `direct`: none; or the URL of a proxy. */
export type Setting = "environment" | "direct" | (string & {}) | Redacted.Redacted

/** The proxy of a runtime, for servers whose configuration names none. */
export class DefaultProxy extends Context.Reference<DefaultProxy>()("effect-mcp-runtime/transport/http/DefaultProxy", {
  defaultValue: (): Setting => "environment"
}) {}

export interface Proxy {
  /** Without credentials: errors show it. */
  readonly address: string
  readonly secure: boolean
  readonly host: string
  readonly port: number
  /** For TLS, where node would take the name from the `Host` header. Empty for an address. */
  readonly servername: string
  /** The header `proxy-authorization`, or nothing. */
  readonly headers: ReadonlyMap<string, Redacted.Redacted>
}

export interface Invalid {
  /** The variable or field with the invalid value. */
  readonly path: string
  readonly detail: string
}

export type Route = (url: URL, configured?: string) => Either.Either<Proxy | undefined, Invalid>

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")

/** True if an entry of NO_PROXY covers the host: `*`, a name and all names below it, an address, a CIDR block, each with a port. */
const covers = (entry: string, host: string, port: number): boolean => {
  if (entry === "*") return true
  const { BlockList, isIP } = process.getBuiltinModule("node:net")
  const [, bracketed, plain, only] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? []
  if (only !== undefined && Number(only) !== port) return false
  const name = (bracketed ?? plain ?? entry).toLowerCase()
  const family = isIP(host)
  if (family === 0) return host === name.replace(/^\*?\./, "") || host.endsWith(`.${name.replace(/^\*?\./, "")}`)
  const [network = "", bits = family === 4 ? "32" : "128"] = name.split("/")
  if (isIP(network) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  const block = new BlockList()
  const version = family === 4 ? "ipv4" : "ipv6"
  block.addSubnet(network, Number(bits), version)
  return block.check(host, version)
}

const parse = (text: string): Proxy | undefined => {
  const written = text.includes("://") ? text : `http://${text}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  const secure = url.protocol === "https:"
  const host = bare(url.hostname)
  const credentials = Buffer.from(`${percentDecoded(url.username)}:${percentDecoded(url.password)}`).toString("base64")
  return {
    address: `${url.protocol}//${url.host}`,
    secure,
    host,
    servername: process.getBuiltinModule("node:net").isIP(host) === 0 ? host : "",
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    headers: new Map(
      url.username === "" && url.password === ""
        ? []
        : [["proxy-authorization", Redacted.make(`Basic ${credentials}`)]]
    )
  }
}

/** A lower-case variable wins over one in upper case, and `ALL_PROXY` is for all schemes without a proxy of their own. */
const route = (setting: Setting, { variables }: HostEnvironment.Host): Route => (url, configured) => {
  const environment = variables()
  const named = (...names: ReadonlyArray<string>) =>
    names.flatMap((name) => [name.toLowerCase(), name]).find((name) => (environment[name] ?? "") !== "")
  const host = bare(url.hostname)
  const isTls = url.protocol === "https:" || url.protocol === "wss:"
  const isBypassed = () => {
    const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port)
    const entries = (environment[named("NO_PROXY") ?? ""] ?? "").split(/[\s,]+/).filter(Boolean)
    return isLoopback(url.hostname) || entries.some((entry) => covers(entry, host, port))
  }
  const chosen = configured ??
    (isBypassed() ? "direct" : Redacted.isRedacted(setting) ? Redacted.value(setting) : setting)
  if (chosen === "direct") return Either.right(undefined)
  // a client of a CGI program sets HTTP_PROXY with a header `Proxy`
  const http = environment["REQUEST_METHOD"] === undefined ? "HTTP_PROXY" : "http_proxy"
  const variable = chosen === "environment" ? named(isTls ? "HTTPS_PROXY" : http, "ALL_PROXY") : undefined
  if (chosen === "environment" && variable === undefined) return Either.right(undefined)
  const proxy = parse(variable === undefined ? chosen : environment[variable]!)
  // the value is not quoted, because it may hold a password
  const detail = "not the URL of an HTTP proxy, which has the form http://user:password@host:port"
  return proxy === undefined ? Either.left({ path: variable ?? "proxy", detail }) : Either.right(proxy)
}

/** The routes of a runtime. Variables are read for each connection. */
export const make: Effect.Effect<Route> = Effect.zipWith(DefaultProxy, HostEnvironment.HostEnvironment, route)

/** A proxy that cannot be reached, or that refuses a connection. */
export class ProxyError extends Error {
  readonly address: string
  /** A status of HTTP, or the code of a system error. */
  readonly code: string

  constructor(address: string, code: string, detail: string) {
    super(detail)
    this.address = address
    this.code = code
  }
}

export const refused = ({ address }: Proxy, status: number | undefined): ProxyError =>
  new ProxyError(address, String(status), `it answered with status ${status}`)

export const unreachable = ({ address }: Proxy, { code = "UNKNOWN", message }: NodeJS.ErrnoException): ProxyError =>
  new ProxyError(address, code, message)

/** For the answer to CONNECT, which comes when the proxy has connected to the server. */
const timeout = 30_000

type Connected = (error: Error | null, socket?: Socket) => void

const connect = (proxy: Proxy, to: string, signal: AbortSignal, done: Connected): void => {
  const { request } = process.getBuiltinModule(proxy.secure ? "node:https" : "node:http")
  const headers = Array.from(proxy.headers, ([name, value]) => [name, Redacted.value(value)] as const)
  const { host, port, servername } = proxy
  const asked = request({
    method: "CONNECT",
    host,
    port,
    path: to,
    headers: { host: to, ...Object.fromEntries(headers) },
    agent: false,
    servername,
    timeout,
    signal
  })
  asked.on("timeout", () => asked.destroy(Object.assign(new Error("no answer to CONNECT"), { code: "ETIMEDOUT" })))
  asked.on("error", (error) => done(unreachable(proxy, error)))
  asked.on("connect", ({ statusCode: status = 0 }, socket, head) => {
    if (status < 200 || status > 299) {
      socket.destroy()
      return done(refused(proxy, status))
    }
    socket.setTimeout(0)
    socket.unshift(head)
    done(null, socket)
  })
  asked.end()
}

/** Makes an agent open its sockets through a proxy. Tunnels that are not open yet end with the signal. */
export const tunneled = <A extends Http.Agent>(agent: A, proxy: Proxy, secure: boolean, signal: AbortSignal): A =>
  Object.assign(agent, {
    createConnection: (options: Tls.ConnectionOptions & { readonly host: string }, done: Connected): void => {
      const { host, port } = options
      connect(proxy, `${host.includes(":") ? `[${host}]` : host}:${port}`, signal, (error, socket) => {
        if (socket === undefined) return done(error)
        done(null, secure ? process.getBuiltinModule("node:tls").connect({ ...options, socket }) : socket)
      })
    }
  })

/** An agent for one server behind a proxy. */
export const agent = (proxy: Proxy, secure: boolean, signal: AbortSignal): Http.Agent =>
  tunneled(
    secure ? new (process.getBuiltinModule("node:https").Agent)() : new (process.getBuiltinModule("node:http").Agent)(),
    proxy,
    secure,
    signal
  )

/** The error of a connection that a proxy did not make. */
export const failure = (server: string, { address, code, message }: ProxyError): McpError.NetworkError =>
  new McpError.NetworkError({ server, reason: "proxy", outcome: "not-sent", proxy: address, code, detail: message })
