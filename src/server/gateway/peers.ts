/** The seats of one peer: the source of its lists, the target of its requests, and its notifications. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import type * as Scope from "effect/Scope"
import type * as McpClient from "../../client/McpClient.ts"
import type * as McpError from "../../McpError.ts"
import type * as McpEvent from "../../McpEvent.ts"
import type * as PermissionRule from "../../safety/PermissionRule.ts"
import * as Scoped from "../../scoped.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServe from "../McpServe.ts"
import type * as McpServer from "../McpServer.ts"
import * as PassThrough from "./passThrough.ts"
import type * as Resources from "./resources.ts"
import * as Seats from "./seats.ts"

/** The seat of a request. */
export interface Chosen {
  readonly seat: Seats.Seat
  /** True if the caller answers questions of the server itself, with its next request. */
  readonly callerAnswers: boolean
}

/** `needsPerson`: false for a request that never needs approval. */
export interface Subject extends PermissionRule.Subject {
  readonly needsPerson?: false
}

export interface SeatChoice {
  /** The source of lists. With `single`, the first caller decides its capabilities. */
  readonly base: (caller?: McpServer.Caller) => Seats.Opening
  /** The separate seat of the caller, once it is open. */
  readonly own: () => Seats.Seat | undefined
  readonly choose: (
    exchange: McpServer.Exchange,
    subject: Subject
  ) => Effect.Effect<Chosen, McpServer.Refusal, Scope.Scope>
}

export interface Peer extends SeatChoice, Pick<McpServer.Service, "notified" | "setLogLevel"> {}

/** Changes of one list within this time cause one notification. */
const debounce = Duration.millis(100)

/** The time limit for fetching a changed list before the notification. */
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

/**
 * Notifies the peer of changed lists of a seat until the scope closes. `isBase`: the seat is the source of its lists, so a
 * new connection changes them.
 */
const follow = (
  { events, runtime }: Seats.Seat,
  peer: McpServer.Peer,
  isBase: boolean
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberMap.makeRuntime<never, List, void>()
    yield* Scoped.listen(() =>
      events.onEvent((event) => {
        if (event._tag === "Connected" && !isBase) return
        const before = event._tag === "ToolsChanged"
          ? Effect.ignore(Effect.timeoutOption(runtime.refreshTools(event.server), refreshLimit))
          : Effect.void
        for (const list of changes.get(event._tag) ?? []) {
          const notify = Effect.sync(() => peer.notify(`notifications/${list}/list_changed`))
          run(list, before.pipe(Effect.delay(debounce), Effect.zipRight(notify)), { onlyIfMissing: true })
        }
      })
    )
  })

/** A session has separate connections from its first request on, because servers may keep state. */
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
      peer: { ...peer, level: () => level },
      onOpen: (seat) => follow(seat, peer, single)
    })
    const each = (f: (client: McpClient.McpClient) => Effect.Effect<void, McpError.CallError>) =>
      Effect.suspend(() => {
        const seat = current()
        if (seat === undefined) return Effect.void
        const use = (server: string) => Effect.ignore(seat.runtime.withClient(server, f))
        return Effect.flatMap(seat.connected, Effect.forEach(use, { concurrency: "unbounded", discard: true }))
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
 * True if the caller can answer the server itself, because a server of the stateless era asks in its result. False if the
 * request needs approval here. Waits for a server that is not connected, so that the choice is deterministic.
 */
const passesQuestions = (seat: Seats.Seat, subject: Subject): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    if (needsPerson(seat, subject)) return false
    const known = (yield* seat.runtime.servers.list).find(({ name }) => name === subject.server)?.era
    if (known !== undefined) return known === "stateless"
    const connected = seat.runtime.withClient(subject.server, ({ era }) => Effect.succeed(era === "stateless"))
    // if this fails, the request fails with the same error
    return yield* Effect.orElseSucceed(connected, () => true)
  })

/**
 * Requests without a session share connections. A server of the session era sends its questions over the connection, so a
 * caller that declares capabilities gets a separate connection to it.
 */
const ofRequests = (
  seats: Seats.Seats,
  { shared, single }: McpServe.Options,
  peer: McpServer.Peer
): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    /** With `single`: the seat with the capabilities of the first request. */
    let first: { readonly key: string; readonly seat: Seats.Opening } | undefined

    const lease = (caller: McpServer.Caller) => seats.lease(caller, (seat) => follow(seat, peer, false))

    const base = (caller: McpServer.Caller = peer.caller): Seats.Opening =>
      !single ? seats.shared : Effect.suspend(() => {
        const { capabilities } = caller
        const onOpen = (seat: Seats.Seat) => follow(seat, peer, true)
        first ??= { key: Seats.keyOf(caller), ...seats.openFor(scope, { capabilities, isLazy: false, onOpen }) }
        return first.seat
      })

    return {
      base,
      own: () => undefined,
      choose: ({ caller, params }, subject) =>
        Effect.gen(function*() {
          const common = yield* base(caller)
          const callerAnswers = !Seats.declares(caller.capabilities) || (yield* passesQuestions(common, subject))
          // log messages of a shared connection belong to no caller
          const isCommon = single
            ? callerAnswers
            : shared(subject.server) || (callerAnswers && Seats.levelOf(params) === undefined)
          if (isCommon) return { seat: common, callerAnswers: true }
          return { seat: first?.key === Seats.keyOf(caller) ? common : yield* lease(caller), callerAnswers }
        })
    }
  })

export const make = (seats: Seats.Seats, options: McpServe.Options, peer: McpServer.Peer) =>
  Effect.gen(function*() {
    if (!options.single) {
      const followed = Effect.flatMap(seats.shared, (shared) => follow(shared, peer, true))
      yield* Effect.forkScoped(Effect.ignore(followed))
    }
    return yield* peer.caller.era === "session"
      ? ofSession(seats, options, peer)
      : ofRequests(seats, options, peer)
  })

/** The parts that handle the requests of one peer. */
export interface Parts {
  readonly options: McpServe.Options
  readonly choice: SeatChoice
  readonly texts: PassThrough.Texts
  readonly refusal: (error: McpError.McpError) => McpServer.Refusal
  readonly links: ReturnType<typeof Resources.links>
}

type Send = (params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>

/** Forwards a request of the caller to the server of its subject, and returns the result. */
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
