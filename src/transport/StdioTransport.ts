/**
 * A server as a child process: messages are lines on its stdin and stdout.
 *
 * The process gets its own group and an environment of its own. It counts as lost as soon as it exits, closes its
 * stdout or its stdin, leaves what is written to it unread for `stallTimeout`, or writes a line without an end; then,
 * or when the scope closes, all of its processes are ended: its group, and the descendants that left it, as far as they
 * could be found while their parents lived.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Launcher from "../config/launcher.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./internal/ending.ts"
import * as ProcessLadder from "./internal/processLadder.ts"
import * as Spawn from "./internal/spawn.ts"
import * as StdioPeer from "./internal/stdioPeer.ts"
import type * as Transport from "./Transport.ts"

/**
 * Opens servers that are child processes: a transport is open once its process has been started.
 *
 * @since 0.1.0
 * @category tags
 */
export class StdioTransport extends Context.Tag("effect-mcp-runtime/transport/StdioTransport")<StdioTransport, {
  readonly open: Transport.Open<ServerConfig.StdioServer>
}>() {}

/** From the end of a process's output to its own, and from its end until its output counts as ended, if none comes. */
const settleTime = Duration.millis(200)
/** Whoever else holds the pipe of a process that has ended can write for ever. */
const drainTime = Duration.seconds(2)

/** One turn of the event loop, in which what lies ready in a pipe is read. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits a while for something. Time passes as well while this process is held up, so what lies ready is read, too. */
const settled = <A>(event: Deferred.Deferred<A>): Effect.Effect<boolean> =>
  Effect.timeoutOption(Deferred.await(event), settleTime).pipe(
    Effect.flatMap((came) => Option.isSome(came) ? Effect.void : Effect.repeatN(turn, 2)),
    Effect.zipRight(Deferred.isDone(event))
  )

/** Waits for the last of the output: until its end, or until nothing has come for a while. */
const drain = (peer: StdioPeer.StdioPeer): Effect.Effect<void> =>
  Effect.gen(function*() {
    const before = peer.progress()
    const isDone = yield* settled(peer.drained)
    if (!isDone && peer.progress() > before) yield* drain(peer)
  })

/** Tells the end of the peer once it shows, and ends what is left of it without waiting for anybody to close. */
const watch = (peer: StdioPeer.StdioPeer, ladder: ProcessLadder.Ladder): Effect.Effect<void> =>
  Effect.gen(function*() {
    const symptom = yield* Deferred.await(peer.symptom)
    if (symptom === "stdout-ended" || symptom === "stdin-closed") yield* settled(peer.process.exited)
    if (peer.process.exit() !== undefined) yield* Effect.timeoutOption(drain(peer), drainTime)
    peer.finish(peer.lost(symptom))
    yield* ladder.run
  })

/** The same write under way in three looks, half the limit apart: the peer has stopped reading. */
const watchStall = (peer: StdioPeer.StdioPeer, limit: Duration.Duration): Effect.Effect<void> => {
  let seen: number | undefined
  let looks = 0
  const look = (): boolean => {
    const now = peer.outstanding()
    looks = now !== undefined && now === seen ? looks + 1 : 0
    seen = now
    return looks === 2
  }
  return Effect.sleep(Duration.times(limit, 0.5)).pipe(
    Effect.map(look),
    Effect.repeat({ until: (isStalled) => isStalled }),
    Effect.zipRight(Effect.sync(() => peer.report("stalled")))
  )
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<StdioTransport["Type"], never, Teardown.Teardown> = Effect.gen(function*() {
  const teardown = yield* Teardown.Teardown
  const base = yield* Limits.CurrentLimits
  const host = yield* HostEnvironment.HostEnvironment
  const ending = yield* Ending.make

  const close = Effect.fnUntraced(function*(
    server: string,
    peer: StdioPeer.StdioPeer,
    ladder: ProcessLadder.Ladder
  ) {
    const [took] = yield* Effect.timed(ladder.run)
    peer.finish((outcome) => new McpError.Closed({ server, operation: "the request", outcome }))
    peer.release()
    ending.record({ server, transport: "stdio", took, exit: peer.process.exit(), ...ladder.outcome() })
  })

  const acquire = (config: ServerConfig.StdioServer, limits: Limits.Limits) =>
    Effect.zipWith(Spawn.spawn(config, host), Clock.currentTimeMillis, (child, since) => {
      const { name } = config
      const launcher = Launcher.of(config)
      const peer = StdioPeer.make(name, child, limits, host.platform, launcher)
      const install = launcher === undefined ? undefined : {
        isRunning: peer.installing,
        since,
        onWait: () => ending.installing(name, launcher)
      }
      return { peer, ladder: ProcessLadder.make(peer.process, teardown.options, install) }
    })

  return {
    // untraced, because a trace holds on to its arguments for as long as what was forked in it runs, and a span to an
    // error as it is before its secrets are hidden
    open: Effect.fnUntraced(function*(config: ServerConfig.StdioServer) {
      const limits = ServerConfig.limits(config, base)
      // what outlives this must not hold on to the configuration, which has secrets in it
      const { name } = config
      let kill = (): void => undefined
      // Before there is a process, so that there is no moment in which it is nobody's.
      yield* teardown.lastResort(() => kill())
      const { ladder, peer } = yield* Effect.acquireRelease(
        acquire(config, limits),
        ({ ladder, peer }) => close(name, peer, ladder)
      )
      kill = peer.kill
      // Interruptible even if whoever opens is not: closing waits for them.
      yield* Effect.forkScoped(Effect.interruptible(watch(peer, ladder)))
      yield* Effect.forkScoped(Effect.interruptible(watchStall(peer, limits.stallTimeout)))
      return peer.transport
    })
  }
})

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<StdioTransport, never, Teardown.Teardown> = Layer.effect(StdioTransport, make)
