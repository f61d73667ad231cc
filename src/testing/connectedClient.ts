/** The connected client of a memory server, and the responses to its requests. */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { objectOf } from "../client/messages.ts"
import { wildcard } from "../text/wildcard.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as MemoryServer from "./MemoryServer.ts"
import type * as MemoryTransport from "./MemoryTransport.ts"

/** An error response. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly code: number
  readonly message: string
  readonly data?: JsonRpc.Json | undefined
}> {}

const refuse = (code: number, message: string, data?: JsonRpc.Json): MemoryServer.Answer =>
  Effect.fail(new Refused({ code, message, data }))

const isId = (value: unknown): value is JsonRpc.Id => typeof value === "string" || typeof value === "number"

const reserved = "io.modelcontextprotocol/"

const metaOf = (params: JsonRpc.JsonObject): JsonRpc.JsonObject => objectOf(params["_meta"])

const versionOf = (params: JsonRpc.JsonObject): JsonRpc.Json | undefined => metaOf(params)[`${reserved}protocolVersion`]

const stamped = (params: JsonRpc.JsonObject, id: JsonRpc.Id): JsonRpc.JsonObject => ({
  ...params,
  _meta: { ...metaOf(params), [`${reserved}subscriptionId`]: id }
})

/** The filter field of each notification. */
const listChanges: ReadonlyMap<string, string> = new Map([
  ["notifications/tools/list_changed", "toolsListChanged"],
  ["notifications/prompts/list_changed", "promptsListChanged"],
  ["notifications/resources/list_changed", "resourcesListChanged"]
])

const filterOf = (params: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const asked = objectOf(params["notifications"])
  const { resourceSubscriptions } = asked
  return {
    ...Object.fromEntries([...listChanges.values()].filter((key) => asked[key] === true).map((key) => [key, true])),
    ...(Array.isArray(resourceSubscriptions) ? { resourceSubscriptions: resourceSubscriptions.map(String) } : {})
  }
}

const matchesFilter = (filter: JsonRpc.JsonObject, method: string, params: JsonRpc.JsonObject): boolean => {
  const { resourceSubscriptions: uris } = filter
  if (method !== "notifications/resources/updated") return filter[listChanges.get(method) ?? ""] === true
  return Array.isArray(uris) && uris.includes(String(params["uri"]))
}

/** The requests whose results carry caching hints in the stateless era. */
const cacheable = /(^server\/discover|\/list|^resources\/read)$/

interface Running {
  readonly cancelled: Deferred.Deferred<void>
  /** Completed by the first unanswered question of a stateless handler. */
  readonly round: Deferred.Deferred<JsonRpc.JsonObject>
}

export class Client implements MemoryTransport.Receiver {
  readonly #state: MemoryServer.State
  readonly #io: MemoryTransport.Io
  /** Set by `initialize` or by the first stateless request. */
  #era: Transport.Era | undefined = undefined
  /** The handshake of the session era is complete. */
  #ready = false
  #capabilities: JsonRpc.JsonObject = {}
  readonly #subscribed = new Set<string>()
  readonly #subscriptions = new Map<JsonRpc.Id, readonly [filter: JsonRpc.JsonObject, end: Deferred.Deferred<void>]>()
  readonly #running = new Map<JsonRpc.Id, Running>()
  readonly #asked = new Map<JsonRpc.Id, Deferred.Deferred<JsonRpc.JsonObject, Refused>>()
  #questions = 0

  constructor(state: MemoryServer.State, io: MemoryTransport.Io) {
    this.#state = state
    this.#io = io
  }

  message(message: JsonRpc.Incoming): Effect.Effect<void> {
    const { id, method } = message
    const params = objectOf(message["params"])
    if (typeof method === "string") return isId(id) ? this.#request(id, method, params) : this.#notified(method, params)
    const asked = isId(id) ? this.#asked.get(id) : undefined
    return asked === undefined ? Effect.void : Effect.asVoid(Deferred.complete(asked, outcome(message)))
  }

