/**
 * What lists and reads give, item by item; nothing odd costs its siblings.
 *
 * @internal
 */
import * as ToolResult from "../../tools/ToolResult.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import type * as Listing from "./listing.ts"

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** @internal */
export const listing = <Item>(
  pages: Listing.Pages,
  decode: (raw: JsonRpc.JsonObject) => Item | undefined
): McpClient.Listing<Item> => {
  const items: Array<Item> = []
  for (const raw of pages.items) {
    // the cast: an object that JSON.parse gave
    const item = JsonRpc.isObject(raw) ? decode(raw as JsonRpc.JsonObject) : undefined
    if (item !== undefined) items.push(item)
  }
  return {
    items,
    malformed: pages.items.length - items.length,
    ttlMs: pages.ttlMs,
    cacheScope: pages.cacheScope
  }
}

/** @internal */
export const resource = (raw: JsonRpc.JsonObject): McpClient.Resource | undefined => {
  const uri = raw["uri"]
  return typeof uri === "string" ? { uri, ...described(raw) } : undefined
}

/** @internal */
export const resourceTemplate = (raw: JsonRpc.JsonObject): McpClient.ResourceTemplate | undefined => {
  const uriTemplate = raw["uriTemplate"]
  return typeof uriTemplate === "string" ? { uriTemplate, ...described(raw) } : undefined
}

const described = (raw: JsonRpc.JsonObject) => ({
  name: text(raw["name"]),
  title: text(raw["title"]),
  description: text(raw["description"]),
  mimeType: text(raw["mimeType"]),
  raw
})

/** @internal */
export const prompt = (raw: JsonRpc.JsonObject): McpClient.Prompt | undefined => {
  const name = raw["name"]
  if (typeof name !== "string") return undefined
  const declared: unknown = raw["arguments"]
  return {
    name,
    title: text(raw["title"]),
    description: text(raw["description"]),
    arguments: Array.isArray(declared) ? declared.flatMap(promptArgument) : [],
    raw
  }
}

const promptArgument = (raw: unknown): McpClient.Prompt["arguments"] =>
  JsonRpc.isObject(raw) && typeof raw["name"] === "string"
    ? [{ name: raw["name"], description: text(raw["description"]), required: raw["required"] === true }]
    : []

/** @internal */
export const contents = (
  result: JsonRpc.JsonObject,
  uri: string
): { readonly contents: ReadonlyArray<McpClient.ResourceContents>; readonly malformed: number } | undefined => {
  const parts: unknown = result["contents"] ?? []
  if (!Array.isArray(parts)) return undefined
  const contents = parts.flatMap((part) => content(part, uri))
  return { contents, malformed: parts.length - contents.length }
}

const content = (part: unknown, asked: string): ReadonlyArray<McpClient.ResourceContents> => {
  if (!JsonRpc.isObject(part)) return []
  const uri = text(part["uri"]) ?? asked
  const mimeType = text(part["mimeType"])
  if (typeof part["text"] === "string") return [{ _tag: "Text", uri, mimeType, text: part["text"] }]
  if (typeof part["blob"] === "string") return [{ _tag: "Blob", uri, mimeType, blob: part["blob"] }]
  return []
}

/** @internal */
export const promptMessages = (result: JsonRpc.JsonObject): McpClient.PromptMessages | undefined => {
  const messages: unknown = result["messages"] ?? []
  if (!Array.isArray(messages)) return undefined
  return { description: text(result["description"]), messages: messages.flatMap(promptMessage) }
}

// Some servers give a message's content as a list.
const promptMessage = (raw: unknown): McpClient.PromptMessages["messages"] => {
  if (!JsonRpc.isObject(raw)) return [{ role: "user", content: ToolResult.decodeContent(raw) }]
  const role = text(raw["role"]) ?? "user"
  const parts: ReadonlyArray<unknown> = Array.isArray(raw["content"]) ? raw["content"] : [raw["content"]]
  return parts.map((part) => ({ role, content: ToolResult.decodeContent(part) }))
}

const maxCompletions = 100

/** @internal */
export const completion = (
  result: JsonRpc.JsonObject
): { readonly values: ReadonlyArray<string>; readonly hasMore: boolean } => {
  const raw = JsonRpc.isObject(result["completion"]) ? result["completion"] : {}
  const given: unknown = raw["values"]
  const values = Array.isArray(given) ? given.filter((value): value is string => typeof value === "string") : []
  const total = typeof raw["total"] === "number" ? raw["total"] : 0
  return {
    values: values.slice(0, maxCompletions),
    hasMore: raw["hasMore"] === true || values.length > maxCompletions || total > values.length
  }
}
