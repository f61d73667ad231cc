/** `mcp-runtime config`: what was found where, and what is wrong with it. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "config",
  summary: "Show which configurations were found, what shadows what, and what is wrong with them.",
  description: [
    "Nothing is started. `config validate FILE` reads one file and ends with 3 if something in it cannot be used; "
    + "`config schema` writes the JSON Schema of mcp-client.json.",
    "`config registry NAME` looks a server up in the MCP registry and writes an mcp-client.json with its entry: review it, "
    + "and save it as a file of yours. NAME is like io.github.acme/weather, or io.github.acme/weather@1.2.0."
  ],
  args: [
    { name: "action", about: "validate, schema or registry, or nothing to see what was found.", required: false },
    {
      name: "file",
      about: "The file to validate, - for the standard input; or the name of the server in the registry.",
      required: false
    }
  ],
  options: [
    { name: "host", value: "HOST", about: "Whose format the file to validate is in, if its name does not tell." },
    {
      name: "registry",
      value: "URL",
      about: "The registry to ask (default: https://registry.modelcontextprotocol.io)."
    },
    { name: "source", value: "KIND", about: "Which way of a server in the registry: npm, pypi, oci, nuget, sse, …." }
  ],
  examples: [
    ["config", "The files and servers of this workspace and of this user."],
    ["config validate .mcp.json", "What is wrong with one file, line by line."],
    ["config validate - --host codex < config.toml", "The same of what is piped in."],
    ["config registry io.github.acme/weather", "An entry for a server of the registry."]
  ],
  load: () => import("../internal/config.ts")
}
