/**
 * A session over a connection: each operation is one request, decoded where a server may be odd.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { argumentsFault, notJson, unchecked } from "../../internal/jsonInput.ts"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Redaction from "../../safety/Redaction.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Connector from "../Connector.ts"
import type * as Session from "../Session.ts"
import * as Changes from "./changes.ts"
import * as decoding from "./decoding.ts"
import * as Diagnostics from "./diagnostics.ts"
import * as KnownTools from "./knownTools.ts"
import * as Listing from "./listing.ts"
import * as LogLevels from "./logLevels.ts"
import * as ToolCalls from "./toolCalls.ts"

const tools: Listing.List = { method: "tools/list", field: "tools", key: "name", capability: "tools" }
const resources: Listing.List = { method: "resources/list", field: "resources", key: "uri", capability: "resources" }
const templates: Listing.List = {
  method: "resources/templates/list",
  field: "resourceTemplates",
  key: "uriTemplate",
  capability: "resources"
}
const prompts: Listing.List = { method: "prompts/list", field: "prompts", key: "name", capability: "prompts" }

const changes = new Map<string, (fields: { readonly server: string }) => McpEvent.McpEvent>([
  ["notifications/tools/list_changed", McpEvent.McpEvent.ToolsChanged],
  ["notifications/resources/list_changed", McpEvent.McpEvent.ResourcesChanged],
  ["notifications/prompts/list_changed", McpEvent.McpEvent.PromptsChanged]
])

/** What servers answered to an unknown resource before 2026-07-28. */
const resourceNotFound = -32002

/** @internal */
export const make = (connection: Connector.Connection): Effect.Effect<Session.Session> =>
  Effect.gen(function*() {
    const { era, limits, server } = connection
    const events = Option.getOrUndefined(yield* Effect.serviceOption(McpEvent.McpEvents))
    const { text } = yield* Redaction.Redaction
    const diagnostic = Diagnostics.make(server, (event) => events?.publish(event), text)
    const report = (detail: string) => diagnostic({ kind: "lenient", detail })

    const levels = LogLevels.make(connection)
    const send: Session.Session["request"] = (method, params, options) =>
      Effect.suspend(() => {
        const fault = params === undefined ? undefined : notJson(params, limits.maxMessageBytes, "params")
        return fault === undefined
          ? levels.request(method, params, options)
          : Effect.fail(new McpError.InvalidArguments({ server, operation: method, ...fault }))
      })
    const listed = { connection, request: levels.request, report }

    const mirrorsHeaders = era === "stateless" && connection.transport !== "stdio"
    const known = KnownTools.make(mirrorsHeaders, report)
    const listTools = Effect.map(Listing.all(listed, tools), (pages): Tool.ToolList => {
      const decoded = Tool.decodeAll(pages.items, {
        maxSchemaBytes: limits.maxSchemaBytes,
        paramHeaders: mirrorsHeaders
      })
      for (const { detail, name, reason } of decoded.rejected.slice(0, 10)) {
        report(`the tool "${name}" cannot be offered (${reason}): ${detail}`)
      }
      return { ...decoded, ttlMs: pages.ttlMs, cacheScope: pages.cacheScope }
    })

    const clock = yield* Effect.clock
    const told = new Map<string, number>()
    connection.onNotification(({ method }) => {
      if (method === "notifications/tools/list_changed" || method === "$/resync") known.outdate()
      const event = changes.get(method)
      if (event === undefined || events === undefined) return
      // One per second is news; more would only push other news off the bus.
      const now = clock.unsafeCurrentTimeMillis()
      if (now - (told.get(method) ?? -Infinity) < 1_000) return
      told.set(method, now)
      events.publish(event({ server }))
    })

    const violation = (what: string) =>
      Effect.fail(new McpError.ProtocolViolation({ server, what, excerpt: "", outcome: "executed", phase: "ready" }))

    const notify: Session.Session["notify"] = (method, params) =>
      Effect.suspend(() => {
        const fault = params === undefined ? undefined : notJson(params, limits.maxMessageBytes, "params")
        return fault === undefined
          ? connection.notify(method, params)
          : Effect.fail(new McpError.InvalidArguments({ server, operation: method, ...fault }))
      })

    return {
      connection,
      tools: known.learning(listTools),
      ...ToolCalls.make({ connection, request: levels.request, known, list: listTools, report }),
      resources: Effect.map(Listing.all(listed, resources), (pages) => decoding.listing(pages, decoding.resource)),
      resourceTemplates: Effect.map(
        Listing.all(listed, templates),
        (pages) => decoding.listing(pages, decoding.resourceTemplate)
      ),
      readResource: (uri, options) =>
        Effect.matchEffect(send("resources/read", withMeta({ uri }, options?.meta)), {
          onFailure: (error) =>
            Effect.fail(
              error._tag === "RemoteError" && error.code === resourceNotFound
                ? new McpError.NotFound({ server, kind: "resource", name: uri })
                : error
            ),
          onSuccess: (result) => {
            const read = decoding.contents(result, uri)
            if (read === undefined) return violation("the contents of resources/read are no list")
            if (read.malformed > 0) report(`resources/read gave ${read.malformed} parts that are neither text nor blob`)
            return Effect.succeed(read.contents)
          }
        }),
      subscribeResource: (uri) => Changes.signals(connection, Changes.resource(uri)),
      prompts: Effect.map(Listing.all(listed, prompts), (pages) => decoding.listing(pages, decoding.prompt)),
      getPrompt: (name, args, options) =>
        Effect.suspend(() => {
          const given = unchecked(args ?? {})
          const fault = argumentsFault(given, limits.maxMessageBytes)
          if (fault !== undefined) {
            return Effect.fail(new McpError.InvalidArguments({ server, operation: "prompts/get", ...fault }))
          }
          return Effect.flatMap(send("prompts/get", withMeta({ name, arguments: given }, options?.meta)), (result) => {
            const messages = decoding.promptMessages(result)
            return messages === undefined
              ? violation("the messages of prompts/get are no list")
              : Effect.succeed(messages)
          })
        }),
      complete: (ref, context) =>
        Effect.map(send("completion/complete", completionParams(ref, context)), decoding.completion),
      setLogLevel: levels.set,
      health: connection.health,
      notifications: connection.notifications,
      listChanged: (list) => Changes.signals(connection, Changes.list(list)),
      rootsChanged: era === "session" ? connection.notify("notifications/roots/list_changed") : Effect.void,
      experimental: (name) => {
        const { experimental } = connection.capabilities
        // the cast: an object that JSON.parse gave
        const declared = typeof experimental === "object" && experimental !== null && !Array.isArray(experimental)
          ? experimental as JsonRpc.JsonObject
          : {}
        return Object.hasOwn(declared, name) ? declared[name] : undefined
      },
      notify,
      request: send
    }
  })

const withMeta = (params: JsonRpc.JsonObject, meta: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject =>
  meta === undefined ? params : { ...params, _meta: meta }

const completionParams = (
  ref: Session.CompletionRef,
  context: Readonly<Record<string, string>> | undefined
): JsonRpc.JsonObject => ({
  ref: "prompt" in ref ? { type: "ref/prompt", name: ref.prompt } : { type: "ref/resource", uri: ref.template },
  argument: { name: ref.argument, value: ref.value },
  ...(context === undefined ? {} : { context: { arguments: context } })
})
