/** The tools of all servers for one peer: their names, definitions and calls. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import { objectOf } from "../../client/messages.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as HeaderField from "../../text/headerField.ts"
import * as ParamHeaders from "../../tools/paramHeaders.ts"
import * as Tool from "../../tools/Tool.ts"
import type * as ToolIndex from "../../tools/ToolIndex.ts"
import * as ToolName from "../../tools/ToolName.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Names from "./names.ts"
import * as PassThrough from "./passThrough.ts"
import type * as Peers from "./peers.ts"
import type * as Seats from "./seats.ts"

type Entry = ToolIndex.Entry

export type Tools = ReturnType<typeof make>

const maxName = 512

/** Lists of a runtime that are awaited for servers that are still connecting. */
const maxLists = 32

const inOrder = Order.combine(
  Order.mapInput(Order.string, ({ server }: Entry) => server),
  Order.mapInput(Order.string, ({ tool }: Entry) => tool.name)
)

/** A tool for apps exists for callers that show apps, and for no other. */
export const isOffered = (caller: McpServer.Caller, { tool }: Entry): boolean =>
  !Tool.isAppOnly(tool) || PassThrough.showsApps(caller)

export const unknown = (name: string): McpServer.Refusal =>
  McpServer.invalidParams(`Unknown tool: ${name.slice(0, maxName)}`)

/** The name and the arguments of a call or a prompt. */
export const callOf = (
  { arguments: args = {}, name }: JsonRpc.JsonObject
): Effect.Effect<{ readonly name: string; readonly args: JsonRpc.JsonObject }, McpServer.Refusal> => {
  if (typeof name !== "string") return McpServer.invalidParams("Invalid params: name is not a text")
  return JsonRpc.isObject(args)
    ? Effect.succeed({ name, args: objectOf(args) })
    : McpServer.invalidParams("Invalid params: arguments is not an object")
}

/** The fault of the headers that repeat arguments (`x-mcp-header`), because proxies decide by them. */
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
    const fault = actual === undefined ? "is missing" : "differs from the argument"
    const message = `Header mismatch: Mcp-Param-${declared.header} ${fault}`
    return McpServer.refusal("headerMismatch", message)
  }
  return undefined
}

