/**
 * A server as a child process: messages are lines on its stdin and stdout.
 *
 * The process gets a group and an environment of its own. It counts as lost as soon as it exits, closes its stdout or
 * its stdin, leaves what is written to it unread for `stallTimeout`, or writes a line without an end. Then, or when the
 * scope closes, all of its processes are ended: its group, the descendants that left it, and daemons that are found by
 * a variable in their environment.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Launcher from "../config/launcher.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as ProcessLadder from "../resilience/processLadder.ts"
import * as ProcessTree from "../resilience/processTree.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Ending from "./ending.ts"
import * as Failure from "./failure.ts"
import * as JsonRpc from "./JsonRpc.ts"
import * as Lines from "./stdio/lines.ts"
import * as Spawn from "./stdio/spawn.ts"
import * as WriteQueue from "./stdio/writeQueue.ts"
import type * as Transport from "./Transport.ts"

/** Opens servers that are child processes: a transport is open once its process has been started. */
export class StdioTransport extends Context.Tag("effect-mcp-runtime/transport/StdioTransport")<StdioTransport, {
  readonly open: Transport.Open<ServerConfig.StdioServer>
}>() {}

// One server

/** The first sign that a server is lost. */
type Symptom = "exited" | "stdout-ended" | "stdin-closed" | "stalled" | "endless"

/** The part of stderr in errors: room for a stack trace of Node with the message above it. */
const tailInErrors = 4 * 1024

const details: { readonly [K in Exclude<Symptom, "exited">]: readonly [McpError.ConnectionLost["reason"], string] } = {
  "stdout-ended": ["stdout-ended", "the server closed its stdout and goes on running"],
  "stdin-closed": ["stdin-closed", "the server does not read any more"],
  stalled: ["stalled", "the server has left what was written to it unread"],
  endless: ["stalled", "the server writes a line without an end"]
}

type Peer = ReturnType<typeof makePeer>

/** Wires the pipes and events of a child to a transport, synchronously. Waiting is left to the effects below. */
const makePeer = (
  server: string,
  started: Spawn.Started,
  limits: Limits.Limits,
  platform: string,
  launcher: Launcher.Launcher | undefined
) => {
  const { child, exit, pid, signal, stderr, tree } = started
  const symptom = Deferred.unsafeMake<Symptom>(FiberId.none)
  const outlet = Ending.outlet(server, limits)
  let hasOutput = false
  let phase: McpError.Phase = "initialize"

  const report = (what: Symptom): void => {
    Deferred.unsafeDone(symptom, Effect.succeed(what))
  }

  const reader = Lines.makeReader({
    server,
    maxMessageBytes: limits.maxMessageBytes,
    sink: outlet,
    onEndless: () => {
      child.stdout.pause()
      report("endless")
    }
  })

  // Before the start, only a process has output that has exited already.
  child.stdout.on("data", (chunk: Buffer) => {
    // Daemons lose their parents early: descendants are looked for once the server is at work. Only /proc is cheap.
    if (!hasOutput && platform === "linux") tree.refresh()
    hasOutput = true
    if (outlet.ended() === undefined) reader.push(chunk)
  })
  child.stdout.once("close", () => {
    reader.end()
    report("stdout-ended")
  })
  child.stdin.once("error", () => report("stdin-closed"))
  child.once("exit", () => report("exited"))

  const queue = WriteQueue.make(limits.writeQueueBytes, child.stdin)

  const stderrTail = (limit?: number): string | undefined => stderr.tail(limit) || undefined

  const lost = (what: Symptom): Transport.Ended["error"] => (outcome) => {
    const tail = stderrTail(tailInErrors)
    const rest = tail === undefined ? {} : { stderrTail: tail }
    const exited = exit()
    if (exited !== undefined) {
      return new McpError.ConnectionLost({ server, reason: "exited", ...exited, outcome, phase, ...rest })
    }
    const [reason, detail] = details[what === "exited" ? "stdout-ended" : what]
    return new McpError.ConnectionLost({ server, reason, detail, outcome, ...rest })
  }

  const send = (message: JsonRpc.Message): McpError.CallError | undefined => {
    // Its last output may still arrive, but it reads nothing any more.
    if (exit() !== undefined) return (outlet.ended()?.error ?? lost("exited"))("not-sent")
    const encoded = outlet.encode(message, "\n")
    if (Either.isLeft(encoded)) return encoded.left
    const { bytes, text } = encoded.right
    const queued = queue.offer(JsonRpc.isRequest(message) ? message.id : undefined, text, bytes)
    return queued === undefined ? undefined : Failure.queueFull(server, queued, limits.writeQueueBytes)
  }

  /** True while the processes show that the launcher still installs the server. */
  const installing = (): boolean =>
    launcher !== undefined && !hasOutput && exit() === undefined && child.stdout.readable &&
    ProcessTree.hasStartedServer(pid, launcher, platform) === false

  const transport: Transport.Transport = {
    kind: "stdio",
    streamPerRequest: false,
    // On the next turn, because the caller has not yet returned from starting it.
    start: (sink) =>
      void setImmediate(() => {
        outlet.start(sink)
        child.stdout.resume()
      }),
    send,
    abandon: queue.abandon,
    ...(launcher === undefined ? {} : { installing }),
    negotiated: () => {
      phase = "ready"
    },
    stderrTail
  }
  return {
    ...started,
    transport,
    symptom,
    report,
    lost,
    endInput: queue.end,
    outstanding: queue.outstanding,
    /** Reports the end to the sink; later messages are dropped. */
    finish: (error: Transport.Ended["error"]): void => {
      queue.stop()
      outlet.end(error, queue.unsent)
    },
    installing,
    /** Ends the processes at once and synchronously; an install gets SIGTERM, so that npm rolls back. */
    kill: (): void => signal(installing() ? "SIGTERM" : "SIGKILL")
  }
}

