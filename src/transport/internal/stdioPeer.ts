/** @internal */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Launcher from "../../config/launcher.ts"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import type * as JsonRpc from "../JsonRpc.ts"
import { isRequest } from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"
import * as ByteRing from "./byteRing.ts"
import * as ChildTree from "./childTree.ts"
import * as MessageReader from "./messageReader.ts"
import type * as ProcessLadder from "./processLadder.ts"
import * as ProcessTable from "./processTable.ts"
import type * as Spawn from "./spawn.ts"
import * as WriteQueue from "./writeQueue.ts"

/**
 * What shows first that a peer is lost.
 *
 * @internal
 */
export type Symptom = "exited" | "stdout-ended" | "stdin-closed" | "stalled" | "endless"

/** @internal */
export interface StdioPeer {
  readonly transport: Transport.Transport
  readonly process: ProcessLadder.Process
  readonly symptom: Deferred.Deferred<Symptom>
  /** Done when there is nothing left to read. */
  readonly drained: Deferred.Deferred<void>
  /** Grows as long as something comes from the server and is delivered. */
  readonly progress: () => number
  readonly outstanding: () => number | undefined
  readonly report: (symptom: Symptom) => void
  /** Delivers what has arrived, and then tells the sink that this was all. */
  readonly finish: (error: (outcome: McpError.Outcome) => McpError.ConnectError) => void
  readonly lost: (symptom: Symptom) => (outcome: McpError.Outcome) => McpError.ConnectError
  /** True while the processes show that the launcher still installs the server; always false without a launcher. */
  readonly installing: () => boolean
  /** Kills the process tree at once and synchronously. During a visible install it sends SIGTERM: npm then rolls back. */
  readonly kill: () => void
  /** Lets go of the pipes and of the process; only errors are still listened to. */
  readonly release: () => void
}

/** Fits a stack trace of Node with the message above it. */
const tailInErrors = 4 * 1024

const details: { readonly [K in Exclude<Symptom, "exited">]: readonly [McpError.ConnectionLost["reason"], string] } = {
  "stdout-ended": ["stdout-ended", "the server closed its stdout and goes on running"],
  "stdin-closed": ["stdin-closed", "the server does not read any more"],
  stalled: ["stalled", "the server has left what was written to it unread"],
  endless: ["stalled", "the server writes a line without an end"]
}

/**
 * The plain, synchronous part of a stdio transport: the wiring of a child's pipes and events. What needs time, waiting
 * or an owner is decided around it.
 *
 * @internal
 */
