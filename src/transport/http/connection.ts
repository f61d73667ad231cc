/** A connection to a server behind a URL: how it is opened and closed, and the channel that messages take through HTTP. */
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
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as RetryPolicy from "../../resilience/RetryPolicy.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import * as Ending from "../ending.ts"
import * as Failure from "../failure.ts"
import * as JsonRpc from "../JsonRpc.ts"
import * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Transport from "../Transport.ts"
import * as Client from "./client.ts"
import * as Proxy from "./proxy.ts"
import type * as Refusal from "./refusal.ts"

export interface Opened {
  readonly transport: Transport.Transport
  /** Succeeds when the transport can be used. */
  readonly ready?: Effect.Effect<unknown, McpError.ConnectError, Scope.Scope>
  /** Settles every request at once, and says farewell to the server. */
  readonly farewell: Effect.Effect<void>
}

/** Opens servers behind a URL. When the scope closes, the farewell is bounded and its outcome recorded. */
export const opener = <Config extends RemoteHeaders.RemoteServer>(
  open: (peer: Refusal.Peer, url: URL) => Effect.Effect<Opened, McpError.ConnectError, Scope.Scope>
): Effect.Effect<{ readonly open: Transport.Open<Config> }, never, Teardown.Teardown> =>
  Effect.gen(function*() {
    const base = yield* Limits.CurrentLimits
    const headers = yield* RemoteHeaders.whenOpened
    const ending = yield* Ending.make
    const route = yield* Proxy.make
    return {
      // untraced, because a span would keep an error as it is before its secrets are hidden
      open: Effect.fnUntraced(function*(config: Config) {
        const server = config.name
        const source = yield* RemoteHeaders.secret(yield* headers.resolve(config))
        const url = new URL(config.url)
        const invalid = (fault: Proxy.Invalid) => new McpError.ConfigurationError({ server, ...fault })
        const proxy = yield* Either.mapLeft(route(url, config.proxy), invalid)
        // the body of an error can quote the request to the proxy
        if (proxy !== undefined) (yield* RemoteHeaders.secret(RemoteHeaders.constant(proxy.headers))).current()
        const peer = { server, limits: ServerConfig.limits(config, base), source, proxy }
        const { farewell, ready = Effect.void, transport } = yield* open(peer, url)
        yield* Effect.addFinalizer(() =>
          Effect.gen(function*() {
            const [took, done] = yield* Effect.timed(BoundedWait.within(ending.bounds.farewellTimeout)(farewell))
            const how = Option.isSome(done) ? "closed" : "abandoned"
            ending.record({ server, transport: transport.kind, how, took, killed: [] })
          })
        )
        yield* ready
        return transport
      })
    }
  })

type Fork = (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>

/** What a transport over HTTP has, until its scope closes. */
export type Connection = Effect.Effect.Success<ReturnType<typeof make>>

export const make = (peer: Refusal.Peer, url: URL) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => Client.make(peer, url, clock)),
      (client) => Effect.sync(client.destroy)
    )
    const aside = yield* FiberSet.make<void>()
    return {
      ...peer,
      url,
      /** The path and query of the URL. */
      path: url.pathname + url.search,
      client,
      /** Runs requests and streams. */
      fork: yield* FiberSet.makeRuntime<never, void, never>(),
      /** Runs what has no answer: notifications, our answers, the farewell. */
      forkAside: yield* FiberSet.runtime(aside)<never>(),
      /** Waits until nothing runs aside. */
      asideIdle: FiberSet.awaitEmpty(aside)
    }
  })

/** The methods that a caller waits for; the others keep a connection or run in the background. */
const foreground: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"])

/** A message on its way. */
export interface Post {
  readonly message: JsonRpc.Message
  /** Present for a request. */
  readonly id: JsonRpc.Id | undefined
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
  const outlet = Ending.outlet(server, limits)
  let waitingBytes = 0

