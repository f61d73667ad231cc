/** `mcp-runtime show`: one tool. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "show",
  summary: "Show a tool: what it does, what it takes, what it gives.",
  args: [{ name: "tool", about: "server/tool, or the tool alone where only one server has it.", required: true }],
  options: [],
  examples: [["show github/create_issue", "Its parameters, with their types."]],
  load: () => import("../internal/show.ts")
}
