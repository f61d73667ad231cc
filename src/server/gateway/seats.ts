/** The runtimes of a gateway: a shared one, and separate ones for callers whose servers may ask them or keep state. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as InputHandlers from "../../client/InputHandlers.ts"
import { objectOf } from "../../client/messages.ts"
import * as Protocol from "../../client/Protocol.ts"
import { canonicalJson } from "../../json/canonical.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as McpRuntime from "../../McpRuntime.ts"
import * as RuntimeLog from "../../runtimeLog.ts"
import * as Approval from "../../safety/Approval.ts"
import * as Permissions from "../../safety/Permissions.ts"
import * as Scoped from "../../scoped.ts"
import * as ToolCatalog from "../../tools/ToolCatalog.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServe from "../McpServe.ts"
import * as McpServer from "../McpServer.ts"
import * as ScopedTable from "../scopedTable.ts"
import * as PassThrough from "./passThrough.ts"

type Ask = McpServer.Exchange["ask"]

/** A runtime, and its requests in flight. */
export interface Seat {
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly permissions: Permissions.Permissions["Type"]
  readonly catalog: ToolCatalog.ToolCatalog["Type"]
  /** Routes questions and log messages of the server to this request until the effect ends. */
  readonly during: (
    server: string,
    exchange: McpServer.Exchange
  ) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The names of the connected servers. */
  readonly connected: Effect.Effect<ReadonlySet<string>>
  /** Waits for connecting servers, up to `gate`. */
  readonly settled: Effect.Effect<void>
}

export type Opening = Effect.Effect<Seat, McpServer.Refusal>

/** A seat that opens at its first use. */
export interface OnDemand {
  readonly seat: Opening
  readonly current: () => Seat | undefined
}

const asks = (capabilities: JsonRpc.JsonObject, what: "elicitation" | "roots" | "sampling"): boolean =>
  JsonRpc.isObject(capabilities[what])

/** True if a caller declares capabilities that the shared connections do not declare. */
export const declares = (capabilities: JsonRpc.JsonObject): boolean =>
  asks(capabilities, "elicitation") || asks(capabilities, "roots") || asks(capabilities, "sampling") ||
  PassThrough.hasExtensions(capabilities)

/** The log level of a request of the stateless era. */
export const levelOf = (params: JsonRpc.JsonObject): McpServer.LogLevel | undefined =>
  McpServer.logLevelOf(objectOf(params["_meta"])[Protocol.metaKey.logLevel])

const rootsOf = ({ roots }: JsonRpc.JsonObject): ReadonlyArray<InputHandlers.Root> =>
  Array.isArray(roots)
    ? roots.flatMap((root: unknown): ReadonlyArray<InputHandlers.Root> => {
      const { name, uri } = objectOf(root)
      return typeof uri === "string" ? [{ uri, name: typeof name === "string" ? name : undefined }] : []
    })
    : []

const elicitationAnswer = ({ action, content }: JsonRpc.JsonObject): InputHandlers.ElicitationAnswer =>
  action === "accept"
    ? { action, content: content === undefined ? undefined : objectOf(content) }
    : { action: action === "decline" ? action : "cancel" }

/** Forwards the questions of servers to a caller, as far as it declares the capabilities. */
const handlersOf = (
  capabilities: JsonRpc.JsonObject,
  isLabelled: boolean,
  ask: (server: string) => Ask
): InputHandlers.Handlers => {
  const modes = objectOf(capabilities["elicitation"])
  const takesUrl = JsonRpc.isObject(modes["url"])
  // versions without modes support forms
  const takesForm = JsonRpc.isObject(modes["form"]) || !takesUrl
  return {
    capabilities: PassThrough.hasExtensions(capabilities)
      ? { extensions: PassThrough.extensionsOf(capabilities) }
      : undefined,
    roots: asks(capabilities, "roots")
      ? (server) => Effect.match(ask(server)("roots/list"), { onFailure: () => [], onSuccess: rootsOf })
      : undefined,
    elicit: asks(capabilities, "elicitation")
      ? ({ message, params, server }) =>
        Effect.match(
          // labelled with the server, because a user may have several
          ask(server)("elicitation/create", isLabelled ? { ...params, message: `${server}: ${message}` } : params),
          { onFailure: () => ({ action: "cancel" }), onSuccess: elicitationAnswer }
        )
      : undefined,
    elicitModes: [...(takesForm ? ["form" as const] : []), ...(takesUrl ? ["url" as const] : [])],
    sample: asks(capabilities, "sampling")
      ? ({ params, server }) => Effect.orElseSucceed(ask(server)("sampling/createMessage", params), () => undefined)
      : undefined,
    sampleTools: JsonRpc.isObject(objectOf(capabilities["sampling"])["tools"])
  }
}

