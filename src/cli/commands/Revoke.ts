/** `mcp-runtime revoke`: takes back what was agreed to. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "revoke",
  summary: "Show what was agreed to here, and take it back.",
  description: ["Applications that run now and follow their configuration stop the server."],
  args: [
    { name: "server", about: "A server or its fingerprint; nothing, to see what was agreed to.", required: false }
  ],
  options: [],
  examples: [["revoke github", "It is not started any more until somebody agrees to it again."]],
  load: () => import("../internal/revoke.ts")
}
