/**
 * A peer in memory: its faults, its log and its open connections.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as MemoryTransport from "../MemoryTransport.ts"
import { Faults } from "./memoryFaults.ts"
import { Link } from "./memoryLink.ts"
import * as memoryLog from "./memoryLog.ts"

type Connect = (io: MemoryTransport.Io) => Effect.Effect<MemoryTransport.Receiver, never, Scope.Scope>

const dropped: MemoryTransport.End = (server, outcome, stderrTail) =>
  new McpError.ConnectionLost({
    server,
    reason: "socket-closed",
    detail: "the peer dropped the connection",
    outcome,
    stderrTail
  })

/** @internal */
export const make = (
  connect: Connect,
  options: MemoryTransport.PeerOptions = {}
): Effect.Effect<MemoryTransport.Peer> =>
  Effect.sync(() => {
    const faults = new Faults()
    const log = memoryLog.make(options.transcriptLimit ?? 10_000)
    const links = new Set<Link>()
    const each = (f: (link: Link) => void) => Effect.sync(() => Array.from(links).forEach(f))
    const fault = (f: () => void) => Effect.sync(f)

    return {
      open: (config) => open(connect, options, faults, log, links, config),
      connections: log.connections,
      transcript: log.transcript,
      received: log.received,
      until: log.until,
      broadcast: (message) => each((link) => link.toClient(message)),
      garbage: (text) => each((link) => link.lineToClient(text)),
      drop: (end = dropped, how) => each((link) => link.end(end, how?.discard ?? false)),
      hang: fault(() => faults.hang(true)),
      unhang: fault(() => faults.hang(false)),
      halfClose: fault(() => {
        faults.halfClosed = true
      }),
      delay: (delay) =>
        fault(() => {
          faults.delay = delay
        }),
      duplicate: (copies) =>
        fault(() => {
          faults.copies = copies
        }),
      refuseConnect: (end, times = Infinity) => fault(() => faults.refuse(end, times)),
      slowConnect: (duration) =>
        fault(() => {
          faults.slow = Duration.decode(duration)
        }),
      chaos: (seed, rates) => fault(() => faults.chaos(seed, rates)),
      heal: fault(() => faults.heal())
    }
  })

const open = Effect.fnUntraced(function*(
  connect: Connect,
  options: MemoryTransport.PeerOptions,
  faults: Faults,
  log: memoryLog.Log,
  links: Set<Link>,
  config: ServerConfig.ServerConfig
): Effect.fn.Return<Transport.Transport, McpError.ConnectError, Scope.Scope> {
  const clock = yield* Effect.clock
  const limits = ServerConfig.limits(config, yield* Limits.CurrentLimits)
  const teardown = Option.getOrUndefined(yield* Effect.serviceOption(Teardown.Teardown))
  const refusal = faults.admit()
  if (Duration.greaterThan(faults.slow, Duration.zero)) {
    yield* Duration.isFinite(faults.slow) ? Effect.sleep(faults.slow) : Effect.never
  }
  if (refusal !== undefined) {
    const error = refusal(config.name, "not-sent", undefined)
    log.add(clock, 0, "refused", error._tag)
    return yield* error
  }
  const peerScope = yield* Scope.make()
  const link = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const link = new Link({ config, limits, clock, faults, log, options, peerScope, teardown })
      links.add(link)
      return link
    }),
    (link) => {
      links.delete(link)
      return link.release
    }
  )
  const receiver = yield* Scope.extend(connect(link.io), peerScope)
  yield* Effect.forkScoped(link.uplink(receiver))
  yield* Effect.forkScoped(link.downlink)
  return link
})
