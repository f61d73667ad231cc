/** Questions to the person at the terminal. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Screen from "./Screen.ts"

/** Whether an answer is a yes. */
export const isYes = (answer: string | undefined): boolean => /^y(es)?$/i.test((answer ?? "").trim())

/** Asks for agreement: anything but a yes, also the end of the input, is a no. */
export const confirm = (screen: Screen.Screen["Type"], question: string): Effect.Effect<boolean> =>
  Effect.map(screen.ask(`${question} [y/N] `), isYes)

/** A question for a value. */
export interface Question<A, E> {
  readonly prompt: string
  /** Choices by number, below each other. */
  readonly choices?: ReadonlyArray<string>
  /** What is typed is not shown. */
  readonly isSecret?: boolean
  /** The value of a line, which is absent at the end of the input, or why it has none: it is asked for again then. */
  readonly read: (line: string | undefined) => Effect.Effect<Either.Either<A, string>, E>
}

export const value = <A, E>(
  screen: Screen.Screen["Type"],
  { choices = [], isSecret, prompt, read }: Question<A, E>
): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    yield* screen.err(...choices.map((title, at) => `    ${at + 1}  ${title}`))
    for (;;) {
      const answer = yield* read(yield* screen.ask(prompt, isSecret))
      if (Either.isRight(answer)) return answer.right
      yield* screen.err(`    ${answer.left}`)
    }
  })
