/**
 * The commands of the program, in the order of its help.
 *
 * @since 0.1.0
 */
import type * as Command from "./Command.ts"
import * as List from "./commands/List.ts"

/**
 * @since 0.1.0
 * @category defaults
 */
export const all: ReadonlyArray<Command.Command> = [List.command]
