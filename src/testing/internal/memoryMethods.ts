/**
 * The requests that a server in memory answers.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import type { Client } from "./memoryClient.ts"
import { objectOf, Refused } from "./memoryJson.ts"
import * as memoryOffer from "./memoryOffer.ts"
import * as memoryStateless from "./memoryStateless.ts"

type Handled = Effect.Effect<JsonRpc.JsonObject, Refused>

const refuse = (code: number, message: string, data?: JsonRpc.Json): Handled =>
  Effect.fail(new Refused({ code, message, data }))

const notFound = (method: string): Handled => refuse(-32601, `Method not found: ${method}`)

const sessionVersions = (options: MemoryServer.Options): ReadonlyArray<string> =>
  options.era === "stateless" ? [] : options.sessionVersions ?? ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

const capabilities = (client: Client): JsonRpc.JsonObject => {
  const { offer, options } = client.state
  if (options.capabilities !== undefined) return options.capabilities
  const resources = offer.resources.length > 0 || offer.templates.length > 0 || options.resources !== undefined
  return {
    ...(offer.tools.length > 0 || options.tools !== undefined ? { tools: { listChanged: true } } : {}),
    ...(resources ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(offer.prompts.length > 0 || options.prompts !== undefined ? { prompts: { listChanged: true } } : {}),
    ...(options.complete !== undefined ? { completions: {} } : {}),
    logging: {}
  }
}

/** @internal */
export const handle = (client: Client, context: MemoryServer.Context): Handled => {
  const { options } = client.state
  const { method, params } = context
  const own = new Map(Object.entries(options.methods ?? {})).get(method)
  if (context.era === "stateless" || method === "server/discover") {
    const versions = memoryStateless.versions(options)
    if (versions.length === 0) return own === undefined ? notFound(method) : own(params, context)
    if (!memoryStateless.isComplete(params)) return refuse(-32602, "Invalid params: incomplete _meta")
    const requested = memoryStateless.version(params)
    if (typeof requested !== "string" || !versions.includes(requested)) {
      return refuse(-32022, "Unsupported protocol version", { supported: versions, requested })
    }
    client.era ??= "stateless"
    return own !== undefined ? own(params, context) : stateless(client, context, versions)
  }
  if (own !== undefined) return own(params, context)
  const versions = sessionVersions(options)
  if (versions.length === 0) {
    const requested = typeof params["protocolVersion"] === "string" ? params["protocolVersion"] : ""
    return method === "initialize"
      ? refuse(-32022, "Unsupported protocol version", { supported: memoryStateless.versions(options), requested })
      : refuse(-32602, "Invalid params: incomplete _meta")
  }
  if (method !== "initialize" && method !== "ping" && client.era !== "session") {
    return refuse(-32600, "Invalid request: not initialized")
  }
  return session(client, context, versions)
}

const stateless = (client: Client, context: MemoryServer.Context, versions: ReadonlyArray<string>): Handled => {
  switch (context.method) {
    case "server/discover":
      return Effect.succeed({
        supportedVersions: versions,
        capabilities: capabilities(client),
        instructions: client.state.options.instructions
      })
    case "subscriptions/listen":
      return client.listen(context.id, memoryStateless.filter(context.params))
    default:
      return memoryOffer.handle(client.state, context) ?? notFound(context.method)
  }
}

const session = (client: Client, context: MemoryServer.Context, versions: ReadonlyArray<string>): Handled => {
  const { options } = client.state
  const { params } = context
  switch (context.method) {
    case "initialize": {
      const asked = params["protocolVersion"]
      client.era = "session"
      client.capabilities = objectOf(params["capabilities"])
      return Effect.succeed({
        protocolVersion: typeof asked === "string" && versions.includes(asked) ? asked : versions[0],
        capabilities: capabilities(client),
        serverInfo: memoryStateless.serverInfo(options),
        instructions: options.instructions
      })
    }
    case "ping":
    case "logging/setLevel":
      return Effect.succeed({})
    case "resources/subscribe":
      return Effect.sync(() => {
        client.subscribed.add(String(params["uri"]))
        return {}
      })
    case "resources/unsubscribe":
      return Effect.sync(() => {
        client.subscribed.delete(String(params["uri"]))
        return {}
      })
    default:
      return memoryOffer.handle(client.state, context) ?? notFound(context.method)
  }
}

/**
 * What the client answered to a question.
 *
 * @internal
 */
export const outcome = (message: JsonRpc.Incoming): Handled => {
  if (!("error" in message)) return Effect.succeed(objectOf(message["result"]))
  const { code, data, message: text } = objectOf(message["error"])
  return refuse(typeof code === "number" ? code : -32603, typeof text === "string" ? text : "", data)
}