// Its life

/** From the end of a pipe to the exit of the process, and from the exit to the end of its output. */
const settleTime = Duration.millis(200)

type Running = Peer & ProcessLadder.Ladder & { readonly server: string }

/** Reports the loss of the server, and ends what is left of it without waiting for the scope to close. */
const watch = (peer: Running): Effect.Effect<void> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const symptom = yield* restore(Deferred.await(peer.symptom))
      // An exit code says more than the end of a pipe.
      if (symptom === "stdout-ended" || symptom === "stdin-closed") {
        yield* restore(Spawn.settled(peer.exited, settleTime))
      }
      if (peer.exit() !== undefined) yield* restore(Spawn.settled(peer.closed, settleTime))
      peer.finish(peer.lost(symptom))
      yield* peer.run("lost")
    })
  )

/** Reports a stall when the same write is under way in three looks, half the limit apart. */
const watchStall = (peer: Peer, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function*() {
    let seen: number | undefined
    for (let looks = 0; looks < 2;) {
      yield* Effect.sleep(Duration.times(limit, 0.5))
      const now = peer.outstanding()
      looks = now !== undefined && now === seen ? looks + 1 : 0
      seen = now
    }
    peer.report("stalled")
  })

export const make: Effect.Effect<StdioTransport["Type"], never, Teardown.Teardown> = Effect.gen(function*() {
  const teardown = yield* Teardown.Teardown
  const base = yield* Limits.CurrentLimits
  const host = yield* HostEnvironment.HostEnvironment
  const ending = yield* Ending.make

  const start = Effect.fnUntraced(function*(config: ServerConfig.StdioServer, limits: Limits.Limits) {
    const { name: server } = config
    const launcher = Launcher.of(config)
    const started = yield* Spawn.spawn(config, host, limits.stderrBytes)
    const peer = makePeer(server, started, limits, host.platform, launcher)
    const install = launcher && {
      isRunning: peer.installing,
      since: yield* Clock.currentTimeMillis,
      onWait: () => ending.installing(server, launcher)
    }
    return { ...peer, ...ProcessLadder.make(peer, teardown.options, install), server }
  })

  const end = Effect.fnUntraced(function*(peer: Running) {
    const isLost = yield* Deferred.isDone(peer.symptom)
    const [took] = yield* Effect.timed(peer.run(isLost ? "lost" : "polite"))
    peer.finish(Failure.closed(peer.server))
    peer.release()
    ending.record({ server: peer.server, transport: "stdio", took, exit: peer.exit(), ...peer.outcome() })
  })

  return {
    // Untraced, because a trace retains its arguments while a forked fiber runs, and a span retains errors as they are
    // before their secrets are hidden.
    open: Effect.fnUntraced(function*(config: ServerConfig.StdioServer) {
      // What outlives this must not retain the configuration, which has secrets in it.
      const limits = ServerConfig.limits(config, base)
      const peer = yield* Spawn.scoped(teardown, start(config, limits), end)
      // Interruptible even in an uninterruptible region, because closing waits for these fibers.
      yield* Effect.forkScoped(Effect.interruptible(watch(peer)))
      yield* Effect.forkScoped(Effect.interruptible(watchStall(peer, limits.stallTimeout)))
      return peer.transport
    })
  }
})

export const layer: Layer.Layer<StdioTransport, never, Teardown.Teardown> = Layer.effect(StdioTransport, make)
