/**
 * The rules of the stateless era: what requests carry, what results carry, subscriptions.
 *
 * @internal
 */
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as MemoryServer from "../MemoryServer.ts"
import * as memoryJson from "./memoryJson.ts"

const prefix = "io.modelcontextprotocol/"

/** @internal */
export const versions = (options: MemoryServer.Options): ReadonlyArray<string> =>
  options.era === "session" ? [] : options.statelessVersions ?? ["2026-07-28"]

/** @internal */
export const serverInfo = (options: MemoryServer.Options): JsonRpc.JsonObject | undefined =>
  options.serverInfo === null ? undefined : { name: "memory", version: "1.0.0", ...options.serverInfo }

const meta = (params: JsonRpc.JsonObject): JsonRpc.JsonObject => memoryJson.objectOf(params["_meta"])

/** @internal */
export const isStateless = (params: JsonRpc.JsonObject): boolean =>
  meta(params)[`${prefix}protocolVersion`] !== undefined

/** @internal */
export const version = (params: JsonRpc.JsonObject): JsonRpc.Json => meta(params)[`${prefix}protocolVersion`] ?? null

/** @internal */
export const isComplete = (params: JsonRpc.JsonObject): boolean =>
  typeof version(params) === "string" && meta(params)[`${prefix}clientCapabilities`] !== undefined

/** @internal */
export const capabilities = (params: JsonRpc.JsonObject): JsonRpc.JsonObject =>
  memoryJson.objectOf(meta(params)[`${prefix}clientCapabilities`])

const cacheable: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read"
])

/**
 * A result with what this era requires of it.
 *
 * @internal
 */
export const result = (
  options: MemoryServer.Options,
  method: string,
  given: JsonRpc.JsonObject
): JsonRpc.JsonObject => {
  const resultType = given["resultType"] ?? "complete"
  const hints = resultType === "complete" && cacheable.has(method)
    ? { ttlMs: options.ttlMs ?? 0, cacheScope: options.cacheScope ?? "private" }
    : {}
  const info = serverInfo(options)
  const _meta = { ...(info === undefined ? {} : { [`${prefix}serverInfo`]: info }), ...meta(given) }
  return { resultType, ...hints, ...given, ...(Object.keys(_meta).length === 0 ? {} : { _meta }) }
}

/**
 * What a subscription is to be told.
 *
 * @internal
 */
export interface Filter extends JsonRpc.JsonObject {
  readonly toolsListChanged?: true
  readonly promptsListChanged?: true
  readonly resourcesListChanged?: true
  readonly resourceSubscriptions?: ReadonlyArray<string>
}

/** @internal */
export const filter = (params: JsonRpc.JsonObject): Filter => {
  const asked = memoryJson.objectOf(params["notifications"])
  const uris = asked["resourceSubscriptions"]
  return {
    ...(asked["toolsListChanged"] === true ? { toolsListChanged: true } : {}),
    ...(asked["promptsListChanged"] === true ? { promptsListChanged: true } : {}),
    ...(asked["resourcesListChanged"] === true ? { resourcesListChanged: true } : {}),
    ...(Array.isArray(uris) ? { resourceSubscriptions: uris.map(String) } : {})
  }
}

/** @internal */
export const wanted = (filter: Filter, method: string, params: JsonRpc.JsonObject): boolean => {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged === true
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged === true
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged === true
    case "notifications/resources/updated":
      return filter.resourceSubscriptions?.includes(String(params["uri"])) === true
    default:
      return false
  }
}

/** @internal */
export const stamped = (params: JsonRpc.JsonObject, id: JsonRpc.Id): JsonRpc.JsonObject => ({
  ...params,
  _meta: { ...meta(params), [`${prefix}subscriptionId`]: id }
})
