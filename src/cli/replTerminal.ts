// @effect-diagnostics nodeBuiltinImport:off -- this is where lines are edited on the terminal of the process
/** The terminal as a place where one line after the other is typed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"

export interface Reading {
  /** What is typed after a prompt; nothing at the end of the input. */
  readonly next: (prompt: string) => Effect.Effect<string | undefined>
  /** The same for an answer, which is not kept in the history; a secret is not echoed. */
  readonly ask: (question: string, isSecret?: boolean) => Effect.Effect<string | undefined>
  /** Succeeds when Ctrl-C is pressed while it runs. */
  readonly interrupted: Effect.Effect<void>
}

export interface Open {
  (complete: (line: string) => readonly [hits: Array<string>, word: string]): Effect.Effect<Reading, never, Scope.Scope>
}

const remembered = 1_000

/** What the editor of lines writes, unless that is a secret. */
class Shown extends Writable {
  isMuted = false
  readonly #output: NodeJS.WritableStream

  constructor(output: NodeJS.WritableStream) {
    super({ decodeStrings: false })
    this.#output = output
    output.on("resize", this.#resized)
  }

  readonly #resized = () => void this.emit("resize")

  leave(): void {
    this.#output.off("resize", this.#resized)
  }

  get columns(): number | undefined {
    return "columns" in this.#output && typeof this.#output.columns === "number" ? this.#output.columns : undefined
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    if (!this.isMuted) this.#output.write(text)
    done()
  }
}

/** Over streams of which one is written to by keys, and the other is a screen. */
export const over = (stdin: NodeJS.ReadableStream, stderr: NodeJS.WritableStream): Open => (complete) =>
  Effect.gen(function*() {
    const shown = new Shown(stderr)
    const lines = yield* Effect.acquireRelease(Queue.unbounded<string | undefined>(), Queue.shutdown)
    const waiting = new Set<() => void>()
    const terminal = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createInterface({
          input: stdin,
          output: shown,
          terminal: true,
          historySize: remembered,
          removeHistoryDuplicates: true,
          completer: (line: string) => [...complete(line)]
        })
      ),
      (terminal) =>
        Effect.sync(() => {
          terminal.close()
          shown.leave()
          stdin.pause()
        })
    )
    terminal.on("line", (line) => Queue.unsafeOffer(lines, line))
    let isOpen = true
    let isPrompting = false
    terminal.on("close", () => {
      isOpen = false
      // what comes next begins a line
      if (isPrompting) stderr.write("\n")
      Queue.unsafeOffer(lines, undefined)
    })
    terminal.on("SIGINT", () => {
      if (waiting.size > 0) {
        for (const wake of Array.from(waiting)) wake()
        return
      }
      // nothing runs: what was typed so far is thrown away
      terminal.write(null, { ctrl: true, name: "e" })
      terminal.write(null, { ctrl: true, name: "u" })
      stderr.write("\n(Ctrl-D ends)\n")
      terminal.prompt()
    })
    let isAnswer = false
    terminal.on("history", (history) => {
      if (isAnswer) history.shift()
    })
    const typed = (prompt: string, isAsked: boolean, isSecret = false) =>
      Effect.suspend(() => {
        isAnswer = isAsked
        // the input may have ended while a command ran
        if (isOpen) {
          terminal.setPrompt(prompt)
          terminal.prompt()
          isPrompting = true
          shown.isMuted = isSecret
        }
        return Queue.take(lines)
      }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => void stderr.write("\n"))),
        Effect.ensuring(Effect.sync(() => {
          isPrompting = false
          isAnswer = false
          if (shown.isMuted) stderr.write("\n")
          shown.isMuted = false
        }))
      )
    return {
      next: (prompt) => typed(prompt, false),
      ask: (question, isSecret) => typed(question, true, isSecret),
      interrupted: Effect.async<void>((resume) => {
        const wake = () => {
          waiting.delete(wake)
          resume(Effect.void)
        }
        waiting.add(wake)
        return Effect.sync(() => waiting.delete(wake))
      })
    }
  })

/** The terminal of this process, unless another is provided. */
export class Terminal extends Context.Reference<Terminal>()("effect-mcp-runtime/cli/replTerminal/Terminal", {
  defaultValue: (): { readonly open: Open } => ({ open: over(process.stdin, process.stderr) })
}) {}
