/** The tools of all servers for one peer: their names, definitions and calls. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Order from "effect/Order"
import { objectOf } from "../../client/messages.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as HeaderField from "../../text/headerField.ts"
import { once } from "../../tools/once.ts"
import * as ParamHeaders from "../../tools/paramHeaders.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as ToolIndex from "../../tools/ToolIndex.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Names from "./names.ts"
import * as PassThrough from "./passThrough.ts"
import type * as Peers from "./peers.ts"
import type * as Seats from "./seats.ts"

type Entry = ToolIndex.Entry

export type Tools = ReturnType<typeof make>

const maxName = 512

const inOrder = Order.combine(
  Order.mapInput(Order.string, ({ server }: Entry) => server),
  Order.mapInput(Order.string, ({ tool }: Entry) => tool.name)
)

export const unknown = (name: string): McpServer.Refusal =>
  McpServer.invalidParams(`Unknown tool: ${name.slice(0, maxName)}`)

/** The name and the arguments of a call or a prompt. */
export const callOf = (
  { arguments: args = {}, name }: JsonRpc.JsonObject
): Effect.Effect<{ readonly name: string; readonly args: JsonRpc.JsonObject }, McpServer.Refusal> => {
  if (typeof name !== "string") return McpServer.invalidParams("Invalid params: name must be a string")
  return JsonRpc.isObject(args)
    ? Effect.succeed({ name, args: objectOf(args) })
    : McpServer.invalidParams("Invalid params: arguments must be an object")
}

/** Compares the headers that repeat arguments for proxies (`x-mcp-header`) with the arguments. */
const headerFault = (
  { caller, header }: McpServer.Exchange,
  { inputSchema }: Tool.Tool,
  args: JsonRpc.JsonObject
): McpServer.Refusal | undefined => {
  if (caller.era !== "stateless" || caller.link !== "http") return undefined
  for (const declared of Either.getOrElse(ParamHeaders.declarations(inputSchema), () => [])) {
    const expected = ParamHeaders.textOf(ParamHeaders.valueAt(args, declared.path))
    const actual = header(`mcp-param-${declared.header}`)
    if (actual === undefined ? expected === undefined : HeaderField.decode(actual) === expected) continue
    const fault = actual === undefined ? "is missing" : "does not match the argument"
    const message = `Header mismatch: Mcp-Param-${declared.header} ${fault}`
    return McpServer.refusal("headerMismatch", message)
  }
  return undefined
}

/** A tool under its name for the caller. */
export type Listed = Names.Named<Entry>["items"][number]

