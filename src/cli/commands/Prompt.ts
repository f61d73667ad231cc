/** `mcp-runtime prompt`: the messages of a prompt. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "prompt",
  summary: "Write the messages of a prompt.",
  args: [
    { name: "prompt", about: "server/prompt, or the prompt alone where only one server has it.", required: true },
    { name: "argument", about: "name=text.", required: false, repeated: true }
  ],
  options: [],
  examples: [["prompt github/review pr=12", "What a model would be told."]],
  load: () => import("../internal/prompt.ts")
}
