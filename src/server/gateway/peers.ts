/** The seats of one peer: where its lists come from, where its requests go, and what it is notified of. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../../client/McpClient.ts"
import { canonicalJson } from "../../json/canonical.ts"
import type * as McpError from "../../McpError.ts"
import type * as McpEvent from "../../McpEvent.ts"
import type * as PermissionRule from "../../safety/PermissionRule.ts"
import * as Scoped from "../../scoped.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServe from "../McpServe.ts"
import * as McpServer from "../McpServer.ts"
import * as PassThrough from "./passThrough.ts"
import type * as Resources from "./resources.ts"
import * as Seats from "./seats.ts"

/** The seat of a request. */
export interface Chosen {
  readonly seat: Seats.Seat
  /** The caller answers questions of the server itself, with its next request. */
  readonly callerAnswers: boolean
}

/** `needsPerson`: false for a request that no rule can put to a person. */
export interface Subject extends PermissionRule.Subject {
  readonly needsPerson?: false
}

export interface SeatChoice {
  /** The seat that lists come from. The first caller decides its capabilities where only one program is served. */
  readonly base: (caller?: McpServer.Caller) => Seats.Opening
  /** The caller's own seat, once it is open. */
  readonly own: () => Seats.Seat | undefined
  readonly choose: (
    exchange: McpServer.Exchange,
    subject: Subject
  ) => Effect.Effect<Chosen, McpServer.Refusal, Scope.Scope>
}

export interface Peer extends SeatChoice, Pick<McpServer.Service, "notified" | "setLogLevel"> {}

/** Changes of one list within this time make one notification. */
const debounce = Duration.millis(100)

/** A changed list is fetched before the notification, within this time. */
const refreshLimit = Duration.seconds(2)

type List = "tools" | "resources" | "prompts"

/** The lists that an event changes. */
const changes: ReadonlyMap<McpEvent.McpEvent["_tag"], ReadonlyArray<List>> = new Map([
  ["ToolsChanged", ["tools"]],
  ["ToolsRefreshed", ["tools"]],
  ["ToolQuarantined", ["tools"]],
  ["ResourcesChanged", ["resources"]],
  ["PromptsChanged", ["prompts"]],
  ["Connected", ["resources", "prompts"]],
  ["ConfigurationReloaded", ["tools", "resources", "prompts"]]
])

interface Following {
  /** The lists of the peer come from this seat. */
  readonly isBase: boolean
  readonly log?: (server: string, message: McpServer.LogMessage) => void
  readonly level?: () => McpServer.LogLevel | undefined
}

/** Notifies the peer of changed lists and log messages of a seat until the scope closes. */
const follow = (
  { connected, events, runtime }: Seats.Seat,
  peer: McpServer.Peer,
  { isBase, level = () => undefined, log }: Following
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime<never, void>()
    const due = new Set<List>()

    const notifySoon = (list: List, before: Effect.Effect<void>): void => {
      if (due.has(list)) return
      due.add(list)
      const notify = Effect.sync(() => {
        due.delete(list)
        peer.notify(`notifications/${list}/list_changed`)
      })
      run(before.pipe(Effect.delay(debounce), Effect.zipRight(notify)))
    }

    const listened = new WeakSet<object>()
    const listen = (server: string): Effect.Effect<void> =>
      Effect.ignore(runtime.withClient(server, ({ ended, onNotification, setLogLevel }) => {
        if (listened.has(ended)) return Effect.void
        listened.add(ended)
        onNotification(({ method, params }) => {
          const known = method === "notifications/message" ? McpServer.logLevelOf(params["level"]) : undefined
          if (known === undefined) return
          const { data = null, logger } = params
          log?.(server, { level: known, logger: typeof logger === "string" ? `${server}/${logger}` : server, data })
        })
        const wanted = level()
        return wanted === undefined ? Effect.void : Effect.ignore(setLogLevel(wanted))
      }))

    yield* Scoped.listen(() =>
      events.onEvent((event) => {
        if (event._tag === "Connected") {
          if (log !== undefined) run(listen(event.server))
          // another connection to a server whose lists are known
          if (!isBase) return
        }
        const before = event._tag === "ToolsChanged"
          ? Effect.ignore(Effect.timeoutOption(runtime.refreshTools(event.server), refreshLimit))
          : Effect.void
        for (const list of changes.get(event._tag) ?? []) notifySoon(list, before)
      })
    )
    if (log !== undefined) {
      for (const server of yield* connected) run(listen(server))
    }
  })

/** A session has connections of its own from its first request on, because any server may remember its requests. */
const ofSession = (
  seats: Seats.Seats,
  { shared, single }: McpServe.Options,
  peer: McpServer.Peer
): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    let level: McpServer.LogLevel | undefined
    const { current, seat } = seats.openFor(yield* Effect.scope, {
      capabilities: peer.caller.capabilities,
      isLazy: !single,
      ask: peer.ask,
      onOpen: (seat) =>
        follow(seat, peer, { isBase: single, log: (_server, message) => peer.log(message), level: () => level })
    })
    const each = (f: (client: McpClient.McpClient) => Effect.Effect<void, McpError.CallError>) =>
      Effect.suspend(() => {
        const seat = current()
        if (seat === undefined) return Effect.void
        const one = (server: string) => Effect.ignore(seat.runtime.withClient(server, f))
        return Effect.flatMap(seat.connected, Effect.forEach(one, { concurrency: "unbounded", discard: true }))
      })

    return {
      base: () => single ? seat : seats.shared,
      own: current,
      choose: (_exchange, { server }) =>
        Effect.map(!single && shared(server) ? seats.shared : seat, (seat) => ({ seat, callerAnswers: false })),
      setLogLevel: (wanted) =>
        Effect.suspend(() => {
          level = wanted
          return each(({ setLogLevel }) => setLogLevel(wanted))
        }),
      notified: (method) =>
        method === "notifications/roots/list_changed"
          ? each(({ rootsChanged }) => rootsChanged)
          : Effect.void
    }
  })

