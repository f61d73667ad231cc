/**
 * `mcp-runtime config`: what was found where, and what is wrong with it.
 *
 * @since 0.1.0
 */
import type * as Command from "../Command.ts"

/**
 * @since 0.1.0
 * @category commands
 */
export const command: Command.Command = {
  name: "config",
  summary: "Show which configurations were found, what shadows what, and what is wrong with them.",
  description: [
    "Nothing is started. `config validate FILE` reads one file and ends with 3 if something in it cannot be used; "
    + "`config schema` writes the JSON Schema of mcp-client.json."
  ],
  args: [
    { name: "action", about: "validate or schema, or nothing to see what was found.", required: false },
    { name: "file", about: "The file to validate; - is the standard input.", required: false }
  ],
  options: [
    { name: "host", value: "HOST", about: "Whose format the file to validate is in, if its name does not tell." }
  ],
  examples: [
    ["config", "The files and servers of this workspace and of this user."],
    ["config validate .mcp.json", "What is wrong with one file, line by line."],
    ["config validate - --host codex < config.toml", "The same of what is piped in."]
  ],
  load: () => import("../internal/config.ts")
}
