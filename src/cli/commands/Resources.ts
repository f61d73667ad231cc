/** `mcp-runtime resources`: what can be read from servers. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "resources",
  summary: "List the resources of the servers, and the templates for more.",
  args: [{ name: "server", about: "Only those of this server.", required: false }],
  options: [],
  examples: [["resources docs", "What the server docs has."]],
  load: () => import("../internal/resources.ts")
}