export const make = ({ links, options, choice, refusal, texts }: Peers.Parts) => {
  const { gate, naming, output } = options
  const reserved = output === "asis" ? [] : [Names.readOutput]
  const definitions = new WeakMap<Tool.Tool, JsonRpc.JsonObject>()

  const definitionOf = (tool: Tool.Tool): JsonRpc.JsonObject => {
    const { execution: _execution, name: _name, outputSchema, ...rest } = tool.raw
    // a wrapped result has no structured content
    const schemas = outputSchema === undefined || output === "wrap" ? {} : { outputSchema }
    return PassThrough.definitionOf({ ...rest, inputSchema: tool.inputSchema, ...schemas }, output, {})
  }

  const definition = (name: string, { tool }: Entry): JsonRpc.JsonObject => {
    const known = definitions.get(tool) ?? definitionOf(tool)
    definitions.set(tool, known)
    return { name, ...known }
  }

  /** False while a server is connecting whose tools are those of an earlier run: its list may differ. */
  const isSettled = ({ runtime }: Seats.Seat) => ({ tools }: McpRuntime.Tools): Effect.Effect<boolean> =>
    Effect.map(runtime.servers.list, (servers) => {
      const connecting = new Set(servers.flatMap(({ name, status }) => status._tag === "Connecting" ? [name] : []))
      return !tools.some(({ _tag, serverName }) => _tag === "Deferred" && connecting.has(serverName))
    })

  const within = (seat: Seats.Seat, wait: Duration.DurationInput): Effect.Effect<McpRuntime.Tools> => {
    const now = seat.runtime.offered(0).tools
    if (Duration.toMillis(wait) === 0) return now
    const settled = Effect.repeat(seat.runtime.tools, { until: isSettled(seat), times: maxLists })
    return Effect.flatMap(
      Effect.timeoutOption(settled, wait),
      Option.match({ onNone: () => now, onSome: Effect.succeed })
    )
  }

  /** Waits `firstListWait` for a server without a cached list, and the gate for the others. */
  const listed = (seat: Seats.Seat): Effect.Effect<McpRuntime.Tools> =>
    Effect.flatMap(
      seat.runtime.tools,
      (tools) =>
        Effect.flatMap(isSettled(seat)(tools), (isSettled) => isSettled ? Effect.succeed(tools) : within(seat, gate))
    )

  const entries = ({ apps, tools }: McpRuntime.Tools): ReadonlyArray<Entry> =>
    [...tools, ...apps].map(({ name, serverName, tool }) => ({ name, server: serverName, tool }))

  const named = (entries: ReadonlyArray<Entry>) =>
    Names.make(entries, naming, ({ name, tool }) => ({ name: tool.name, qualified: name }), reserved)

  /** The tools of the base; of servers that have listed theirs over the caller's own connection, those. */
  const offered = (caller: McpServer.Caller, list: (seat: Seats.Seat) => Effect.Effect<McpRuntime.Tools>) =>
    Effect.gen(function*() {
      const base = yield* choice.base(caller)
      const common = entries(yield* list(base))
      const own = choice.own() ?? base
      const separate = own === base ? [] : Array.from(yield* own.connected).filter(own.catalog.isKnown)
      const theirs = separate.length === 0 ? [] : entries(yield* within(own, 0))
      const isSeparate = ({ server }: Entry) => separate.includes(server)
      return named([...common.filter((entry) => !isSeparate(entry)), ...theirs.filter(isSeparate)].toSorted(inOrder))
    })

  const plainNames = new WeakMap<ToolIndex.ToolIndex, Names.Named<Entry>>()

  const byPlainName = (index: ToolIndex.ToolIndex, name: string): Entry | undefined => {
    const names = plainNames.get(index) ?? named(index.entries)
    plainNames.set(index, names)
    return names.find(name)
  }

  /** The tool of a name, by what is known now. */
  const indexed = (seats: ReadonlyArray<Seats.Seat>, name: string): Entry | undefined => {
    const indices = seats.map(({ catalog }) => catalog.index())
    for (const { byQualifiedName } of indices) {
      const entry = byQualifiedName.get(name)
      if (entry !== undefined) return entry
    }
    // a name that several servers have is ambiguous, even if the caller has used one of them only
    if (naming === "qualified") return undefined
    const [common, own] = indices.toReversed()
    const isAmbiguous = (common?.toolsByName.get(name)?.length ?? 0) > 1
    return (common && byPlainName(common, name)) ??
      (own === undefined || isAmbiguous ? undefined : byPlainName(own, name))
  }

  /** Waits for the list of the server that the name contains, or for all lists within the gate. */
  const awaitList = ({ runtime }: Seats.Seat, name: string): Effect.Effect<void> =>
    Effect.gen(function*() {
      const server = ToolName.parse(name)?.server
      const isServer = (yield* runtime.servers.list).some((info) => info.name === server)
      yield* isServer ? Effect.ignore(runtime.refreshTools(server)) : Effect.timeoutOption(runtime.tools, gate)
    })

  const find = (name: string, caller: McpServer.Caller): Effect.Effect<Entry, McpServer.Refusal> =>
    Effect.gen(function*() {
      const base = yield* choice.base(caller)
      const own = choice.own()
      const seats = own === undefined || own === base ? [base] : [own, base]
      const isDenied = ({ server, tool: { name } }: Entry): boolean =>
        seats[0]?.permissions.decide("model", { kind: "tool", server, name }).decision === "deny"
      const known = name.length > maxName
        ? undefined
        : indexed(seats, name) ?? (yield* Effect.map(awaitList(base, name), () => indexed(seats, name)))
      return known === undefined || isDenied(known) || !isOffered(caller, known)
        ? yield* unknown(name)
        : known
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
            // a model can act on the result of a tool, and not on an error of the protocol
            : Effect.succeed(PassThrough.textResult(`Error (${refusal(error).message})`, true)),
        onSuccess: (result) => finished(result, entry, exchange.caller)
      })
    }))

  const list = (caller: McpServer.Caller) =>
    Effect.map(
      offered(caller, listed),
      ({ items }) => items.flatMap(({ item, name }) => isOffered(caller, item) ? [definition(name, item)] : [])
    )

  /** The known tools. Servers that are still connecting are waited for. */
  const known = (caller: McpServer.Caller, wait: Duration.DurationInput) =>
    offered(caller, (seat) => within(seat, wait))

  return { known, list, definition, call }
}
