/** What is wrong with how the program was called. */
import * as Data from "effect/Data"

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