/** For longer arguments, the question contains the number of characters, so that the user notices a truncated question. */
const manyCharacters = 500

const decisions: JsonRpc.JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      enum: ["once", "session", "no"],
      enumNames: ["Yes, once", "Yes, and for the same call until the connection ends", "No"],
      default: "no"
    }
  },
  required: ["decision"]
}

const approvalAnswer = ({ action, content }: JsonRpc.JsonObject): Approval.Answer => {
  const { decision } = objectOf(content)
  if (action === "accept" && decision === "once") return { _tag: "Once" }
  // only for the same arguments, because the user has seen no others
  if (action === "accept" && decision === "session") return { _tag: "Session", exactly: true }
  return { _tag: action === "accept" || action === "decline" ? "Deny" : "Unanswered" }
}

const verbs = { tool: "call the tool", prompt: "get the prompt", resource: "read the resource" } as const

/** Asks the user of the caller, with all arguments of the call. */
const approvalBy = (ask: (server: string) => Ask): Approval.Approval["Type"] => ({
  ask: Approval.whole(({ args, name, server }, { subject }) => {
    const size = args.length > manyCharacters ? `${args.length} characters of arguments, ` : ""
    const call = `${verbs[subject.kind]} ${name} of ${server}${
      args === "" || args === "{}" ? "" : ` with ${size}${args}`
    }`
    const params = { mode: "form", message: `Allow the agent to ${call}?`, requestedSchema: decisions }
    return Effect.match(ask(subject.server)("elicitation/create", params), {
      onFailure: () => ({ _tag: "Unanswered" }),
      onSuccess: approvalAnswer
    })
  })
})

const refuse: Ask = () => McpServer.refusal("internal", "No client can be asked now")

export interface Options {
  /** The capabilities of the caller; empty for the shared seat. */
  readonly capabilities: JsonRpc.JsonObject
  readonly isLazy: boolean
  /** Receives questions that belong to no request, and log messages of at least this level. */
  readonly peer?: Pick<McpServer.Peer, "ask" | "log"> & { readonly level: () => McpServer.LogLevel | undefined }
  /** Runs in the scope of the seat. */
  readonly onOpen?: ((seat: Seat) => Effect.Effect<void, never, Scope.Scope>) | undefined
  readonly isShared?: boolean | undefined
}

/** Opens a runtime whose servers can ask this caller. */
const open = (
  runtimes: McpServe.Runtimes["Type"],
  { gate, naming }: McpServe.Options,
  { capabilities, isLazy, isShared = false, onOpen = () => Effect.void, peer }: Options
): Effect.Effect<Seat, McpServer.Refusal, Scope.Scope> =>
  Effect.gen(function*() {
    const pending = new Set<{ readonly server: string; readonly exchange: McpServer.Exchange }>()
    /** The latest request to a server, which its questions are most likely about. */
    const latest = (server: string) => Array.from(pending).findLast((request) => request.server === server)?.exchange
    const ask = (server: string): Ask => (latest(server) ?? peer)?.ask ?? refuse
    const context = yield* Effect.catchAll(
      runtimes.open({
        lazy: isLazy,
        handlers: declares(capabilities) ? handlersOf(capabilities, naming === "qualified", ask) : undefined,
        approval: asks(capabilities, "elicitation") ? approvalBy(ask) : undefined
      }),
      (error) => {
        const message = "The servers could not be started"
        const refusal = McpServer.refusal("internal", message)
        return Effect.zipRight(RuntimeLog.error(`${message} for a caller`, error), refusal)
      }
    )
    const runtime = Context.get(context, McpRuntime.McpRuntime)
    const events = Context.get(context, McpEvent.McpEvents)
    const connected = Effect.map(
      runtime.servers.list,
      (servers) => new Set(servers.flatMap(({ name, status }) => status._tag === "Connected" ? [name] : []))
    )

    const listened = new WeakSet<object>()
    /** Forwards the log messages of a connection, and sets its log level. */
    const listen = (server: string): Effect.Effect<void> =>
      Effect.ignore(runtime.withClient(server, ({ ended, onNotification, setLogLevel }) => {
        if (listened.has(ended)) return Effect.void
        listened.add(ended)
        onNotification(({ method, params }) => {
          const level = method === "notifications/message" ? McpServer.logLevelOf(params["level"]) : undefined
          if (level === undefined) return
          const { data = null, logger } = params
          const name = typeof logger === "string" ? `${server}/${logger}` : server
          const to = latest(server) ?? peer
          to?.log({ level, logger: name, data })
        })
        const wanted = peer?.level()
        return wanted === undefined ? Effect.void : setLogLevel(wanted)
      }))

    /** Sets the log level of a stateless request. A shared connection keeps its level. */
    const setLevel = (server: string, { caller, params }: McpServer.Exchange): Effect.Effect<void> => {
      const level = isShared || caller.era === "session" ? undefined : levelOf(params)
      return level === undefined
        ? Effect.void
        : Effect.ignore(runtime.withClient(server, ({ setLogLevel }) => setLogLevel(level)))
    }

    const seat: Seat = {
      runtime,
      events,
      permissions: Context.get(context, Permissions.Permissions),
      catalog: Context.get(context, ToolCatalog.ToolCatalog),
      during: (server, exchange) => (self) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const request = { server, exchange }
            pending.add(request)
            return request
          }),
          () => Effect.zipRight(setLevel(server, exchange), self),
          (request) => Effect.sync(() => pending.delete(request))
        ),
      connected,
      settled: runtime.servers.changes.pipe(
        Stream.takeUntil((servers) => servers.every(({ status }) => status._tag !== "Connecting")),
        Stream.runDrain,
        Effect.timeoutOption(gate),
        Effect.asVoid
      )
    }
    if (!isShared) {
      const run = yield* FiberSet.makeRuntime<never, void>()
      yield* Scoped.listen(() =>
        events.onEvent((event) => {
          if (event._tag === "Connected") run(listen(event.server))
        })
      )
      for (const server of yield* connected) run(listen(server))
    }
    yield* onOpen(seat)
    return seat
  })

