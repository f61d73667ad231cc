/** One caller of the session era: its handshake, its requests side by side, what it is asked, and what it follows. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as RuntimeLog from "../../runtimeLog.ts"
import * as Scoped from "../../scoped.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Asks from "./asks.ts"
import * as Envelope from "./envelope.ts"
import * as Exchange from "./exchange.ts"
import * as Initialize from "./initialize.ts"
import * as LogLevels from "./logLevels.ts"
import * as Outlet from "./outlet.ts"
import * as Running from "./running.ts"

/** @internal */
export interface Options {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
  readonly principal: string | undefined
  /** For what belongs to no request. */
  readonly outlet: Outlet.Outlet
}

/** @internal */
export interface Conversation {
  /** The caller, once it has introduced itself and is attended to. */
  readonly caller: () => McpServer.Caller | undefined
  /** What it speaks, as soon as it has said so. */
  readonly protocolVersion: () => string | undefined
  /**
   * Takes a message and returns: whatever takes time goes on beside. What a request leads to goes to its outlet, and in the
   * end `done` is called, whatever became of it.
   */
  readonly receive: (
    envelope: Envelope.Envelope,
    outlet: Outlet.Outlet,
    header: McpServer.Exchange["header"],
    done?: () => void
  ) => Effect.Effect<void>
  readonly cancel: (id: JsonRpc.Id) => void
  readonly inFlight: () => number
  /** No answers will come any more: what waits for one is told, what runs has some time left. */
  readonly drain: Effect.Effect<void>
}

interface Open {
  readonly caller: McpServer.Caller
  readonly attendance: McpServer.Attendance
}

const invalid = (message: string): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.invalidRequest, message: `Invalid Request: ${message}` })

const crowded = new McpServer.Refusal({ code: McpServer.codes.overloaded, message: "Too many subscriptions" })

/** How many resources one caller may follow. */
const mostSubscriptions = 1_024

/** How many notifications of one caller are seen to at once, before the next is waited with. */
const mostNoticed = 64

const nothing: JsonRpc.JsonObject = {}

