/** The stateless era: every request describes its sender and its capabilities, and is independent of earlier requests. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Protocol from "../client/Protocol.ts"
import { canonicalJson } from "../json/canonical.ts"
import * as Nonce from "../safety/Nonce.ts"
import * as Scoped from "../scoped.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

/** True for a request of this era, even if required fields are missing. */
export const includes = ({ method, params }: Messages.Request): boolean =>
  method === "server/discover" || method === "subscriptions/listen" ||
  Messages.metaOf(params)[Protocol.metaKey.protocolVersion] !== undefined

export const unsupported = (requested: string, supported: ReadonlyArray<string>): McpServer.Refusal =>
  McpServer.refusal("unsupportedVersion", "Unsupported protocol version", { supported, requested })

/** Fails unless the caller declares the capability, which is the first part of the method. */
const asking = ({ capabilities }: McpServer.Caller, ask: McpServer.Exchange["ask"]): McpServer.Exchange["ask"] => {
  return (method, params) => {
    const needed = method.split("/", 1).join()
    if (JsonRpc.isObject(capabilities[needed])) return ask(method, params)
    const message = `The client does not declare the capability ${needed}`
    return McpServer.refusal("missingCapability", message, { requiredCapabilities: { [needed]: {} } })
  }
}

const cacheable: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read"
])

const notCached: McpServer.CacheHints = { ttlMs: 0, cacheScope: "private" }

// Questions to the caller. The questions are the result of the request. The handler waits in its own fiber, and the request
// with the answers finds it by a random `requestState`.

interface Question {
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly answer: Deferred.Deferred<JsonRpc.JsonObject>
}

/** A handler in its own fiber, over all its rounds. */
class Asking {
  readonly fiber: Fiber.RuntimeFiber<JsonRpc.JsonObject, McpServer.Refusal>
  readonly questions = new Map<string, Question>()
  /** Open while there are questions. */
  readonly asked = Effect.unsafeMakeLatch()
  /** The request of the current round. */
  current: Exchange.CurrentRequest
  #count = 0

  constructor(current: Exchange.CurrentRequest, run: (asking: Asking) => Asking["fiber"]) {
    this.current = current
    this.fiber = run(this)
  }

  get stop(): Effect.Effect<void> {
    return Fiber.interruptFork(this.fiber)
  }

  readonly ask: McpServer.Exchange["ask"] = (method, params) =>
    Effect.suspend(() => {
      const key = `${method}-${++this.#count}`
      const answer = Deferred.unsafeMake<JsonRpc.JsonObject>(FiberId.none)
      this.questions.set(key, { method, params, answer })
      this.asked.unsafeOpen()
      return Effect.ensuring(Deferred.await(answer), Effect.sync(() => this.#settle(key)))
    })

  answered(responses: JsonRpc.JsonObject): void {
    for (const [key, { answer }] of Array.from(this.questions)) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (!JsonRpc.isObject(response)) continue
      this.#settle(key)
      Deferred.unsafeDone(answer, Effect.succeed(Messages.objectOf(response)))
    }
  }

  #settle(key: string): void {
    this.questions.delete(key)
    if (this.questions.size === 0) this.asked.unsafeClose()
  }
}

/** The part of a request that is the same in all rounds. */
const identityOf = ({ method, params, principal = "" }: Exchange.Request): string => {
  const { _meta, inputResponses: _answers, requestState: _state, ...rest } = params
  return canonicalJson([principal, method, rest])
}

const unknownState = McpServer.invalidParams("Invalid params: requestState is unknown or has expired")

const maxParked = 1_024
const tooManyParked = McpServer.refusal("overloaded", "Too many requests are waiting for input")

/** Questions that are asked within this time are sent together. */
const gathering = "5 millis"

/** Runs a handler until its result or its questions. A request with answers continues the handler that asked. */
const roundTrips = (inputTimeout: Duration.DurationInput) =>
  Effect.gen(function*() {
    const nonce = yield* Nonce.Nonce
    // distinguishes states of this server from those of servers behind a gateway, which pass through
    const prefix = `${yield* nonce}.`
    const fork = yield* FiberSet.makeRuntime<never, JsonRpc.JsonObject | void, McpServer.Refusal>()
    const parked = new Map<
      string,
      { readonly asking: Asking; readonly identity: string; readonly timer: Fiber.Fiber<unknown, unknown> }
    >()

    const park = (asking: Asking, request: Exchange.Request): Exchange.Result =>
      Effect.gen(function*() {
        if (parked.size >= maxParked) return yield* tooManyParked
        const requestState = prefix + (yield* nonce)
        const giveUp = Effect.suspend(() => parked.delete(requestState) ? asking.stop : Effect.void)
        const timer = fork(Effect.delay(giveUp, inputTimeout))
        parked.set(requestState, { asking, identity: identityOf(request), timer })
        const inputRequests = Object.fromEntries(
          Array.from(asking.questions, ([key, { method, params }]) => [key, { method, params }])
        )
        return { resultType: "input_required", inputRequests, requestState }
      })

    const round = (asking: Asking, request: Exchange.Request): Exchange.Result => {
      const questions: Exchange.Result = asking.asked.await.pipe(
        Effect.zipRight(Effect.sleep(gathering)),
        // questions may have been withdrawn during the sleep
        Effect.flatMap(() => asking.questions.size > 0 ? park(asking, request) : questions)
      )
      return Effect.onError(Effect.raceFirst(Fiber.join(asking.fiber), questions), () => asking.stop)
    }

    return (
      request: Exchange.Request,
      current: Exchange.CurrentRequest,
      handler: (current: Exchange.CurrentRequest, ask: McpServer.Exchange["ask"]) => Exchange.Result
    ): Exchange.Result =>
      Effect.suspend(() => {
        const { inputResponses, requestState } = request.params
        if (typeof requestState === "string" && requestState.startsWith(prefix)) {
          const found = parked.get(requestState)
          if (found === undefined || found.identity !== identityOf(request)) return unknownState
          parked.delete(requestState)
          found.asking.current = current
          found.asking.answered(Messages.objectOf(inputResponses))
          return Effect.zipRight(Fiber.interruptFork(found.timer), round(found.asking, request))
        }
        const run = (asking: Asking) => fork(Effect.suspend(() => handler(() => asking.current(), asking.ask)))
        return round(new Asking(current, run), request)
      })
  })

