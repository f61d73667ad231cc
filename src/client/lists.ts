/** Lists and reads: all pages of a list with an end whatever the server does, and their items decoded one by one. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as DecodeResult from "../tools/decodeResult.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Requests from "./requests.ts"
import type * as Tasks from "./tasks.ts"

export interface List<Item> {
  /** Its first part is the capability of servers that have the list. */
  readonly method: string
  /** The field of a page that holds the items. */
  readonly field: string
  /** The field of an item that identifies it. */
  readonly key: string
  /** `undefined` for a malformed item, which is counted and costs nothing else. */
  readonly decode: (raw: unknown) => Item | undefined
}

const list = <Item>(field: string, key: string, decode: List<Item>["decode"]): List<Item> => ({
  method: `${field}/list`,
  field,
  key,
  decode
})

const described = (raw: JsonRpc.JsonObject) => ({
  name: textOf(raw["name"]),
  title: textOf(raw["title"]),
  description: textOf(raw["description"]),
  mimeType: textOf(raw["mimeType"]),
  raw
})

/** The tools as they come: `Tool.decodeAll` decodes them. */
export const tools: List<unknown> = list("tools", "name", (raw) => raw)

export const resources: List<McpClient.Resource> = list("resources", "uri", (given) => {
  const raw = objectOf(given)
  return typeof raw["uri"] === "string" ? { uri: raw["uri"], ...described(raw) } : undefined
})

export const templates: List<McpClient.ResourceTemplate> = {
  ...list("resourceTemplates", "uriTemplate", (given) => {
    const raw = objectOf(given)
    return typeof raw["uriTemplate"] === "string" ? { uriTemplate: raw["uriTemplate"], ...described(raw) } : undefined
  }),
  method: "resources/templates/list"
}

export const prompts: List<McpClient.Prompt> = list("prompts", "name", (given) => {
  const { mimeType: _, name, ...prompt } = described(objectOf(given))
  const { arguments: declared } = prompt.raw
  return name === undefined ? undefined : {
    name,
    ...prompt,
    arguments: (Array.isArray(declared) ? declared : []).flatMap((argument) => {
      const { description, name, required } = objectOf(argument)
      return typeof name === "string" ? [{ name, description: textOf(description), required: required === true }] : []
    })
  }
})

export const tasks: List<Tasks.Task> = list("tasks", "taskId", (given) => {
  const raw = objectOf(given)
  const { pollInterval, status, statusMessage, taskId } = raw
  return typeof taskId !== "string" || typeof status !== "string" ? undefined : {
    taskId,
    status,
    statusMessage: textOf(statusMessage),
    pollInterval: typeof pollInterval === "number" ? pollInterval : undefined,
    raw
  }
})

export interface Options extends Pick<McpClient.Channel, "server" | "limits" | "capabilities"> {
  readonly request: Requests.Request
  readonly report: (detail: string) => void
}

const methodNotFound = -32601

// a server that declares nothing at all may still have something; one that declares others is believed
const mayHave = (capabilities: JsonRpc.JsonObject, method: string): boolean => {
  const name = method.slice(0, method.indexOf("/"))
  const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : Object.keys(capabilities).length === 0
  return declared !== undefined && declared !== null && declared !== false
}

/** All pages of a list, within `listTimeout`. */
export const all = <Item>(
  { capabilities, limits, report, request, server }: Options,
  { decode, field, key, method }: List<Item>
): Effect.Effect<McpClient.Listing<Item>, McpError.CallError> =>
  Effect.gen(function*() {
    const exceeded = (exceeds: McpError.ProtocolViolation["exceeds"], limit: number) => {
      const fields = { server, operation: method, outcome: "executed" } as const
      return new McpError.ProtocolViolation({ ...fields, reason: "pagination", exceeds, pages: pages.length, limit })
    }
    const cursors = new Set<string>()
    const pages: Array<ReadonlyArray<unknown>> = []
    const scopes = new Set<unknown>()
    let count = 0
    let cursor: string | undefined = undefined
    let ttlMs: number | undefined = undefined

    while (mayHave(capabilities, method)) {
      const isFirst = pages.length === 0
      const page: JsonRpc.JsonObject | undefined = yield* Effect.catchIf(
        request(method, cursor === undefined ? undefined : { cursor }),
        (error) => isFirst && error._tag === "RemoteError" && error.code === methodNotFound,
        () => Effect.succeed(undefined)
      )
      if (page === undefined) break
      const { cacheScope, nextCursor, ttlMs: ttl }: JsonRpc.JsonObject = page
      const items = yield* arrayIn(server, method, page, field)
      pages.push(items)
      count += items.length
      if (count > limits.maxItems) return yield* exceeded("items", limits.maxItems)
      if (typeof ttl === "number" && ttl >= 0) ttlMs = Math.min(ttlMs ?? ttl, ttl)
      scopes.add(cacheScope)

      if (nextCursor === undefined || nextCursor === null) break
      if (typeof nextCursor !== "string") return yield* violation(server, method, "`nextCursor` is not a string")
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

    const all = pages.flat()
    const items = all.flatMap((raw) => {
      const item = decode(raw)
      return item === undefined ? [] : [item]
    })
    return {
      items,
      malformed: all.length - items.length,
      ttlMs,
      cacheScope: scopes.has("private") ? "private" : scopes.size === 1 && scopes.has("public") ? "public" : undefined
    } as const
  }).pipe(Requests.within(server, method, limits.listTimeout))

// a server that ignores cursors has sent one page twice
const addsNothing = (pages: ReadonlyArray<ReadonlyArray<unknown>>, key: string): boolean => {
  const keyOf = (item: unknown) => objectOf(item)[key]
  const before = new Set(pages.slice(0, -1).flatMap((page) => page.map(keyOf)))
  return pages.at(-1)!.every((item) => before.has(keyOf(item)))
}

/** A result that cannot be read. */
export const violation = (server: string, method: string, what: string) =>
  new McpError.ProtocolViolation({ server, what: `\`${method}\`: ${what}`, outcome: "executed" })

/** The array in a field of a result; without the field an empty one. */
export const arrayIn = (
  server: string,
  method: string,
  result: JsonRpc.JsonObject,
  field: string
): Either.Either<ReadonlyArray<unknown>, McpError.ProtocolViolation> => {
  const items: unknown = result[field] ?? []
  return Array.isArray(items)
    ? Either.right(items)
    : Either.left(violation(server, method, `\`${field}\` is not an array`))
}

/** The parts of a resource that are text or blob. */
export const contents = (
  parts: ReadonlyArray<unknown>,
  requested: string
): ReadonlyArray<McpClient.ResourceContents> =>
  parts.flatMap((part): ReadonlyArray<McpClient.ResourceContents> => {
    const { blob, mimeType: type, text, uri: given } = objectOf(part)
    const uri = textOf(given) ?? requested
    const mimeType = textOf(type)
    if (typeof text === "string") return [{ _tag: "Text", uri, mimeType, text }]
    return typeof blob === "string" ? [{ _tag: "Blob", uri, mimeType, blob }] : []
  })

/** A message of a prompt. Some servers give its content as an array, which counts as a message each. */
export const promptMessage = (raw: unknown): McpClient.PromptMessages["messages"] => {
  if (!JsonRpc.isObject(raw)) return [{ role: "user", content: DecodeResult.decodeContent(raw) }]
  const role = textOf(raw["role"]) ?? "user"
  const parts: ReadonlyArray<unknown> = Array.isArray(raw["content"]) ? raw["content"] : [raw["content"]]
  return parts.map((part) => ({ role, content: DecodeResult.decodeContent(part) }))
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
