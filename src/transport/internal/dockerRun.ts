/** @internal */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as HostEnvironment from "../../config/HostEnvironment.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import type * as McpError from "../../McpError.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import * as ByteRing from "./byteRing.ts"
import * as ChildTree from "./childTree.ts"
import * as ProcessLadder from "./processLadder.ts"
import * as Spawn from "./spawn.ts"

/**
 * What a program that has ended by itself left behind.
 *
 * @internal
 */
export interface Ran {
  readonly exit: ProcessLadder.Exit
  /** The beginning of its output. */
  readonly stdout: string
  /** The end of its complaints. */
  readonly stderr: string
}

/** @internal */
export interface Options {
  readonly host: HostEnvironment.Host
  readonly teardown: Teardown.Teardown["Type"]
  readonly limit: Duration.Duration
}

const stdoutBytes = 64 * 1024
const stderrBytes = 2 * 1024
/** From the end of a program to that of its output, which somebody else may hold open for ever. */
const drainTime = Duration.millis(500)
/** A question has nothing to put in order when it is given up. */
const termGrace = Duration.millis(250)

interface Run {
  readonly process: ProcessLadder.Process
  readonly closed: Deferred.Deferred<void>
  readonly ran: (exit: ProcessLadder.Exit) => Ran
  readonly kill: () => void
  readonly release: () => void
}

const observe = (child: Spawn.Child, platform: string): Run => {
  const exited = Deferred.unsafeMake<ProcessLadder.Exit>(FiberId.none)
  const closed = Deferred.unsafeMake<void>(FiberId.none)
  const { kill, release, tree } = ChildTree.make(child, platform)
  const complaints = ByteRing.make(stderrBytes)
  const output: Array<Buffer> = []
  let left = stdoutBytes
  let exit: ProcessLadder.Exit | undefined
  child.stdout.on("data", (chunk: Buffer) => {
    // What is beyond the limit is still read: a program that cannot write does not end.
    if (left > 0) output.push(chunk.subarray(0, left))
    left -= chunk.length
  })
  child.stdout.resume()
  child.stderr.on("data", complaints.push)
  child.once("exit", (code, signal) => {
    exit = { code, signal }
    tree.leaderEnded()
    Deferred.unsafeDone(exited, Effect.succeed(exit))
  })
  child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
  child.stdin.end()
  return {
    process: { tree, exited, exit: () => exit, endInput: () => undefined },
    closed,
    ran: (exit) => ({ exit, stdout: Buffer.concat(output).toString("utf8"), stderr: complaints.tail() }),
    kill,
    release
  }
}

/** One turn of the event loop, in which what lies ready in a pipe is read. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits a while for something. Time passes as well while this process is held up, so what lies ready is read, too. */
const settled = <A>(event: Deferred.Deferred<A>, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(
    BoundedWait.within(limit)(Deferred.await(event)),
    (came) => Option.isSome(came) ? Effect.void : Effect.asVoid(Effect.repeatN(turn, 2))
  )

/**
 * Runs a short program to its end: `None` if it does not end in time. Whatever becomes of it, it and all that came of
 * it are ended when the scope is, and at once if the host ends first.
 *
 * @internal
 */
export const run = (
  config: ServerConfig.StdioServer,
  { host, limit, teardown }: Options
): Effect.Effect<Option.Option<Ran>, McpError.SpawnFailed | McpError.ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    let kill = (): void => undefined
    yield* teardown.lastResort(() => kill())
    const started = yield* Effect.acquireRelease(
      Effect.map(Spawn.spawn(config, host), (child) => observe(child, host.platform)),
      ({ process, release }) =>
        ProcessLadder.make(process, {
          ...teardown.options,
          stdinGrace: Duration.zero,
          termGrace: Duration.min(termGrace, teardown.options.termGrace)
        }).run.pipe(Effect.zipRight(Effect.sync(release)))
    )
    kill = started.kill
    yield* settled(started.process.exited, limit)
    const exit = started.process.exit()
    if (exit === undefined) return Option.none()
    yield* settled(started.closed, drainTime)
    return Option.some(started.ran(exit))
  })
