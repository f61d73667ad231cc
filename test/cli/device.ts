/** A terminal, or a pipe, that keeps what is written to it; somebody answers from a list, and then with nothing. */
import { Effect } from "effect"
import type * as Screen from "../../src/cli/Screen.ts"

export interface Recorded extends Screen.Device {
  readonly out: () => string
  readonly err: () => string
  readonly asked: ReadonlyArray<string>
}

export const make = (more: Partial<Screen.Device>, answers: ReadonlyArray<string> = []): Recorded => {
  const texts = { out: "", err: "" }
  const left = [...answers]
  const asked: Array<string> = []
  return {
    write: (where, text) => Effect.sync(() => void (texts[where] += Buffer.from(text).toString())),
    log: (text) => {
      texts.err += text
    },
    columns: 80,
    rows: 24,
    onResize: () => () => undefined,
    onResume: () => () => undefined,
    moves: true,
    isTerminal: { out: false, err: false },
    isInteractive: false,
    colour: { out: false, err: false },
    ask: (question) =>
      Effect.sync(() => {
        asked.push(question)
        return left.shift()
      }),
    input: () => Effect.succeed(""),
    outputClosed: Effect.never,
    ...more,
    out: () => texts.out,
    err: () => texts.err,
    asked
  }
}