export const make = ({ choice, links, options, refusal, texts }: Peers.Parts) => {
  const { naming, output } = options
  const reserved = output === "asis" ? [] : [Names.readOutput]

  const definitionOf = once((tool: Tool.Tool): JsonRpc.JsonObject => {
    const { execution: _execution, name: _name, outputSchema, ...rest } = tool.raw
    // a wrapped result has no structured content, so it needs no schema
    const schemas = outputSchema === undefined || output === "wrap" ? {} : { outputSchema }
    return PassThrough.definitionOf({ ...rest, inputSchema: tool.inputSchema, ...schemas }, output, {})
  })

  const definition = (name: string, { tool }: Entry): JsonRpc.JsonObject => ({ name, ...definitionOf(tool) })

  /** The servers that have listed their tools over separate connections of the caller. */
  const separate = (base: Seats.Seat): Effect.Effect<ReadonlySet<string>> =>
    Effect.suspend(() => {
      const own = choice.own()
      return own === undefined || own === base
        ? Effect.succeed(new Set())
        : Effect.map(own.connected, (connected) => new Set(Array.from(connected).filter(own.catalog.isKnown)))
    })

  const named = (entries: ReadonlyArray<Entry>) =>
    Names.make(entries, naming, ({ name, tool }) => ({ name: tool.name, qualified: name }), reserved)

  const namedOf = once(({ entries }: ToolIndex.ToolIndex) => named(entries))

  /** The known tools: from the separate connection of the caller where it has listed them, and otherwise from the base. */
  const known = (base: Seats.Seat): Effect.Effect<Names.Named<Entry>> =>
    Effect.map(separate(base), (separate) => {
      const index = base.catalog.index()
      if (separate.size === 0) return namedOf(index)
      const theirs = choice.own()?.catalog.index().entries ?? []
      return named([
        ...index.entries.filter(({ server }) => !separate.has(server)),
        ...theirs.filter(({ server }) => separate.has(server))
      ].toSorted(inOrder))
    })

  /** False for a tool that a rule denies, and for an app tool if the caller shows no apps. */
  const isOffered = (base: Seats.Seat, caller: McpServer.Caller) => ({ server, tool }: Entry): boolean =>
    (!Tool.isAppOnly(tool) || PassThrough.showsApps(caller)) &&
    base.permissions.decide("model", { kind: "tool", server, name: tool.name }).decision !== "deny"

  /** Waits for connecting servers: `firstListWait` for a server without a cached list, and otherwise `gate`. */
  const list = (caller: McpServer.Caller): Effect.Effect<ReadonlyArray<Listed>, McpServer.Refusal> =>
    Effect.gen(function*() {
      const base = yield* choice.base(caller)
      // concurrently, because `gate` is part of `firstListWait`
      const { apps, tools } = yield* Effect.zipRight(base.settled, base.runtime.tools, { concurrent: true })
      const listing = new Set([...apps, ...tools].map(({ serverName }) => serverName))
      const others = yield* separate(base)
      const { items } = yield* known(base)
      const isFor = isOffered(base, caller)
      return items.filter(({ item }) => (listing.has(item.server) || others.has(item.server)) && isFor(item))
    })

  /** Finds a tool of a known list without waiting for connecting servers. */
  const find = (name: string, caller: McpServer.Caller): Effect.Effect<Entry, McpServer.Refusal> =>
    Effect.gen(function*() {
      if (name.length > maxName) return yield* unknown(name)
      const base = yield* choice.base(caller)
      const found = (yield* known(base)).find(name) ??
        (yield* Effect.zipRight(Effect.ignore(base.runtime.tool(name)), known(base))).find(name)
      return found !== undefined && isOffered(base, caller)(found) ? found : yield* unknown(name)
    })

  const finished = (
    { metadata: { maxResultChars }, raw }: McpRuntime.CallResult,
    { server, tool }: Entry,
    caller: McpServer.Caller
  ): Effect.Effect<JsonRpc.JsonObject> => {
    const { structuredContent, ...rest } = PassThrough.resultFor(raw)
    links.add(server, raw["content"])
    const structured = structuredContent === undefined || output === "wrap" ? {} : { structuredContent }
    if (rest["resultType"] === "input_required") return Effect.succeed({ ...rest, ...structured })
    const source = { server, tool: tool.name, maxResultChars }
    return Effect.map(
      texts.content(raw["content"], source, caller),
      (content = []) => ({ ...rest, ...structured, content })
    )
  }

  const call = (exchange: McpServer.Exchange, name: string, args: JsonRpc.JsonObject) =>
    Effect.scoped(Effect.gen(function*() {
      const entry = yield* find(name, exchange.caller)
      const fault = headerFault(exchange, entry.tool, args)
      if (fault !== undefined) return yield* fault
      const { server, tool } = entry
      const { callerAnswers, seat } = yield* choice.choose(exchange, { kind: "tool", server, name: tool.name })
      const called = seat.runtime.callTool({ server, tool: tool.name }, args, {
        origin: "model",
        meta: PassThrough.metaFor(exchange.params),
        onProgress: exchange.progress,
        outputMismatch: "keep",
        passInput: callerAnswers ? PassThrough.passInput(exchange) : undefined
      })
      return yield* Effect.matchEffect(seat.during(server, exchange)(called), {
        onFailure: (error) =>
          error._tag === "RemoteError" || error._tag === "NotFound"
            ? refusal(error)
            // as a tool result, because models do not see protocol errors
            : Effect.succeed(PassThrough.textResult(`Error (${refusal(error).message})`, true)),
        onSuccess: (result) => finished(result, entry, exchange.caller)
      })
    }))

  return { list, find, definition, call }
}
