/**
 * How servers are ended: the bounds of each step, the report of how each server ended, and the last resort for a host
 * process that ends without closing its scopes.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Rec from "effect/Record"
import type * as Scope from "effect/Scope"
import * as Launcher from "../config/launcher.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as Transport from "../transport/Transport.ts"

/** Run when the process ends before the scopes that would have released their resources. */
const guards = new Set<() => void>()

const fatalSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

const runGuards = (): void => {
  for (const guard of guards) {
    guards.delete(guard)
    try {
      guard()
    } catch {
      // The process is ending: the other guards matter more than this error.
    }
  }
}

/**
 * The number of listeners of the package signal-exit (3 and 4). It raises a signal again only if nothing else listens,
 * so if it counted as the application's listener, each would wait for the other and Ctrl-C would do nothing.
 */
const signalExitListeners = (): number => {
  const emitters: ReadonlyArray<unknown> = [
    Reflect.get(process, "__signal_exit_emitter__"),
    Reflect.get(globalThis, Symbol.for("signal-exit emitter"))
  ]
  const countOf = (emitter: unknown): number =>
    typeof emitter === "object" && emitter !== null && "count" in emitter ? Number(emitter.count) || 0 : 0
  return emitters.reduce<number>((sum, emitter) => sum + countOf(emitter), 0)
}

const onSignal = (signal: NodeJS.Signals): void => {
  if (process.listenerCount(signal) > 1 + signalExitListeners()) return
  runGuards()
  unlisten()
  // Raised again without our listener, so that the exit status names the signal.
  process.kill(process.pid, signal)
}

const listen = (): void => {
  process.on("exit", runGuards)
  // First in the order: a listener that is called once, Effect's `runMain` among them, is removed before it runs.
  for (const signal of fatalSignals) process.prependListener(signal, onSignal)
}

const unlisten = (): void => {
  process.off("exit", runGuards)
  for (const signal of fatalSignals) process.off(signal, onSignal)
}

/**
 * Adds a synchronous guard that runs when the process ends by `process.exit`, an uncaught error or a fatal signal, and
 * returns its removal. A signal that the application listens for is left to the application, but a second one to an
 * application that listened once runs the guards. SIGKILL runs none: servers then see the end of their stdin.
 */
const atExit = (guard: () => void): () => void => {
  if (guards.size === 0) listen()
  guards.add(guard)
  return () => {
    if (guards.delete(guard) && guards.size === 0) unlisten()
  }
}

export interface Options {
  /** How long requests in flight may still finish. */
  readonly drainTimeout: Duration.DurationInput
  /** From the end of stdin to SIGTERM. */
  readonly stdinGrace: Duration.DurationInput
  /** From SIGTERM to SIGKILL. */
  readonly termGrace: Duration.DurationInput
  /** A farewell over the network: the DELETE of a session, the close frame of a WebSocket. */
  readonly farewellTimeout: Duration.DurationInput
  /** All steps together. */
  readonly deadline: Duration.DurationInput
  /**
   * The limit for a launcher (npx, uvx, …) that is installing its server, from its start. The other limits start after
   * it. Only on Linux, and not for docker, pipx and deno, because their processes do not show an install.
   */
  readonly installGrace: Duration.DurationInput
}

export const defaults: Options = {
  drainTimeout: Duration.zero,
  stdinGrace: Duration.seconds(2),
  termGrace: Duration.seconds(2),
  farewellTimeout: Duration.seconds(1),
  deadline: Duration.seconds(10),
  installGrace: Duration.minutes(5)
}

/** How one server ended. `how` is the strongest step that was needed. */
export interface ServerEnd {
  readonly server: string
  readonly transport: Transport.Transport["kind"]
  readonly how: "exited-before" | "closed" | "terminated" | "killed" | "abandoned"
  readonly took: Duration.Duration
  /** The processes that were still alive at SIGKILL. */
  readonly killed: ReadonlyArray<number>
  /** Processes that had left the server's tree (daemons) and were found by their environment; they are ended as well. */
  readonly escaped?: ReadonlyArray<number> | undefined
  readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined
}

export interface Report {
  readonly servers: ReadonlyArray<ServerEnd>
}

export class Teardown extends Context.Tag("effect-mcp-runtime/resilience/Teardown")<Teardown, {
  readonly options: { readonly [K in keyof Options]: Duration.Duration }
  /** Called by a transport that has released everything. */
  readonly record: (end: ServerEnd) => void
  readonly report: Effect.Effect<Report>
  /** Calls `kill`, synchronously, if the host process ends before the scope does. */
  readonly lastResort: (kill: () => void) => Effect.Effect<void, never, Scope.Scope>
}>() {}

/**
 * How long the close of connections to these servers may take: the deadline, and before it the grace of an install where
 * the processes of a launcher can show one.
 */
export const bound = (
  { deadline, installGrace }: Teardown["Type"]["options"],
  servers: Iterable<ServerConfig.ServerConfig>
): Duration.Duration =>
  Array.from(servers).some((config) => Launcher.showsInstall(Launcher.of(config)))
    ? Duration.sum(installGrace, deadline)
    : deadline

/** Bounds of the report, because an application may reconnect for months: of one server, and of all together. */
const keptEnds = { server: 16, all: 1024 }

export const make = (options?: Partial<Options>): Effect.Effect<Teardown["Type"]> =>
  Effect.sync(() => {
    const ends: Array<ServerEnd> = []
    return {
      options: Rec.map({ ...defaults, ...options }, (bound) => Duration.decode(bound)),
      record: (end) => {
        const [oldest, ...newer] = ends.filter(({ server }) => server === end.server)
        if (oldest !== undefined && newer.length >= keptEnds.server - 1) ends.splice(ends.indexOf(oldest), 1)
        if (ends.push(end) > keptEnds.all) ends.shift()
      },
      report: Effect.sync(() => ({ servers: ends.slice() })),
      lastResort: (kill) =>
        Effect.asVoid(
          Effect.acquireRelease(Effect.sync(() => atExit(kill)), (remove) => Effect.sync(remove))
        )
    }
  })

/** Ends each server by the mildest step that works, within these bounds. */
export const layer = (options?: Partial<Options>): Layer.Layer<Teardown> => Layer.effect(Teardown, make(options))

/** Kills all remaining processes when a scope closes, without waiting. */
export const layerImmediate: Layer.Layer<Teardown> = layer({
  drainTimeout: Duration.zero,
  stdinGrace: Duration.zero,
  termGrace: Duration.zero,
  farewellTimeout: Duration.zero,
  installGrace: Duration.zero
})
