/** The exit codes of the program. `McpError.exitCode` has the code of each error. */
import * as McpError from "../McpError.ts"
import type * as Command from "./Command.ts"

export type ExitCode = 0 | McpError.ExitCode | 70 | 130

/** The command succeeded. */
export const ok: ExitCode = 0

/** The tool or its server returned an error. */
export const tool: ExitCode = McpError.exitCodes.tool

/** Unknown command, option, server, tool or argument. */
export const usage: ExitCode = McpError.exitCodes.usage

/** Invalid configuration. */
export const config: ExitCode = McpError.exitCodes.configuration

/** A server could not be reached, or its connection was lost. */
export const connection: ExitCode = McpError.exitCodes.connection

/** Not permitted, not approved, or not logged in. */
export const permission: ExitCode = McpError.exitCodes.permission

/** A bug in this program. */
export const fault: ExitCode = 70

/** Ctrl-C was pressed. */
export const interrupted: ExitCode = 130

/** The exit code of an error. */
export const of = (error: Command.Failure): ExitCode => error._tag === "Usage" ? usage : McpError.exitCode(error)

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
