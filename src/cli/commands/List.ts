/** `mcp-runtime list`: the servers. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "list",
  summary: "List the servers: where each comes from, and whether it works.",
  description: [
    "Every server that may be started is started, asked for its tools, and ended again. What nobody has agreed to is "
    + "shown, and not started."
  ],
  args: [],
  options: [],
  examples: [
    ["list", "The servers of this workspace and of this user."],
    ["list --import cursor --json", "Those of Cursor too, for a program to read."]
  ],
  load: () => import("../internal/list.ts")
}
