/**
 * All pages of a list, with an end whatever the server does.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"

/** @internal */
export interface Pages {
  readonly items: ReadonlyArray<unknown>
  readonly ttlMs: number | undefined
  readonly cacheScope: "public" | "private" | undefined
}

/** @internal */
export interface List {
  readonly method: string
  /** The field of a page that holds the items. */
  readonly field: string
  /** The field of an item that tells it apart. */
  readonly key: string
  /** The capability without which there is nothing to ask for. */
  readonly capability: "tools" | "resources" | "prompts"
}

/** @internal */
export interface Options {
  readonly channel: McpClient.Channel
  readonly request: McpClient.Channel["request"]
  readonly report: (detail: string) => void
}

const nothing: Pages = { items: [], ttlMs: undefined, cacheScope: undefined }

const methodNotFound = -32601

// A server that declares nothing at all may still have something; one that declares others is believed.
const mayHave = (capabilities: JsonRpc.JsonObject, name: string): boolean => {
  if (Object.hasOwn(capabilities, name)) {
    const declared = capabilities[name]
    return declared !== undefined && declared !== null && declared !== false
  }
  return Object.keys(capabilities).length === 0
}

/** @internal */
export const all = (options: Options, list: List): Effect.Effect<Pages, McpError.CallError> =>
  Effect.suspend(() => {
    const { channel } = options
    if (!mayHave(channel.capabilities, list.capability)) return Effect.succeed(nothing)
    const limit = channel.limits.listTimeout
    return Effect.timeoutFail(walk(options, list), {
      duration: limit,
      onTimeout: () =>
        new McpError.RequestTimeout({
          server: channel.server,
          kind: "total",
          operation: list.method,
          limit,
          outcome: "unknown"
        })
    })
  })

const walk = Effect.fnUntraced(function*(options: Options, list: List) {
  const { channel, report, request } = options
  const { limits, server } = channel
  const exceeded = (reason: McpError.ProtocolViolation["exceeds"], pages: number, limit: number) =>
    new McpError.ProtocolViolation({
      server,
      reason: "pagination",
      outcome: "executed",
      operation: list.method,
      exceeds: reason,
      pages,
      limit
    })

  const cursors = new Set<string>()
  const pages: Array<ReadonlyArray<unknown>> = []
  let count = 0
  let cursor: string | undefined = undefined
  let ttlMs: number | undefined = undefined
  let allPublic = true
  let somePrivate = false

  while (true) {
    const first = pages.length === 0
    const asked: JsonRpc.JsonObject | undefined = cursor === undefined ? undefined : { cursor }
    const answer: Option.Option<JsonRpc.JsonObject> = yield* Effect.catchIf(
      Effect.asSome(request(list.method, asked)),
      (error) => first && error._tag === "RemoteError" && error.code === methodNotFound,
      () => Effect.succeedNone
    )
    if (Option.isNone(answer)) return nothing
    const page: JsonRpc.JsonObject = answer.value

    const found = page[list.field]
    const items = found === undefined || found === null ? [] : found
    if (!Array.isArray(items)) return yield* violation(server, `the ${list.field} of ${list.method} are no list`)
    pages.push(items)
    count += items.length
    if (count > limits.maxItems) return yield* exceeded("items", pages.length, limits.maxItems)

    const { cacheScope, nextCursor, ttlMs: ttl } = page
    if (typeof ttl === "number" && ttl >= 0) ttlMs = ttlMs === undefined ? ttl : Math.min(ttlMs, ttl)
    somePrivate ||= cacheScope === "private"
    allPublic &&= cacheScope === "public"

    if (nextCursor === undefined || nextCursor === null) break
    if (typeof nextCursor !== "string") return yield* violation(server, `the cursor of ${list.method} is no text`)
    if (isLarger(nextCursor, limits.maxCursorBytes)) {
      return yield* exceeded("cursor-size", pages.length, limits.maxCursorBytes)
    }
    if (cursors.has(nextCursor)) {
      // Servers mean "the end" by it; following it again would never end.
      report(`${list.method} repeats the cursor "${UntrustedText.excerpt(nextCursor, 64)}", so the list ends there`)
      if (addsNothing(pages, list.key)) pages.pop()
      break
    }
    if (pages.length >= limits.maxPages) return yield* exceeded("pages", pages.length, limits.maxPages)
    cursors.add(nextCursor)
    cursor = nextCursor
  }

  const result: Pages = {
    items: pages.flat(),
    ttlMs,
    cacheScope: somePrivate ? "private" : allPublic ? "public" : undefined
  }
  return result
})

const violation = (server: string, what: string) =>
  new McpError.ProtocolViolation({ server, what, excerpt: "", outcome: "executed", phase: "ready" })

const encoder = new TextEncoder()

const isLarger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && encoder.encode(text).length > bytes)

const keyOf = (item: unknown, key: string): unknown => JsonRpc.isObject(item) ? item[key] : undefined

// A server that ignores cursors has sent one page twice.
const addsNothing = (pages: ReadonlyArray<ReadonlyArray<unknown>>, key: string): boolean => {
  const before = new Set(pages.slice(0, -1).flatMap((page) => page.map((item) => keyOf(item, key))))
  return pages.at(-1)!.every((item) => before.has(keyOf(item, key)))
}
