/** The exit codes of the program. `McpError.exitCode` has the code of each error. */
import * as McpError from "../McpError.ts"
import type * as Command from "./Command.ts"

export type ExitCode = 0 | McpError.ExitCode | 70 | 130

/** It did what it was asked. */
export const ok: ExitCode = 0

/** The tool, or its server, said that it failed. */
export const tool: ExitCode = McpError.exitCodes.tool

/** It was called wrongly: an unknown command, option, server, tool or argument. */
export const usage: ExitCode = McpError.exitCodes.usage

/** A configuration cannot be used. */
export const config: ExitCode = McpError.exitCodes.configuration

/** A server could not be reached, or was lost. */
export const connection: ExitCode = McpError.exitCodes.connection

/** It is not permitted, or not agreed to yet. */
export const permission: ExitCode = McpError.exitCodes.permission

/** A fault of this program itself. */
export const fault: ExitCode = 70

/** Ctrl-C was pressed. */
export const interrupted: ExitCode = 130

/** The exit code of an error. */
export const of = (error: Command.Failure): ExitCode => error._tag === "Usage" ? usage : McpError.exitCode(error)

/** For the help. */
export const meanings: ReadonlyArray<readonly [code: ExitCode, meaning: string]> = [
  [ok, "done"],
  [tool, "the tool, or its server, said that it failed"],
  [usage, "called wrongly: no such command, option, server, tool or argument"],
  [config, "a configuration cannot be used"],
  [connection, "a server could not be reached, or was lost"],
  [permission, "not permitted, or not agreed to yet"],
  [fault, "a fault of this program"],
  [interrupted, "interrupted"]
]
