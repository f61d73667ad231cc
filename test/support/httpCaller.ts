/**
 * Callers over HTTP, with requests of their own making: what they send and what they read is in their hands.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Http from "node:http"
import * as NodeHttpListener from "../../src/node/NodeHttpListener.ts"
import type * as HttpEndpoint from "../../src/server/HttpEndpoint.ts"
import type * as McpServer from "../../src/server/McpServer.ts"
import type { Message } from "./pipedCaller.ts"

export type Headers = Readonly<Record<string, string | undefined>>

/** One event of a stream: its id, its message if it has one; or a comment. */
export interface Event {
  readonly id: string | undefined
  readonly message: Message | undefined
  readonly comment: string | undefined
}

const eventOf = (text: string): Event => {
  const lines = text.split("\n")
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const data = field("data")
  return {
    id: field("id"),
    message: data === undefined || data === "" ? undefined : JSON.parse(data),
    comment: lines.find((line) => line.startsWith(":"))
  }
}

/** An answer whose body is read as far as somebody asks for it. */
export class Response {
  readonly #message: Http.IncomingMessage
  readonly #chunks: AsyncIterator<Buffer>
  #text = ""

  constructor(message: Http.IncomingMessage) {
    this.#message = message
    this.#chunks = message[Symbol.asyncIterator]()
  }

  get status(): number {
    return this.#message.statusCode ?? 0
  }

  get type(): string | undefined {
    return this.#message.headers["content-type"]
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return Array.isArray(value) ? value.join() : value
  }

  readonly #more = Effect.tryPromise(() => this.#chunks.next()).pipe(
    Effect.map((chunk) => {
      if (chunk.done === true) return false
      this.#text += chunk.value.toString()
      return true
    }),
    // a connection that was broken has ended
    Effect.orElseSucceed(() => false)
  )

  /** The next event, and none at the end. */
  readonly event: Effect.Effect<Option.Option<Event>> = Effect.suspend(() => {
    const at = this.#text.indexOf("\n\n")
    if (at !== -1) {
      const text = this.#text.slice(0, at)
      this.#text = this.#text.slice(at + 2)
      return Effect.succeedSome(eventOf(text))
    }
    return Effect.flatMap(this.#more, (isMore) => isMore ? this.event : Effect.succeedNone)
  })

  /** The next event that has a message; it is a bug of the test if there is none. */
  readonly message: Effect.Effect<Event & { readonly message: Message }> = Effect.flatMap(
    this.event,
    (event) => {
      if (Option.isNone(event)) return Effect.dieMessage("The stream has ended")
      const { comment, id, message } = event.value
      return message === undefined ? this.message : Effect.succeed({ comment, id, message })
    }
  )

  /** All messages until the stream ends. */
  readonly rest: Effect.Effect<ReadonlyArray<Message>> = Effect.gen(this, function*() {
    const all: Array<Message> = []
    for (;;) {
      const event = yield* this.event
      if (Option.isNone(event)) return all
      if (event.value.message !== undefined) all.push(event.value.message)
    }
  })

  readonly text: Effect.Effect<string> = Effect.suspend(() =>
    Effect.flatMap(this.#more, (isMore) => isMore ? this.text : Effect.succeed(this.#text))
  )

  readonly json: Effect.Effect<Message> = Effect.map(this.text, (text) => JSON.parse(text))

  /** Breaks the connection. */
  readonly leave: Effect.Effect<void> = Effect.sync(() => {
    this.#message.destroy()
  })
}

export const accepting = { accept: "application/json, text/event-stream", "content-type": "application/json" }

const given = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined))

/** Where somebody is served, and how to get there. */
export const serve = Effect.fnUntraced(function*(
  offer: McpServer.Offer,
  options?: Partial<HttpEndpoint.Options & NodeHttpListener.Options>
) {
  const listener = yield* NodeHttpListener.serve(offer, options)
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  /** A request that is yet to be sent, or broken off. */
  const begin = (method: string, headers: Headers, path = "/mcp") =>
    Http.request({ host: "127.0.0.1", port: listener.port, agent, method, path, headers: given(headers) })
  const answered = (request: Http.ClientRequest): Effect.Effect<Response> =>
    Effect.async<Response>((resume) => {
      request.once("response", (message) => resume(Effect.succeed(new Response(message))))
      request.once("error", (error) => resume(Effect.die(error)))
      return Effect.sync(() => request.destroy())
    })
  const ask = (method: string, headers: Headers = {}, body?: string, path?: string): Effect.Effect<Response> =>
    Effect.suspend(() => {
      const request = begin(method, headers, path)
      request.end(body)
      return answered(request)
    })
  const post = (message: unknown, headers: Headers = {}): Effect.Effect<Response> =>
    ask("POST", { ...accepting, ...headers }, typeof message === "string" ? message : JSON.stringify(message))
  const open = (headers: Headers = {}, protocolVersion = "2025-11-25") =>
    Effect.map(
      post({
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion, capabilities: { elicitation: {} } }
      }, headers),
      (response) => ({ response, session: response.header("mcp-session-id") ?? "" })
    )
  /** A session, as somebody who uses it. */
  const session = Effect.fnUntraced(function*(headers: Headers = {}, protocolVersion?: string) {
    const { response, session } = yield* open(headers, protocolVersion)
    yield* response.json
    const all = { ...headers, "mcp-session-id": session }
    return {
      id: session,
      post: (message: unknown, more: Headers = {}) => post(message, { ...all, ...more }),
      request: (id: string | number, method: string, params: object = {}) =>
        post({ jsonrpc: "2.0", id, method, params }, all),
      get: (lastEventId?: string) => ask("GET", { accept: "text/event-stream", ...all, "last-event-id": lastEventId }),
      end: ask("DELETE", all)
    }
  })
  /** A request of the stateless era, as it should be. */
  const stateless = (id: string | number, method: string, params: object, headers: Headers = {}) =>
    post({ jsonrpc: "2.0", id, method, params }, {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...headers
    })
  return { listener, begin, answered, ask, post, open, session, stateless }
})