/** Equal for callers that may use the same seat in turn. */
export const keyOf = ({ capabilities, principal = "" }: McpServer.Caller): string =>
  canonicalJson([principal, capabilities])

interface Entry {
  readonly id: string
  readonly key: string
  readonly seat: Seat
  /** The sequence number of its last use; `undefined` while in use. */
  idleSince: number | undefined
}

export type Seats = Effect.Effect.Success<ReturnType<typeof make>>

const onDemand = (opening: Opening): OnDemand => {
  const { current, open } = Scoped.once<Seat>()
  return { seat: open(opening), current }
}

export const make = (options: McpServe.Options, runtimes: McpServe.Runtimes["Type"]) =>
  Effect.gen(function*() {
    const { maxSeats, seatTimeout } = options
    const scope = yield* Effect.scope
    const table = yield* ScopedTable.make<Entry>({
      max: maxSeats,
      timeout: seatTimeout,
      isBusy: ({ idleSince }) => idleSince === undefined,
      evicts: true
    })
    let uses = 0
    const opening = (seat: Options) => open(runtimes, options, seat)
    const full = McpServer.refusal(
      "overloaded",
      `Too many clients with separate connections (limit: ${maxSeats})`
    )

    const acquire = (key: string, options: Options) =>
      table.open((id) =>
        Effect.map(Effect.interruptible(opening(options)), (seat) => {
          const entry: Entry = { id, key, seat, idleSince: undefined }
          return [entry, entry] as const
        }), full)

    /** The seat that callers share. */
    const shared = onDemand(Scope.extend(opening({ capabilities: {}, isLazy: false, isShared: true }), scope)).seat

    /** A seat that closes with this scope. */
    const openFor = (scope: Scope.Scope, options: Options): OnDemand => {
      const entry = Effect.acquireRelease(
        acquire("", options),
        ({ id }) => Effect.flatMap(table.remove(id), Fiber.await)
      )
      return onDemand(Effect.map(Scope.extend(entry, scope), ({ seat }) => seat))
    }

    /** A seat for exclusive use until the scope closes, and then kept for later requests of callers with the same key. */
    const lease = (caller: McpServer.Caller, onOpen: Options["onOpen"]) => {
      const key = keyOf(caller)
      const take = Effect.suspend(() => {
        // the most recent one, because its servers may have kept state of the preceding request
        const [found] = table.values().filter((entry) => entry.key === key && entry.idleSince !== undefined)
          .toSorted((one, other) => other.idleSince! - one.idleSince!)
        if (found === undefined) return acquire(key, { capabilities: caller.capabilities, isLazy: true, onOpen })
        found.idleSince = undefined
        return Effect.succeed(found)
      })
      const release = (entry: Entry) =>
        Effect.sync(() => {
          entry.idleSince = ++uses
          table.find(entry.id)
        })
      return Effect.map(Effect.acquireRelease(take, release), ({ seat }) => seat)
    }

    /** `size`: the number of seats besides the shared one. */
    return { shared, openFor, lease, size: () => table.values().length }
  })
