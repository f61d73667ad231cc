// @effect-diagnostics nodeBuiltinImport:off -- this module owns the terminal of the process
/** The standard streams of this process, and questions at its terminal. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { Writable } from "node:stream"
import * as Tty from "node:tty"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as Screen from "./Screen.ts"

const nothing: Effect.Effect<string | undefined> = Effect.as(Effect.void, undefined)

/** Imported on demand, because few commands ask. */
const readline = Effect.promise(() => import("node:readline"))

const nowhere = () => new Writable({ write: (_text, _encoding, done) => done() })

/**
 * Asks a question over these streams; succeeds with `undefined` at the end of the input.
 *
 * @param interrupt - called for Ctrl-C, which is an ordinary key while the answer is hidden
 */
export const ask =
  (input: NodeJS.ReadableStream, output: NodeJS.WritableStream, interrupt: () => void) =>
  (question: string, isHidden = false): Effect.Effect<string | undefined> =>
    Effect.acquireUseRelease(
      Effect.map(readline, ({ createInterface }) =>
        createInterface({ input, output: isHidden ? nowhere() : output, terminal: isHidden }).on("SIGINT", interrupt)),
      (lines) =>
        Effect.async<string | undefined>((resume) => {
          lines.once("line", (line) =>
            resume(Effect.succeed(line)))
          lines.once("close", () =>
            resume(nothing))
          output.write(question)
        }),
      (lines, exit) =>
        Effect.sync(() => {
          lines.close()
          input.pause()
          // a visible answer ends its line itself
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
export const askAtTerminal = (output: NodeJS.WriteStream, interrupt: () => void) => {
  const terminal = output.isTTY === true ? openTerminal() : undefined
  terminal?.destroy()
  return terminal && ((question: string, isHidden = false): Effect.Effect<string | undefined> =>
    // open only for the question, because an open terminal takes the keys of every other program
    Effect.acquireUseRelease(
      Effect.sync(openTerminal),
      (input) => input === undefined ? nothing : ask(input, output, interrupt)(question, isHidden),
      (input) => Effect.sync(() => input?.destroy())
    ))
}

/** The size of a terminal that does not report its size. */
const fallback = { columns: 80, rows: 24 }

export const device: Effect.Effect<Screen.Device> = Effect.gen(function*() {
  const { variables } = yield* HostEnvironment.HostEnvironment
  const { NO_COLOR, TERM } = variables()
  const { stderr, stdin, stdout } = process
  const outputClosed = yield* Deferred.make<void>()
  const streams = { out: stdout, err: stderr }
  const mayColour = (NO_COLOR ?? "") === "" && TERM !== "dumb"

  // the reader may close the pipe early, like `head`
  stdout.on("error", () => Deferred.unsafeDone(outputClosed, Effect.void))
  // an error of stderr cannot be reported anywhere
  stderr.on("error", () => undefined)

  const write: Screen.Device["write"] = (where, text) =>
    Effect.async((resume) => {
      streams[where].write(text, () => resume(Effect.void))
    })

  return {
    write,
    log: (text) => void stderr.write(text),
    get columns() {
      return stdout.columns || stderr.columns || fallback.columns
    },
    get rows() {
      return stdout.rows || stderr.rows || fallback.rows
    },
    onResize: (listener) => {
      stdout.on("resize", listener)
      return () => void stdout.off("resize", listener)
    },
    onResume: (listener) => {
      process.on("SIGCONT", listener)
      return () => void process.off("SIGCONT", listener)
    },
    moves: TERM !== "dumb",
    isTerminal: { out: stdout.isTTY === true, err: stderr.isTTY === true },
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    colour: { out: mayColour && stdout.isTTY === true, err: mayColour && stderr.isTTY === true },
    ask: ask(stdin, stderr, () => void process.kill(process.pid, "SIGINT")),
    input: (limit) =>
      Effect.async<string | undefined>((resume) => {
        let text = ""
        const take = (chunk: string) => {
          text += chunk
          if (text.length > limit) resume(nothing)
        }
        const end = () => resume(Effect.succeed(text))
        stdin.setEncoding("utf8").on("data", take).once("end", end).once("error", end)
        return Effect.sync(() => stdin.off("data", take).off("end", end).off("error", end))
      }).pipe(Effect.ensuring(Effect.sync(() => stdin.pause()))),
    outputClosed: Deferred.await(outputClosed)
  }
})
