// @effect-diagnostics nodeBuiltinImport:off -- platform's HTTP server has no limits for its callers, and no `exclusive`
/**
 * The way back of a login: a server on the loopback addresses that the browser is redirected to, or a line that a person
 * pastes. Loaded on demand, because few programs log in.
 *
 * Any program of this machine and any page in its browsers can call the server, so a request that is not the answer to a
 * login gets no information, costs little, and changes nothing.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type * as Net from "node:net"
import type * as Interaction from "../auth/Interaction.ts"
import type * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import { listen } from "./listen.ts"

/** The fields of `AuthorizationFailed` without the server. */
export interface Fault {
  readonly reason: McpError.AuthorizationFailed["reason"]
  readonly detail: string
}

const repeated: Fault = { reason: "answer", detail: "the authorization server sent a parameter back twice" }
const flooded: Fault = { reason: "cancelled", detail: "too many requests came in place of an answer" }
const cancelled = (detail: string): Fault => ({ reason: "cancelled", detail })

/** Where on this machine a browser is redirected to. */
export interface Address {
  /** The port that is required; without it any free one is used. */
  readonly port: number | undefined
  readonly host: string
  readonly path: string
  readonly redirectUri: (port: number) => string
}

/**
 * `undefined` if the registered address is not one of this machine. One without a port stands for all ports, as
 * authorization servers have to take it (RFC 8252, 7.3).
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
      // Authorization servers compare character by character, so a registered address is not normalised.
      if (port !== undefined) return registered
      url.port = String(free)
      return url.href
    }
  }
}

/** Characters of an answer at most: codes are some hundreds, and a browser sends no more than this in an address. */
const maxLength = 8192

interface Answered {
  /** Absent if there are several. */
  readonly state: string | undefined
  readonly answer: Effect.Effect<Interaction.Answer, Fault>
}

const read = (parameters: URLSearchParams): Answered => {
  const [state, ...others] = parameters.getAll("state")
  const value = (name: string): string | undefined => parameters.get(name) ?? undefined
  // OAuth forbids a repeated parameter, because it is open which of the two counts.
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
 * The parameters in a pasted line: the address that the browser ended at, or its query. `undefined` if it is neither; the
 * address of the page where the login began has a state as well.
 */
const pasted = (line: string, redirectUri: string): URLSearchParams | undefined => {
  const text = line.trim()
  if (text === "" || text.length > maxLength) return undefined
  if (/^\??(code|state|iss|error)=/.test(text)) return new URLSearchParams(text.replaceAll(/\s+/g, "&"))
  const expected = new URL(redirectUri)
  // Some browsers copy an address without its scheme, and some terminals with a line break in it.
  const joined = text.replaceAll(/\s+/g, "")
  const address = joined.startsWith(expected.host) ? `${expected.protocol}//${joined}` : joined
  if (!URL.canParse(address)) return undefined
  const { host, pathname, protocol, searchParams } = new URL(address)
  const isExpected = protocol === expected.protocol && host === expected.host && pathname === expected.pathname
  return isExpected ? searchParams : undefined
}

const tries = 3

export const requested = "the address that the browser ended at"

/** Asks a person for the address, until a line has the answer with this state. */
export const askFor = (
  ask: (question: string) => Effect.Effect<string | undefined>,
  redirectUri: string,
  state: string
): Effect.Effect<Interaction.Answer, Fault> => {
  const attempt = (left: number, question: string): Effect.Effect<Interaction.Answer, Fault> =>
    Effect.flatMap(ask(question), (line) => {
      if (line === undefined) return Effect.fail(cancelled(`no person entered ${requested}`))
      const parameters = pasted(line, redirectUri)
      const answered = parameters === undefined ? undefined : read(parameters)
      if (answered?.state === state) return answered.answer
      if (left === 1) return Effect.fail(cancelled(`what was put in ${tries} times is not ${requested}`))
      const why = answered === undefined
        ? `That is not ${requested}, which begins with ${redirectUri}.`
        : "That belongs to another login."
      return attempt(left - 1, `${why} Put it in again: `)
    })
  return attempt(tries, `Log in, and then put in ${requested}: `)
}

/** A browser sends a few requests, one of them for an icon. */
const maxRequests = 200
const maxSockets = 32
/** Any server of this machine may have set cookies, whatever its port was. */
const maxHeaderSize = 32 * 1024
/** Of the head of a request; Node looks for late connections every second. */
const requestTimeout = 5_000
const closeTimeout = Duration.seconds(1)
/** A free port of one loopback address may be taken on the other. */
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

const portFaults: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is taken by another program"],
  ["EACCES", "may not be used by this program"]
])

const portFault = (code: string, port: number | undefined): Fault => {
  const name = port === undefined ? "a port" : `port ${port}`
  const fault = portFaults.get(code) ?? `could not be opened (${code})`
  return { reason: "not-interactive", detail: `${name} of this machine, where the login is to come back to, ${fault}` }
}

export interface CallbackServer {
  readonly port: number
  /** Waits for the answer with this state. */
  readonly answer: (state: string) => Effect.Effect<Interaction.Answer, Fault>
}

/** Listens on both loopback addresses of the machine, so that no other program gets the answer, until the scope closes. */
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
      // A foreign name that leads to this address would give its pages the same origin, as far as the browser can tell.
      if (!hosts.includes(host)) return reply(response, 403, "Forbidden")
      const query = url.indexOf("?")
      const isCallback = method === "GET" && query !== -1 && url.slice(0, query) === address.path &&
        url.length <= maxLength
      const { answer, state = "" } = read(new URLSearchParams(isCallback ? url.slice(query) : ""))
      const settle = waiting.get(state)
      if (settle === undefined) return reply(response, 404, "Not found")
      waiting.delete(state)
      // After the page is sent, because the server closes with the login.
      response.once("close", () => settle(answer))
      reply(response, 200, "The answer has arrived. You can close this page and go back to the program.")
    }

    const makeServer = Effect.acquireRelease(
      Effect.sync(() => {
        const limits = {
          maxHeaderSize,
          headersTimeout: requestTimeout,
          requestTimeout,
          connectionsCheckingInterval: 1_000
        }
        // The oldest connection is closed, because open ones must not keep the browser out.
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