  abandoned(id: JsonRpc.Id): Effect.Effect<void> {
    const running = this.#running.get(id)
    return running === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(running.cancelled, undefined))
  }

  /** Notifies the client if it is ready and subscribed. */
  announce(method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    if (this.#era === "stateless") {
      return Effect.forEach(this.#subscriptions, ([id, [filter]]) =>
        matchesFilter(filter, method, params)
          ? this.#notify(method, stamped(params, id))
          : Effect.void, { discard: true })
    }
    const isUpdate = method === "notifications/resources/updated"
    if (!this.#ready || (isUpdate && !this.#subscribed.has(String(params["uri"])))) return Effect.void
    return this.#notify(method, params)
  }

  get endSubscriptions(): Effect.Effect<void> {
    return Effect.forEach(this.#subscriptions.values(), ([, end]) => Deferred.succeed(end, undefined), {
      discard: true
    })
  }

  #notify(method: string, params: JsonRpc.JsonObject = {}): Effect.Effect<void> {
    return this.#io.send({ jsonrpc: "2.0", method, params })
  }

  #notified(method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    if (method === "notifications/initialized") this.#ready = true
    const { requestId } = params
    return method === "notifications/cancelled" && isId(requestId) ? this.abandoned(requestId) : Effect.void
  }

  #request(id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const running = { cancelled: yield* Deferred.make<void>(), round: yield* Deferred.make<JsonRpc.JsonObject>() }
      this.#running.set(id, running)
      const context = this.#context(id, method, params, running)
      const answer = Effect.raceFirst(this.#answer(context), Deferred.await(running.round)).pipe(
        Effect.catchAllDefect((defect) => refuse(-32603, `Internal error: ${String(defect)}`)),
        Effect.match({
          onSuccess: (result) => this.#success(context, result),
          onFailure: ({ code, data, message }): JsonRpc.Message => ({
            jsonrpc: "2.0",
            id,
            error: { code, message, data }
          })
        }),
        Effect.asSome
      )
      const sent = yield* this.#state.options.ignoresCancellation === true
        ? answer
        : Effect.raceFirst(answer, Effect.as(Deferred.await(running.cancelled), Option.none()))
      if (Option.isSome(sent)) yield* this.#io.send(sent.value)
    }).pipe(Effect.ensuring(Effect.sync(() => this.#running.delete(id))))
  }

  /** Adds the type and the server info of stateless results. */
  #success({ era, id, method }: MemoryServer.Context, result: JsonRpc.JsonObject): JsonRpc.Message {
    if (era === "session") return { jsonrpc: "2.0", id, result }
    const { cacheScope = "private", ttlMs = 0 } = this.#state.options
    const resultType = result["resultType"] ?? "complete"
    const hints = resultType === "complete" && cacheable.test(method) ? { ttlMs, cacheScope } : {}
    const serverInfo = this.#serverInfo
    const _meta = { ...(serverInfo === undefined ? {} : { [`${reserved}serverInfo`]: serverInfo }), ...metaOf(result) }
    const named = Object.keys(_meta).length === 0 ? {} : { _meta }
    return { jsonrpc: "2.0", id, result: { resultType, ...hints, ...result, ...named } }
  }

  #context(id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject, running: Running): MemoryServer.Context {
    const { progressToken } = metaOf(params)
    const isStateless = versionOf(params) !== undefined
    let questions = 0
    const askInRounds: MemoryServer.Context["ask"] = (method, params = {}) =>
      Effect.suspend(() => {
        const next = answerOrRound(context.params, `input-${++questions}`, { method, params })
        if ("answer" in next) return Effect.succeed(objectOf(next.answer))
        return Effect.zipRight(Deferred.succeed(running.round, next.round), Effect.never)
      })
    const context: MemoryServer.Context = {
      io: this.#io,
      era: isStateless ? "stateless" : "session",
      id,
      method,
      params,
      clientCapabilities: isStateless ? objectOf(metaOf(params)[`${reserved}clientCapabilities`]) : this.#capabilities,
      progress: (progress, total, message) =>
        progressToken === undefined
          ? Effect.void
          : this.#notify("notifications/progress", { progressToken, progress, total, message }),
      notify: (method, params) => this.#notify(method, params),
      ask: isStateless ? askInRounds : (method, params) => this.#ask(method, params),
      cancelled: Deferred.await(running.cancelled)
    }
    return context
  }

  #ask(method: string, params: JsonRpc.JsonObject = {}): Effect.Effect<JsonRpc.JsonObject, Refused> {
    return Effect.flatMap(Deferred.make<JsonRpc.JsonObject, Refused>(), (answer) => {
      const id = `ask-${++this.#questions}`
      this.#asked.set(id, answer)
      return this.#io.send({ jsonrpc: "2.0", id, method, params }).pipe(
        Effect.zipRight(Deferred.await(answer)),
        Effect.onInterrupt(() => this.#notify("notifications/cancelled", { requestId: id })),
        Effect.ensuring(Effect.sync(() => this.#asked.delete(id)))
      )
    })
  }

  get #serverInfo(): JsonRpc.JsonObject | undefined {
    const { serverInfo } = this.#state.options
    return serverInfo === null ? undefined : { name: "memory", version: "1.0.0", ...serverInfo }
  }

  get #serverCapabilities(): JsonRpc.JsonObject {
    const { offer, options } = this.#state
    const has = (part: keyof MemoryServer.Offer) => options[part] !== undefined || (offer[part] ?? []).length > 0
    return options.capabilities ?? {
      ...(has("tools") ? { tools: { listChanged: true } } : {}),
      ...(has("resources") || has("templates") ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(has("prompts") ? { prompts: { listChanged: true } } : {}),
      ...(options.complete !== undefined ? { completions: {} } : {}),
      logging: {}
    }
  }

  /** Checks the era and the version of a request, and handles it. */
  #answer(context: MemoryServer.Context): MemoryServer.Answer {
    const { method, params } = context
    const { era = "both", instructions, methods = {}, statelessVersions = ["2026-07-28"] } = this.#state.options
    if (context.era === "stateless" && era !== "session") this.#era ??= "stateless"
    const scripted = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (scripted !== undefined) return scripted(params, context)
    const notFound = refuse(-32601, `Method not found: ${method}`)
    const unsupported = (requested: JsonRpc.Json | undefined) =>
      refuse(-32022, "Unsupported protocol version", { supported: statelessVersions, requested })

    if (context.era === "stateless" || method === "server/discover") {
      if (era === "session") return notFound
      const version = versionOf(params)
      const isComplete = metaOf(params)[`${reserved}clientCapabilities`] !== undefined
      if (typeof version !== "string" || !isComplete) return refuse(-32602, "Invalid params: incomplete _meta")
      if (!statelessVersions.includes(version)) return unsupported(version)
      if (method === "subscriptions/listen") return this.#listen(context.id, filterOf(params))
      if (method !== "server/discover") return this.#offered(context) ?? notFound
      return Effect.succeed({
        supportedVersions: statelessVersions,
        capabilities: this.#serverCapabilities,
        instructions
      })
    }
    if (era === "stateless") {
      if (method === "initialize") return unsupported(params["protocolVersion"])
      return refuse(-32602, "Invalid params: incomplete _meta")
    }
    if (method !== "initialize" && method !== "ping" && this.#era !== "session") {
      return refuse(-32600, "Invalid request: not initialized")
    }
    return this.#session(context) ?? this.#offered(context) ?? notFound
  }

  /** Opens a subscription. Its response is the graceful end. */
  #listen(id: JsonRpc.Id, filter: JsonRpc.JsonObject): MemoryServer.Answer {
    return Effect.gen(this, function*() {
      const end = yield* Deferred.make<void>()
      this.#subscriptions.set(id, [filter, end])
      yield* this.#notify("notifications/subscriptions/acknowledged", stamped({ notifications: filter }, id))
      if (Object.keys(filter).length > 0) yield* Deferred.await(end)
      return stamped({}, id)
    }).pipe(Effect.ensuring(Effect.sync(() => this.#subscriptions.delete(id))))
  }

  #session({ method, params }: MemoryServer.Context): MemoryServer.Answer | undefined {
    const { instructions, sessionVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] } =
      this.#state.options
    switch (method) {
      case "initialize": {
        const { capabilities, protocolVersion } = params
        this.#era = "session"
        this.#capabilities = objectOf(capabilities)
        return Effect.succeed({
          protocolVersion: sessionVersions.find((version) => version === protocolVersion) ?? sessionVersions[0],
          capabilities: this.#serverCapabilities,
          serverInfo: this.#serverInfo,
          instructions
        })
      }
      case "ping":
      case "logging/setLevel":
        return Effect.succeed({})
      case "resources/subscribe":
      case "resources/unsubscribe":
        this.#subscribed[method === "resources/subscribe" ? "add" : "delete"](String(params["uri"]))
        return Effect.succeed({})
      default:
        return undefined
    }
  }

  /** Handles the requests of both eras. */
  #offered(context: MemoryServer.Context): MemoryServer.Answer | undefined {
    const { offer, options: { complete, pageSize } } = this.#state
    const { prompts = [], resources = [], templates = [], tools = [] } = offer
    const { method, params } = context
    const { cursor } = params
    switch (method) {
      case "tools/list":
        return page("tools", tools.map(definitionOf), cursor, pageSize)
      case "resources/list":
        return page("resources", resources, cursor, pageSize)
      case "resources/templates/list":
        return page("resourceTemplates", templates, cursor, pageSize)
      case "prompts/list":
        return page("prompts", prompts, cursor, pageSize)
      case "tools/call":
        return this.#call(context)
      case "resources/read":
        return read(offer, context)
      case "prompts/get": {
        const prompt = prompts.find(({ name }) => name === params["name"])
        return prompt === undefined
          ? refuse(-32602, `Unknown prompt: ${String(params["name"])}`)
          : whole(prompt.get(objectOf(params["arguments"]), context), (text) => ({
            messages: [{ role: "user", content: { type: "text", text } }]
          }))
      }
      case "completion/complete":
        return complete && Effect.map(complete(params, context), (values) => ({
          completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 }
        }))
      default:
        return undefined
    }
  }

  #call(context: MemoryServer.Context): MemoryServer.Answer {
    const { params } = context
    const { executions, offer } = this.#state
    const tool = offer.tools?.find(({ name }) => name === params["name"])
    if (tool === undefined) return refuse(-32602, `Unknown tool: ${String(params["name"])}`)
    const isFirstRound = params["inputResponses"] === undefined && params["requestState"] === undefined
    if (isFirstRound) executions.set(tool.name, (executions.get(tool.name) ?? 0) + 1)
    return Effect.zipRight(
      this.#io.stir,
      whole(tool.call(objectOf(params["arguments"]), context), (text) => ({ content: [{ type: "text", text }] }))
    )
  }
}

