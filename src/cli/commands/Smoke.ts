/** `mcp-runtime smoke`: whether the runtime keeps its promises on this machine. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "smoke",
  summary: "Try the whole runtime on this machine: one line for each promise.",
  description: [
    "It starts the small server that comes with the program, lists and calls its tools, cancels a call, lets the server "
    + "crash, and looks whether anything is left at the end. With --server it does so with servers of yours: of their "
    + "tools none is called.",
    "The exit code is 0 if every promise was kept, and 1 if not."
  ],
  args: [],
  options: [],
  examples: [
    ["smoke", "With the server that comes with the program."],
    ["smoke --server github --json", "With a server of yours, for a program to read."]
  ],
  load: () => import("../internal/smoke.ts")
}
