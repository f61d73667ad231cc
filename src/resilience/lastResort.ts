/** Runs guards when the process ends before the scopes that would have released their resources. */
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
export const atExit = (guard: () => void): () => void => {
  if (guards.size === 0) listen()
  guards.add(guard)
  return () => {
    if (guards.delete(guard) && guards.size === 0) unlisten()
  }
}
