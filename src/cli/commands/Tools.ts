/** `mcp-runtime tools`: what can be called. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "tools",
  summary: "List the tools of all servers, or of one, or those that fit some words.",
  args: [{ name: "server", about: "Only the tools of this server.", required: false }],
  options: [{ name: "search", value: "WORDS", about: "Only tools that fit these words, the best first." }],
  examples: [
    ["tools", "Everything that can be called."],
    ["tools github --search \"open a pull request\"", "What one server has for a task."]
  ],
  load: () => import("../internal/tools.ts")
}
