/** `mcp-runtime approve`: agrees to what a workspace wants to start. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "approve",
  summary: "Show what nobody has agreed to yet, and agree to it.",
  description: [
    "What a workspace wants to start is shown word by word, and a person at a terminal is asked. Where nobody can be "
    + "asked, only the fingerprint of what was shown before counts as a yes, so that nothing else is agreed to.",
    "A tool that is not what it was when it was first seen is set aside; --tool shows what has changed."
  ],
  args: [
    {
      name: "server",
      about: "A server, or the fingerprint (sha256:…) of one or of a tool; nothing, to see what waits.",
      required: false
    }
  ],
  options: [
    {
      name: "variable",
      value: "NAME",
      repeated: true,
      about:
        "A variable of the environment that the server may read, and no others that it asks for; without it, those "
        + "that do not look like credentials."
    },
    { name: "all", about: "Be asked about everything that waits, one by one. Only at a terminal." },
    { name: "tool", value: "SERVER/TOOL", about: "Agree to what a tool is now." }
  ],
  examples: [
    ["approve", "What waits, and what each would start."],
    ["approve github --variable GITHUB_TOKEN", "Agree to one, and let it have a credential."],
    ["approve --tool github/search", "What is not as it was in a tool."]
  ],
  load: () => import("../internal/approve.ts")
}
