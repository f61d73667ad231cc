/** Lists and reads: all pages of a list with an end whatever the server does, and their items decoded one by one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Limits from "../config/Limits.ts"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as ToolResult from "../tools/ToolResult.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Engine from "./engine.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"

type Pages = Pick<McpClient.Listing<unknown>, "items" | "ttlMs" | "cacheScope">

export interface List {
  readonly method: string
  /** The field of a page that holds the items. */
  readonly field: string
  /** The field of an item that identifies it. */
  readonly key: string
  /** The capability of servers that have the list. */
  readonly capability: string
}

export const tools: List = { method: "tools/list", field: "tools", key: "name", capability: "tools" }
export const prompts: List = { method: "prompts/list", field: "prompts", key: "name", capability: "prompts" }
export const resources: List = {
  method: "resources/list",
  field: "resources",
  key: "uri",
  capability: "resources"
}
export const templates: List = {
  method: "resources/templates/list",
  field: "resourceTemplates",
  key: "uriTemplate",
  capability: "resources"
}

export interface Options {
  readonly server: string
  readonly limits: Limits.Limits
  readonly capabilities: JsonRpc.JsonObject
  readonly request: McpClient.Channel["request"]
  readonly report: (detail: string) => void
}

const nothing: Pages = { items: [], ttlMs: undefined, cacheScope: undefined }

const methodNotFound = -32601

// a server that declares nothing at all may still have something; one that declares others is believed
const mayHave = (capabilities: JsonRpc.JsonObject, name: string): boolean => {
  const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : Object.keys(capabilities).length === 0
  return declared !== undefined && declared !== null && declared !== false
}

/** All pages of a list, within `listTimeout`. */
export const all = (options: Options, list: List): Effect.Effect<Pages, McpError.CallError> =>
  Effect.suspend(() => {
    if (!mayHave(options.capabilities, list.capability)) return Effect.succeed(nothing)
    const { limits: { listTimeout: limit }, server } = options
    return Effect.timeoutFail(walk(options, list), {
      duration: limit,
      onTimeout: () => Engine.overdue(server, list.method, limit)
    })
  })

const walk = Effect.fnUntraced(function*({ limits, report, request, server }: Options, { field, key, method }: List) {
  const exceeded = (reason: McpError.ProtocolViolation["exceeds"], limit: number) =>
    new McpError.ProtocolViolation({
      server,
      reason: "pagination",
      outcome: "executed",
      operation: method,
      exceeds: reason,
      pages: pages.length,
      limit
    })
  const violation = (what: string) => new McpError.ProtocolViolation({ server, what, outcome: "executed" })

  const cursors = new Set<string>()
  const pages: Array<ReadonlyArray<unknown>> = []
  let count = 0
  let cursor: string | undefined = undefined
  let ttlMs: number | undefined = undefined
  const scopes = new Set<unknown>()

  while (true) {
    const isFirst = pages.length === 0
    const answer: Option.Option<JsonRpc.JsonObject> = yield* Effect.catchIf(
      Effect.asSome(request(method, cursor === undefined ? undefined : { cursor })),
      (error) => isFirst && error._tag === "RemoteError" && error.code === methodNotFound,
      () => Effect.succeedNone
    )
    if (Option.isNone(answer)) return nothing
    const page: JsonRpc.JsonObject = answer.value

    const items = page[field] ?? []
    if (!Array.isArray(items)) return yield* violation(`\`${method}\`: \`${field}\` is not an array`)
    pages.push(items)
    count += items.length
    if (count > limits.maxItems) return yield* exceeded("items", limits.maxItems)

    const { cacheScope, nextCursor, ttlMs: ttl } = page
    if (typeof ttl === "number" && ttl >= 0) ttlMs = Math.min(ttlMs ?? ttl, ttl)
    scopes.add(cacheScope)

    if (nextCursor === undefined || nextCursor === null) break
    if (typeof nextCursor !== "string") return yield* violation(`\`${method}\`: \`nextCursor\` is not a string`)
    if (Buffer.byteLength(nextCursor) > limits.maxCursorBytes) {
      return yield* exceeded("cursor-size", limits.maxCursorBytes)
    }
    if (cursors.has(nextCursor)) {
      // servers mean "the end" by it, and following it again would never end
      report(`${method} repeats the cursor "${UntrustedText.excerpt(nextCursor, 64)}", so the list ends there`)
      if (addsNothing(pages, key)) pages.pop()
      break
    }
    if (pages.length >= limits.maxPages) return yield* exceeded("pages", limits.maxPages)
    cursors.add(nextCursor)
    cursor = nextCursor
  }

  const result: Pages = {
    items: pages.flat(),
    ttlMs,
    cacheScope: scopes.has("private") ? "private" : scopes.size === 1 && scopes.has("public") ? "public" : undefined
  }
  return result
})

