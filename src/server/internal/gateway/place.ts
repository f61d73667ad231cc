/** Where a caller sits: what all share, and what it has of its own. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as McpServer from "../../McpServer.ts"
import * as Seat from "./seat.ts"
import type * as Seats from "./seats.ts"

type Found = Effect.Effect<Seat.Seat, McpServer.Refusal>

/** @internal */
export interface Place {
  /** Where lists come from. */
  readonly base: Found
  /** What the caller has of its own by now. */
  readonly own: () => Seat.Seat | undefined
  /** Where a request of this caller to a server goes. */
  readonly seatFor: (
    exchange: McpServer.Exchange,
    server: string,
    needsPerson: (seat: Seat.Seat) => boolean
  ) => Effect.Effect<Chosen, McpServer.Refusal, Scope.Scope>
}

/** @internal */
export interface Chosen {
  readonly seat: Seat.Seat
  /** Whether the caller itself answers what the server asks. */
  readonly isHandedOver: boolean
}

const over = (seat: Seat.Seat, isHandedOver: boolean): Chosen => ({ seat, isHandedOver })

/** A session has its own connections from its first request on, because any server may remember who has called. */
export const ofSession = (
  seats: Seats.Seats,
  own: Seats.Own,
  options: { readonly single: boolean; readonly shared: (server: string) => boolean }
): Place => ({
  base: options.single ? own.seat : seats.shared,
  own: own.there,
  seatFor: (_exchange, server) =>
    Effect.map(options.shared(server) && !options.single ? seats.shared : own.seat, (seat) => over(seat, false))
})

/**
 * What a server of the stateless era asks is the caller's own affair, unless somebody has to agree here. One that is not
 * connected is waited for, because it must not depend on the moment where a request goes.
 */
const isTheirs = (seat: Seat.Seat, server: string, needsPerson: (seat: Seat.Seat) => boolean) =>
  Effect.gen(function*() {
    if (needsPerson(seat)) return false
    const infos = yield* seat.runtime.servers.list
    const known = infos.find(({ name }) => name === server)?.era
    if (known !== undefined) return known === "stateless"
    const connected = seat.runtime.withClient(server, ({ era }) => Effect.succeed(era))
    // why it cannot be is told by the request itself
    return yield* Effect.match(connected, { onFailure: () => true, onSuccess: (era) => era === "stateless" })
  })

/**
 * The one program that is there has connections of its own, with a session or without; other ones only if it can be asked
 * something else than at first.
 */
export const ofOnly = (base: Found, seatOf: (caller: McpServer.Caller) => Found): Place => ({
  base,
  own: () => undefined,
  seatFor: ({ caller }, server, needsPerson) =>
    Effect.gen(function*() {
      const first = yield* base
      // where nobody is asked over the connection itself, it does not matter whose it was first
      return !Seat.declares(caller.capabilities) || (yield* isTheirs(first, server, needsPerson))
        ? over(first, true)
        : over(yield* seatOf(caller), false)
    })
})

/**
 * A request without a session shares connections with all others, unless its server is of the session era, where questions
 * are put to a connection and not to a request; or somebody has to agree.
 */
export const ofRequests = (
  everybodys: Found,
  lease: (caller: McpServer.Caller) => Effect.Effect<Seat.Seat, McpServer.Refusal, Scope.Scope>,
  shared: (server: string) => boolean
): Place => ({
  base: everybodys,
  own: () => undefined,
  seatFor: ({ caller, params }, server, needsPerson) =>
    Effect.gen(function*() {
      const common = yield* everybodys
      // what is logged over a connection that all share is for nobody in particular
      const hears = Seat.levelOf(params) !== undefined
      const isOwnAffair = !Seat.declares(caller.capabilities) || (yield* isTheirs(common, server, needsPerson))
      return shared(server) || (isOwnAffair && !hears)
        ? over(common, true)
        : over(yield* lease(caller), isOwnAffair)
    })
})
