/** The session era: the handshake of a caller, its requests, its subscriptions, and requests to it. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Protocol from "../client/Protocol.ts"
import * as Scoped from "../scoped.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

const initializeKeys = {
  protocolVersion: "protocolVersion",
  clientCapabilities: "capabilities",
  clientInfo: "clientInfo"
}

// Requests to the caller

const gone = McpServer.refusal("internal", "The client has disconnected or cannot be asked")
const silent = McpServer.refusal("internal", "The client did not answer in time")

const questions = (inputTimeout: Duration.DurationInput) => {
  const open = new Map<unknown, Deferred.Deferred<JsonRpc.JsonObject, McpServer.Refusal>>()
  let ids = 0
  let isClosed = false
  return {
    ask: (output: () => Exchange.Output | undefined): McpServer.Exchange["ask"] => (method, params) =>
      Effect.suspend(() => {
        const to = output()
        if (isClosed || to === undefined) return gone
        const id = `ask-${++ids}`
        const answer = Deferred.unsafeMake<JsonRpc.JsonObject, McpServer.Refusal>(FiberId.none)
        open.set(id, answer)
        const withdraw = Effect.sync(() => {
          const params = { requestId: id, reason: "no longer needed" }
          output()?.offer({ jsonrpc: "2.0", method: "notifications/cancelled", params })
        })
        return Effect.zipRight(to.send({ jsonrpc: "2.0", id, method, params }), Deferred.await(answer)).pipe(
          // also after the timeout, which interrupts the wait
          Effect.onInterrupt(() => withdraw),
          Effect.timeoutFail({ duration: inputTimeout, onTimeout: () => silent }),
          Effect.ensuring(Effect.sync(() => open.delete(id)))
        )
      }),
    answered: ({ error, id, result }: JsonRpc.JsonObject): void => {
      const answer = open.get(id)
      if (answer === undefined) return
      const { code, data, message } = Messages.objectOf(error)
      const refusal = new McpServer.Refusal({
        code: typeof code === "number" ? code : McpServer.codes.internal,
        message: typeof message === "string" ? message : "The client refused",
        data
      })
      Deferred.unsafeDone(answer, JsonRpc.isObject(error) ? refusal : Effect.succeed(Messages.objectOf(result)))
    },
    close: (): void => {
      isClosed = true
      for (const answer of open.values()) Deferred.unsafeDone(answer, gone)
      open.clear()
    }
  }
}

// Subscriptions to resources

const unsubscribed = McpServer.refusal(
  "invalidRequest",
  "Invalid Request: unsubscribed before the subscription started"
)

interface Subscription {
  readonly started: Deferred.Deferred<void, McpServer.Refusal>
  readonly fiber: Fiber.RuntimeFiber<void, McpServer.Refusal>
  /** The requests that wait for its start. */
  waiting: number
}

type Watch = NonNullable<McpServer.Service["watch"]>

/** One subscription per URI, which ends with `unsubscribe`, with its watch, or with the session. */
const makeSubscriptions = (notify: McpServer.Peer["notify"]) =>
  Effect.map(FiberSet.makeRuntime<never, void, McpServer.Refusal>(), (fork) => {
    const all = new Map<string, Subscription>()

    const start = (watch: Watch, uri: string): Subscription => {
      const started = Deferred.unsafeMake<void, McpServer.Refusal>(FiberId.none)
      const watching = watch(uri, () => notify("notifications/resources/updated", { uri }))
      const fiber = fork(Effect.scoped(Effect.flatMap(
        watching,
        ({ ended }) => Effect.zipRight(Deferred.succeed(started, undefined), ended)
      )))
      const subscription = { started, fiber, waiting: 0 }
      all.set(uri, subscription)
      fiber.addObserver((exit) => {
        if (all.get(uri) === subscription) all.delete(uri)
        Deferred.unsafeDone(started, Exit.isInterrupted(exit) ? unsubscribed : exit)
      })
      return subscription
    }

    const end = (uri: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const subscription = all.get(uri)
        all.delete(uri)
        return subscription === undefined ? Effect.void : Fiber.interrupt(subscription.fiber)
      })

    /** Succeeds when the watch has started. Requests for the same URI share it; it ends if all of them are cancelled. */
    const subscribe = (watch: Watch, uri: string): Effect.Effect<void, McpServer.Refusal> =>
      Effect.suspend(() => {
        const known = all.get(uri)
        if (known === undefined && all.size >= Exchange.maxSubscriptions) return Exchange.tooManySubscriptions
        const subscription = known ?? start(watch, uri)
        subscription.waiting++
        return Deferred.await(subscription.started).pipe(
          Effect.onInterrupt(() =>
            subscription.waiting === 1 && all.get(uri) === subscription ? end(uri) : Effect.void
          ),
          Effect.ensuring(Effect.sync(() => subscription.waiting--))
        )
      })

    return { subscribe, end }
  })

