/** The tools of all servers for one caller: what there is, whose a name is, and the call. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type * as McpRuntime from "../../../McpRuntime.ts"
import * as HiddenText from "../../../safety/HiddenText.ts"
import * as Tool from "../../../tools/Tool.ts"
import type * as ToolIndex from "../../../tools/ToolIndex.ts"
import * as ToolName from "../../../tools/ToolName.ts"
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import * as Extensions from "./extensions.ts"
import type * as Failures from "./failures.ts"
import * as Mirrored from "./mirrored.ts"
import * as Names from "./names.ts"
import * as Paging from "./paging.ts"
import type * as Place from "./place.ts"
import type * as Seat from "./seat.ts"
import type * as Texts from "./texts.ts"

/** @internal */
export interface Options {
  readonly options: McpServe.Options
  readonly place: Place.Place
  readonly texts: Texts.Texts
  readonly failures: Failures.Failures
  /** Whose answer a URI is from. */
  readonly seen: (server: string, content: JsonRpc.Json | undefined) => void
}

/** @internal */
export interface Tools {
  readonly known: (wait: Duration.DurationInput) => Effect.Effect<Names.Names<ToolIndex.Entry>, McpServer.Refusal>
  /** The tools of a list, after the waits of the runtime and the gate for servers that are still connecting. */
  readonly listed: Effect.Effect<Names.Names<ToolIndex.Entry>, McpServer.Refusal>
  readonly definition: (name: string, entry: ToolIndex.Entry) => JsonRpc.JsonObject
  /** Calls what was found by a name, with these arguments. */
  readonly call: (
    exchange: McpServer.Exchange,
    name: string,
    args: JsonRpc.JsonObject
  ) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
}

const longestName = 512

/** That of an index, wherever the entries are from. */
const inOrder = Order.combine(
  Order.mapInput(Order.string, ({ server }: ToolIndex.Entry) => server),
  Order.mapInput(Order.string, ({ tool }: ToolIndex.Entry) => tool.name)
)

/** True if a caller may know of a tool. A tool that only apps may call is for callers that show apps. */
export const isOffered = ({ capabilities }: McpServer.Caller, { tool }: ToolIndex.Entry): boolean =>
  !Tool.isAppOnly(tool) || Extensions.hasApps(capabilities)

/** How often servers that are on their way are waited for, each time as long as a runtime waits by itself. */
const mostTries = 32

/** What of a definition is between us and the server. */
const definitionOf = (tool: Tool.Tool, output: McpServe.Options["output"]): JsonRpc.JsonObject => {
  const { execution: _execution, name: _name, outputSchema, ...rest } = tool.raw
  const plain: JsonRpc.JsonObject = {
    ...rest,
    inputSchema: tool.inputSchema,
    // what is wrapped is no structure any more
    ...(outputSchema === undefined || output === "wrap" ? {} : { outputSchema })
  }
  return output === "asis" ? plain : HiddenText.cleanJson(plain)
}

const reserved = "io.modelcontextprotocol/"

