/** `mcp-runtime call`: calls a tool. */
import type * as Command from "../Command.ts"

export const command: Command.Command = {
  name: "call",
  summary: "Call a tool, and write what it gives.",
  description: [
    "An argument is key=value, read as the schema of the tool says: a number, a boolean, one of a list, a text. "
    + "key:=json is any JSON, key=@file the text of a file, key:=@file the JSON in it, and @@ is an @. a.b=1 is within "
    + "a; a key given more than once is a list. A dash reads a JSON object from the standard input.",
    "Only the server of the tool is started, if its name is given. Ctrl-C cancels the call at the server."
  ],
  args: [
    {
      name: "tool",
      about: "server/tool, or the tool alone where only one server has it.",
      required: true,
      unless: "wizard"
    },
    {
      name: "argument",
      about: "key=value, key:=json, key=@file, or - for the standard input.",
      required: false,
      repeated: true
    }
  ],
  options: [
    {
      name: "args",
      value: "JSON",
      about: "All arguments as one JSON object, sent as it is; key=value is put over it."
    },
    { name: "out", value: "FILE", about: "Write the text, or the images and other files, of the result here." },
    { name: "wizard", about: "Ask for the tool and its arguments, and tell what one would type for that." }
  ],
  examples: [
    ["call github/create_issue title=Bug labels=a labels=b", "A text and a list of texts."],
    ["call db/query --args '{\"sql\":\"select 1\"}' --json", "Arguments and result as JSON."],
    ["call --wizard", "Step by step, on a terminal."],
    ["call files/write path=a.txt content=@a.txt --timeout 10s", "The content of a file, and no more than 10 s."]
  ],
  load: () => import("../internal/call.ts")
}
