/**
 * The handler, put together: names, arguments, the call, and the words for what has become of it.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Broadcast from "../../broadcast.ts"
import * as McpError from "../../McpError.ts"
import * as McpRuntime from "../../McpRuntime.ts"
import * as HiddenText from "../../safety/HiddenText.ts"
import * as OutputGuard from "../../safety/OutputGuard.ts"
import * as Permissions from "../../safety/Permissions.ts"
import * as Redaction from "../../safety/Redaction.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as AutoSearch from "../../tools/AutoSearch.ts"
import * as SearchSession from "../../tools/SearchSession.ts"
import * as Tool from "../../tools/Tool.ts"
import * as ToolCatalog from "../../tools/ToolCatalog.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as AgentTools from "../AgentTools.ts"
import type * as ToolHandler from "../ToolHandler.ts"
import * as CallArguments from "./callArguments.ts"
import * as Failed from "./failed.ts"

type Service = ToolHandler.ToolHandler["Type"]

/** What an output says besides which call it answers. */
type Said = Omit<ToolHandler.Output, "callId" | "name">

/** A tool as a model may see it. */
interface Shown extends ToolCatalog.Offered {
  readonly requiresApproval: boolean
}

/** Names of servers' tools begin so, in the style that is the default. */
const prefix = "mcp__"

/** No name of a tool is nearly as long. */
const longestName = 512

/** A model that searches waits no longer for servers than this; what comes later is found later. */
const searchWait = Duration.seconds(5)

/** So many names that were given out are remembered. */
const mostGiven = 10_000

/** Without a model nothing is too much for it. */
const anyModel: AutoSearch.Model = { contextWindow: Infinity, toolCalling: true }

const search = AutoSearch.definition.name

const Event = Data.taggedEnum<ToolHandler.Event>()

/** Tools as a model may see them, each cleaned once. */
const cleaning = (maxDescription: number): (tool: Tool.Tool) => Tool.Tool => {
  const cleaned = new WeakMap<Tool.Tool, Tool.Tool>()
  const brief = (text: string | undefined, limit: number) =>
    text === undefined ? undefined : HiddenText.brief(text, limit)
  return (tool) => {
    const known = cleaned.get(tool)
    if (known !== undefined) return known
    const { annotations, description, inputSchema, title } = tool
    const fresh: Tool.Tool = {
      ...tool,
      title: brief(title, 256),
      description: brief(description, maxDescription),
      inputSchema: HiddenText.cleanJson(inputSchema),
      annotations: annotations.title === undefined
        ? annotations
        : { ...annotations, title: brief(annotations.title, 256) }
    }
    cleaned.set(tool, fresh)
    return fresh
  }
}

