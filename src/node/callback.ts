// @effect-diagnostics nodeBuiltinImport:off -- platform's HTTP server has no limits for its callers, and no `exclusive`
/**
 * Receives the redirect of a login: with a server on the loopback addresses, or as a line that a person pastes. Imported on
 * demand, because few programs log in.
 *
 * Any local program and any web page can call the server, so any other request gets no information, costs little, and has no
 * effect.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type * as Net from "node:net"
import type * as Interaction from "../auth/Interaction.ts"
import type * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import { faultOf, listen } from "./listen.ts"

/** The fields of `AuthorizationFailed` without the server. */
export interface Fault {
  readonly reason: McpError.AuthorizationFailed["reason"]
  readonly detail: string
}

const repeated: Fault = { reason: "answer", detail: "the authorization response repeats a parameter" }
const flooded: Fault = { reason: "cancelled", detail: "too many requests arrived at the callback address" }
const cancelled = (detail: string): Fault => ({ reason: "cancelled", detail })

/** The loopback address that a browser is redirected to. */
export interface Address {
  /** The required port; `undefined` for any free port. */
  readonly port: number | undefined
  readonly host: string
  readonly path: string
  readonly redirectUri: (port: number) => string
}

/**
 * `undefined` if the registered redirect URI is not a loopback address. A URI without a port allows every port, because
 * authorization servers must accept that (RFC 8252, 7.3).
 */
export const addressOf = ({ callbackPort, redirectUri }: Interaction.Wanted): Address | undefined => {
  const registered = redirectUri ?? "http://127.0.0.1/callback"
  if (!URL.canParse(registered)) return undefined
  const url = new URL(registered)
  const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)
  if (!isLoopback || url.protocol !== "http:" || url.username !== "" || url.password !== "") return undefined
  const port = url.port === "" ? undefined : Number(url.port)
  return {
    port: port ?? callbackPort,
    host: url.hostname,
    path: url.pathname,
    redirectUri: (free) => {
      // unchanged, because authorization servers compare redirect URIs character by character
      if (port !== undefined) return registered
      url.port = String(free)
      return url.href
    }
  }
}

/** The limit of an answer in characters. Codes have some hundreds, and browsers limit the length of a URL. */
const maxLength = 8192

interface Answered {
  /** `undefined` if it is missing or repeated. */
  readonly state: string | undefined
  readonly answer: Effect.Effect<Interaction.Answer, Fault>
}

const read = (parameters: URLSearchParams): Answered => {
  const [state, ...others] = parameters.getAll("state")
  const value = (name: string): string | undefined => parameters.get(name) ?? undefined
  // OAuth forbids repeated parameters
  const isRepeated = ["code", "iss", "error", "error_description"].some((name) => parameters.getAll(name).length > 1)
  return {
    state: others.length === 0 ? state : undefined,
    answer: isRepeated ? Effect.fail(repeated) : Effect.succeed({
      code: value("code"),
      iss: value("iss"),
      error: value("error"),
      errorDescription: value("error_description")
    })
  }
}

/**
 * The parameters in a pasted line: the redirect address or its query. `undefined` for any other text, such as the address of
 * the login page, which also has a `state`.
 */
const pasted = (line: string, redirectUri: string): URLSearchParams | undefined => {
  const text = line.trim()
  if (text === "" || text.length > maxLength) return undefined
  if (/^\??(code|state|iss|error)=/.test(text)) return new URLSearchParams(text.replaceAll(/\s+/g, "&"))
  const expected = new URL(redirectUri)
  // some browsers copy an address without its scheme, and some terminals insert line breaks
  const joined = text.replaceAll(/\s+/g, "")
  const address = joined.startsWith(expected.host) ? `${expected.protocol}//${joined}` : joined
  if (!URL.canParse(address)) return undefined
  const { host, pathname, protocol, searchParams } = new URL(address)
  const isExpected = protocol === expected.protocol && host === expected.host && pathname === expected.pathname
  return isExpected ? searchParams : undefined
}

const tries = 3

export const requested = "the address that the browser was redirected to"

/** Asks a person for the address, until a line contains the answer with this state. */
export const askFor = (
  ask: (question: string) => Effect.Effect<string | undefined>,
  redirectUri: string,
  state: string
): Effect.Effect<Interaction.Answer, Fault> => {
  const attempt = (left: number, question: string): Effect.Effect<Interaction.Answer, Fault> =>
    Effect.flatMap(ask(question), (line) => {
      if (line === undefined) return Effect.fail(cancelled(`${requested} was not entered`))
      const parameters = pasted(line, redirectUri)
      const answered = parameters === undefined ? undefined : read(parameters)
      if (answered?.state === state) return answered.answer
      if (left === 1) return Effect.fail(cancelled(`none of ${tries} inputs is ${requested}`))
      const why = answered === undefined
        ? `That is not ${requested}, which starts with ${redirectUri}.`
        : "That address belongs to another login."
      return attempt(left - 1, `${why} Paste it again: `)
    })
  return attempt(tries, `Log in, then paste ${requested}: `)
}

