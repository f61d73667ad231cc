/** `mcp-runtime prompts`: the prompts of servers. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "prompts",
  summary: "List the prompts of the servers, and what they take.",
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["prompts", "All of them."]],
  load: () => import("../internal/prompts.ts")
}