/** @internal */
export const make = (options: Options): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { limits, link, offer, outlet: own, principal } = options
    const scope = yield* Effect.scope
    const asks = Asks.make(limits)
    const running = yield* Running.make(limits.maxRequests)
    const subscriptions = new Map<string, Scope.CloseableScope>()
    let open: Open | undefined
    let level: McpServer.LogLevel = "info"
    let opening: { readonly caller: McpServer.Caller; readonly over: Deferred.Deferred<void> } | undefined
    const run = yield* FiberSet.makeRuntime<never, void>()
    /** Notifications that are being seen to. */
    let noticed = 0

    const tell = (method: string, params?: JsonRpc.JsonObject): void => own.hint(Outlet.notification(method, params))

    const visit = (caller: McpServer.Caller): McpServer.Visit => ({
      caller,
      notify: tell,
      log: (message) => {
        if (LogLevels.isWanted(message.level, level)) tell("notifications/message", LogLevels.params(message))
      },
      ask: (method, params) => asks.ask(() => own, method, params)
    })

    const initialize = (params: JsonRpc.JsonObject): Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal> =>
      Effect.gen(function*() {
        if (open !== undefined || opening !== undefined) return yield* invalid("this session is initialized already")
        const caller = yield* Either.match(Initialize.read(params, link, principal), {
          onLeft: Effect.fail,
          onRight: Effect.succeed
        })
        const over = Deferred.unsafeMake<void>(FiberId.none)
        opening = { caller, over }
        return yield* Effect.suspend(() => Scope.extend(offer.attend(visit(caller)), scope)).pipe(
          Effect.flatMap((attendance) => {
            open = { caller, attendance }
            return Initialize.result(offer, caller, attendance)
          }),
          Effect.ensuring(Effect.sync(() => {
            opening = undefined
            Deferred.unsafeDone(over, Effect.void)
          }))
        )
      })

    /** What was sent behind a handshake that takes its time waits for it. */
    const opened: Effect.Effect<Open | undefined> = Effect.suspend(() =>
      open !== undefined || opening === undefined
        ? Effect.succeed(open)
        : Effect.map(Deferred.await(opening.over), () => open)
    )

    const setLevel = ({ attendance }: Open, params: JsonRpc.JsonObject) =>
      Effect.gen(function*() {
        const wanted = LogLevels.read(params["level"])
        if (wanted === undefined) return yield* Exchange.invalidParams("Invalid params: level is no log level")
        level = wanted
        if (attendance.setLogLevel !== undefined) yield* attendance.setLogLevel(wanted)
        return nothing
      })

    const uriOf = (params: JsonRpc.JsonObject): Effect.Effect<string, McpServer.Refusal> => {
      const { uri } = params
      return typeof uri === "string"
        ? Effect.succeed(uri)
        : Effect.fail(Exchange.invalidParams("Invalid params: uri must be a text"))
    }

    const subscribe = (watch: NonNullable<McpServer.Attendance["watch"]>, params: JsonRpc.JsonObject) =>
      Effect.gen(function*() {
        const uri = yield* uriOf(params)
        if (subscriptions.has(uri)) return nothing
        if (subscriptions.size >= mostSubscriptions) return yield* crowded
        const within = yield* Scope.fork(scope, { _tag: "Sequential" })
        subscriptions.set(uri, within)
        yield* Effect.onExit(Scope.extend(watch(uri), within), (exit) => {
          if (Exit.isSuccess(exit)) return Effect.void
          if (subscriptions.get(uri) === within) subscriptions.delete(uri)
          return Scope.close(within, exit)
        })
        return nothing
      })

    const unsubscribe = (params: JsonRpc.JsonObject) =>
      Effect.gen(function*() {
        const uri = yield* uriOf(params)
        const within = subscriptions.get(uri)
        subscriptions.delete(uri)
        if (within !== undefined) yield* Scope.close(within, Exit.void)
        return nothing
      })

    /** What the protocol itself is asked for; `undefined` for what the offer has to know. */
    const protocol = (
      at: Open,
      method: string,
      params: JsonRpc.JsonObject
    ): Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal> | undefined => {
      switch (method) {
        case "logging/setLevel":
          return "logging" in offer.capabilities ? setLevel(at, params) : undefined
        case "resources/subscribe":
          return at.attendance.watch === undefined ? undefined : subscribe(at.attendance.watch, params)
        case "resources/unsubscribe":
          return at.attendance.watch === undefined ? undefined : unsubscribe(params)
        default:
          return undefined
      }
    }

    const handle = (
      { method, params }: Envelope.Envelope & { readonly _tag: "Request" },
      outlet: () => Outlet.Outlet | undefined,
      header: McpServer.Exchange["header"]
    ): Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal> => {
      if (method === "ping") return Effect.succeed(nothing)
      if (method === "initialize") return initialize(params)
      return Effect.flatMap(opened, (open) => {
        if (open === undefined) return Effect.fail(invalid(`${method.slice(0, 128)} before initialize`))
        const { attendance: { handlers }, caller } = open
        const handler = handlers.get(method)
        if (handler === undefined) return protocol(open, method, params) ?? Effect.fail(Exchange.missing(method))
        const { progressToken } = Exchange.metaOf(params)
        return handler(Exchange.make({
          caller,
          method,
          params,
          header,
          outlet,
          progressToken: () => progressToken,
          level: () => level,
          ask: (method, params) => asks.ask(outlet, method, params)
        }))
      })
    }

    const answer = (
      request: Envelope.Envelope & { readonly _tag: "Request" },
      outlet: Outlet.Outlet,
      header: McpServer.Exchange["header"]
    ): Effect.Effect<void> =>
      Effect.suspend(() => {
        // whoever keeps the exchange has nothing more to say once it is answered
        let to: Outlet.Outlet | undefined = outlet
        const handling = Effect.suspend(() => handle(request, () => to, header))
        return Effect.flatMap(Exchange.ended(request.method, handling), (end) => {
          to = undefined
          return end === undefined ? Effect.void : outlet.send(Exchange.answerOf(request.id, end))
        })
      })

    /** Nobody waits for what becomes of a notification, unless there are very many. */
    const notified = (method: string, params: JsonRpc.JsonObject): Effect.Effect<void> => {
      if (method === "notifications/cancelled") {
        const { requestId } = params
        if (typeof requestId === "string" || typeof requestId === "number") running.cancel(requestId)
        return Effect.void
      }
      const seen = Effect.flatMap(opened, (open) => open?.attendance.notified?.(method, params) ?? Effect.void).pipe(
        Effect.catchAllCause((cause) =>
          RuntimeLog.error(`The handler of ${method.slice(0, 128)} died with a defect`, cause)
        )
      )
      if (noticed >= mostNoticed) return seen
      return Effect.sync(() => {
        noticed++
        run(Effect.ensuring(seen, Effect.sync(() => noticed--)))
      })
    }

    const receive: Conversation["receive"] = (envelope, outlet, header, done = () => undefined) =>
      Effect.suspend(() => {
        switch (envelope._tag) {
          case "Invalid":
            return Effect.ensuring(outlet.send(Envelope.failure(envelope.id, envelope.refusal)), Effect.sync(done))
          case "Answer":
            if (envelope.id !== undefined) asks.answered(envelope.id, envelope.message)
            done()
            return Effect.void
          case "Notification":
            return Effect.ensuring(notified(envelope.method, envelope.params), Effect.sync(done))
          case "Request": {
            const work = Effect.ensuring(answer(envelope, outlet, header), Effect.sync(done))
            // over HTTP it decides whether there is a session at all
            if (envelope.method === "initialize" && link === "http") return work
            const begun = running.begin(envelope.id, work)
            if (begun === "begun") return Effect.void
            return Effect.ensuring(
              outlet.send(Envelope.failure(envelope.id, Running.refusals[begun])),
              Effect.sync(done)
            )
          }
        }
      })

    yield* Scoped.onClose(asks.close)

    return {
      caller: () => open?.caller,
      protocolVersion: () => (open ?? opening)?.caller.protocolVersion,
      receive,
      cancel: running.cancel,
      inFlight: running.size,
      drain: Effect.zipRight(Effect.sync(asks.close), running.drain(limits.drainTimeout))
    }
  })
