/** The commands of the program, in the order of its help. */
import type * as Command from "./Command.ts"
import * as Approve from "./commands/Approve.ts"
import * as Auth from "./commands/Auth.ts"
import * as Call from "./commands/Call.ts"
import * as Config from "./commands/Config.ts"
import * as Doctor from "./commands/Doctor.ts"
import * as Events from "./commands/Events.ts"
import * as List from "./commands/List.ts"
import * as Prompt from "./commands/Prompt.ts"
import * as Prompts from "./commands/Prompts.ts"
import * as Read from "./commands/Read.ts"
import * as Repl from "./commands/Repl.ts"
import * as Resources from "./commands/Resources.ts"
import * as Revoke from "./commands/Revoke.ts"
import * as Serve from "./commands/Serve.ts"
import * as Show from "./commands/Show.ts"
import * as Smoke from "./commands/Smoke.ts"
import * as Status from "./commands/Status.ts"
import * as Tools from "./commands/Tools.ts"

export const all: ReadonlyArray<Command.Command> = [
  List.command,
  Tools.command,
  Show.command,
  Call.command,
  Resources.command,
  Read.command,
  Prompts.command,
  Prompt.command,
  Status.command,
  Events.command,
  Config.command,
  Approve.command,
  Revoke.command,
  Auth.command,
  Doctor.command,
  Serve.command,
  Smoke.command,
  Repl.command
]
