// @effect-diagnostics nodeBuiltinImport:off -- this is where a line is typed on the terminal of the process
/** One question, and the line that is typed after it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { Writable } from "node:stream"
import * as Tty from "node:tty"

/** Hardly any command asks. */
const loaded = Effect.promise(() => import("node:readline"))

/** What is typed is taken key by key then, and shown nowhere. */
const nowhere = () => new Writable({ write: (_text, _encoding, done) => done() })

/**
 * Gives nothing if the input ends.
 *
 * @param interrupt - Ctrl-C is a key like others while nothing is shown
 */
export const over =
  (input: NodeJS.ReadableStream, output: NodeJS.WritableStream, interrupt: () => void) =>
  (question: string, isHidden = false): Effect.Effect<string | undefined> =>
    Effect.acquireUseRelease(
      Effect.map(loaded, ({ createInterface }) =>
        createInterface({ input, output: isHidden ? nowhere() : output, terminal: isHidden }).on("SIGINT", interrupt)),
      (lines) =>
        Effect.async<string | undefined>((resume) => {
          lines.once("line", (line) =>
            resume(Effect.succeed(line)))
          lines.once("close", () =>
            resume(Effect.as(Effect.void, undefined)))
          output.write(question)
        }),
      (lines, exit) =>
        Effect.sync(() => {
          // what is typed is shown again
          lines.close()
          input.pause()
          // the line of the question ends with the one that is typed, if that is shown
          const isEnded = !isHidden && Exit.isSuccess(exit) && exit.value !== undefined
          if (!isEnded) output.write("\n")
        })
    )

/** False for a background process, which the system stops when it reads from its terminal. */
export const isForeground = (): boolean => {
  const { pid, platform } = process
  if (platform === "win32") return true
  try {
    if (platform !== "linux") {
      return execFileSync("ps", ["-o", "stat=", "-p", `${pid}`], { timeout: 1_000 }).includes("+")
    }
    const stat = Fs.readFileSync("/proc/self/stat", "utf8")
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return group === foreground
  } catch {
    return false
  }
}

const openTerminal = (): Tty.ReadStream | undefined => {
  try {
    return isForeground() ? new Tty.ReadStream(Fs.openSync("/dev/tty", "r")) : undefined
  } catch {
    return undefined
  }
}

/**
 * Asks at the terminal of this process while stdin belongs to a protocol. `undefined` without a terminal, or if stderr is not
 * on it, because the terminal then belongs to the interface of the program that reads stderr.
 */
export const atTerminal = (output: NodeJS.WriteStream, interrupt: () => void) => {
  const terminal = output.isTTY === true ? openTerminal() : undefined
  terminal?.destroy()
  return terminal && ((question: string, isHidden = false): Effect.Effect<string | undefined> =>
    // open only for the question, because an open terminal takes the keys of every other program
    Effect.acquireUseRelease(
      Effect.sync(openTerminal),
      (input) =>
        input === undefined ? Effect.as(Effect.void, undefined) : over(input, output, interrupt)(question, isHidden),
      (input) => Effect.sync(() => input?.destroy())
    ))
}