export const make = (
  server: string,
  child: Spawn.Child,
  limits: Limits.Limits,
  platform: string,
  launcher?: Launcher.Launcher
): StdioPeer => {
  const exited = Deferred.unsafeMake<ProcessLadder.Exit>(FiberId.none)
  const symptom = Deferred.unsafeMake<Symptom>(FiberId.none)
  const drained = Deferred.unsafeMake<void>(FiberId.none)
  const errors = ByteRing.make(limits.stderrBytes)
  const { kill, release, tree } = ChildTree.make(child, platform)
  let exit: ProcessLadder.Exit | undefined
  let complaints = 0
  let phase: McpError.Phase = "initialize"
  let sink: Transport.Sink | undefined
  let final: Transport.Ended | undefined
  let heard = false

  const report = (what: Symptom): void => {
    Deferred.unsafeDone(symptom, Effect.succeed(what))
  }

  const reader = MessageReader.make({
    server,
    maxMessageBytes: limits.maxMessageBytes,
    endless: () => {
      child.stdout.pause()
      report("endless")
    },
    pause: () => child.stdout.pause(),
    resume: () => child.stdout.resume()
  })

  const queue = WriteQueue.make(limits.writeQueueBytes, {
    isOpen: () => child.stdin.writable,
    write: (data, done) => {
      child.stdin.write(data, done)
    },
    end: () => {
      child.stdin.end()
    }
  })

  let open = 2
  const pipeEnded = (): void => {
    open--
    if (open === 0) Deferred.unsafeDone(drained, Effect.void)
  }
  child.stdout.on("data", (chunk: Buffer) => {
    reader.push(chunk)
    if (heard) return
    heard = true
    // A helper that leaves the group is found through its parent only while that lives: look once the server is at
    // work. Elsewhere than on Linux a look costs a process, and is left to the end.
    if (platform === "linux") tree.refresh()
  })
  child.stdout.once("close", () => {
    reader.finish(pipeEnded)
    report("stdout-ended")
  })
  child.stderr.on("data", (chunk: Buffer) => {
    complaints++
    errors.push(chunk)
  })
  child.stderr.once("close", pipeEnded)
  child.stdin.once("error", () => report("stdin-closed"))
  child.once("exit", (code, signal) => {
    exit = { code, signal }
    tree.leaderEnded()
    Deferred.unsafeDone(exited, Effect.succeed(exit))
    report("exited")
  })

  /** An install that the processes do not show (docker, systems other than Linux) has no more time than a server. */
  const installing = (): boolean =>
    launcher !== undefined && !heard && exit === undefined && child.stdout.readable &&
    ProcessTable.hasStartedServer(child.pid, launcher, platform) === false

  const closed = (method: string): McpError.ConnectError =>
    final?.error("not-sent") ?? new McpError.Closed({ server, operation: method, outcome: "not-sent" })

  const lost: StdioPeer["lost"] = (what) => (outcome) => {
    const tail = stderrTail(tailInErrors)
    const stderr = tail === undefined ? {} : { stderrTail: tail }
    if (exit !== undefined) return new McpError.ProcessExited({ server, ...exit, outcome, phase, ...stderr })
    const [reason, detail] = details[what === "exited" ? "stdout-ended" : what]
    return new McpError.ConnectionLost({ server, reason, detail, outcome, ...stderr })
  }

  const send = (message: JsonRpc.Message): McpError.CallError | undefined => {
    const operation = "method" in message ? message.method : "a response"
    if (final !== undefined) return closed(operation)
    // Its last words may still be on their way, but nobody reads ours any more.
    if (exit !== undefined) return lost("exited")("not-sent")
    let line: string
    try {
      line = `${JSON.stringify(message)}\n`
    } catch {
      // A cycle, a BigInt, or nested too deeply: the types forbid the first two, but arguments come from anywhere.
      return new McpError.ProtocolViolation({
        server,
        what: "a message that cannot be written as JSON",
        excerpt: operation,
        outcome: "not-sent",
        phase
      })
    }
    const bytes = Buffer.byteLength(line)
    if (bytes > limits.maxMessageBytes) {
      return new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "sent" })
    }
    const queued = queue.offer(isRequest(message) ? message.id : undefined, line, bytes)
    return queued === undefined
      ? undefined
      : new McpError.Overloaded({ server, queue: "write", queued, limit: limits.writeQueueBytes })
  }

  const conclude = (): void => {
    if (sink === undefined || final === undefined) return
    reader.flush()
    reader.stop()
    sink.ended(final)
  }

  const stderrTail = (limit?: number): string | undefined => {
    const text = errors.tail(limit)
    return text === "" ? undefined : text
  }

  return {
    transport: {
      kind: "stdio",
      streamPerRequest: false,
      start: (to) => {
        sink = to
        reader.start(to)
        if (final !== undefined) setImmediate(conclude)
      },
      send,
      abandon: queue.abandon,
      ...(launcher === undefined ? {} : { installing }),
      negotiated: () => {
        phase = "ready"
      },
      stderrTail
    },
    process: { tree, exited, exit: () => exit, endInput: queue.end },
    symptom,
    drained,
    progress: () => reader.progress() + complaints,
    outstanding: queue.outstanding,
    report,
    finish: (error) => {
      if (final !== undefined) return
      queue.stop()
      final = { error, unsent: queue.unsent }
      conclude()
    },
    lost,
    installing,
    kill: () => kill(installing() ? "SIGTERM" : "SIGKILL"),
    release
  }
}
