/**
 * Handles the tool calls of a model: lists the tools that it may call, and returns an output for each call, also for a
 * failed one.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Broadcast from "../broadcast.ts"
import type * as McpClient from "../client/McpClient.ts"
import { isObject, type JsonObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as HiddenText from "../safety/HiddenText.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as AutoSearch from "../tools/AutoSearch.ts"
import { once } from "../tools/once.ts"
import * as SearchSession from "../tools/SearchSession.ts"
import * as Tool from "../tools/Tool.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import type * as ToolIndex from "../tools/ToolIndex.ts"
import * as AgentTools from "./AgentTools.ts"

/** A tool as a model gets it: bounded texts without hidden characters. */
export interface Definition {
  /** The name that the model calls. */
  readonly name: string
  readonly title: string | undefined
  readonly description: string
  /** Always an object schema. */
  readonly inputSchema: JsonObject
  /** True if a call needs approval; a rule about arguments may decide otherwise. */
  readonly requiresApproval: boolean
  /** Hints of the server, which may be wrong. */
  readonly annotations: Tool.Annotations
  /** `undefined` for a tool of this runtime. */
  readonly server: string | undefined
  /** Its server is not connected; a call waits for it. */
  readonly deferred: boolean
}

export interface Definitions {
  /** Tools of this runtime first, then those of the servers, in the order of their names. */
  readonly tools: ReadonlyArray<Definition>
  /** The servers without tools, each with its error. */
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
  /** True if there are more tools, which the model finds with `mcp_search`. */
  readonly searching: boolean
}

export interface DefinitionsOptions {
  /** The conversation. Tools that were found in it stay offered in it. */
  readonly session?: string | undefined
  /** Limits the number of definitions; without it all are returned. */
  readonly model?: AutoSearch.Model | undefined
  /** The longest wait for servers (default: that of `McpRuntime.tools`). */
  readonly wait?: Duration.DurationInput | undefined
}

/** A call as a model makes it. */
export interface Call {
  readonly id: string
  readonly name: string
  /** An object, or its JSON as a text. Nothing, `null` and an empty text are no arguments. */
  readonly arguments: unknown
  readonly session?: string | undefined
}

export interface Output {
  readonly callId: string
  readonly name: string
  /** For the model: labelled, bounded, and without hidden characters. */
  readonly text: string
  /** Content that is not text. */
  readonly attachments: ReadonlyArray<OutputGuard.Attachment>
  readonly isError: boolean
  /** The error, if there is no result. For the application. */
  readonly error: McpError.RuntimeError | undefined
  /** The result of the server; for the application, never for the model. */
  readonly result: McpRuntime.CallResult | undefined
}

/** Events of the calls of a model. `outcome` is as in `McpEvent.CallEnded`; texts of servers are escaped. */
export type Event = Data.TaggedEnum<{
  Began: { readonly callId: string; readonly name: string; readonly session: string | undefined }
  Progress: { readonly callId: string; readonly name: string; readonly progress: McpClient.Progress }
  Ended: {
    readonly callId: string
    readonly name: string
    readonly took: Duration.Duration
    readonly outcome: "Success" | "ToolError" | "Interrupted" | "Defect" | McpError.RuntimeError["_tag"]
  }
}>

export const Event = Data.taggedEnum<Event>()

export type HandleOptions = Pick<McpRuntime.CallOptions, "idleTimeout" | "totalTimeout" | "meta">

export class ToolHandler extends Context.Tag("effect-mcp-runtime/agent/ToolHandler")<ToolHandler, {
  /** The tools that a model may call now. Read them for each turn, because servers change their tools. */
  readonly definitions: (options?: DefinitionsOptions) => Effect.Effect<Definitions>
  /** True if the name belongs to MCP, even if the tool does not exist. */
  readonly canHandle: (name: string) => boolean
  /** Never fails: errors are in the output. Interruption cancels the call at the server. */
  readonly handle: (call: Call, options?: HandleOptions) => Effect.Effect<Output>
  readonly events: Stream.Stream<Event>
}>() {}

type Requirements =
  | AgentTools.AgentTools
  | McpRuntime.McpRuntime
  | OutputGuard.OutputGuard
  | Permissions.Permissions
  | SearchSession.SearchSessions
  | ToolCatalog.ToolCatalog

/** Longer names are not looked up. */
const maxName = 512

const maxTitle = 256
const maxDescription = 4096

/** The limit of arguments as text, in characters. */
const maxArguments = 4 * 1024 * 1024

/** Unread events per subscriber. */
const eventCapacity = 256

/** How long a search waits for connecting servers; their tools appear in later searches. */
const searchWait = Duration.seconds(5)

/** The names of definitions that are remembered for `canHandle`. */
const maxRemembered = 10_000

