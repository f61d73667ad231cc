/** What is wrong with how the program was called. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"

export class Usage extends Data.TaggedError("Usage")<{
  /** What is wrong, in one sentence; words that were typed are quoted and escaped when it is shown. */
  readonly detail: string
  /** What to do instead. */
  readonly next?: string | undefined
}> {
  override get message(): string {
    return this.detail
  }
}

/** The failure with a `Usage`, as an `Either`, which is also an effect. */
export const usage = (detail: string, next?: string): Either.Either<never, Usage> =>
  Either.left(new Usage({ detail, next }))
