// @effect-diagnostics nodeBuiltinImport:off -- this is where a line is typed on the terminal of the process
/** One question, and the line that is typed after it. */
import * as Effect from "effect/Effect"
import { Writable } from "node:stream"

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
      Effect.map(loaded, ({ createInterface }) => ({
        lines: createInterface({ input, output: isHidden ? nowhere() : output, terminal: isHidden }).on(
          "SIGINT",
          interrupt
        ),
        // the line of the question ends with the one that is typed, if that is shown
        isOpen: true
      })),
      (state) =>
        Effect.async<string | undefined>((resume) => {
          state.lines.once("line", (line) => {
            state.isOpen = isHidden
            resume(Effect.succeed(line))
          })
          state.lines.once("close", () => resume(Effect.as(Effect.void, undefined)))
          output.write(question)
        }),
      (state) =>
        Effect.sync(() => {
          // what is typed is shown again
          state.lines.close()
          input.pause()
          if (state.isOpen) output.write("\n")
        })
    )