/** The answer of the client to a question. */
const outcome = (message: JsonRpc.Incoming): MemoryServer.Answer => {
  if (!("error" in message)) return Effect.succeed(objectOf(message["result"]))
  const { code, data, message: text } = objectOf(message["error"])
  return refuse(typeof code === "number" ? code : -32603, typeof text === "string" ? text : "", data)
}

/** The answer in a stateless request, or else the result that asks the question. */
const answerOrRound = (
  { inputResponses, requestState }: JsonRpc.JsonObject,
  key: string,
  question: JsonRpc.JsonObject
): { readonly answer: JsonRpc.Json | undefined } | { readonly round: JsonRpc.JsonObject } => {
  const before = typeof requestState === "string" ? objectOf(JSON.parse(requestState)) : {}
  const answers = { ...before, ...objectOf(inputResponses) }
  if (Object.hasOwn(answers, key)) return { answer: answers[key] }
  const inputRequests = { [key]: question }
  return { round: { resultType: "input_required", inputRequests, requestState: JSON.stringify(answers) } }
}

/** Expands a string to the result that it is short for. */
const whole = (
  given: MemoryServer.Answer<string | JsonRpc.JsonObject>,
  resultOf: (text: string) => JsonRpc.JsonObject
): MemoryServer.Answer => Effect.map(given, (given) => typeof given === "string" ? resultOf(given) : given)

