/** Converts parameters, results, texts, errors and extensions between callers and servers. */
import * as Effect from "effect/Effect"
import { objectOf } from "../../client/messages.ts"
import { canonicalJson } from "../../json/canonical.ts"
import type * as McpError from "../../McpError.ts"
import * as HiddenText from "../../safety/HiddenText.ts"
import type * as OutputGuard from "../../safety/OutputGuard.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServe from "../McpServe.ts"
import * as McpServer from "../McpServer.ts"

type Json = JsonRpc.Json
type JsonObject = JsonRpc.JsonObject
type Output = McpServe.Options["output"]

const reserved = "io.modelcontextprotocol/"

/** MCP Apps: callers render `ui://` resources, which may call tools. */
const ui = `${reserved}ui`

/** Not forwarded, because it adds methods that the gateway does not handle. */
const tasks = `${reserved}tasks`

const maxExtensions = 64
const maxSettings = 65_536

/** The extensions of a caller or a server that the gateway forwards, with their settings. */
export const extensionsOf = (capabilities: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(objectOf(capabilities["extensions"]))
      .flatMap(([id, settings]) =>
        JsonRpc.isObject(settings) && id !== tasks ? [[id, objectOf(settings)] as const] : []
      )
      .filter(([, settings]) => JSON.stringify(settings).length <= maxSettings)
      .slice(0, maxExtensions)
  )

export const hasExtensions = (capabilities: JsonObject): boolean => Object.keys(extensionsOf(capabilities)).length > 0

export const showsApps = ({ capabilities }: Pick<McpServer.Caller, "capabilities">): boolean =>
  Object.hasOwn(extensionsOf(capabilities), ui)

/** True for the URI of an app's page. */
export const isPage = (uri: string): boolean => uri.startsWith("ui://")

/** The extensions of several servers. If their settings for one extension differ, only equal fields are kept. */
export const mergedExtensions = (all: Iterable<JsonObject>): JsonObject => {
  const merged = new Map<string, JsonObject>()
  for (const [id, declared] of Array.from(all).flatMap((extensions) => Object.entries(extensions))) {
    const settings = objectOf(declared)
    const before = Object.entries(merged.get(id) ?? settings)
    const agreed = before.filter(([key, value]) =>
      Object.hasOwn(settings, key) && canonicalJson(settings[key] ?? null) === canonicalJson(value ?? null)
    )
    merged.set(id, Object.fromEntries(agreed))
  }
  return Object.fromEntries(merged)
}

/** A caller's `_meta` without the fields of its own connection. */
export const metaFor = (params: JsonObject): JsonObject | undefined => {
  const entries = Object.entries(objectOf(params["_meta"]))
    .filter(([key]) => key !== "progressToken" && !key.startsWith(reserved))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** A server's result without the fields of its own connection. */
export const resultFor = ({ _meta, resultType, ...rest }: JsonObject): JsonObject => {
  const meta = Object.entries(objectOf(_meta)).filter(([key]) => !key.startsWith(reserved))
  return {
    ...rest,
    ...(resultType === "input_required" ? { resultType } : {}),
    ...(meta.length === 0 ? {} : { _meta: Object.fromEntries(meta) })
  }
}

/** The capabilities and answers to forward, if the caller answers the questions of the server itself. */
export const passInput = ({ caller: { capabilities }, params }: McpServer.Exchange) => ({
  capabilities: capabilities["extensions"] === undefined
    ? capabilities
    : { ...capabilities, extensions: extensionsOf(capabilities) },
  inputResponses: params["inputResponses"],
  requestState: params["requestState"]
})

/** A definition of a server without hidden text, with these fields replaced. `_meta` is for programs and is unchanged. */
export const definitionOf = (raw: JsonObject, output: Output, fields: JsonObject): JsonObject => {
  const { _meta, ...rest } = raw
  const shown = output === "asis" ? rest : HiddenText.cleanJson(rest)
  return { ...shown, ...(_meta === undefined ? {} : { _meta }), ...fields }
}

export type Texts = ReturnType<typeof texts>

export const texts = (guard: OutputGuard.OutputGuard["Type"], output: Output) => {
  const guarded = (part: JsonObject, source: OutputGuard.Source): Effect.Effect<JsonObject> => {
    const { text: before } = part
    if (typeof before !== "string") return Effect.succeed(part)
    return Effect.map(guard.renderText(before, source), ({ body, text: wrapped }) => {
      const text = output === "wrap" ? wrapped : body
      return text === before ? part : { ...part, text }
    })
  }

  const each = (
    parts: Json | undefined,
    f: (part: JsonObject) => Effect.Effect<JsonObject>
  ): Effect.Effect<Json | undefined> => {
    if (output === "asis") return Effect.succeed(parts)
    const one = (part: Json): Effect.Effect<Json> => JsonRpc.isObject(part) ? f(objectOf(part)) : Effect.succeed(part)
    if (Array.isArray(parts)) return Effect.forEach(parts, one)
    return parts === undefined ? Effect.succeed(parts) : one(parts)
  }

  return {
    /** Guards the content of a result or a message. Parts of unknown types are unchanged. */
    content: (content: Json | undefined, source: OutputGuard.Source, caller: McpServer.Caller) =>
      each(content, (part) => {
        const { resource, type } = part
        if (type === "text") return guarded(part, source)
        if (type !== "resource" || !JsonRpc.isObject(resource)) return Effect.succeed(part)
        const { mimeType, uri } = objectOf(resource)
        // unchanged for a caller that renders the page instead of showing it to a model
        const isRendered = typeof uri === "string" && isPage(uri) && showsApps(caller) &&
          typeof mimeType === "string" && mimeType.startsWith("text/html")
        if (isRendered) return Effect.succeed(part)
        return Effect.map(guarded(objectOf(resource), source), (resource) => ({ ...part, resource }))
      }),
    /** Guards the contents of the resource `source.tool`, the requested URI and not the one in the response. */
    contents: (contents: Json | undefined, source: OutputGuard.Source) =>
      isPage(source.tool) ? Effect.succeed(contents) : each(contents, (part) => guarded(part, source))
  }
}

/** Codes about the connection to the server, which would mislead the caller. */
const ofConnection: ReadonlySet<number> = new Set([
  McpServer.codes.parse,
  McpServer.codes.invalidRequest,
  McpServer.codes.headerMismatch,
  McpServer.codes.unsupportedVersion
])

const codes: { readonly [Tag in McpError.McpError["_tag"]]?: number } = {
  InvalidArguments: McpServer.codes.invalidParams,
  NotFound: McpServer.codes.invalidParams,
  CapabilityMissing: McpServer.codes.methodNotFound
}

/** Converts an error of the runtime to an error response. */
export const refusalOf = (redact: (text: string) => string) => (error: McpError.McpError): McpServer.Refusal => {
  const { internal } = McpServer.codes
  if (error._tag === "RemoteError") {
    const code = ofConnection.has(error.code) ? internal : error.code
    const message = HiddenText.clean(redact(error.detail), "result").text
    // the cast: parsed from JSON, and redacted when the error was made
    const { data } = HiddenText.cleanJson({ data: error.data as Json | undefined })
    return new McpServer.Refusal({ code, message, data })
  }
  const data = error._tag === "NotFound" && error.kind === "resource" ? { uri: error.name } : undefined
  const code = codes[error._tag] ?? internal
  return new McpServer.Refusal({ code, message: redact(`${error._tag}: ${error.message}`), data })
}

/** A tool result with one text. */
export const textResult = (text: string, isError = false): JsonObject => ({
  content: [{ type: "text", text }],
  ...(isError ? { isError } : {})
})