const needsPerson = ({ permissions }: Seats.Seat, subject: Subject): boolean =>
  subject.needsPerson !== false && permissions.decide("model", subject).decision === "ask"

/**
 * True if the caller can answer the server itself: a server of the stateless era asks in its result, unless a person has to
 * approve here. A server that is not connected is waited for, so that the choice does not depend on the moment.
 */
const passesQuestions = (seat: Seats.Seat, subject: Subject): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    if (needsPerson(seat, subject)) return false
    const known = (yield* seat.runtime.servers.list).find(({ name }) => name === subject.server)?.era
    if (known !== undefined) return known === "stateless"
    const connected = seat.runtime.withClient(subject.server, ({ era }) => Effect.succeed(era === "stateless"))
    // the request itself fails with the reason
    return yield* Effect.orElseSucceed(connected, () => true)
  })

/**
 * Requests without a session share connections. A server of the session era asks over its connection and not in a result, so
 * a caller that declares capabilities gets a separate connection for it.
 */
const ofRequests = (
  seats: Seats.Seats,
  { shared, single }: McpServe.Options,
  peer: McpServer.Peer
): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const separate = new Map<string, Seats.OnDemand>()

    /** Of the only program: one seat for each set of capabilities, and the lists are those of the first. */
    const ofOnly = (capabilities: JsonRpc.JsonObject): Seats.Opening =>
      Effect.suspend(() => {
        const key = canonicalJson(capabilities)
        const isBase = separate.size === 0
        const onOpen = (seat: Seats.Seat) => follow(seat, peer, { isBase, log: seat.log })
        const onDemand = separate.get(key) ?? seats.openFor(scope, { capabilities, isLazy: !isBase, onOpen })
        separate.set(key, onDemand)
        return onDemand.seat
      })

    const lease = (caller: McpServer.Caller) =>
      seats.lease(caller, (seat) => follow(seat, peer, { isBase: false, log: seat.log }))

    const base = (caller?: McpServer.Caller): Seats.Opening =>
      !single
        ? seats.shared
        : Effect.suspend(() => Array.from(separate.values())[0]?.seat ?? ofOnly(caller?.capabilities ?? {}))
    return {
      base,
      own: () => undefined,
      choose: ({ caller, params }, subject) =>
        Effect.gen(function*() {
          const common = yield* base(caller)
          const callerAnswers = !Seats.declares(caller.capabilities) || (yield* passesQuestions(common, subject))
          // over a shared connection, log messages belong to no caller
          const isCommon = single
            ? callerAnswers
            : shared(subject.server) || (callerAnswers && Seats.levelOf(params) === undefined)
          if (isCommon) return { seat: common, callerAnswers: true }
          return { seat: yield* single ? ofOnly(caller.capabilities) : lease(caller), callerAnswers }
        })
    }
  })

export const make = (seats: Seats.Seats, options: McpServe.Options, peer: McpServer.Peer) =>
  Effect.gen(function*() {
    if (!options.single) {
      const followed = Effect.flatMap(seats.shared, (shared) => follow(shared, peer, { isBase: true }))
      yield* Effect.forkScoped(Effect.ignore(followed))
    }
    return yield* peer.caller.era === "session"
      ? ofSession(seats, options, peer)
      : ofRequests(seats, options, peer)
  })

/** Everything that the requests of one peer are answered with. */
export interface Parts {
  readonly options: McpServe.Options
  readonly choice: SeatChoice
  readonly texts: PassThrough.Texts
  readonly refusal: (error: McpError.McpError) => McpServer.Refusal
  readonly links: ReturnType<typeof Resources.links>
}

type Send = (params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>

/** Sends a request of the caller to the server of its subject, and gives its result. */
export const forward = (
  { choice, refusal }: Parts,
  exchange: McpServer.Exchange,
  subject: Subject,
  use: (send: Send, client: McpClient.McpClient) => ReturnType<Send>
): Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal> =>
  Effect.scoped(Effect.gen(function*() {
    const { server } = subject
    const { callerAnswers, seat } = yield* choice.choose(exchange, subject)
    const { capabilities, ...answers } = PassThrough.passInput(exchange)
    const _meta = PassThrough.metaFor(exchange.params)
    const common = { _meta, ...(callerAnswers ? answers : {}) }
    const options = { passInput: callerAnswers ? { capabilities } : undefined }
    const sent = seat.runtime.withClient(
      server,
      (client) => use((params) => client.request(exchange.method, { ...params, ...common }, options), client),
      { origin: "model" }
    )
    return PassThrough.resultFor(yield* Effect.mapError(seat.during(server, exchange)(sent), refusal))
  }))