/** Used if the application names no model: an unlimited context. */
const anyModel: AutoSearch.Model = { contextWindow: Infinity, toolCalling: true }

const search = AutoSearch.definition.name

/** A tool without hidden text. */
const cleaned = once((tool: Tool.Tool): Tool.Tool => {
  const { annotations, description, inputSchema, title } = tool
  return {
    ...tool,
    title: HiddenText.brief(title, maxTitle),
    description: HiddenText.brief(description, maxDescription),
    inputSchema: HiddenText.cleanJson(inputSchema),
    annotations: { ...annotations, ...(annotations.title && { title: HiddenText.brief(annotations.title, maxTitle) }) }
  }
})

const invalid = (detail: string) =>
  new McpError.InvalidArguments({ server: "", operation: "tools/call", path: "", detail })

const parse = Schema.decodeUnknownEither(Schema.parseJson())

/** The arguments as an object, from any format of the APIs. */
const argumentsOf = (given: unknown): Effect.Effect<JsonObject, McpError.InvalidArguments> =>
  Effect.gen(function*() {
    const isText = typeof given === "string"
    if (isText && given.length > maxArguments) {
      return yield* invalid(`the arguments have ${given.length} characters (limit: ${maxArguments})`)
    }
    const parsed = isText ? parse(given.trim() === "" ? "null" : given) : Either.right(given)
    const value = (yield* Effect.mapError(parsed, () =>
      invalid("the arguments are not valid JSON; send one JSON object and nothing else"))) ?? {}
    // the cast: parsed from JSON, here or by the API
    if (isObject(value)) {
      return value as JsonObject
    }
    return yield* invalid(`the arguments are ${Array.isArray(value) ? "a list" : `a ${typeof value}`}, not an object`)
  })

/** The limit of the server's text in an error, in characters. */
const maxErrorText = 4096

/** An error as text for a model: the text of this runtime, then that of the server, guarded and redacted. */
export const errorText = (
  error: McpError.RuntimeError,
  tool: string,
  guard: OutputGuard.OutputGuard["Type"],
  redactor: Redaction.Redactor
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const { next, theirs, what } = McpError.forModel(error)
    const ours = redactor.text(`Error (${error._tag}): ${what} ${next}`)
    // cut again after the redaction, because the first cut may split a secret
    const text = redactor.text((theirs ?? "").slice(0, 4 * maxErrorText)).slice(0, maxErrorText).trim()
    if (text === "") return ours
    const rendered = yield* guard.renderText(text, { server: error.server, tool, kind: "error" })
    return `${ours}\nThe server says:\n${rendered.text}`
  })

const outcomeOf = (exit: Exit.Exit<AgentTools.Answer>): (Event & { readonly _tag: "Ended" })["outcome"] => {
  if (Exit.isFailure(exit)) return Cause.isInterrupted(exit.cause) ? "Interrupted" : "Defect"
  return exit.value.error?._tag ?? (exit.value.isError ? "ToolError" : "Success")
}

