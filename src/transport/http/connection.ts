/** What every connection over HTTP has, and the queue of what it POSTs. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import * as Ending from "../ending.ts"
import * as JsonRpc from "../JsonRpc.ts"
import * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Transport from "../Transport.ts"
import * as Client from "./client.ts"
import * as Login from "./login.ts"
import * as Refusal from "./refusal.ts"

type Fork = (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>

export interface Connection {
  readonly server: string
  readonly url: URL
  /** The path and query of the URL. */
  readonly path: string
  readonly limits: Limits.Limits
  readonly client: Client.HttpClient
  readonly source: RemoteHeaders.Source
  /** Runs requests and streams, which end with the scope of the connection. */
  readonly fork: Fork
  /** Runs what has no answer of its own: notifications, answers, the farewell. */
  readonly forkAside: Fork
  /** Waits until nothing runs aside. */
  readonly asideIdle: Effect.Effect<void>
}

/** A server that accepts no notification gets requests all the same, a little later. */
const patience = Duration.seconds(2)

export const accepted = ({ asideIdle }: Connection): Effect.Effect<void> =>
  Effect.timeoutTo(asideIdle, { duration: patience, onSuccess: () => undefined, onTimeout: () => undefined })

/** What the layer of a transport has for all its connections. */
export interface Services {
  readonly limits: Limits.Limits
  readonly headers: RemoteHeaders.RemoteHeaders["Type"]
  readonly ending: Ending.Ending
}

export const services: Effect.Effect<Services, never, Teardown.Teardown> = Effect.all({
  limits: Limits.CurrentLimits,
  headers: RemoteHeaders.RemoteHeaders,
  ending: Ending.make
})

export const make = (
  { headers, limits: base }: Services,
  config: ServerConfig.HttpServer | ServerConfig.SseServer
): Effect.Effect<Connection, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const server = config.name
    const limits = ServerConfig.limits(config, base)
    const source = yield* RemoteHeaders.secret(yield* headers.resolve(config))
    const url = new URL(config.url)
    const plain = yield* Effect.acquireRelease(
      Effect.sync(() => Client.make(server, url, Duration.toMillis(limits.keepAlive))),
      (client) => Effect.sync(client.destroy)
    )
    const aside = yield* FiberSet.make<void>()
    return {
      server,
      url,
      path: url.pathname + url.search,
      limits,
      client: source.login === undefined ? plain : Login.client(plain, server, url, source.login),
      source,
      fork: yield* FiberSet.makeRuntime<never, void, never>(),
      forkAside: yield* FiberSet.runtime(aside)<never>(),
      asideIdle: FiberSet.awaitEmpty(aside)
    }
  })

/** A message on its way. */
export interface Post {
  readonly message: JsonRpc.Message
  readonly body: string
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Absent while the message waits for its turn. */
  fiber: Fiber.RuntimeFiber<void> | undefined
}

const nameOf = (message: JsonRpc.Message): string => "method" in message ? message.method : "an answer"

export const notAccepted = (message: JsonRpc.Message, error: McpError.CallError): Transport.Diagnostic => ({
  kind: "dropped",
  detail: `${nameOf(message)} was not accepted: ${error.message}`
})

export interface Outbox {
  readonly send: (message: JsonRpc.Message, options?: Transport.SendOptions) => McpError.CallError | undefined
  /** The request with this id, while it has no answer. */
  readonly pending: (id: unknown) => Post | undefined
  readonly isPending: (post: Post) => boolean
  /** Forgets a request, which ends its exchange unless the exchange itself brought the answer. */
  readonly settle: (post: Post, by?: Post) => void
  /** Ends all requests; what runs aside goes on. */
  readonly close: (error: Transport.Ended["error"]) => Transport.Ended
}

export interface Handlers {
  readonly post: (post: Post) => Effect.Effect<void, McpError.CallError>
  readonly failed: (post: Post, error: McpError.CallError) => void
}

/** Notifications and answers never wait for requests, because a server may need them to answer those. */
const maxAside = 16

/**
 * Messages are POSTed in their order, so many requests at once; the others wait, bounded by bytes. A subscription lasts
 * as long as its connection, so it takes no place among the requests.
 */
export const outbox = (
  { fork, forkAside, limits, server }: Connection,
  maxInFlight: number,
  on: Handlers
): Outbox => {
  const table = new Map<JsonRpc.Id, Post>()
  let waitingBytes = 0

  const lane = (max: number, fork: Fork) => {
    const waiting = new Set<Post>()
    let running = 0
    let isStarting = false
    const leave = (item: Post): void => {
      if (waiting.delete(item)) waitingBytes -= item.bytes
    }
    const start = (item: Post): void => {
      running++
      item.fiber = fork(
        Effect.catchAllCause(
          Effect.suspend(() => on.post(item)),
          (cause) => Effect.sync(() => on.failed(item, errorOf(item, cause)))
        )
      )
      item.fiber.addObserver(() => {
        running--
        startNext()
      })
    }
    const startNext = (): void => {
      if (isStarting) return
      isStarting = true
      for (const item of waiting) {
        if (running >= max) break
        leave(item)
        start(item)
      }
      isStarting = false
    }
    const enter = (item: Post): McpError.Overloaded | undefined => {
      if (running < max && waiting.size === 0) return void start(item)
      if (waitingBytes + item.bytes > limits.writeQueueBytes) {
        return new McpError.Overloaded({ server, queue: "write", queued: waitingBytes, limit: limits.writeQueueBytes })
      }
      waiting.add(item)
      waitingBytes += item.bytes
      return undefined
    }
    return { enter, leave }
  }

  /** A defect, or an interruption from below, must not leave a caller waiting. */
  const errorOf = ({ message }: Post, cause: Cause.Cause<McpError.CallError>): McpError.CallError =>
    Option.getOrElse(Cause.failureOption(cause), () =>
      Cause.isInterruptedOnly(cause)
        ? new McpError.Closed({ server, operation: nameOf(message), outcome: "unknown" })
        : Refusal.violation(server, "an exchange that ended with a defect", Cause.pretty(cause)))

  const requests = lane(maxInFlight, fork)
  const subscriptions = lane(Infinity, fork)
  const aside = lane(maxAside, forkAside)

  const settle = (item: Post, by?: Post): void => {
    if (!JsonRpc.isRequest(item.message)) return
    table.delete(item.message.id)
    requests.leave(item)
    if (item !== by) item.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  const pending = (id: unknown): Post | undefined =>
    typeof id === "string" || typeof id === "number" ? table.get(id) : undefined

  return {
    send: (message, options) => {
      const body = JSON.stringify(message)
      const bytes = Buffer.byteLength(body)
      if (bytes > limits.maxMessageBytes) {
        return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
      }
      const item: Post = { message, body, bytes, headers: options?.headers, fiber: undefined }
      if (!JsonRpc.isRequest(message)) return aside.enter(item)
      table.set(message.id, item)
      const refused = (message.method === "subscriptions/listen" ? subscriptions : requests).enter(item)
      if (refused !== undefined) table.delete(message.id)
      return refused
    },
    pending,
    isPending: (item) => JsonRpc.isRequest(item.message) && table.get(item.message.id) === item,
    settle,
    close: (error) => {
      const items = Array.from(table.values())
      const unsent = new Set(Array.from(table).flatMap(([id, item]) => item.fiber === undefined ? [id] : []))
      for (const item of items) settle(item)
      return { error, unsent: (id) => unsent.has(id) }
    }
  }
}
