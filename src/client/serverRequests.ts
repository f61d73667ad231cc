/** Answers the requests of a server with the handlers of the application. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as RuntimeLog from "../runtimeLog.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Handshake from "./handshake.ts"
import * as InputHandlers from "./InputHandlers.ts"
import { objectOf, textOf } from "./messages.ts"

/** The handlers of the current fiber, else the given ones. */
export const current = (built: InputHandlers.Handlers): Effect.Effect<InputHandlers.Handlers> =>
  // a lookup of the Reference would give its default and hide the handlers that the connector was built with
  Effect.contextWith((context: Context.Context<never>) =>
    context.unsafeMap.has(InputHandlers.InputHandlers.key) ? Context.get(context, InputHandlers.InputHandlers) : built
  )

/** An error answer to a request of the server. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The capabilities to declare for the handlers. */
export const capabilities = (handlers: InputHandlers.Handlers): JsonRpc.JsonObject => ({
  ...handlers.capabilities,
  ...(handlers.roots === undefined ? {} : { roots: { listChanged: true } }),
  ...(handlers.elicit === undefined
    ? {}
    : { elicitation: Object.fromEntries((handlers.elicitModes ?? ["form"]).map((mode) => [mode, {}])) }),
  ...(handlers.sample === undefined ? {} : { sampling: handlers.sampleTools === true ? { tools: {} } : {} })
})

/** The methods that the handlers answer. */
export const methods = (handlers: InputHandlers.Handlers): ReadonlyArray<string> => [
  ...(handlers.roots === undefined ? [] : ["roots/list"]),
  ...(handlers.elicit === undefined ? [] : ["elicitation/create"]),
  ...(handlers.sample === undefined ? [] : ["sampling/createMessage"])
]

/** The handlers of a server's connection. They are code of the application, and log where it logs. */
type Answering = Pick<Handshake.Connection, "server" | "handlers">

/** The sampling requests of one connection that are answered in a minute, because each costs the application a model call. */
const maxSamplings = 60

const samplings = new WeakMap<Answering, { readonly since: number; readonly count: number }>()

/** Counts a sampling request; `false` if there are too many. */
const mayRequestSample = (of: Answering, now: number): boolean => {
  const last = samplings.get(of)
  const { count, since } = last !== undefined && now - last.since < 60_000 ? last : { count: 0, since: now }
  samplings.set(of, { since, count: count + 1 })
  return count < maxSamplings
}

/** Answers a request of a server. */
export const answer = (
  of: Answering,
  method: string,
  params: JsonRpc.JsonObject
): Effect.Effect<JsonRpc.JsonObject, Refused> => {
  const { handlers: { roots, sample }, server } = of
  if (method === "roots/list" && roots !== undefined) {
    return Effect.map(RuntimeLog.asApplication(roots(server)), (roots) => ({
      roots: roots.map(({ name, uri }) => name === undefined ? { uri } : { uri, name })
    }))
  }
  if (method === "elicitation/create") return elicit(of, params)
  if (method === "sampling/createMessage" && sample !== undefined) {
    const sampled = Effect.filterOrFail(
      RuntimeLog.asApplication(sample({ server, params })),
      Predicate.isNotUndefined,
      () => new Refused({ code: -1, reason: "User rejected sampling request" })
    )
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      mayRequestSample(of, now)
        ? sampled
        : new Refused({ code: -32000, reason: `Too many sampling requests: at most ${maxSamplings} in a minute` }))
  }
  return Effect.fail(new Refused({ code: -32601, reason: `Method not supported: ${method}` }))
}

const elicit = ({ handlers, server }: Answering, params: JsonRpc.JsonObject): Effect.Effect<JsonRpc.JsonObject> => {
  const mode = params["mode"] === "url" ? "url" : "form"
  // a decline is a result, so that the server need not treat it as a fault
  if (handlers.elicit === undefined || !(handlers.elicitModes ?? ["form"]).includes(mode)) {
    return Effect.succeed({ action: "decline" })
  }
  const { message, requestedSchema, url } = params
  const answered = handlers.elicit({
    server,
    mode,
    message: textOf(message) ?? "",
    requestedSchema: JsonRpc.isObject(requestedSchema) ? objectOf(requestedSchema) : undefined,
    url: textOf(url),
    params
  })
  return Effect.map(RuntimeLog.asApplication(answered), (given) => {
    if (given.action !== "accept") return { action: given.action }
    if (mode === "form") return { action: given.action, content: withDefaults(requestedSchema, given.content ?? {}) }
    return { action: given.action, ...(given.content === undefined ? {} : { content: given.content }) }
  })
}

const withDefaults = (schema: unknown, content: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const defaults = Object.entries(objectOf(objectOf(schema)["properties"])).flatMap(([name, field]) => {
    const value = objectOf(field)["default"]
    return value === undefined || Object.hasOwn(content, name) ? [] : [[name, value] as const]
  })
  return defaults.length === 0 ? content : Object.fromEntries([...Object.entries(content), ...defaults])
}