/** A browser sends a few requests, including one for an icon. */
const maxRequests = 200
const maxSockets = 32
/** Large, because cookies of all servers on this host are sent, regardless of the port. */
const maxHeaderSize = 32 * 1024
/** For the headers of a request. */
const requestTimeout = 5_000
const closeTimeout = Duration.seconds(1)
/** Retries with another port, because a free port of one loopback address may be in use on the other. */
const retries = 5

const headers = {
  "content-type": "text/plain; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close"
}

const reply = (response: Http.ServerResponse, status: number, text: string): void => {
  response.on("error", () => undefined)
  response.writeHead(status, headers).end(`${text}\n`)
}

const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  }).pipe(BoundedWait.within(closeTimeout), Effect.asVoid)

const portFault = (code: string, port: number | undefined): Fault => ({
  reason: "not-interactive",
  detail: `${port === undefined ? "a callback port" : `the callback port ${port}`} ${faultOf(code)}`
})

export interface CallbackServer {
  readonly port: number
  /** Waits for the answer with this state. */
  readonly answer: (state: string) => Effect.Effect<Interaction.Answer, Fault>
}

/** Listens on both loopback addresses until the scope closes, so that no other program receives the answer. */
export const serve = (address: Address): Effect.Effect<CallbackServer, Fault, Scope.Scope> =>
  Effect.gen(function*() {
    const waiting = new Map<string, (answer: Effect.Effect<Interaction.Answer, Fault>) => void>()
    const sockets = new Set<Net.Socket>()
    let requests = 0
    let hosts: ReadonlyArray<string> = []

    const handle = (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
      if (++requests > maxRequests) {
        request.socket.destroy()
        for (const settle of waiting.values()) settle(Effect.fail(flooded))
        return waiting.clear()
      }
      const { headers: { host = "" }, method, url = "" } = request
      // rejects DNS rebinding, with which a foreign page would have the same origin
      if (!hosts.includes(host)) return reply(response, 403, "Forbidden")
      const query = url.indexOf("?")
      const isCallback = method === "GET" && query !== -1 && url.slice(0, query) === address.path &&
        url.length <= maxLength
      const { answer, state = "" } = read(new URLSearchParams(isCallback ? url.slice(query) : ""))
      const settle = waiting.get(state)
      if (settle === undefined) return reply(response, 404, "Not found")
      waiting.delete(state)
      // after the page is sent, because the server closes when the login ends
      response.once("close", () => settle(answer))
      reply(response, 200, "Login received. You can close this page and return to the application.")
    }

    const makeServer = Effect.acquireRelease(
      Effect.sync(() => {
        const limits = {
          maxHeaderSize,
          headersTimeout: requestTimeout,
          requestTimeout,
          connectionsCheckingInterval: 1_000
        }
        // closes the oldest connection, so that open connections cannot block the browser
        return Http.createServer(limits, handle).on("connection", (socket) => {
          sockets.add(socket.on("close", () => sockets.delete(socket)))
          const [oldest] = sockets
          if (sockets.size > maxSockets) oldest?.destroy()
        })
      }),
      close
    )
    const four = yield* makeServer
    const six = yield* makeServer

    const listening = Effect.gen(function*() {
      if (address.port === 0) return yield* Effect.fail("ERR_SOCKET_BAD_PORT")
      const port = yield* listen(four, { host: "127.0.0.1", port: address.port ?? 0 })
      yield* listen(six, { host: "::1", port }).pipe(
        Effect.catchIf(
          (code) => (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") && address.host !== "[::1]",
          () => Effect.void
        ),
        Effect.tapError(() => close(four))
      )
      return port
    })
    const port = yield* listening.pipe(
      Effect.retry({ times: address.port === undefined ? retries : 0, while: (code) => code === "EADDRINUSE" }),
      Effect.mapError((code) => portFault(code, address.port))
    )
    hosts = [`127.0.0.1:${port}`, `[::1]:${port}`, new URL(address.redirectUri(port)).host]

    return {
      port,
      answer: (state) =>
        Effect.async((resume) => {
          if (requests > maxRequests) return resume(Effect.fail(flooded))
          waiting.set(state, resume)
          return Effect.sync(() => waiting.delete(state))
        })
    }
  })