// Requests

export const make = ({ limits, link, offer, output }: Exchange.Serving) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const { answered, ask, close } = questions(limits.inputTimeout)
    const service = Scoped.once<McpServer.Service>()
    let caller: McpServer.Caller | undefined
    let level: McpServer.LogLevel = "info"
    const toCaller = Exchange.notifying(() => output, () => level)
    const subscriptions = yield* makeSubscriptions(toCaller.notify)
    yield* Scoped.onClose(close)

    const initialize = ({ params, principal }: Exchange.Request): Exchange.Result =>
      Effect.gen(function*() {
        if (caller !== undefined) {
          return yield* McpServer.refusal("invalidRequest", "Invalid Request: the session is already initialized")
        }
        const read = yield* Exchange.callerOf(params, initializeKeys, { era: "session", link, principal })
        const protocolVersion = Protocol.sessionVersions.includes(read.protocolVersion)
          ? read.protocolVersion
          // the newest known version; the caller disconnects if it does not support it
          : Protocol.sessionVersions[0]!
        const known = caller = { ...read, protocolVersion }
        const peer = { caller: known, ask: ask(() => output), ...toCaller }
        const opened = yield* Effect.onError(service.open(Scope.extend(offer.open(peer), scope)), () =>
          Effect.sync(() => {
            caller = undefined
          }))
        const capabilities = yield* Exchange.capabilitiesFor(offer, opened, known)
        return { protocolVersion, capabilities, serverInfo: offer.info, instructions: offer.instructions }
      })

    const handle = (request: Exchange.Request, current: Exchange.CurrentRequest): Exchange.Result =>
      Effect.gen(function*() {
        const { method, params } = request
        if (method === "ping") return {}
        if (method === "initialize") return yield* initialize(request)
        // requests wait for a handshake in flight
        const opened = yield* service.settled
        if (opened === undefined || caller === undefined) {
          return yield* McpServer.refusal(
            "invalidRequest",
            `Invalid Request: ${method.slice(0, 128)} before initialize`
          )
        }
        const { handlers, setLogLevel, watch } = opened
        const handler = handlers.get(method)
        if (handler !== undefined) {
          return yield* handler(
            Exchange.make(request, current, () => level, { caller, ask: ask(() => current()?.output) })
          )
        }
        if (method === "logging/setLevel" && "logging" in offer.capabilities) {
          const wanted = McpServer.logLevelOf(params["level"])
          if (wanted === undefined) {
            return yield* McpServer.invalidParams("Invalid params: level must be a log level")
          }
          level = wanted
          yield* setLogLevel?.(wanted) ?? Effect.void
          return {}
        }
        if (watch !== undefined && (method === "resources/subscribe" || method === "resources/unsubscribe")) {
          const { uri } = params
          if (typeof uri !== "string") return yield* McpServer.invalidParams("Invalid params: uri must be a string")
          yield* method === "resources/subscribe" ? subscriptions.subscribe(watch, uri) : subscriptions.end(uri)
          return {}
        }
        return yield* Exchange.methodNotFound(method)
      })

    return {
      protocolVersion: () => caller?.protocolVersion,
      isOpen: () => service.current() !== undefined,
      handle,
      notified: (method: string, params: JsonRpc.JsonObject) =>
        Effect.flatMap(service.settled, (opened) => opened?.notified?.(method, params) ?? Effect.void),
      answered,
      /** Fails the open questions. */
      close
    }
  })
