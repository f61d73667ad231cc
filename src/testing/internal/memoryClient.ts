/**
 * What a server in memory knows of one client, and how it answers it.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import type * as MemoryTransport from "../MemoryTransport.ts"
import * as memoryJson from "./memoryJson.ts"
import type { Refused } from "./memoryJson.ts"
import * as memoryMethods from "./memoryMethods.ts"
import type * as memoryProtocol from "./memoryProtocol.ts"
import * as memoryRounds from "./memoryRounds.ts"
import * as memoryStateless from "./memoryStateless.ts"

interface Listening {
  readonly filter: memoryStateless.Filter
  readonly end: Deferred.Deferred<void>
}

/** @internal */
export class Client implements MemoryTransport.Receiver {
  readonly state: memoryProtocol.State
  readonly io: MemoryTransport.Io
  /** Settled by the handshake, or request by request. */
  era: Transport.Era | undefined = undefined
  /** Whether the handshake of the session era is complete. */
  ready = false
  capabilities: JsonRpc.JsonObject = {}
  readonly subscribed = new Set<string>()
  readonly #listening = new Map<JsonRpc.Id, Listening>()
  readonly #running = new Map<JsonRpc.Id, Deferred.Deferred<void>>()
  readonly #asked = new Map<JsonRpc.Id, Deferred.Deferred<JsonRpc.JsonObject, Refused>>()
  #asks = 0

  constructor(state: memoryProtocol.State, io: MemoryTransport.Io) {
    this.state = state
    this.io = io
  }

  message(message: JsonRpc.Incoming): Effect.Effect<void> {
    const { id, method } = message
    const params = memoryJson.objectOf(message["params"])
    const hasId = typeof id === "string" || typeof id === "number"
    if (typeof method !== "string") return hasId ? this.#answered(id, message) : Effect.void
    return hasId ? this.#request(id, method, params) : this.#notified(method, params)
  }

  abandoned(id: JsonRpc.Id): Effect.Effect<void> {
    return this.#cancel(id)
  }

  /** Tells the client of something if it has asked to be told. */
  announce(method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    if (this.era === "stateless") {
      return Effect.forEach(this.#listening, ([id, { filter }]) =>
        memoryStateless.wanted(filter, method, params)
          ? this.notify(method, memoryStateless.stamped(params, id))
          : Effect.void, { discard: true })
    }
    if (!this.ready) return Effect.void
    if (method === "notifications/resources/updated" && !this.subscribed.has(String(params["uri"]))) return Effect.void
    return this.notify(method, params)
  }

  notify(method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    return this.io.send({ jsonrpc: "2.0", method, params })
  }

  /** Opens a subscription; its answer is its graceful end. */
  listen(id: JsonRpc.Id, filter: memoryStateless.Filter): Effect.Effect<JsonRpc.JsonObject> {
    return Effect.gen(this, function*() {
      const end = yield* Deferred.make<void>()
      this.#listening.set(id, { filter, end })
      yield* this.notify(
        "notifications/subscriptions/acknowledged",
        memoryStateless.stamped({ notifications: filter }, id)
      )
      // nothing to tell: nothing to hold open
      if (Object.keys(filter).length > 0) yield* Deferred.await(end)
      return memoryStateless.stamped({}, id)
    }).pipe(Effect.ensuring(Effect.sync(() => this.#listening.delete(id))))
  }

  get endSubscriptions(): Effect.Effect<void> {
    return Effect.forEach(this.#listening.values(), ({ end }) => Deferred.succeed(end, undefined), { discard: true })
  }

  #request(id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const cancelled = yield* Deferred.make<void>()
      this.#running.set(id, cancelled)
      const era = memoryStateless.isStateless(params) ? "stateless" : "session"
      const context = this.#context(id, method, params, era, cancelled)
      const handled = Effect.matchCauseEffect(memoryMethods.handle(this, context), {
        onSuccess: (result) => Effect.succeed(this.#success(context, result)),
        onFailure: (cause) => this.#failure(context, cause)
      })
      const answer = this.state.options.ignoresCancellation === true
        ? Option.some(yield* handled)
        : yield* Effect.raceFirst(Effect.asSome(handled), Effect.as(Deferred.await(cancelled), Option.none()))
      if (Option.isSome(answer)) yield* this.io.send(answer.value)
    }).pipe(Effect.ensuring(Effect.sync(() => this.#running.delete(id))))
  }

  #success(context: MemoryServer.Context, result: JsonRpc.JsonObject): JsonRpc.Message {
    const { options } = this.state
    return {
      jsonrpc: "2.0",
      id: context.id,
      result: context.era === "stateless" ? memoryStateless.result(options, context.method, result) : result
    }
  }

  #failure(context: MemoryServer.Context, cause: Cause.Cause<Refused>): Effect.Effect<JsonRpc.Message> {
    const { id } = context
    const refused = Cause.failureOption(cause)
    if (Option.isSome(refused)) {
      const { code, data, message } = refused.value
      return Effect.succeed({ jsonrpc: "2.0", id, error: { code, message, data } })
    }
    const round = memoryRounds.inputRequired(cause)
    if (round !== undefined) return Effect.succeed(this.#success(context, round))
    if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
    const message = `Internal error: ${Cause.pretty(cause)}`
    return Effect.succeed({ jsonrpc: "2.0", id, error: { code: -32603, message } })
  }

  #context(
    id: JsonRpc.Id,
    method: string,
    params: JsonRpc.JsonObject,
    era: Transport.Era,
    cancelled: Deferred.Deferred<void>
  ): MemoryServer.Context {
    const token = memoryJson.objectOf(params["_meta"])["progressToken"]
    return {
      io: this.io,
      era,
      id,
      method,
      params,
      clientCapabilities: era === "stateless" ? memoryStateless.capabilities(params) : this.capabilities,
      progress: (progress, total, message) =>
        token === undefined
          ? Effect.void
          : this.notify("notifications/progress", { progressToken: token, progress, total, message }),
      notify: (method, params = {}) => this.notify(method, params),
      ask: era === "stateless" ? memoryRounds.make(params) : (method, params) => this.#ask(method, params),
      cancelled: Deferred.await(cancelled)
    }
  }

  #ask(method: string, params: JsonRpc.JsonObject = {}): Effect.Effect<JsonRpc.JsonObject, Refused> {
    return Effect.suspend(() => {
      const id = `ask-${++this.#asks}`
      const answer = Deferred.make<JsonRpc.JsonObject, Refused>()
      return Effect.flatMap(answer, (answer) => {
        this.#asked.set(id, answer)
        return this.io.send({ jsonrpc: "2.0", id, method, params }).pipe(
          Effect.zipRight(Deferred.await(answer)),
          Effect.onInterrupt(() => this.notify("notifications/cancelled", { requestId: id })),
          Effect.ensuring(Effect.sync(() => this.#asked.delete(id)))
        )
      })
    })
  }

  #answered(id: JsonRpc.Id, message: JsonRpc.Incoming): Effect.Effect<void> {
    const asked = this.#asked.get(id)
    return asked === undefined ? Effect.void : Effect.asVoid(Deferred.complete(asked, memoryMethods.outcome(message)))
  }

  #notified(method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    if (method === "notifications/initialized") {
      this.ready = true
      return Effect.void
    }
    const { requestId } = params
    const names = typeof requestId === "string" || typeof requestId === "number"
    return method === "notifications/cancelled" && names ? this.#cancel(requestId) : Effect.void
  }

  #cancel(id: JsonRpc.Id): Effect.Effect<void> {
    const running = this.#running.get(id)
    return running === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(running, undefined))
  }
}
