/** One caller of the session era: its handshake, its requests, the questions to it, and what it has subscribed to. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Protocol from "../client/Protocol.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Scoped from "../scoped.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

type Result = Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

export interface Options {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
  readonly principal: string | undefined
  /** For messages that belong to no request. */
  readonly output: Exchange.Output
}

export interface Conversation extends Pick<Exchange.InFlight, "cancel" | "isIdle"> {
  /** Known from the `initialize` request on. */
  readonly protocolVersion: () => string | undefined
  /** Whether the handshake has succeeded. */
  readonly isOpen: () => boolean
  /** Acts on a message. Requests, and most notifications, go on after it returns. */
  readonly receive: (message: Messages.Received, arrival: Exchange.Arrival) => Effect.Effect<void>
  /** Fails the open questions, and gives the requests in flight some time. */
  readonly drain: Effect.Effect<void>
}

const invalidRequest = (message: string): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.invalidRequest, message: `Invalid Request: ${message}` })

const callerOf = (
  { capabilities, clientInfo, protocolVersion }: JsonRpc.JsonObject,
  { link, principal }: Options
): Effect.Effect<McpServer.Caller, McpServer.Refusal> => {
  if (typeof protocolVersion !== "string") {
    return McpServer.invalidParams("Invalid params: protocolVersion must be a string")
  }
  if (!JsonRpc.isObject(capabilities)) {
    return McpServer.invalidParams("Invalid params: capabilities must be an object")
  }
  return Effect.succeed({
    era: "session",
    link,
    // an unknown version is answered with the best known one, and the caller decides
    protocolVersion: Protocol.sessionVersions.includes(protocolVersion)
      ? protocolVersion
      : Protocol.sessionVersions[0]!,
    clientInfo: JsonRpc.isObject(clientInfo) ? Messages.objectOf(clientInfo) : undefined,
    capabilities: Messages.objectOf(capabilities),
    principal
  })
}

// Questions to the caller

const internal = (message: string): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.internal, message })

const gone = internal("The caller is gone, or cannot be asked")
const silent = internal("The caller has not answered in time")

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
          // also at the timeout, which interrupts the wait
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
        message: typeof message === "string" ? message : "The caller has refused",
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

// Resource subscriptions

const maxSubscriptions = 1_024
const crowded = Exchange.overloaded("Too many subscriptions")

const uriOf = ({ uri }: JsonRpc.JsonObject): Effect.Effect<string, McpServer.Refusal> =>
  typeof uri === "string" ? Effect.succeed(uri) : McpServer.invalidParams("Invalid params: uri must be a string")

/** The resources that are watched for the caller, each in a scope of its own. */
const subscriptions = (scope: Scope.Scope) => {
  const scopes = new Map<string, Scope.CloseableScope>()
  return {
    subscribe: (watch: NonNullable<McpServer.Attendance["watch"]>, params: JsonRpc.JsonObject): Result =>
      Effect.gen(function*() {
        const uri = yield* uriOf(params)
        if (scopes.has(uri)) return {}
        if (scopes.size >= maxSubscriptions) return yield* crowded
        const within = yield* Scope.fork(scope, { _tag: "Sequential" })
        scopes.set(uri, within)
        yield* Effect.onError(Scope.extend(watch(uri), within), (cause) => {
          if (scopes.get(uri) === within) scopes.delete(uri)
          return Scope.close(within, Exit.failCause(cause))
        })
        return {}
      }),
    unsubscribe: (params: JsonRpc.JsonObject): Result =>
      Effect.gen(function*() {
        const uri = yield* uriOf(params)
        const within = scopes.get(uri)
        scopes.delete(uri)
        if (within !== undefined) yield* Scope.close(within, Exit.void)
        return {}
      })
  }
}

// Requests

/** How many notifications are handled at once before the next one is waited for. */
const maxNotifications = 64