// Subscriptions

type Notify = McpServer.Peer["notify"]

/** The lists with change notifications, by their names in the filter of a subscription. */
const lists = Object.entries({
  toolsListChanged: "tools",
  promptsListChanged: "prompts",
  resourcesListChanged: "resources"
})

const subscriptions = (offer: McpServer.Offer) => {
  const subscribers = new Set<Notify>()
  const ending = Deferred.unsafeMake<void>(FiberId.none)
  return {
    notify: (...notification: Parameters<Notify>) => {
      for (const notify of subscribers) notify(...notification)
    },
    end: Effect.asVoid(Deferred.succeed(ending, undefined)),
    /** Runs until it is interrupted or all subscriptions end. */
    listen: ({ id, output, params }: Exchange.Request, watch: McpServer.Service["watch"]): Exchange.Result =>
      Effect.scoped(Effect.gen(function*() {
        if (subscribers.size >= Exchange.maxSubscriptions) return yield* Exchange.tooManySubscriptions
        const asked = Messages.objectOf(params["notifications"])
        const changes = lists.filter(([name, list]) =>
          asked[name] === true && Messages.objectOf(offer.capabilities[list])["listChanged"] === true
        )
        const methods = new Set(changes.map(([, list]) => `notifications/${list}/list_changed`))
        const { resourceSubscriptions } = asked
        const texts = Array.isArray(resourceSubscriptions)
          ? resourceSubscriptions.filter((uri) => typeof uri === "string")
          : undefined
        const uris = watch && texts && Array.from(new Set(texts)).slice(0, Exchange.maxSubscriptions)
        const stamped = (method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Notification => {
          const _meta = { ...Messages.metaOf(params), [Protocol.metaKey.subscriptionId]: id }
          return { jsonrpc: "2.0", method, params: { ...params, _meta } }
        }
        const notify: Notify = (method, params) => {
          if (methods.has(method)) output.offer(stamped(method, params))
        }
        yield* Scoped.acquire(() => subscribers.add(notify), () => subscribers.delete(notify))
        const notifications = Object.fromEntries(changes.map(([name]): [string, JsonRpc.Json] => [name, true]))
        yield* output.send(stamped("notifications/subscriptions/acknowledged", {
          notifications: { ...notifications, resourceSubscriptions: uris }
        }))
        if (watch !== undefined) {
          const follow = (uri: string) =>
            watch(uri, () => output.offer(stamped("notifications/resources/updated", { uri })))
          yield* Effect.forEach(uris ?? [], follow, { concurrency: 8, discard: true })
        }
        yield* Deferred.await(ending)
        return {}
      }))
  }
}

// Requests

export const make = ({ limits, link, offer }: Exchange.Serving) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const inRounds = yield* roundTrips(limits.inputTimeout)
    const { end, listen, notify } = subscriptions(offer)
    const peer: McpServer.Peer = {
      caller: {
        era: "stateless",
        link,
        protocolVersion: Protocol.firstStatelessVersion,
        clientInfo: undefined,
        capabilities: {},
        principal: undefined
      },
      notify,
      log: () => undefined,
      ask: () => McpServer.refusal("internal", "A client without a session can be asked only during a request")
    }
    const service = Scoped.once<McpServer.Service>()

    const resultOf = (
      request: Exchange.Request,
      current: Exchange.CurrentRequest,
      caller: McpServer.Caller,
      opened: McpServer.Service
    ): Exchange.Result => {
      const { method, params } = request
      if (method === "subscriptions/listen") return listen(request, opened.watch)
      if (method === "server/discover") {
        const { instructions } = offer
        const supportedVersions = Protocol.statelessVersions
        return Effect.map(
          Exchange.capabilitiesFor(offer, opened, caller),
          (capabilities) => ({ supportedVersions, capabilities, instructions })
        )
      }
      const handler = opened.handlers.get(method)
      if (handler === undefined) return Exchange.methodNotFound(method)
      const level = McpServer.logLevelOf(Messages.metaOf(params)[Protocol.metaKey.logLevel])
      return inRounds(request, current, (current, ask) => {
        const peer = { caller, ask: asking(caller, ask) }
        return handler(Exchange.make(request, current, () => level, peer))
      })
    }

    const handle = (request: Exchange.Request, current: Exchange.CurrentRequest): Exchange.Result =>
      Effect.gen(function*() {
        const { method, params, principal } = request
        const from = { era: "stateless", link, principal } as const
        const caller = yield* Exchange.callerOf(Messages.metaOf(params), Protocol.metaKey, from)
        if (!Protocol.statelessVersions.includes(caller.protocolVersion)) {
          return yield* unsupported(caller.protocolVersion, Protocol.statelessVersions)
        }
        const opened = yield* service.open(Scope.extend(offer.open(peer), scope))
        const result = yield* resultOf(request, current, caller, opened)
        const { resultType = "complete" } = result
        const hints = resultType === "complete" && cacheable.has(method) ? opened.hints?.(method) ?? notCached : {}
        const _meta = { ...Messages.metaOf(result), [Protocol.metaKey.serverInfo]: offer.info }
        return { ...hints, ...result, resultType, _meta }
      })

    return { handle, end }
  })
