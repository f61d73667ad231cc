/**
 * `mcp-runtime prompts`: the prompts of servers.
 *
 * @since 0.1.0
 */
import type * as Command from "../Command.ts"

/**
 * @since 0.1.0
 * @category commands
 */
export const command: Command.Command = {
  name: "prompts",
  summary: "List the prompts of the servers, and what they take.",
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["prompts", "All of them."]],
  load: () => import("../internal/prompts.ts")
}