/** @internal */
export const make = (
  options: ToolHandler.Options
): Effect.Effect<Service, never, ToolHandler.Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const agentTools = yield* AgentTools.AgentTools
    const catalog = yield* ToolCatalog.ToolCatalog
    const guard = yield* OutputGuard.OutputGuard
    const permissions = yield* Permissions.Permissions
    const runtime = yield* McpRuntime.McpRuntime
    const sessions = yield* SearchSession.SearchSessions
    const failed = Failed.make(guard, yield* Redaction.Redaction)
    const cleaned = cleaning(options.maxDescription)
    const given = new Set<string>()
    const events = yield* Broadcast.make<ToolHandler.Event>(options.eventCapacity)

    const own = (name: string) => agentTools.tools().find(({ definition }) => definition.name === name)

    const known = (wait: Duration.DurationInput | undefined): Effect.Effect<McpRuntime.Tools> =>
      wait === undefined ? runtime.tools : runtime.offered(wait).tools

    /** As a model may see them; what is called like one of our own would never be reached. */
    const shown = ({ tools }: McpRuntime.Tools): ReadonlyArray<Shown> => {
      const taken = new Set(agentTools.tools().map(({ definition }) => definition.name))
      return tools.filter(({ name }) => !taken.has(name)).map(({ _tag, name, requiresApproval, serverName, tool }) => ({
        _tag,
        name,
        server: serverName,
        tool: cleaned(tool),
        requiresApproval
      }))
    }

    const sessionOf = (
      id: string | undefined,
      model: AutoSearch.Model,
      tools: Effect.Effect<ReadonlyArray<Shown>>
    ) => sessions.session(id ?? "", { model, tools })

    const remember = (definitions: ReadonlyArray<ToolHandler.Definition>): void => {
      for (const { name } of definitions) {
        given.delete(name)
        given.add(name)
      }
      for (const name of given) {
        if (given.size <= mostGiven) return
        given.delete(name)
      }
    }

    const definitions: Service["definitions"] = (asked) =>
      Effect.gen(function*() {
        const found = yield* known(asked?.wait)
        const tools = shown(found)
        const byName = new Map(tools.map((tool) => [tool.name, tool]))
        const session = sessionOf(asked?.session, asked?.model ?? anyModel, Effect.succeed(tools))
        const offer = yield* session.offer
        const offered = offer.definitions.flatMap((one): ReadonlyArray<ToolHandler.Definition> => {
          const description = one.description ?? ""
          const { inputSchema, name } = one
          if (one.entry === undefined) return [ours(name, description, inputSchema)]
          const tool = byName.get(name)
          return tool === undefined ? [] : [theirs(tool, description, inputSchema)]
        })
        const all = [...agentTools.tools().map(({ definition }) => definition), ...offered]
        remember(all)
        return { tools: all, missing: found.missing, searching: offer.searching }
      })

    const said = (text: string, more: Partial<Said> = {}): Said => ({
      text,
      attachments: [],
      isError: false,
      error: undefined,
      result: undefined,
      ...more
    })

    const call = (
      { id, name }: ToolHandler.Call,
      args: JsonRpc.JsonObject,
      handling: ToolHandler.HandleOptions | undefined,
      tell: (event: ToolHandler.Event) => void
    ): Effect.Effect<Said, McpError.RuntimeError> =>
      Effect.suspend(() =>
        name.length > longestName || isHidden(name)
          ? Effect.fail(new McpError.NotFound({ server: "", kind: "tool", name }))
          : runtime.callTool(name, args, {
            origin: "model",
            callId: id === "" ? undefined : id,
            idleTimeout: handling?.idleTimeout,
            totalTimeout: handling?.totalTimeout,
            meta: handling?.meta,
            onProgress: ({ message, progress, total }) =>
              tell(Event.Progress({
                callId: id,
                name,
                progress: {
                  progress,
                  total,
                  message: message === undefined ? undefined : UntrustedText.excerpt(message)
                }
              }))
          })
      ).pipe(
        Effect.flatMap((result) => {
          const { maxResultChars, serverName: server, toolName: tool } = result.metadata
          const source = { server, tool, maxResultChars }
          return Effect.map(guard.render(result, source), ({ attachments, text }) =>
            said(result.isError ? `The tool reports that it has failed:\n${text}` : text, {
              attachments,
              isError: result.isError,
              result
            }))
        }),
        Effect.mapError((error) => error._tag === "NotFound" ? permitted(error) : error)
      )

    /** Tools that only apps may call do not exist for a model. */
    const isHidden = (name: string): boolean => {
      const entry = catalog.index().resolve(name)
      return entry !== undefined && Tool.isAppOnly(entry.tool)
    }

    /** A tool that a model may not know of is not suggested to it either. */
    const permitted = (error: McpError.NotFound): McpError.NotFound => {
      const { byQualifiedName } = catalog.index()
      const suggestions = error.suggestions?.filter((name) => {
        const entry = byQualifiedName.get(name)
        return entry !== undefined && !Tool.isAppOnly(entry.tool) &&
          permissions.decide("model", { kind: "tool", server: entry.server, name: entry.tool.name }).decision !== "deny"
      })
      return new McpError.NotFound({ ...error, suggestions })
    }

    const find = (
      { session }: ToolHandler.Call,
      args: JsonRpc.JsonObject
    ): Effect.Effect<Said, McpError.InvalidArguments> =>
      Option.match(AutoSearch.decodeQuery(args), {
        onNone: () =>
          invalid("a search needs a `query`, in a few words"),
        onSome: (query) =>
          Effect.flatMap(
            sessionOf(session, anyModel, Effect.map(known(searchWait), shown)).search(query),
            ({ text }) =>
              Effect.map(
                guard.renderText(text, { server: query.server ?? "mcp", tool: search }),
                (rendered) => said(rendered.text)
              )
          )
      })

    const answer = (
      request: ToolHandler.Call,
      handling: ToolHandler.HandleOptions | undefined,
      tell: (event: ToolHandler.Event) => void
    ): Effect.Effect<Said> =>
      Effect.suspend((): Effect.Effect<Said, McpError.RuntimeError> => {
        const args = CallArguments.read(request.arguments, options.maxArguments)
        if (Either.isLeft(args)) return invalid(args.left)
        if (request.name === search) return find(request, args.right)
        const tool = own(request.name)
        return tool === undefined
          ? call(request, args.right, handling, tell)
          : Effect.map(tool.run(args.right), ({ attachments, isError, text }) => said(text, { attachments, isError }))
      }).pipe(Effect.catchAll((error) =>
        Effect.map(failed(error, request.name), (text) =>
          said(text, { isError: true, error }))
      ))

    const handle: Service["handle"] = (request, handling) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const { id: callId, name, session } = request
          const tell = (event: ToolHandler.Event): void => {
            events.publish(event)
            heard(handling?.onEvent, event)
          }
          const began = yield* Clock.currentTimeMillis
          tell(Event.Began({ callId, name, session }))
          const exit = yield* Effect.exit(restore(answer(request, handling, tell)))
          const took = Duration.millis((yield* Clock.currentTimeMillis) - began)
          tell(Event.Ended({ callId, name, took, outcome: outcomeOf(exit) }))
          return yield* Exit.map(exit, (said) => ({ callId, name, ...said }))
        })
      )

    return {
      definitions,
      canHandle: (name) =>
        name.startsWith(prefix) || name === search || given.has(name) || own(name) !== undefined ||
        catalog.index().byQualifiedName.has(name),
      handle,
      events: events.stream
    }
  })

