// @effect-diagnostics nodeBuiltinImport:off -- platform's HTTP server has no limits for who calls it, and no `exclusive`
/**
 * The server that a browser is sent back to. Any program of this machine and any page in its browsers can call it, so what
 * is no answer to a login that waits is told nothing, costs little, and changes nothing.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type * as Net from "node:net"
import type * as Interaction from "../../auth/Interaction.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as CallbackAddress from "./callbackAddress.ts"
import * as CallbackAnswer from "./callbackAnswer.ts"

/** Why there will be no answer: too many requests came, or one with a parameter twice. */
type Fault = "flooded" | "repeated"

/** @internal */
export interface CallbackServer {
  readonly port: number
  /** What comes back with this state, once it has. */
  readonly answer: (state: string) => Effect.Effect<Interaction.Answer, Fault>
}

/** A browser asks a few times, for an icon too. */
const mostRequests = 200
const mostSockets = 32
/** All that was ever served on this machine may have left cookies, whatever its port was. */
const headSize = 32 * 1024
/** Of a request's head; Node counts the connections that are late every second. */
const headTime = 5_000
const openTime = Duration.seconds(5)
const closeTime = Duration.seconds(1)
/** A free port of one address may be taken on the other. */
const attempts = 5

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

const came = "The answer has arrived. You can close this page and go back to the program."

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : "?"

const listen = (server: Http.Server, host: "127.0.0.1" | "::1", port: number): Effect.Effect<number, string> =>
  Effect.async((resume) => {
    const failed = (error: Error) => resume(Effect.fail(codeOf(error)))
    server.once("error", failed)
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", failed)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
    return Effect.sync(() => server.off("error", failed))
  })

const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  }).pipe(BoundedWait.within(closeTime), Effect.asVoid)

const hasNone = (code: string): boolean => code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT"

const sentence = (code: string, port: number | undefined): string => {
  const which = port === undefined ? "a port" : `port ${port}`
  switch (code) {
    case "EADDRINUSE":
      return `${which} of this machine, where the login is to come back to, is taken by another program`
    case "EACCES":
      return `${which} of this machine, where the login is to come back to, may not be used by this program`
    default:
      return `${which} of this machine, where the login is to come back to, could not be opened (${code})`
  }
}

/**
 * Listens on both loopback addresses that the machine has, so that nobody else gets what is meant for one of them, until
 * the scope closes. It fails with a sentence.
 *
 * @internal
 */
export const make = (
  { host, path, port: wanted, redirectUri }: CallbackAddress.CallbackAddress
): Effect.Effect<CallbackServer, string, Scope.Scope> =>
  Effect.gen(function*() {
    const waiting = new Map<string, (result: Effect.Effect<Interaction.Answer, Fault>) => void>()
    const sockets = new Set<Net.Socket>()
    let requests = 0

    const flooded = (): boolean => requests > mostRequests

    const handle = (names: ReadonlySet<string>, request: Http.IncomingMessage, response: Http.ServerResponse): void => {
      requests++
      if (flooded()) {
        request.socket.destroy()
        for (const settle of waiting.values()) settle(Effect.fail("flooded"))
        return waiting.clear()
      }
      const { headers: { host }, method, url = "" } = request
      // A name of somebody else's that leads here makes a page of theirs ours, as far as the browser can tell.
      if (!names.has(host ?? "")) return reply(response, 403, "Forbidden")
      const query = url.indexOf("?")
      const isCallback = method === "GET" && query !== -1 && url.slice(0, query) === path &&
        url.length <= CallbackAnswer.most
      if (!isCallback) return reply(response, 404, "Not found")
      const { answer, state } = CallbackAnswer.read(new URLSearchParams(url.slice(query)))
      const settle = state === undefined ? undefined : waiting.get(state)
      if (state === undefined || settle === undefined) return reply(response, 404, "Not found")
      waiting.delete(state)
      // Only then, because the server goes with whoever has waited.
      response.once("close", () => settle(answer === "repeated" ? Effect.fail("repeated") : Effect.succeed(answer)))
      reply(response, 200, came)
    }

    const serverOf = (namesOf: (port: number) => ReadonlyArray<string>) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const server = Http.createServer({
            maxHeaderSize: headSize,
            headersTimeout: headTime,
            requestTimeout: headTime,
            connectionsCheckingInterval: 1_000
          })
          server.on("error", () => undefined)
          // The newest stays: whoever holds connections open does not keep the browser out.
          server.on("connection", (socket) => {
            sockets.add(socket)
            socket.on("close", () => sockets.delete(socket))
            const [oldest] = sockets
            if (sockets.size > mostSockets) oldest?.destroy()
          })
          return {
            server,
            answerAt: (port: number) => {
              const names = new Set(namesOf(port))
              server.on("request", (request, response) => handle(names, request, response))
            }
          }
        }),
        ({ server }) => close(server)
      )

    const common = (port: number): string => new URL(redirectUri(port)).host
    const four = yield* serverOf((port) => [`127.0.0.1:${port}`, common(port)])
    const six = yield* serverOf((port) => [`[::1]:${port}`, common(port)])

    const open = Effect.gen(function*() {
      const port = yield* listen(four.server, "127.0.0.1", wanted ?? 0)
      yield* listen(six.server, "::1", port).pipe(
        Effect.catchAll((code) => hasNone(code) && host !== "[::1]" ? Effect.void : Effect.fail(code)),
        Effect.tapError(() => close(four.server))
      )
      return port
    })

    const isValid = wanted === undefined || (Number.isInteger(wanted) && wanted > 0 && wanted < 65_536)
    const port = yield* (isValid ? open : Effect.fail("ERR_SOCKET_BAD_PORT")).pipe(
      Effect.retry({ times: wanted === undefined ? attempts : 0, while: (code) => code === "EADDRINUSE" }),
      Effect.timeoutFail({ duration: openTime, onTimeout: () => "ETIMEDOUT" }),
      Effect.mapError((code) => sentence(code, wanted))
    )
    four.answerAt(port)
    six.answerAt(port)

    return {
      port,
      answer: (state) =>
        Effect.async<Interaction.Answer, Fault>((resume) => {
          if (flooded()) return resume(Effect.fail("flooded"))
          waiting.set(state, resume)
          return Effect.sync(() => waiting.delete(state))
        })
    }
  })
