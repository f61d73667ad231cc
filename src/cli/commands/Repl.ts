/** `mcp-runtime repl`: many commands over connections that stay open. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "repl",
  summary: "Keep the servers connected, and run one command after the other.",
  description: [
    "Each line is a command: list, tools, show, call, resources, read, prompts, prompt, status, events, reconnect, help or "
    + "exit, written as they are outside. Words may stand in quotes. Tab completes commands, servers, tools and their "
    + "arguments; Ctrl-C cancels the command that runs; Ctrl-D ends.",
    "From a pipe its lines are run one after the other, and those that begin with # are passed over. The exit code is then "
    + "that of the last line that failed. With --json each line gives one line of JSON."
  ],
  args: [],
  options: [],
  examples: [
    ["repl --server files", "This server only."],
    ["repl --json < lines.txt", "All lines of a file."]
  ],
  load: () => import("../internal/repl.ts")
}
