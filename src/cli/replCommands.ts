/** The commands of the repl: those of the program that make sense over open connections, and `reconnect`. */
import * as Effect from "effect/Effect"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as Commands from "./Commands.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Offered from "./offered.ts"

const reconnect: Command.Command = {
  args: [{ name: "server", about: "which server.", required: true }],
  options: [],
  examples: [["reconnect files", "Start it anew."]],
  run: ({ args: [server = ""], shared }) =>
    Application.use(
      shared,
      Offered.choice(server, shared),
      ({ runtime }) => Effect.as(Offered.asking(runtime.servers.reconnect(server)), ExitCode.ok)
    )
}

const outside = new Set("list tools show call resources read prompts prompt status events".split(" "))

export const all: ReadonlyArray<Command.Entry> = [
  ...Commands.all.filter(({ name }) => outside.has(name)),
  {
    name: "reconnect",
    summary: "Close the connection of a server, and open another.",
    load: () => Promise.resolve({ command: reconnect })
  }
]
