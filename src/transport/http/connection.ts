/** A connection over HTTP: what it has, and the channel that messages take through it. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as Ending from "../ending.ts"
import * as Failure from "../failure.ts"
import * as JsonRpc from "../JsonRpc.ts"
import * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Transport from "../Transport.ts"
import * as Client from "./client.ts"
import * as Login from "./login.ts"

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
  /** Runs what has no answer: notifications, our answers, the farewell. */
  readonly forkAside: Fork
  /** Waits until nothing runs aside. */
  readonly asideIdle: Effect.Effect<void>
}

/** What the layer of a transport has for all its connections. */
export const services = Effect.all({
  limits: Limits.CurrentLimits,
  headers: RemoteHeaders.whenOpened,
  ending: Ending.make
})

export const make = (
  { headers, limits: base }: Effect.Effect.Success<typeof services>,
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
    const client = source.login === undefined ? plain : Login.client(plain, server, url, source.login)
    const path = url.pathname + url.search
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const aside = yield* FiberSet.make<void>()
    const forkAside = yield* FiberSet.runtime(aside)<never>()
    return { server, url, path, limits, client, source, fork, forkAside, asideIdle: FiberSet.awaitEmpty(aside) }
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

/** Notifications and answers never wait for requests, because a server may need them to answer those. */
const maxAside = 16

/** A server that accepts no notification gets requests all the same, a little later. */
const acceptance = Duration.seconds(2)

/** How long the exchange of a request may go on after its answer came on another stream. */
const grace = Duration.seconds(1)

/**
 * POSTs messages in their order, `maxInFlight` requests at once; the others wait, bounded by bytes. A subscription lasts as
 * long as its connection, so it takes no place among the requests.
 */
export const channel = (
  { asideIdle, fork, forkAside, limits, server }: Connection,
  maxInFlight: number,
  post: (post: Post) => Effect.Effect<void, McpError.CallError>
) => {
  const table = new Map<JsonRpc.Id, Post>()
  /** What comes before `start`. */
  let early: Array<(sink: Transport.Sink) => void> = []
  let sink: Transport.Sink | undefined
  let ended: Transport.Ended | undefined
  let waitingBytes = 0

  const tell = (what: (sink: Transport.Sink) => void): void => {
    if (sink === undefined) early.push(what)
    else what(sink)
  }

  const diagnostic = (diagnostic: Transport.Diagnostic): void => {
    if (ended === undefined) tell((sink) => sink.diagnostic(diagnostic))
  }

  const lane = (max: number, fork: Fork) => {
    const waiting = new Set<Post>()
    let running = 0
    let isStarting = false
    const leave = (item: Post): void => {
      if (waiting.delete(item)) waitingBytes -= item.bytes
    }
    const start = (item: Post): void => {
      running++
      item.fiber = fork(run(item))
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
        return Failure.queueFull(server, waitingBytes, limits.writeQueueBytes)
      }
      waiting.add(item)
      waitingBytes += item.bytes
      return undefined
    }
    return { enter, leave }
  }

  const requests = lane(maxInFlight, fork)
  const subscriptions = lane(Infinity, fork)
  const aside = lane(maxAside, forkAside)

  const run = (item: Post): Effect.Effect<void> =>
    Effect.catchAllCause(Effect.suspend(() => post(item)), (cause) =>
      Effect.sync(() =>
        fail(
          item,
          // a defect or an interruption from below must not leave a caller waiting
          Option.getOrElse(
            Cause.failureOption(cause),
            () => Failure.violation(server, "an exchange that came to an unexpected end", Cause.pretty(cause))
          )
        )
      ))

  /** True while the request has neither an answer nor an error. */
  const isPending = (item: Post): boolean => JsonRpc.isRequest(item.message) && table.get(item.message.id) === item

  const settle = (id: JsonRpc.Id, item: Post): void => {
    table.delete(id)
    requests.leave(item)
  }

  const interrupt = ({ fiber }: Post): void => fiber?.unsafeInterruptAsFork(FiberId.none)

  const fail = (item: Post, error: McpError.CallError): void => {
    const { message } = item
    if (!JsonRpc.isRequest(message)) {
      const what = "method" in message ? message.method : "an answer"
      return diagnostic({ kind: "dropped", detail: `${what} was not accepted: ${error.message}` })
    }
    if (!isPending(item)) return
    settle(message.id, item)
    tell((sink) => sink.failed(message.id, error))
  }

  /** `from`: the request on whose stream the message came, if it was one. */
  const deliver = (message: JsonRpc.Incoming, from?: Post): void => {
    if (ended !== undefined) return
    if (!Object.hasOwn(message, "method") && Object.hasOwn(message, "id")) {
      const id = message["id"]
      const failure = id === null ? JsonRpc.failure(message) : undefined
      if (failure !== undefined && from !== undefined && isPending(from)) {
        const { code, data, message: detail } = failure
        return fail(from, new McpError.RemoteError({ server, code, detail, data }))
      }
      const isId = typeof id === "string" || typeof id === "number"
      const pending = isId ? table.get(id) : undefined
      if (pending === undefined || !isId) {
        return diagnostic({ kind: "dropped", detail: "an answer to no pending request" })
      }
      settle(id, pending)
      if (pending !== from && pending.fiber?.unsafePoll() === null) {
        fork(Effect.delay(Effect.sync(() => interrupt(pending)), grace))
      }
    }
    tell((sink) => sink.message(message))
  }

  const send: Transport.Transport["send"] = (message, options) => {
    if (ended !== undefined) return ended.error("not-sent")
    const encoded = Failure.encode(server, message, limits.maxMessageBytes)
    if (Either.isLeft(encoded)) return encoded.left
    const { bytes, text: body } = encoded.right
    const item: Post = { message, body, bytes, headers: options?.headers, fiber: undefined }
    if (!JsonRpc.isRequest(message)) return aside.enter(item)
    table.set(message.id, item)
    const refused = (message.method === "subscriptions/listen" ? subscriptions : requests).enter(item)
    if (refused !== undefined) table.delete(message.id)
    return refused
  }

  return {
    send,
    isPending,
    deliver,
    diagnostic,
    waiting: (item: Post, open: boolean): void => {
      const { message } = item
      if (JsonRpc.isRequest(message) && isPending(item)) tell((sink) => sink.waiting(message.id, open))
    },
    /** Ends all requests, once; what runs aside goes on. */
    end: (error: Transport.Ended["error"]): void => {
      if (ended !== undefined) return
      const items = Array.from(table)
      const unsent = new Set(items.flatMap(([id, { fiber }]) => fiber === undefined ? [id] : []))
      const end: Transport.Ended = { error, unsent: (id) => unsent.has(id) }
      ended = end
      for (const [id, item] of items) {
        settle(id, item)
        interrupt(item)
      }
      tell((sink) => sink.ended(end))
    },
    hasEnded: (): boolean => ended !== undefined,
    transport: {
      start: (to: Transport.Sink): void => {
        sink = to
        for (const what of early) what(to)
        early = []
      },
      send,
      accepted: Effect.asVoid(Effect.timeoutOption(asideIdle, acceptance)),
      abandon: (id: JsonRpc.Id): void => {
        const item = table.get(id)
        if (item === undefined) return
        settle(id, item)
        interrupt(item)
      },
      stderrTail: () => undefined
    }
  }
}