/** What a caller says of its request beside the protocol, which is ours to speak. */
export const metaFor = (params: JsonRpc.JsonObject): JsonRpc.JsonObject | undefined => {
  const entries = Object.entries(Exchange.metaOf(params)).filter(([key]) =>
    key !== "progressToken" && !key.startsWith(reserved)
  )
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** A result without what its server says to us alone. */
export const resultFor = ({ _meta, resultType, ...rest }: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const meta = Object.entries(Exchange.objectOf(_meta)).filter(([key]) => !key.startsWith(reserved))
  return {
    ...rest,
    ...(resultType === "input_required" ? { resultType } : {}),
    ...(meta.length === 0 ? {} : { _meta: Object.fromEntries(meta) })
  }
}

/** What a caller of the stateless era hands on with a request that it answers questions with. */
export const handedOver = ({ caller, params }: McpServer.Exchange) => ({
  capabilities: Extensions.passed(caller.capabilities),
  inputResponses: params["inputResponses"],
  requestState: params["requestState"]
})

/** What is asked of a server for a caller, with the caller's answers where those are its own affair. */
export const paramsFor = (
  { params }: McpServer.Exchange,
  asked: JsonRpc.JsonObject,
  isHandedOver: boolean
): JsonRpc.JsonObject => {
  const { inputResponses, requestState } = params
  const meta = metaFor(params)
  return {
    ...asked,
    ...(meta === undefined ? {} : { _meta: meta }),
    ...(isHandedOver && inputResponses !== undefined ? { inputResponses } : {}),
    ...(isHandedOver && requestState !== undefined ? { requestState } : {})
  }
}

/** @internal */
export const make = ({ failures, options, place, seen, texts }: Options): Tools => {
  const definitions = new WeakMap<Tool.Tool, JsonRpc.JsonObject>()

  const definition: Tools["definition"] = (name, { tool }) => {
    const known = definitions.get(tool) ?? definitionOf(tool, options.output)
    definitions.set(tool, known)
    return { name, ...known }
  }

  /**
   * What is remembered of a server that is on its way is less than what it will say, and to a caller that holds on to
   * definitions (another gateway does) the rest would be a change: it is waited for.
   */
  const arrived = (seat: Seat.Seat, tries: number): Effect.Effect<McpRuntime.Tools> =>
    Effect.gen(function*() {
      const known = yield* seat.runtime.tools
      const servers = yield* seat.runtime.servers.list
      const coming = new Set(servers.flatMap(({ name, status }) => status._tag === "Connecting" ? [name] : []))
      const isEarly = known.tools.some(({ _tag, serverName }) => _tag === "Deferred" && coming.has(serverName))
      return isEarly && tries > 1 ? yield* arrived(seat, tries - 1) : known
    })

  const withApps = ({ apps, tools }: McpRuntime.Tools): ReadonlyArray<ToolIndex.Entry> =>
    [...tools, ...apps].map(({ name, serverName, tool }) => ({ name, server: serverName, tool })).toSorted(inOrder)

  const knownNow = ({ runtime }: Seat.Seat): Effect.Effect<McpRuntime.Tools> => runtime.offered(0).tools

  const entriesOf = (seat: Seat.Seat, wait: Duration.DurationInput) =>
    Effect.map(
      Duration.toMillis(wait) === 0
        ? knownNow(seat)
        : Effect.flatMap(
          Effect.timeoutOption(arrived(seat, mostTries), wait),
          Option.match({ onNone: () => knownNow(seat), onSome: Effect.succeed })
        ),
      withApps
    )

  /** Waits `firstListWait` for a server without a cached list, and the rest of the gate for the others. */
  const listedOf = (seat: Seat.Seat) =>
    Effect.flatMap(Effect.timed(seat.runtime.tools), ([took, known]) => {
      const left = Duration.subtract(options.gate, took)
      return Duration.toMillis(left) > 0 ? entriesOf(seat, left) : Effect.succeed(withApps(known))
    })

  const named = (entries: ReadonlyArray<ToolIndex.Entry>) =>
    Names.make(
      entries,
      options.naming,
      ({ name, server, tool }) => ({ server, name: tool.name, qualified: name }),
      options.output === "asis" ? [] : [Paging.name]
    )

  const offeredBy = (entries: (seat: Seat.Seat) => Effect.Effect<ReadonlyArray<ToolIndex.Entry>>) =>
    Effect.gen(function*() {
      const base = yield* place.base
      const shared = yield* entries(base)
      const own = place.own()
      if (own === undefined || own === base) return named(shared)
      // what a server offers over the caller's own connection counts more than what it offers others, once that is known
      const connected = new Set(Array.from(yield* own.connected).filter(own.catalog.isKnown))
      const theirs = yield* entriesOf(own, 0)
      return named([
        ...shared.filter(({ server }) => !connected.has(server)),
        ...theirs.filter(({ server }) => connected.has(server))
      ].toSorted(inOrder))
    })

  const isDenied = ({ permissions }: Seat.Seat, { server, tool: { name } }: ToolIndex.Entry): boolean =>
    permissions.decide("model", { kind: "tool", server, name }).decision === "deny"

  /** Plain names of an index, made once for all calls until it is another. */
  const plain = new WeakMap<ToolIndex.ToolIndex, Names.Names<ToolIndex.Entry>>()

  const plainly = (index: ToolIndex.ToolIndex, name: string): ToolIndex.Entry | undefined => {
    const names = plain.get(index) ?? named(index.entries)
    plain.set(index, names)
    return names.find(name)
  }

  /** What every call begins with, and so without a look at anything but the name. */
  const indexed = (base: Seat.Seat, own: Seat.Seat | undefined, name: string): ToolIndex.Entry | undefined => {
    const all = base.catalog.index()
    const theirs = own?.catalog.index()
    const qualified = theirs?.byQualifiedName.get(name) ?? all.byQualifiedName.get(name)
    if (qualified !== undefined || options.naming === "qualified") return qualified
    const shared = plainly(all, name)
    // a name that many servers have means none of them, however few of them the caller knows
    const isAmbiguous = shared === undefined && (all.toolsByName.get(name)?.length ?? 0) > 1
    return shared ?? (theirs === undefined || isAmbiguous ? undefined : plainly(theirs, name))
  }

  /** What a server that is on its way, or that has not said it yet, may have all the same. */
  const unlisted = (
    base: Seat.Seat,
    own: Seat.Seat | undefined,
    name: string
  ): Effect.Effect<ToolIndex.Entry | undefined> =>
    Effect.gen(function*() {
      const meant = ToolName.parse(name)?.server
      const servers = yield* base.runtime.servers.list
      const isTheirs = servers.some((one) => one.name === meant)
      // one that is named is waited for as long as any call waits for it, and the others no longer than a list is
      yield* isTheirs
        ? Effect.ignore(base.runtime.refreshTools(meant))
        : Effect.ignore(Effect.timeoutOption(base.runtime.tools, options.gate))
      return indexed(base, own, name)
    })

  const find = (name: string, caller: McpServer.Caller): Effect.Effect<ToolIndex.Entry, McpServer.Refusal> =>
    Effect.gen(function*() {
      const base = yield* place.base
      const own = place.own()
      const isLong = name.length > longestName
      const entry = isLong ? undefined : indexed(base, own, name) ?? (yield* unlisted(base, own, name))
      return entry === undefined || isDenied(own ?? base, entry) || !isOffered(caller, entry)
        ? yield* Exchange.invalidParams(`Unknown tool: ${name.slice(0, longestName)}`)
        : entry
    })

  const needsPerson = ({ server, tool: { name } }: ToolIndex.Entry) => ({ permissions }: Seat.Seat): boolean =>
    permissions.decide("model", { kind: "tool", server, name }).decision === "ask"

  const finished = (
    { metadata: { maxResultChars }, raw }: McpRuntime.CallResult,
    { server, tool }: ToolIndex.Entry,
    caller: McpServer.Caller
  ) =>
    Effect.gen(function*() {
      const result = resultFor(raw)
      seen(server, raw["content"])
      if (result["resultType"] === "input_required") return result
      const content = (yield* texts.content(raw["content"], { server, tool: tool.name, maxResultChars }, caller)) ?? []
      if (options.output !== "wrap") return { ...result, content }
      const { structuredContent: _, ...rest } = result
      return { ...rest, content }
    })

  const call: Tools["call"] = (exchange, name, args) =>
    Effect.scoped(Effect.gen(function*() {
      const entry = yield* find(name, exchange.caller)
      const wrong = Mirrored.check(exchange, entry.tool, args)
      if (wrong !== undefined) return yield* wrong
      const { server, tool } = entry
      const { isHandedOver, seat } = yield* place.seatFor(exchange, server, needsPerson(entry))
      const called = seat.runtime.callTool({ server, tool: tool.name }, args, {
        origin: "model",
        meta: metaFor(exchange.params),
        onProgress: exchange.progress,
        outputMismatch: "keep",
        passInput: isHandedOver ? handedOver(exchange) : undefined
      })
      return yield* Effect.matchEffect(seat.during(server, exchange)(called), {
        onFailure: failures.result,
        onSuccess: (result) => finished(result, entry, exchange.caller)
      })
    }))

  return {
    known: (wait) => offeredBy((seat) => entriesOf(seat, wait)),
    listed: offeredBy(listedOf),
    definition,
    call
  }
}

/** The name and the arguments of a call. */
export const callOf = (
  params: JsonRpc.JsonObject
): Effect.Effect<{ readonly name: string; readonly args: JsonRpc.JsonObject }, McpServer.Refusal> => {
  const { arguments: args = {}, name } = params
  if (typeof name !== "string") return Effect.fail(Exchange.invalidParams("Invalid params: name must be a text"))
  return JsonRpc.isObject(args)
    ? Effect.succeed({ name, args: Exchange.objectOf(args) })
    : Effect.fail(Exchange.invalidParams("Invalid params: arguments must be an object"))
}