export const make = (options: Options): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { limits, offer, output } = options
    const scope = yield* Effect.scope
    const inFlight = yield* Exchange.inFlight(limits.maxRequests)
    const notifications = yield* FiberSet.make<void>()
    const { answered, ask, close } = questions(limits.inputTimeout)
    const { subscribe, unsubscribe } = subscriptions(scope)
    const handshake = yield* Effect.makeSemaphore(1)
    let caller: McpServer.Caller | undefined
    let attendance: McpServer.Attendance | undefined
    let level: McpServer.LogLevel = "info"
    yield* Scoped.onClose(close)

    const visit = (caller: McpServer.Caller): McpServer.Visit => ({
      caller,
      notify: (method, params) => output.offer({ jsonrpc: "2.0", method, params }),
      log: (message) => {
        const notification = Exchange.logged(message, level)
        if (notification !== undefined) output.offer(notification)
      },
      ask: ask(() => output)
    })

    const initialize = (params: JsonRpc.JsonObject): Result =>
      Effect.gen(function*() {
        if (caller !== undefined) return yield* invalidRequest("this session is initialized already")
        const read = yield* callerOf(params, options)
        caller = read
        const attended = Effect.tap(Scope.extend(offer.attend(visit(read)), scope), (made) => {
          attendance = made
        })
        const there = yield* Effect.onError(handshake.withPermits(1)(attended), () =>
          Effect.sync(() => {
            caller = undefined
          }))
        return {
          protocolVersion: read.protocolVersion,
          capabilities: yield* Exchange.capabilitiesFor(offer, there, read),
          serverInfo: offer.info,
          instructions: offer.instructions
        }
      })

    /** Messages behind a handshake that takes its time wait for it. */
    const opened = Effect.suspend(() =>
      attendance === undefined ? handshake.withPermits(1)(Effect.sync(() => attendance)) : Effect.succeed(attendance)
    )

    const setLevel = (params: JsonRpc.JsonObject, set: McpServer.Attendance["setLogLevel"]): Result =>
      Effect.gen(function*() {
        const wanted = McpServer.logLevelOf(params["level"])
        if (wanted === undefined) return yield* McpServer.invalidParams("Invalid params: level is not a log level")
        level = wanted
        if (set !== undefined) yield* set(wanted)
        return {}
      })

    const handle = (request: Exchange.Request, now: Exchange.Now): Result =>
      Effect.gen(function*() {
        const { method, params } = request
        if (method === "ping") return {}
        if (method === "initialize") return yield* initialize(params)
        const there = yield* opened
        if (there === undefined || caller === undefined) {
          return yield* invalidRequest(`${method.slice(0, 128)} before initialize`)
        }
        const { handlers, setLogLevel, watch } = there
        const handler = handlers.get(method)
        if (handler !== undefined) {
          return yield* handler(
            Exchange.make(request, now, { caller, ask: ask(() => now()?.output), level: () => level })
          )
        }
        if (method === "logging/setLevel" && "logging" in offer.capabilities) {
          return yield* setLevel(params, setLogLevel)
        }
        if (method === "resources/subscribe" && watch !== undefined) return yield* subscribe(watch, params)
        if (method === "resources/unsubscribe" && watch !== undefined) return yield* unsubscribe(params)
        return yield* McpServer.methodNotFound(method)
      })

    const notified = (method: string, params: JsonRpc.JsonObject): Effect.Effect<void> => {
      const handled = Effect.flatMap(opened, (there) => there?.notified?.(method, params) ?? Effect.void).pipe(
        Effect.catchAllCause((cause) =>
          RuntimeLog.error(`The handler of ${method.slice(0, 128)} died with a defect`, cause)
        )
      )
      return Effect.flatMap(
        FiberSet.size(notifications),
        (size) => size < maxNotifications ? FiberSet.run(notifications, handled) : handled
      )
    }

    const acted = (
      message: Exclude<Messages.Received, Messages.Request>,
      { output }: Exchange.Arrival
    ): Effect.Effect<void> => {
      switch (message._tag) {
        case "Invalid":
          return output.send(Messages.failure(message.id, message.refusal))
        case "Response":
          return Effect.sync(() => answered(message.message))
        case "Notification":
          return message.method === "notifications/cancelled"
            ? Effect.sync(() => inFlight.cancel(message.params["requestId"]))
            : notified(message.method, message.params)
      }
    }

    return {
      cancel: inFlight.cancel,
      isIdle: inFlight.isIdle,
      protocolVersion: () => caller?.protocolVersion,
      isOpen: () => attendance !== undefined,
      receive: (message, arrival) => {
        if (message._tag === "Request") {
          const request = { ...message, ...arrival }
          return inFlight.begin(request, (now) => handle(request, now))
        }
        return Effect.ensuring(acted(message, arrival), Effect.sync(arrival.done))
      },
      drain: Effect.zipRight(Effect.sync(close), inFlight.drain(Duration.decode(limits.drainTimeout)))
    }
  })