  const lane = (max: number, fork: Fork) => {
    const waiting = new Set<Post>()
    let running = 0
    let isStarting = false
    const leave = (item: Post): void => {
      if (waiting.delete(item)) waitingBytes -= item.bytes
    }
    const ended = (): void => {
      running--
      startNext()
    }
    const startNext = (): void => {
      for (const item of waiting) {
        if (running >= max || isStarting) return
        leave(item)
        running++
        isStarting = true
        item.fiber = fork(run(item))
        item.fiber.addObserver(ended)
        isStarting = false
      }
    }
    const enter = (item: Post): McpError.Overloaded | undefined => {
      const mustWait = running >= max || waiting.size > 0
      if (mustWait && waitingBytes + item.bytes > limits.writeQueueBytes) {
        return Failure.queueFull(server, waitingBytes, limits.writeQueueBytes)
      }
      waiting.add(item)
      waitingBytes += item.bytes
      startNext()
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
  const isPending = (item: Post): boolean => item.id !== undefined && table.get(item.id) === item

  const settle = (id: JsonRpc.Id, item: Post): void => {
    table.delete(id)
    requests.leave(item)
  }

  const interrupt = ({ fiber }: Post): void => fiber?.unsafeInterruptAsFork(FiberId.none)

  const fail = (item: Post, error: McpError.CallError): void => {
    const { id, message } = item
    if (id === undefined) {
      const what = "method" in message ? message.method : "an answer"
      outlet.diagnostic({ kind: "dropped", detail: `${what} was not accepted: ${error.message}` })
    } else if (isPending(item)) {
      settle(id, item)
      outlet.failed(id, error)
    }
  }

  /** `from`: the request on whose stream the message came, if it was one. */
  const deliver = (message: JsonRpc.Incoming, from?: Post): void => {
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
        return outlet.diagnostic({ kind: "dropped", detail: "an answer to no pending request" })
      }
      settle(id, pending)
      if (pending !== from && pending.fiber?.unsafePoll() === null) {
        fork(Effect.delay(Effect.sync(() => interrupt(pending)), grace))
      }
    }
    outlet.message(message)
  }

  const send: Transport.Transport["send"] = (message, options) => {
    const encoded = outlet.encode(message)
    if (Either.isLeft(encoded)) return encoded.left
    const { bytes, text: body } = encoded.right
    const id = JsonRpc.isRequest(message) ? message.id : undefined
    const item: Post = { message, id, body, bytes, headers: options?.headers, fiber: undefined }
    if (id === undefined) return aside.enter(item)
    table.set(id, item)
    const isSubscription = "method" in message && message.method === "subscriptions/listen"
    const refused = (isSubscription ? subscriptions : requests).enter(item)
    if (refused !== undefined) table.delete(id)
    return refused
  }

  const abandon = (id: JsonRpc.Id): void => {
    const item = table.get(id)
    if (item === undefined) return
    settle(id, item)
    interrupt(item)
  }

  return {
    outlet,
    send,
    isPending,
    deliver,
    callOf: (item: Post, path: string, headers: ReadonlyArray<string>): Client.Call => {
      const { body, id, message } = item
      const method = id !== undefined && "method" in message ? message.method : undefined
      return {
        method: "POST",
        path,
        headers,
        body,
        repeatable: method === undefined || RetryPolicy.isIdempotent(method),
        foreground: method !== undefined && foreground.has(method),
        waiting: (open) => {
          if (id !== undefined && isPending(item)) outlet.waiting(id, open)
        }
      }
    },
    /** Ends all requests, once; what runs aside goes on. */
    end: (error: Transport.Ended["error"]): void => {
      const unsent = new Set(Array.from(table).flatMap(([id, { fiber }]) => fiber === undefined ? [id] : []))
      for (const id of Array.from(table.keys())) abandon(id)
      outlet.end(error, (id) => unsent.has(id))
    },
    transport: {
      start: outlet.start,
      send,
      accepted: Effect.asVoid(Effect.timeoutOption(asideIdle, acceptance)),
      abandon,
      stderrTail: () => undefined
    }
  }
}
