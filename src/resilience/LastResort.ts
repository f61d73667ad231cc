/**
 * What is still done when the host process ends without having closed its scopes: a synchronous call for each guard.
 *
 * It covers `process.exit`, an uncaught exception or rejection, and the signals that end a process, as long as the
 * application has no listener of its own for them; then ending is the application's affair, and a second signal to one
 * that listens once ends what is left at once. Nothing can be done about
 * SIGKILL: there, servers see the end of their stdin.
 *
 * @since 0.1.0
 */

const guards = new Set<() => void>()

const fatalSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

const runAll = (): void => {
  for (const guard of guards) {
    guards.delete(guard)
    try {
      guard()
    } catch {
      // The process is ending: the other guards matter more than an error that nobody will read.
    }
  }
}

/**
 * The listeners of the package signal-exit (3 and 4), which half of npm installs: it raises the signal again only if
 * nobody else listens. If it counted as the application's listener, each would wait for the other and Ctrl-C would do
 * nothing.
 */
const signalExitListeners = (): number => {
  const host: object = process
  const emitters = [
    Reflect.get(host, "__signal_exit_emitter__"),
    Reflect.get(globalThis, Symbol.for("signal-exit emitter"))
  ]
  let count = 0
  for (const emitter of emitters) {
    if (typeof emitter === "object" && emitter !== null && "count" in emitter && typeof emitter.count === "number") {
      count += emitter.count
    }
  }
  return count
}

const onSignal = (signal: NodeJS.Signals): void => {
  if (process.listenerCount(signal) > 1 + signalExitListeners()) return
  runAll()
  uninstall()
  // Again, without a listener now: the exit status says what ended the process.
  process.kill(process.pid, signal)
}

const install = (): void => {
  process.on("exit", runAll)
  // First in line: a listener that is to be called once, Effect's `runMain` among them, is gone after its turn.
  for (const signal of fatalSignals) process.prependListener(signal, onSignal)
}

const uninstall = (): void => {
  process.off("exit", runAll)
  for (const signal of fatalSignals) process.off(signal, onSignal)
}

/**
 * Adds a guard, and returns how to remove it. The process has listeners of ours only while there are guards.
 *
 * @since 0.1.0
 * @category constructors
 */
export const add = (guard: () => void): () => void => {
  if (guards.size === 0) install()
  guards.add(guard)
  return () => {
    if (guards.delete(guard) && guards.size === 0) uninstall()
  }
}
