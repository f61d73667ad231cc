// @effect-diagnostics strictEffectProvide:off -- a command is an entry point
/** `mcp-runtime config`: what was found where, and what is wrong with it. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { jsonSchema } from "../../config/nativeDocument.ts"
import * as Registry from "../../config/Registry.ts"
import * as McpError from "../../McpError.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as Found from "../configFound.ts"
import * as Validate from "../configValidate.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"

const overview = ({ shared }: Command.Invocation) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const discovery = yield* Application.look(shared)
    if (shared.json) yield* screen.json(Found.Found, Found.of(discovery))
    else if (discovery.files.length + discovery.issues.length + discovery.servers.length === 0) {
      yield* screen.note(
        "There are no configurations here.",
        "Name a file with --config, or other hosts with --import all."
      )
    } else yield* screen.out(...Found.lines(discovery))
    return ExitCode.ok
  })

const schema = Effect.flatMap(
  Screen.Screen,
  (screen) => Effect.as(screen.json(Schema.Unknown, jsonSchema()), ExitCode.ok)
)

/** Writes the native document of a server of the registry. */
const registry = (name: string, { value }: Command.Invocation) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const address = value("registry")
    const wanted = value("source")
    const found = yield* Registry.lookUp(name, address === undefined ? {} : { address })
    const usable = found.options.filter(({ entry }) => !Registry.isFault(entry))
    const option = usable.find(({ source }) => wanted === undefined || source === wanted)
    const document = option && Registry.document(found, option)
    if (option === undefined || document === undefined) {
      const detail = usable.length === 0
        ? "none of its packages and remotes can be used here"
        : `it is not offered as ${wanted}: choose one of ${usable.map(({ source }) => source).join(", ")}`
      return yield* new McpError.RegistryError({ server: name, address: found.address, detail })
    }
    yield* screen.json(Schema.Unknown, document)
    const others = usable.filter((one) => one !== option).map(({ source }) => source)
    yield* screen.note(
      `${found.name} ${found.version}, as ${option.source}.`,
      ...(others.length === 0 ? [] : [`Also offered as ${others.join(", ")}: choose with --source.`]),
      ...option.optional.map(({ at, description }) =>
        `It may have ${at} too${description === undefined ? "." : `: ${description}`}`
      )
    )
    return ExitCode.ok
  }).pipe(Effect.provide(FetchHttpClient.layer))

const actions = ["validate", "schema", "registry"]

const wrong = (detail: string, next = "See mcp-runtime config --help.") => Effect.fail(new Usage({ detail, next }))

const run: Command.Command["run"] = (invocation) => {
  const [action, file] = invocation.args
  switch (action) {
    case undefined:
      return overview(invocation)
    case "validate":
      return file === undefined
        ? wrong(
          "The file to validate is not named.",
          "Write mcp-runtime config validate FILE, or - for what is piped in."
        )
        : Validate.run(file, invocation)
    case "schema":
      return file === undefined ? schema : wrong("The schema is of no file.")
    case "registry":
      return file === undefined
        ? wrong("The server to look up is not named.", "Write mcp-runtime config registry io.github.acme/weather.")
        : registry(file, invocation)
    default:
      return wrong(`There is nothing called "${action}" to do.`, suggestion(nearest(action, actions)))
  }
}

export const command: Command.Command = {
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
  run
}
