// @effect-diagnostics nodeBuiltinImport:off -- this is where a line is typed on the terminal of the process
/**
 * One question, and the line that is typed after it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"

/** What is typed is taken key by key then, and shown nowhere. */
const nowhere = () => new Writable({ write: (_text, _encoding, done) => done() })

/**
 * Gives nothing if the input ends.
 *
 * @param interrupt - Ctrl-C is a key like others while nothing is shown
 * @internal
 */
export const over =
  (input: NodeJS.ReadableStream, output: NodeJS.WritableStream, interrupt: () => void) =>
  (question: string, isHidden = false): Effect.Effect<string | undefined> =>
    Effect.acquireUseRelease(
      Effect.sync(() =>
        createInterface({ input, output: isHidden ? nowhere() : output, terminal: isHidden }).on("SIGINT", interrupt)
      ),
      (lines) =>
        Effect.async<string | undefined>((resume) => {
          lines.once("line", (line) => resume(Effect.succeed(line)))
          lines.once("close", () => resume(Effect.as(Effect.void, undefined)))
          output.write(question)
        }),
      (lines) =>
        Effect.sync(() => {
          // what is typed is shown again
          lines.close()
          input.pause()
          if (isHidden) output.write("\n")
        })
    )
