/** `mcp-runtime read`: reads a resource. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "read",
  summary: "Read a resource of a server, and write it.",
  description: [
    "All servers are asked which of them has it, unless --server names one. On the screen what a terminal could take for "
    + "orders is made visible; --out writes it as it is."
  ],
  args: [{ name: "uri", about: "The URI of the resource.", required: true }],
  options: [{ name: "out", value: "FILE", about: "Write it here, as it is; several parts as FILE, FILE-2, …." }],
  examples: [
    ["read note://today", "A text."],
    ["read chart://sales --server charts --out sales.png", "A picture, of this server."]
  ],
  load: () => import("../internal/read.ts")
}
