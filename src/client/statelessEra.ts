/** The stateless era (2026-07-28): the envelope of each request, input rounds, and `subscriptions/listen`. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Engine from "./engine.ts"
import * as Handshake from "./handshake.ts"
import type * as InputHandlers from "./InputHandlers.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Protocol from "./Protocol.ts"
import type * as RequestEngine from "./RequestEngine.ts"
import * as Requests from "./requests.ts"
import * as SessionEra from "./sessionEra.ts"

export interface Options extends Handshake.Options {
  readonly engine: RequestEngine.RequestEngine
  /** Answers a question of the server with the application's handlers. */
  readonly answer: (
    method: string,
    params: JsonRpc.JsonObject
  ) => Effect.Effect<JsonRpc.JsonObject, InputHandlers.Refused>
}

export const make = (
  options: Options,
  { discovered, protocolVersion }: Extract<Handshake.Settled, { _tag: "Stateless" }>
): SessionEra.OfEra => {
  const { engine, limits, server, transport } = options
  engine.acceptsRequests = false
  engine.cancelsByNotification = !transport.streamPerRequest
  const envelope = Handshake.envelope(options.capabilities, protocolVersion)
  const plain = { _meta: envelope }
  let level: McpClient.LogLevel | undefined

  const enveloped = (
    params: JsonRpc.JsonObject | undefined,
    capabilities?: JsonRpc.JsonObject
  ): JsonRpc.JsonObject =>
    params === undefined && capabilities === undefined && level === undefined ? plain : {
      ...params,
      _meta: {
        ...(level === undefined ? {} : { [Protocol.metaKey.logLevel]: level }),
        ...objectOf(params?.["_meta"]),
        ...envelope,
        ...(capabilities === undefined ? {} : { [Protocol.metaKey.clientCapabilities]: capabilities })
      }
    }

  const requests = Requests.make(server, engine, limits)
  const once: Requests.Request = (method, params, own) =>
    requests.request(method, enveloped(params, own?.passInput?.capabilities), own)
  const request: Requests.Request = (method, params, own) =>
    own?.passInput !== undefined ? once(method, params, own) : Effect.suspend(() => {
      const since = engine.now()
      return Effect.flatMap(
        once(method, params, own),
        (result) => finish(options, once, result, { method, params, own, since })
      )
    })
  const pinging = { idleTimeout: limits.pingTimeout, totalTimeout: limits.pingTimeout }

  return {
    era: "stateless",
    protocolVersion,
    serverInfo: SessionEra.serverInfoOf(
      objectOf(discovered["_meta"])[Protocol.metaKey.serverInfo] ?? discovered["serverInfo"]
    ),
    capabilities: objectOf(discovered["capabilities"]),
    instructions: textOf(discovered["instructions"]),
    request,
    watch: (filter) => watch(options, enveloped({ notifications: subscriptions(filter) })),
    setLogLevel: (wanted) =>
      Effect.sync(() => {
        level = wanted
      }),
    health: SessionEra.isAlive(requests.probe("server/discover", plain, pinging)),
    tasks: undefined,
    onPaused: requests.onPaused
  }
}

interface Asked {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly own: Requests.RequestOptions | undefined
  readonly since: number
}

const mayAskForInput: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/** The pause before a request is repeated for a server that answers with state and no questions. */
const statePause = Duration.millis(250)

const violation = (server: string, what: string) =>
  new McpError.ProtocolViolation({ server, what, outcome: "executed" })

/**
 * Input rounds: a result that is a list of questions is answered by the request once more with the answers, under a new
 * id, until the result is complete. The time that a person takes counts against the total limit only.
 */