const ours = (name: string, description: string, inputSchema: JsonRpc.JsonObject): ToolHandler.Definition => ({
  name,
  title: undefined,
  description,
  inputSchema,
  requiresApproval: false,
  annotations: { readOnlyHint: true, openWorldHint: false },
  server: undefined,
  deferred: false
})

const theirs = (
  { _tag, name, requiresApproval, server, tool }: Shown,
  description: string,
  inputSchema: JsonRpc.JsonObject
): ToolHandler.Definition => ({
  name,
  title: tool.title,
  description,
  inputSchema,
  requiresApproval,
  annotations: tool.annotations,
  server,
  deferred: _tag === "Deferred"
})

const invalid = (detail: string): Effect.Effect<never, McpError.InvalidArguments> =>
  Effect.fail(new McpError.InvalidArguments({ server: "", operation: "tools/call", path: "", detail }))

const outcomeOf = (exit: Exit.Exit<Said>): (ToolHandler.Event & { readonly _tag: "Ended" })["outcome"] => {
  if (Exit.isFailure(exit)) return Cause.isInterrupted(exit.cause) ? "Interrupted" : "Defect"
  return exit.value.error?._tag ?? (exit.value.isError ? "ToolError" : "Success")
}

/** A listener's own fault is nobody else's. */
const heard = (listener: ToolHandler.HandleOptions["onEvent"], event: ToolHandler.Event): void => {
  try {
    listener?.(event)
  } catch {
    // it is lost, as the option says
  }
}
