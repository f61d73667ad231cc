/** The stateless era (2026-07-28): the envelope of each request, input rounds, and `subscriptions/listen`. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as McpError from "../McpError.ts"
import * as Outcome from "../outcome.ts"
import type * as Deadline from "../resilience/Deadline.ts"
import * as Scoped from "../scoped.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Handshake from "./handshake.ts"
import * as Lists from "./lists.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Protocol from "./Protocol.ts"
import * as Requests from "./requests.ts"
import * as ServerRequests from "./serverRequests.ts"
import * as SessionEra from "./sessionEra.ts"

export const make = (
  connection: Handshake.Connection,
  { protocolVersion }: Handshake.Settled
): SessionEra.OfEra => {
  const { engine, handlers, transport } = connection
  const toolTimeout = Duration.toMillis(connection.limits.toolTimeout)
  transport.negotiated({ era: "stateless", protocolVersion })
  engine.acceptsRequests = false
  engine.cancelsByNotification = !transport.streamPerRequest
  const envelope = Handshake.envelope(handlers, protocolVersion)
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

  const { deadlineOf, health, onPaused, request } = Requests.make(connection)
  const once: Requests.Request = (method, params, own) =>
    request(method, enveloped(params, own?.passInput?.capabilities), own)

  return {
    onPaused,
    request: (method, params, own) =>
      own?.passInput !== undefined ? once(method, params, own) : Effect.gen(function*() {
        const deadline = yield* deadlineOf(method, own)
        const options = own?.deadline === undefined ? { ...own, deadline } : own
        const first = yield* once(method, params, options)
        if ((first["resultType"] ?? "complete") === "complete") return first
        // the limit of calls holds for reads and prompts that ask a person, too
        if (options !== own && own?.totalTimeout === undefined) deadline.extend(toolTimeout)
        const ask = (answers: JsonRpc.JsonObject) => once(method, { ...params, ...answers }, options)
        return yield* finish(connection, method, deadline, first, ask)
      }),
    watch: ({ resourceUris: resourceSubscriptions, ...lists }) =>
      watch(connection, enveloped({ notifications: { ...lists, resourceSubscriptions } })),
    setLogLevel: (wanted) =>
      Effect.sync(() => {
        level = wanted
      }),
    health: health("server/discover", plain),
    tasks: undefined
  }
}

const mayAskForInput: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/** The pause before a request is repeated for a server that answers with state and no questions. */
const statePause = Duration.millis(250)

/** The longest state that is sent back to a server. */
const maxStateLength = 1024 * 1024

/**
 * Input rounds: a result that is a list of questions is answered by the request once more with the answers, under a new
 * id, until the result is complete. The time that a person takes counts against the total limit only.
 */
const finish = (
  connection: Handshake.Connection,
  operation: string,
  deadline: Deadline.Deadline,
  first: JsonRpc.JsonObject,
  again: (answers: JsonRpc.JsonObject) => ReturnType<Requests.Request>
): ReturnType<Requests.Request> =>
  Effect.gen(function*() {
    const { limits: { maxInputRounds, maxServerRequests }, server } = connection
    const ask = (question: unknown): ReturnType<Requests.Request> => {
      const { method, params } = objectOf(question)
      if (typeof method !== "string") return Lists.violation(server, operation, "an input request without a method")
      return Effect.mapError(ServerRequests.answer(connection, method, objectOf(params)), ({ reason }) =>
        new McpError.Cancelled({
          server,
          operation,
          detail: `the application declined what the server asked: ${reason}`,
          outcome: "unknown"
        }))
    }
    let result = first
    for (let round = 1; result["resultType"] === "input_required" && mayAskForInput.has(operation); round++) {
      if (round > maxInputRounds) {
        const fields = { server, operation, outcome: "unknown" } as const
        return yield* new McpError.ProtocolViolation({ ...fields, reason: "input-rounds", rounds: maxInputRounds })
      }
      const questions = Object.entries(objectOf(result["inputRequests"]))
      const requestState = textOf(result["requestState"])
      const violated = (what: string) =>
        Lists.violation(server, operation, what)
      if (questions.length === 0 && requestState === undefined) {
        return yield* violated("input_required without input requests or state")
      }
      const stateLength = requestState?.length ?? 0
      if (stateLength > maxStateLength) {
        return yield* violated(`a requestState of ${stateLength} characters`)
      }
      if (questions.length > maxServerRequests) {
        return yield* violated(`${questions.length} input requests at once`)
      }
      if (questions.length === 0) {
        yield* Effect.sleep(statePause)
      }
      const overdue = () =>
        deadline.expired("unknown", { kind: "total" })
      const answerOf = ([key, question]: readonly [string, unknown]) =>
        Effect.map(ask(question), (answer) => [key, answer] as const)
      const answers = yield* Effect.forEach(questions, answerOf, { concurrency: "unbounded" }).pipe(
        Effect.timeoutFail({ duration: Math.max(0, deadline.left()), onTimeout: overdue })
      )
      if (deadline.left() <= 0) return yield* overdue()
      deadline.touch()
      result = yield* Effect.mapError(
        again({
          ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
          ...(requestState === undefined ? {} : { requestState })
        }),
        Outcome.partlySent
      )
    }
    const resultType = result["resultType"] ?? "complete"
    return resultType === "complete"
      ? result
      : yield* Lists.violation(server, operation, `the result type ${UntrustedText.excerpt(String(resultType), 64)}`)
  })

const longestPause = Duration.seconds(30)

/** The pauses between two subscriptions that have ended early: 0.5 s doubling to 30 s. */
export const listenAgain = Schedule.union(Schedule.exponential("500 millis"), Schedule.spaced(longestPause))

/**
 * One long request whose stream has the notifications. It is asked again when it ends, and because notifications were
 * missed meanwhile, the listeners get `$/resync`.
 */
const watch = (
  { engine, limits, server }: Handshake.Connection,
  params: JsonRpc.JsonObject
): ReturnType<McpClient.Channel["watch"]> =>
  Effect.gen(function*() {
    const acknowledged = yield* Deferred.make<void, McpError.CallError>()
    const pauses = yield* Schedule.driver(listenAgain)
    let hasBegun = false
    const listen = Effect.scoped(Effect.gen(function*() {
      let id: JsonRpc.Id | undefined
      yield* Scoped.listen(() =>
        engine.onNotification(({ method, params }) => {
          if (method !== "notifications/subscriptions/acknowledged") return
          if (objectOf(params["_meta"])[Protocol.metaKey.subscriptionId] !== id) return
          if (hasBegun) return engine.announce(SessionEra.resync)
          hasBegun = true
          Deferred.unsafeDone(acknowledged, Exit.void)
        })
      )
      const onId = (given: JsonRpc.Id) => (id = given)
      return yield* engine.request("subscriptions/listen", params, { cancellable: true, onId })
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
    yield* Deferred.await(acknowledged).pipe(Requests.within(server, "subscriptions/listen", limits.listTimeout))
  })
