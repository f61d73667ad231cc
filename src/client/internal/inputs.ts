/**
 * What the application answers to a server's questions, the same in both eras.
 *
 * @internal
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as InputHandlers from "../InputHandlers.ts"

/**
 * The application does not do this; the code and the text are for the server.
 *
 * @internal
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly reason: string }> {}

/**
 * The capabilities that the handlers amount to.
 *
 * @internal
 */
export const capabilities = (handlers: InputHandlers.Handlers): JsonRpc.JsonObject => ({
  ...handlers.capabilities,
  ...(handlers.roots === undefined ? {} : { roots: { listChanged: true } }),
  ...(handlers.elicit === undefined
    ? {}
    : { elicitation: Object.fromEntries((handlers.elicitModes ?? ["form"]).map((mode) => [mode, {}])) }),
  ...(handlers.sample === undefined ? {} : { sampling: handlers.sampleTools === true ? { tools: {} } : {} })
})

/**
 * The methods that the handlers answer.
 *
 * @internal
 */
export const methods = (handlers: InputHandlers.Handlers): ReadonlyArray<Method> => [
  ...(handlers.roots === undefined ? [] : ["roots/list" as const]),
  ...(handlers.elicit === undefined ? [] : ["elicitation/create" as const]),
  ...(handlers.sample === undefined ? [] : ["sampling/createMessage" as const])
]

/** @internal */
export type Method = "roots/list" | "elicitation/create" | "sampling/createMessage"

/** @internal */
export const answer = (
  server: string,
  handlers: InputHandlers.Handlers,
  method: string,
  params: JsonRpc.JsonObject
): Effect.Effect<JsonRpc.JsonObject, Refused> => {
  switch (method) {
    case "roots/list":
      return handlers.roots === undefined
        ? unsupported(method)
        : Effect.map(handlers.roots(server), (roots) => ({
          roots: roots.map(({ name, uri }) => name === undefined ? { uri } : { uri, name })
        }))
    case "elicitation/create":
      return elicit(server, handlers, params)
    case "sampling/createMessage":
      return handlers.sample === undefined
        ? unsupported(method)
        : Effect.filterOrFail(
          handlers.sample({ server, params }),
          Predicate.isNotUndefined,
          () => new Refused({ code: -1, reason: "User rejected sampling request" })
        )
    default:
      return unsupported(method)
  }
}

const unsupported = (method: string) =>
  Effect.fail(new Refused({ code: -32601, reason: `Method not supported: ${method}` }))

const elicit = (
  server: string,
  handlers: InputHandlers.Handlers,
  params: JsonRpc.JsonObject
): Effect.Effect<JsonRpc.JsonObject, Refused> => {
  const mode = params["mode"] === "url" ? "url" : "form"
  // declining is an answer of its own: the server need not treat it as a fault
  if (handlers.elicit === undefined || !(handlers.elicitModes ?? ["form"]).includes(mode)) {
    return Effect.succeed({ action: "decline" })
  }
  const { message, requestedSchema, url } = params
  return Effect.map(
    handlers.elicit({
      server,
      mode,
      message: typeof message === "string" ? message : "",
      requestedSchema: JsonRpc.isObject(requestedSchema) ? requestedSchema as JsonRpc.JsonObject : undefined,
      url: typeof url === "string" ? url : undefined,
      params
    }),
    (given) =>
      given.action !== "accept"
        ? { action: given.action }
        : mode === "url"
        ? { action: given.action, ...(given.content === undefined ? {} : { content: given.content }) }
        : { action: given.action, content: completed(requestedSchema, given.content ?? {}) }
  )
}

/** A field that the person left as it was has the value that the form gave it. */
const completed = (schema: unknown, content: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const fields = JsonRpc.isObject(schema) ? schema["properties"] : undefined
  if (!JsonRpc.isObject(fields)) return content
  const defaults = Object.entries(fields).flatMap(([name, field]) =>
    JsonRpc.isObject(field) && Object.hasOwn(field, "default") && !Object.hasOwn(content, name)
      ? [[name, field["default"] as JsonRpc.Json] as const]
      : []
  )
  return defaults.length === 0 ? content : Object.fromEntries([...Object.entries(content), ...defaults])
}
