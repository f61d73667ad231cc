import { Context, Effect, Exit, Layer, Mailbox, Option } from "effect"
import { Approval } from "effect-mcp-runtime"
import { createInterface } from "node:readline"

/** The person at the terminal. */
export class Terminal extends Context.Tag("terminal-agent/Terminal")<Terminal, {
  /** Prints a question and waits for a line. `None` when the input has ended. */
  readonly ask: (question: string) => Effect.Effect<Option.Option<string>>
}>() {
  static readonly layer = Layer.scoped(
    Terminal,
    Effect.gen(function*() {
      const lines = yield* Mailbox.make<string>()
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          createInterface({ input: process.stdin })
            .on("line", (line) => lines.unsafeOffer(line))
            .on("close", () => lines.unsafeDone(Exit.void))
        ),
        (readline) => Effect.sync(() => readline.close())
      )
      // two servers may need approval at the same time
      const turn = yield* Effect.makeSemaphore(1)
      return {
        ask: (question) =>
          Effect.sync(() => process.stdout.write(question)).pipe(
            Effect.zipRight(Effect.option(lines.take)),
            turn.withPermits(1)
          )
      }
    })
  )
}

const answerOf = (line: string): Approval.Answer => {
  switch (line.trim().toLowerCase()) {
    case "y":
      return { _tag: "Once" }
    case "s":
      return { _tag: "Session" }
    default:
      return { _tag: "Deny" }
  }
}

/** Asks the person about each call that needs approval, with all of its arguments. */
export const ApprovalAtTerminal = Layer.effect(
  Approval.Approval,
  Effect.map(Terminal, ({ ask }) => ({
    ask: Approval.whole(({ args, name, server }) =>
      Effect.map(
        ask(`Allow ${server}/${name} ${args}? [y]es, [s]ession, [N]o: `),
        Option.match({ onNone: (): Approval.Answer => ({ _tag: "Unanswered" }), onSome: answerOf })
      )
    )
  }))
)
