/** The exit codes of the program. `ErrorRow.exitCode` has the code of each error. */
import * as ErrorRow from "../errorRow.ts"
import type * as Command from "./Command.ts"

export type ExitCode = 0 | ErrorRow.ExitCode | 70 | 130

/** The command succeeded. */
export const ok: ExitCode = 0

/** The tool or its server returned an error. */
export const tool: ExitCode = ErrorRow.exitCodes.tool

/** Unknown command, option, server, tool or argument. */
export const usage: ExitCode = ErrorRow.exitCodes.usage

/** Invalid configuration. */
export const config: ExitCode = ErrorRow.exitCodes.configuration

/** A server could not be reached, or its connection was lost. */
export const connection: ExitCode = ErrorRow.exitCodes.connection

/** Not permitted, not approved, or not logged in. */
export const permission: ExitCode = ErrorRow.exitCodes.permission

/** A bug in this program. */
export const fault: ExitCode = 70

/** Ctrl-C was pressed. */
export const interrupted: ExitCode = 130

/** The exit code of an error. */
export const of = (error: Command.Failure): ExitCode => error._tag === "Usage" ? usage : ErrorRow.exitCode(error)

/** For the help. */
export const meanings: ReadonlyArray<readonly [code: ExitCode, meaning: string]> = [
  [ok, "success"],
  [tool, "the tool or its server returned an error"],
  [usage, "unknown command, option, server, tool or argument"],
  [config, "invalid configuration"],
  [connection, "a server could not be reached, or its connection was lost"],
  [permission, "not permitted, not approved, or not logged in"],
  [fault, "internal error"],
  [interrupted, "interrupted (Ctrl-C)"]
]
