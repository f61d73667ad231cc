/** `mcp-runtime config`: what was found where, and what is wrong with it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import { jsonSchema } from "../../config/nativeDocument.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ConfigEdit from "../configEdit.ts"
import * as Found from "../configFound.ts"
import * as Validate from "../configValidate.ts"
import * as ExitCode from "../ExitCode.ts"
import * as NoServers from "../noServers.ts"
import * as Screen from "../Screen.ts"
import * as TypedServers from "../typedServers.ts"
import { Usage } from "../Usage.ts"

const overview = ({ shared }: Command.Invocation) =>
  Application.look(shared, (discovery) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      if (shared.json) yield* screen.json(Found.Found, Found.of(discovery))
      else if (discovery.files.length + discovery.issues.length + discovery.servers.length === 0) {
        yield* screen.note("There are no configurations here.")
        yield* NoServers.note
      } else yield* screen.out(...Found.lines(discovery))
      return ExitCode.ok
    }))

const schema = Effect.flatMap(
  Screen.Screen,
  (screen) => Effect.as(screen.json(Schema.Unknown, jsonSchema()), ExitCode.ok)
)

const wrong = (detail: string, next = "See mcp-runtime config --help.") => Effect.fail(new Usage({ detail, next }))

const editing = ({ isSet }: Command.Invocation): ConfigEdit.Options => ({
  isWorkspace: isSet("workspace"),
  isForced: isSet("force")
})

const add = (invocation: Command.Invocation, [name, ...command]: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { shared } = invocation
    const typed = yield* TypedServers.entries(shared, yield* HostEnvironment.HostEnvironment)
    const entries = command.length === 0
      ? Array.from(typed.values())
      : [yield* TypedServers.entryOf({ command }, shared), ...typed.values()]
    const [entry, ...others] = entries
    if (name === undefined || entry === undefined || others.length > 0) {
      return yield* wrong(
        "config add takes a name, and one command or address.",
        "Write mcp-runtime config add NAME -- COMMAND ARGUMENTS, or config add NAME --url URL."
      )
    }
    yield* ConfigEdit.add(shared, name, { mcpServers: { [name]: entry } }, editing(invocation))
    return ExitCode.ok
  })

const remove = (invocation: Command.Invocation, [name, ...others]: ReadonlyArray<string>) =>
  name === undefined || others.length > 0
    ? wrong("config remove takes the name of a server.")
    : Effect.as(ConfigEdit.remove(invocation.shared, name, editing(invocation)), ExitCode.ok)

/** Imports hosts, or lists those that could be. */
const importing = ({ shared }: Command.Invocation, hosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    for (const host of hosts) yield* Application.knownHost(host, ["all"])
    if (hosts.length > 0) yield* ConfigEdit.importHosts(shared, hosts)
    else {
      const found = NoServers.hostsOf(yield* Application.look({ ...shared, imports: ["all"] }, Effect.succeed))
      if (found.length === 0) yield* screen.note("No other program on this machine has servers.")
      else yield* screen.out(...NoServers.lines(found, (path) => path, screen.columns))
    }
    return ExitCode.ok
  })

const run: Command.Command["run"] = (invocation) => {
  const [action, ...words] = invocation.args
  const [file] = words
  switch (action) {
    case undefined:
      return overview(invocation)
    case "add":
      return add(invocation, words)
    case "remove":
      return remove(invocation, words)
    case "import":
      return importing(invocation, words)
    case "validate":
      return file === undefined || words.length > 1
        ? wrong("config validate takes a file.", "Write mcp-runtime config validate FILE, or - for what is piped in.")
        : Validate.run(file, invocation)
    case "schema":
      return file === undefined ? schema : wrong("config schema takes no file.")
    default:
      return wrong(`There is no action "${action}".`, suggestion(nearest(action, actions)))
  }
}

const actions = ["add", "remove", "import", "validate", "schema"]

export const command: Command.Command = {
  description: [
    "Nothing is started. `config validate FILE` reads one file and ends with 3 if something in it cannot be used; "
    + "`config schema` writes the JSON Schema of mcp-client.json.",
    "`config add`, `config remove` and `config import` change the file of the user, or with --workspace that of the "
    + "workspace, and keep its comments and its formatting. The file is made if there is none. A file of TOML is not "
    + "changed: what to write into it goes to the standard output."
  ],
  args: [
    {
      name: "action",
      about: "add, remove, import, validate or schema, or nothing to see what was found.",
      choices: actions,
      required: false
    },
    {
      name: "words",
      about:
        "The name of a server, and for add its command behind --; the hosts to import, or all; the file to validate, "
        + "- for the standard input.",
      required: false,
      repeated: true
    }
  ],
  options: [
    { name: "host", value: "HOST", about: "Whose format the file to validate is in, if its name does not tell." },
    { name: "workspace", about: "Change mcp-client.json of the workspace, and not that of the user." },
    { name: "force", about: "Replace a server of the same name." }
  ],
  examples: [
    ["config", "The files and servers of this workspace and of this user."],
    ["config add files -- npx -y @scope/server-files@1.2.0 .", "A program, in the file of the user."],
    ["config add docs --url https://docs.example/mcp --workspace", "An address, in the file of the workspace."],
    ["config import cursor vscode", "The servers of other programs, from now on."],
    ["config validate .mcp.json", "What is wrong with one file, line by line."],
    ["config validate - --host codex < config.toml", "The same of what is piped in."]
  ],
  run
}
