/**
 * The exit codes of the program. `McpError.exitCode` has the code of each error.
 *
 * @since 0.1.0
 */
import * as McpError from "../McpError.ts"
import type * as Usage from "./Usage.ts"

/**
 * @since 0.1.0
 * @category models
 */
export type ExitCode = 0 | McpError.ExitCode | 70 | 130

/**
 * It did what it was asked.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const ok: ExitCode = 0

/**
 * The tool, or its server, said that it failed.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const tool: ExitCode = McpError.exitCodes.tool

/**
 * It was called wrongly: an unknown command, option, server, tool or argument.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const usage: ExitCode = McpError.exitCodes.usage

/**
 * A configuration cannot be used.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const config: ExitCode = McpError.exitCodes.configuration

/**
 * A server could not be reached, or was lost.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const connection: ExitCode = McpError.exitCodes.connection

/**
 * It is not permitted, or not agreed to yet.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const permission: ExitCode = McpError.exitCodes.permission

/**
 * A fault of this program itself.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const fault: ExitCode = 70

/**
 * Somebody pressed Ctrl-C.
 *
 * @since 0.1.0
 * @category exit codes
 */
export const interrupted: ExitCode = 130

type Failure = McpError.McpError | Usage.Usage

/**
 * The exit code of an error.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (error: Failure): ExitCode => error._tag === "Usage" ? usage : McpError.exitCode(error)

/**
 * For the help.
 *
 * @since 0.1.0
 * @category defaults
 */
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