const definitionOf = ({ definition, inputSchema = { type: "object" }, ...tool }: MemoryServer.Tool) => ({
  ...tool,
  inputSchema,
  ...definition
})

const page = (key: string, items: ReadonlyArray<object>, cursor: unknown, size = Infinity): MemoryServer.Answer => {
  const from = cursor === undefined ? 0 : Number(String(cursor).replace(/^from-/, ""))
  if (!Number.isInteger(from) || from < 0 || from > items.length) return refuse(-32602, "Invalid cursor")
  const next = from + size < items.length ? { nextCursor: `from-${from + size}` } : {}
  // the cast: definitions are JSON except for their handlers, which `JSON.stringify` omits
  return Effect.succeed({ [key]: items.slice(from, from + size) as ReadonlyArray<JsonRpc.JsonObject>, ...next })
}

const read = (offer: MemoryServer.Offer, context: MemoryServer.Context): MemoryServer.Answer => {
  const { resources = [], templates = [] } = offer
  const uri = String(context.params["uri"])
  const resource = resources.find((resource) => resource.uri === uri)
  const template = templates.find(({ uriTemplate }) => isFrom(uriTemplate, uri))
  const given = resource?.read(context) ?? template?.read(uri, context)
  if (given === undefined) return refuse(context.era === "stateless" ? -32602 : -32002, "Resource not found", { uri })
  const mimeType = resource?.mimeType ?? template?.mimeType ?? "text/plain"
  return whole(given, (text) => ({ contents: [{ uri, mimeType, text }] }))
}

/** Compares segments, because a variable matches any text without a slash. */
const isFrom = (template: string, uri: string): boolean => {
  const segments = uri.split("/")
  const patterns = template.replaceAll(/\{[^{}]*\}/g, "*").split("/")
  return patterns.length === segments.length && patterns.every((pattern, at) => wildcard(pattern)(segments[at]!))
}