const make: Effect.Effect<ToolHandler["Type"], never, Requirements | Scope.Scope> = Effect.gen(function*() {
  const agentTools = yield* AgentTools.AgentTools
  const catalog = yield* ToolCatalog.ToolCatalog
  const guard = yield* OutputGuard.OutputGuard
  const permissions = yield* Permissions.Permissions
  const redactor = yield* Redaction.Redaction
  const runtime = yield* McpRuntime.McpRuntime
  const sessions = yield* SearchSession.SearchSessions
  const remembered = new Set<string>()
  const events = yield* Broadcast.make<Event>(eventCapacity)

  const ours = new Map(agentTools.tools.map((tool) => [tool.name, tool]))

  const toolsWithin = (wait: Duration.DurationInput | undefined): Effect.Effect<McpRuntime.Tools> =>
    wait === undefined ? runtime.tools : runtime.offered(wait).tools

  /** The tools of servers, without those that a tool of this runtime shadows. */
  const entriesOf = ({ tools }: McpRuntime.Tools): ReadonlyArray<ToolIndex.Entry> =>
    tools.filter(({ name }) => !ours.has(name))
      .map(({ name, serverName, tool }) => ({ name, server: serverName, tool: cleaned(tool) }))

  const definitions: ToolHandler["Type"]["definitions"] = (asked) =>
    Effect.gen(function*() {
      const found = yield* toolsWithin(asked?.wait)
      const byName = new Map(found.tools.map((tool) => [tool.name, tool]))
      const tools = Effect.succeed(entriesOf(found))
      const session = sessions.session(asked?.session ?? "", { model: asked?.model ?? anyModel, tools })
      const offer = yield* session.offer
      const offered = offer.definitions.map(({ description = "", entry, inputSchema, name }): Definition => {
        const definition = AgentTools.definition({ name, description, inputSchema })
        if (entry === undefined) return definition
        const { server, tool: { annotations, title } } = entry
        const { _tag, requiresApproval = true } = byName.get(name) ?? {}
        return { ...definition, title, annotations, requiresApproval, server, deferred: _tag === "Deferred" }
      })
      const all = [...agentTools.tools.map(({ definition }) => definition()), ...offered]
      for (const { name } of all) {
        remembered.delete(name)
        remembered.add(name)
      }
      for (const name of Array.from(remembered).slice(0, -maxRemembered)) remembered.delete(name)
      return { tools: all, missing: found.missing, searching: offer.searching }
    })

  /** App-only tools are hidden from models. */
  const isHidden = (entry: ToolIndex.Entry | undefined): boolean => entry !== undefined && Tool.isAppOnly(entry.tool)

  /** Suggests only tools that a model may call. */
  const withoutHidden = (error: McpError.NotFound): McpError.NotFound => {
    const { byQualifiedName } = catalog.index()
    const suggestions = error.suggestions?.filter((name) => {
      const entry = byQualifiedName.get(name)
      if (entry === undefined || isHidden(entry)) return false
      const subject = { kind: "tool", server: entry.server, name: entry.tool.name } as const
      return permissions.decide("model", subject).decision !== "deny"
    })
    return new McpError.NotFound({ ...error, suggestions })
  }

  const call = (
    { id, name }: Call,
    args: JsonObject,
    handling: HandleOptions | undefined
  ): Effect.Effect<AgentTools.Answer, McpError.RuntimeError> =>
    Effect.gen(function*() {
      if (name.length > maxName || isHidden(catalog.index().resolve(name))) {
        return yield* new McpError.NotFound({ server: "", kind: "tool", name })
      }
      const result = yield* runtime.callTool(name, args, {
        ...handling,
        origin: "model",
        callId: id === "" ? undefined : id,
        onProgress: ({ message, progress, total }) =>
          events.publish(Event.Progress({
            callId: id,
            name,
            progress: { progress, total, message: message && UntrustedText.excerpt(message) }
          }))
      })
      const { isError, metadata: { maxResultChars, serverName: server, toolName: tool } } = result
      const { attachments, text } = yield* guard.render(result, { server, tool, maxResultChars })
      return AgentTools.answer(isError ? `The tool reported an error:\n${text}` : text, {
        attachments,
        isError,
        result
      })
    }).pipe(Effect.mapError((error) => error._tag === "NotFound" ? withoutHidden(error) : error))

  const find = ({ session }: Call, args: JsonObject): Effect.Effect<AgentTools.Answer, McpError.InvalidArguments> =>
    Effect.gen(function*() {
      const query = yield* Effect.mapError(
        AutoSearch.decodeQuery(args),
        () => invalid("`query` is missing; describe the tool in a few words")
      )
      const tools = Effect.map(toolsWithin(searchWait), entriesOf)
      const found = yield* sessions.session(session ?? "", { model: anyModel, tools }).search(query)
      const { text } = yield* guard.renderText(found.text, { server: query.server ?? "mcp", tool: search })
      return AgentTools.answer(text)
    })

  const answered = (
    request: Call,
    handling: HandleOptions | undefined
  ): Effect.Effect<AgentTools.Answer> =>
    Effect.gen(function*() {
      const args = yield* argumentsOf(request.arguments)
      if (request.name === search) {
        return yield* find(request, args)
      }
      const tool = ours.get(request.name)
      return yield* tool === undefined ? call(request, args, handling) : tool.run(args)
    }).pipe(
      Effect.catchAll((error) =>
        Effect.map(errorText(error, request.name, guard, redactor), (text) =>
          AgentTools.answer(text, { isError: true, error }))
      )
    )

  const handle: ToolHandler["Type"]["handle"] = (request, handling) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const { id: callId, name, session } = request
        const began = yield* Clock.currentTimeMillis
        events.publish(Event.Began({ callId, name, session }))
        const exit = yield* Effect.exit(restore(answered(request, handling)))
        const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
        events.publish(Event.Ended({ callId, name, took, outcome: outcomeOf(exit) }))
        return yield* Exit.map(exit, (answer) => ({ callId, name, ...answer }))
      })
    )

  return {
    definitions,
    canHandle: (name) =>
      name.startsWith("mcp__") || name === search || remembered.has(name) || ours.has(name) ||
      catalog.index().byQualifiedName.has(name),
    handle,
    events: events.stream
  }
})

export const layer = (): Layer.Layer<ToolHandler, never, Requirements> => Layer.scoped(ToolHandler, make)