const finish = (
  { answer, limits, server }: Options,
  once: Requests.Request,
  first: JsonRpc.JsonObject,
  { method, own, params, since }: Asked
): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
  const resultType = first["resultType"]
  if (resultType === undefined || resultType === "complete") return Effect.succeed(first)
  if (resultType !== "input_required" || !mayAskForInput.has(method)) {
    return Effect.fail(violation(server, `the result type ${JSON.stringify(resultType).slice(0, 64)}`))
  }
  const limit = own?.totalTimeout ?? limits.toolTimeout
  const left = Effect.map(
    Clock.currentTimeMillis,
    (now) => Duration.millis(Math.max(0, since + Duration.toMillis(limit) - now))
  )
  const overdue = () => Engine.overdue(server, method, limit)

  const ask = (question: unknown): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> => {
    const { method: asked, params } = objectOf(question)
    if (typeof asked !== "string") return Effect.fail(violation(server, "an input request without a method"))
    return Effect.mapError(
      answer(asked, objectOf(params)),
      ({ reason }) =>
        new McpError.Cancelled({
          server,
          operation: method,
          detail: `the application declined what the server asked: ${reason}`,
          outcome: "unknown"
        })
    )
  }

  return Effect.gen(function*() {
    let result = first
    for (let round = 1; result["resultType"] === "input_required"; round++) {
      if (round > limits.maxInputRounds) {
        return yield* new McpError.ProtocolViolation({
          server,
          reason: "input-rounds",
          outcome: "unknown",
          operation: method,
          rounds: limits.maxInputRounds
        })
      }
      const questions = Object.entries(objectOf(result["inputRequests"]))
      const requestState = textOf(result["requestState"])
      if (questions.length === 0 && requestState === undefined) {
        return yield* violation(server, "input_required without input requests or state")
      }
      if (questions.length === 0) yield* Effect.sleep(statePause)
      const answers = yield* Effect.forEach(
        questions,
        ([key, question]) => Effect.map(ask(question), (answer) => [key, answer] as const),
        { concurrency: "unbounded" }
      ).pipe(Effect.timeoutFail({ duration: yield* left, onTimeout: overdue }))
      const totalTimeout = yield* left
      if (Duration.toMillis(totalTimeout) === 0) return yield* overdue()
      const next = {
        ...params,
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState })
      }
      result = yield* Effect.mapError(
        once(method, next, { ...own, firstIdleTimeout: undefined, totalTimeout }),
        McpError.partlySent
      )
    }
    return result
  })
}

const longestPause = Duration.seconds(30)

/** The pauses between two subscriptions that have ended early: 0.5 s doubling to 30 s. */
export const listenAgain = Schedule.union(Schedule.exponential("500 millis"), Schedule.spaced(longestPause))

/**
 * One long request whose stream has the notifications. It is asked again when it ends, and because notifications were
 * missed meanwhile, the listeners get `$/resync`.
 */
const watch = (
  { engine, limits, server }: Options,
  params: JsonRpc.JsonObject
): ReturnType<McpClient.Channel["watch"]> =>
  Effect.gen(function*() {
    const acknowledged = yield* Deferred.make<void, McpError.CallError>()
    const pauses = yield* Schedule.driver(listenAgain)
    let hasBegun = false
    const listen = Effect.scoped(Effect.gen(function*() {
      let id: JsonRpc.Id | undefined
      yield* Engine.listen(engine, ({ method, params }) => {
        if (method !== "notifications/subscriptions/acknowledged") return
        if (objectOf(params["_meta"])[Protocol.metaKey.subscriptionId] !== id) return
        if (hasBegun) return engine.announce(SessionEra.resync)
        hasBegun = true
        Deferred.unsafeDone(acknowledged, Exit.void)
      })
      const onId = (given: JsonRpc.Id) => (id = given)
      return yield* engine.request("subscriptions/listen", params, {
        ...Engine.unlimited,
        cancellable: true,
        onId
      })
    }))
    const forever = Effect.gen(function*() {
      while (true) {
        const [lasted, exit] = yield* Effect.timed(Effect.exit(listen))
        const error = exit._tag === "Failure" && exit.cause._tag === "Fail" ? exit.cause.error : undefined
        if (!hasBegun) {
          // a subscription that ends well before it has begun is one of a server that has nothing to announce
          return yield* Deferred.done(acknowledged, error === undefined ? Exit.void : Exit.fail(error))
        }
        if (error?._tag === "Closed" || error?._tag === "RemoteError") return
        if (Duration.greaterThan(lasted, longestPause)) yield* pauses.reset
        yield* Effect.ignore(pauses.next(undefined))
      }
    })
    yield* Effect.forkScoped(forever)
    yield* Deferred.await(acknowledged).pipe(Effect.timeoutFail({
      duration: limits.listTimeout,
      onTimeout: () => Engine.overdue(server, "subscriptions/listen", limits.listTimeout)
    }))
  })

const subscriptions = (filter: McpClient.WatchFilter): JsonRpc.JsonObject => ({
  ...(filter.toolsListChanged === true ? { toolsListChanged: true } : {}),
  ...(filter.promptsListChanged === true ? { promptsListChanged: true } : {}),
  ...(filter.resourcesListChanged === true ? { resourcesListChanged: true } : {}),
  ...(filter.resourceUris === undefined ? {} : { resourceSubscriptions: filter.resourceUris })
})
