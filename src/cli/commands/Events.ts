/** `mcp-runtime events`: what happens to the servers. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "events",
  summary: "Start the servers, and follow what happens to them.",
  description: ["Until Ctrl-C, one line for each event; with --json, each line is a document."],
  args: [],
  options: [{ name: "for", value: "DURATION", about: "How long to follow (default: until Ctrl-C)." }],
  examples: [["events --server github --for 1m", "What happens to one server within a minute."]],
  load: () => import("../internal/events.ts")
}
