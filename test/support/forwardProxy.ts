/** An HTTP proxy on this machine: it tunnels CONNECT and forwards whole requests, every host leads to one port. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import * as Peer from "../fixtures/httpPeer.ts"
import type { Certificate } from "./certificate.ts"

export interface ForwardProxy extends Peer.Sockets {
  /** What it was asked for, such as `CONNECT docs.example:443`. */
  readonly asked: ReadonlyArray<string>
  /** The `Proxy-Authorization` of each request. */
  readonly authorizations: ReadonlyArray<string | undefined>
}

/** `answer`: the status of its answer, or `"none"`, if it does not forward. With a certificate it is reached over TLS. */
export const make = (
  target: number,
  answer: number | "none" | undefined = undefined,
  certificate?: Certificate
): Effect.Effect<ForwardProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const authorizations: Array<string | undefined> = []
    const note = ({ headers, method, url }: Http.IncomingMessage) => {
      asked.push(`${method} ${url}`)
      authorizations.push(headers["proxy-authorization"])
    }
    const forward: Http.RequestListener = (request, response) => {
      note(request)
      if (answer === "none") return
      if (answer !== undefined) return void response.writeHead(answer).end("secret words of the proxy")
      const { pathname, search } = new URL(request.url ?? "")
      const { "proxy-authorization": _, ...headers } = request.headers
      const onward = Http.request({
        host: "127.0.0.1",
        port: target,
        method: request.method,
        path: pathname + search,
        headers
      })
      onward.on("response", (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      onward.on("error", () => response.destroy())
      response.on("close", () => onward.destroy())
      request.pipe(onward)
    }
    const server = certificate === undefined ? Http.createServer(forward) : Https.createServer(certificate, forward)
    server.on("connect", (request, socket, head) => {
      note(request)
      socket.on("error", () => undefined)
      if (answer === "none") return
      if (answer !== undefined) return void socket.end(`HTTP/1.1 ${answer} No\r\n\r\nsecret words of the proxy`)
      const onward = Net.connect(target, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connected\r\n\r\n")
        onward.write(head)
        onward.pipe(socket)
        socket.pipe(onward)
      })
      onward.on("error", () => socket.destroy())
      socket.on("close", () => onward.destroy())
    })
    return { ...yield* Peer.listening(server), asked, authorizations }
  })
