// @effect-diagnostics nodeBuiltinImport:off -- platform's Command would end what it has started, and this is to stay
/** @internal */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"

/** An opener that cannot open anything says so at once; one that does not end may have become the browser. */
const patience = Duration.seconds(3)

/** @internal */
export interface Opener {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** All that it gets. */
  readonly environment: ReadonlyMap<string, string>
}

/** Node names what is wrong in `code` alone: its text quotes arguments. */
const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "?"

/**
 * Starts a program (argv, no shell) that outlives this one, and gives it a moment to fail. It fails with a sentence.
 *
 * @internal
 */
export const launch = ({ argv: [command, ...args], environment }: Opener): Effect.Effect<void, string> =>
  Effect.async<void, string>((resume) => {
    const failed = (error: unknown) => resume(Effect.fail(`${command} could not be started (${codeOf(error)})`))
    let child: ChildProcess.ChildProcess
    try {
      child = ChildProcess.spawn(command, args, {
        stdio: "ignore",
        detached: true,
        shell: false,
        windowsHide: true,
        env: Object.fromEntries(environment)
      })
    } catch (error) {
      return failed(error)
    }
    child.unref()
    child.on("error", failed)
    child.on(
      "exit",
      (code, signal) =>
        resume(code === 0 ? Effect.void : Effect.fail(`${command} ended with ${signal ?? `exit code ${code}`}`))
    )
  }).pipe(Effect.timeoutTo({ duration: patience, onSuccess: () => undefined, onTimeout: () => undefined }))
