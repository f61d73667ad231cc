/**
 * The headers that repeat what a request of the stateless era says: whoever stands in between goes by them, so they must
 * say the same.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Protocol from "../../../client/Protocol.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"

const mismatch = (message: string): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.headerMismatch, message: `Header mismatch: ${message}` })

const strict = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** The text that a header's value stands for; nothing, if it is no text. */
export const decode = (value: string): string | undefined => {
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value
  const base64 = strict.exec(value)?.[1]
  if (base64 === undefined || base64.length % 4 !== 0) return undefined
  return Either.getOrUndefined(Encoding.decodeBase64String(base64))
}

const named: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"]
])

/** @internal */
export const check = (
  method: string,
  params: JsonRpc.JsonObject,
  header: (name: string) => string | undefined
): McpServer.Refusal | undefined => {
  const version = Exchange.metaOf(params)[Protocol.metaKey.protocolVersion]
  const said = header("mcp-protocol-version")
  // what is missing in the body is told as that
  if (typeof version !== "string") return undefined
  if (said !== version) {
    return mismatch(`MCP-Protocol-Version is ${said === undefined ? "missing" : "not what the request says"}`)
  }
  if (!Protocol.statelessVersions.includes(version)) return undefined
  const how = header("mcp-method")
  if (how !== method) return mismatch(`Mcp-Method is ${how === undefined ? "missing" : "not the request's method"}`)
  const key = named.get(method)
  if (key === undefined) return undefined
  const what = header("mcp-name")
  if (what === undefined) return mismatch("Mcp-Name is missing")
  return decode(what) === params[key] ? undefined : mismatch(`Mcp-Name is not the request's ${key}`)
}