// a server that ignores cursors has sent one page twice
const addsNothing = (pages: ReadonlyArray<ReadonlyArray<unknown>>, key: string): boolean => {
  const keyOf = (item: unknown) => objectOf(item)[key]
  const before = new Set(pages.slice(0, -1).flatMap((page) => page.map(keyOf)))
  return pages.at(-1)!.every((item) => before.has(keyOf(item)))
}

/** The items that `decode` accepts; the others are counted and cost nothing else. */
export const decoded = <Item>(
  { cacheScope, items, ttlMs }: Pages,
  decode: (raw: JsonRpc.JsonObject) => Item | undefined
): McpClient.Listing<Item> => {
  const accepted = items.flatMap((raw) => decode(objectOf(raw)) ?? [])
  return { items: accepted, malformed: items.length - accepted.length, ttlMs, cacheScope }
}

const described = (raw: JsonRpc.JsonObject) => ({
  name: textOf(raw["name"]),
  title: textOf(raw["title"]),
  description: textOf(raw["description"]),
  mimeType: textOf(raw["mimeType"]),
  raw
})

export const resource = (raw: JsonRpc.JsonObject): McpClient.Resource | undefined =>
  typeof raw["uri"] === "string" ? { uri: raw["uri"], ...described(raw) } : undefined

export const template = (raw: JsonRpc.JsonObject): McpClient.ResourceTemplate | undefined =>
  typeof raw["uriTemplate"] === "string" ? { uriTemplate: raw["uriTemplate"], ...described(raw) } : undefined

export const prompt = (raw: JsonRpc.JsonObject): McpClient.Prompt | undefined => {
  const { arguments: declared, description, name, title } = raw
  if (typeof name !== "string") return undefined
  return {
    name,
    title: textOf(title),
    description: textOf(description),
    arguments: (Array.isArray(declared) ? declared : []).flatMap((argument) => {
      const { description, name, required } = objectOf(argument)
      return typeof name === "string" ? [{ name, description: textOf(description), required: required === true }] : []
    }),
    raw
  }
}

export interface Contents {
  readonly contents: ReadonlyArray<McpClient.ResourceContents>
  readonly malformed: number
}

/** The result of `resources/read`; `undefined` if its contents are not an array. */
export const contents = (result: JsonRpc.JsonObject, requested: string): Contents | undefined => {
  const parts: unknown = result["contents"] ?? []
  if (!Array.isArray(parts)) return undefined
  const contents = parts.flatMap((part): ReadonlyArray<McpClient.ResourceContents> => {
    const { blob, mimeType: type, text, uri: given } = objectOf(part)
    const uri = textOf(given) ?? requested
    const mimeType = textOf(type)
    if (typeof text === "string") return [{ _tag: "Text", uri, mimeType, text }]
    return typeof blob === "string" ? [{ _tag: "Blob", uri, mimeType, blob }] : []
  })
  return { contents, malformed: parts.length - contents.length }
}

/** The result of `prompts/get`; `undefined` if its messages are not an array. */
export const promptMessages = (result: JsonRpc.JsonObject): McpClient.PromptMessages | undefined => {
  const messages: unknown = result["messages"] ?? []
  return Array.isArray(messages)
    ? { description: textOf(result["description"]), messages: messages.flatMap(promptMessage) }
    : undefined
}

// some servers give the content of a message as an array
const promptMessage = (raw: unknown): McpClient.PromptMessages["messages"] => {
  if (!JsonRpc.isObject(raw)) return [{ role: "user", content: ToolResult.decodeContent(raw) }]
  const role = textOf(raw["role"]) ?? "user"
  const parts: ReadonlyArray<unknown> = Array.isArray(raw["content"]) ? raw["content"] : [raw["content"]]
  return parts.map((part) => ({ role, content: ToolResult.decodeContent(part) }))
}

const maxCompletions = 100

export const completion = (
  result: JsonRpc.JsonObject
): { readonly values: ReadonlyArray<string>; readonly hasMore: boolean } => {
  const { hasMore, total, values: given } = objectOf(result["completion"])
  const values = Array.isArray(given) ? given.filter((value): value is string => typeof value === "string") : []
  return {
    values: values.slice(0, maxCompletions),
    hasMore: hasMore === true || values.length > maxCompletions || (typeof total === "number" && total > values.length)
  }
}
