/** Questions at the terminal. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Screen from "./Screen.ts"

/** True for `y` and `yes`. */
export const isYes = (answer: string | undefined): boolean => /^y(es)?$/i.test((answer ?? "").trim())

/** Asks a yes-no question. Anything but yes, including the end of the input, is no. */
export const confirm = (screen: Screen.Screen["Type"], question: string): Effect.Effect<boolean> =>
  Effect.map(screen.ask(`${question} [y/N] `), isYes)

/** A question for a value. */
export interface Question<A, E> {
  readonly prompt: string
  /** Listed with numbers. */
  readonly choices?: ReadonlyArray<string>
  /** The answer is not echoed. */
  readonly isSecret?: boolean
  /** Parses an answer (absent at the end of the input), or returns why it is invalid: then the question is repeated. */
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
