/**
 * The commands that are run within the repl: those of outside, over the connections that are open, and what only makes
 * sense there.
 */
import * as Effect from "effect/Effect"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Call from "../commands/Call.ts"
import * as Events from "../commands/Events.ts"
import * as List from "../commands/List.ts"
import * as Prompt from "../commands/Prompt.ts"
import * as Prompts from "../commands/Prompts.ts"
import * as Read from "../commands/Read.ts"
import * as Resources from "../commands/Resources.ts"
import * as Show from "../commands/Show.ts"
import * as Status from "../commands/Status.ts"
import * as Tools from "../commands/Tools.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Offered from "./offered.ts"

const reconnect: Command.Command = {
  name: "reconnect",
  summary: "Close the connection of a server, and open another.",
  args: [{ name: "server", about: "which server.", required: true }],
  options: [],
  examples: [["reconnect files", "Start it anew."]],
  load: () =>
    Promise.resolve({
      run: ({ args: [server = ""], shared }) =>
        Application.use(
          shared,
          Offered.choice(server, shared),
          ({ runtime }) => Effect.as(Offered.asking(runtime.servers.reconnect(server)), ExitCode.ok)
        )
    })
}

/** @internal */
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
  reconnect
]
