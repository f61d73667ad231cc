/**
 * The commands of the program, in the order of its help.
 *
 * @since 0.1.0
 */
import type * as Command from "./Command.ts"
import * as Approve from "./commands/Approve.ts"
import * as Call from "./commands/Call.ts"
import * as Config from "./commands/Config.ts"
import * as Doctor from "./commands/Doctor.ts"
import * as List from "./commands/List.ts"
import * as Revoke from "./commands/Revoke.ts"
import * as Show from "./commands/Show.ts"
import * as Tools from "./commands/Tools.ts"

/**
 * @since 0.1.0
 * @category defaults
 */
export const all: ReadonlyArray<Command.Command> = [
  List.command,
  Tools.command,
  Show.command,
  Call.command,
  Config.command,
  Approve.command,
  Revoke.command,
  Doctor.command
]
