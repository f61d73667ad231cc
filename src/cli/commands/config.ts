// @effect-diagnostics strictEffectProvide:off nodeBuiltinImport:off -- a command is an entry point
/** `mcp-runtime config`: shows, edits and validates configuration files. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../../config/ConfigFiles.ts"
import * as Dialect from "../../config/Dialect.ts"
import * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Trust from "../../config/Trust.ts"
import * as McpError from "../../McpError.ts"
import { nearest, suggestion } from "../../text/nearest.ts"
import type * as Command from "../Command.ts"
import { usage } from "../Command.ts"
import * as ConfigEdit from "../configEdit.ts"
import * as Found from "../configFound.ts"
import * as ExitCode from "../ExitCode.ts"
import * as IssueShape from "../issueShape.ts"
import { counted } from "../layout.ts"
import * as Lookup from "../lookup.ts"
import * as NoServers from "../noServers.ts"
import { orNull } from "../orNull.ts"
import * as Screen from "../Screen.ts"
import * as TypedServers from "../typedServers.ts"

const wrong = (detail: string, next = "Run `mcp-runtime config --help`.") => usage(detail, next)

const overview = ({ shared }: Command.Invocation) =>
  Lookup.look(shared, ({ discovery }) =>
    Effect.gen(function*() {
      const screen = yield* Screen.Screen
      if (shared.json) yield* screen.json(Found.Found, Found.of(discovery))
      else if (discovery.files.length + discovery.issues.length + discovery.servers.length === 0) {
        yield* screen.note("No configuration files were found.")
        yield* NoServers.note
      } else yield* screen.out(...Found.lines(discovery))
    }))

/** Prints the JSON Schema that the package has for editors. */
const schema = (_: Command.Invocation, words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    if (words.length > 0) return yield* wrong("config schema takes no arguments")
    const published = createRequire(import.meta.url)("effect-mcp-runtime/schema/mcp-client.schema.json")
    yield* (yield* Screen.Screen).json(Schema.Unknown, published)
  })

/** The document of `config validate --json`. */
export const Validated = Schema.Struct({
  file: Schema.String,
  /** The host whose format was used. */
  host: orNull(Schema.String),
  valid: Schema.Boolean,
  servers: Schema.Array(Schema.String),
  issues: Schema.Array(IssueShape.Issue)
})

const stdin = "-"

const disk = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** The path and the bytes of a file, or of stdin, which is named like a file of the host. */
const contentOf = (file: string, host: string | undefined) =>
  Effect.gen(function*() {
    if (file === stdin) {
      const name = host === undefined ? "mcp-client.jsonc" : `config.${Dialect.find(host)?.format ?? "jsonc"}`
      return { path: `/stdin/${name}`, bytes: new TextEncoder().encode(yield* Screen.piped) }
    }
    const path = (yield* Path.Path).resolve(file)
    // owner and mode are not checked
    const content = yield* (yield* ConfigFiles.make()).read(path, { origin: "workspace" })
    if (content?._tag === "Content") return { path, bytes: content.bytes }
    const detail = content?.detail ?? "no such file"
    return yield* new McpError.ConfigurationError({ server: "", path: file, detail })
  }).pipe(Effect.provide(disk))

/** Decodes one file alone, from memory. Files that it refers to are not read. */
const only = (path: string, bytes: Uint8Array, host: string | undefined) =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(
      ConfigDiscovery.layerFiles({
        root: "/",
        directory: "/",
        files: [{ path, host }],
        enableProjectConfig: false,
        enableUserConfig: false
      }).pipe(
        Layer.provide(ConfigFiles.layerMemory(new Map([[path, bytes]]))),
        Layer.provide(Layer.merge(Trust.layerAll(), NodePath.layer))
      )
    )
  )

const validate = ({ shared, value }: Command.Invocation, [file, ...others]: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    if (file === undefined || others.length > 0) {
      return yield* wrong(
        "config validate needs one file",
        "Usage: mcp-runtime config validate FILE (- for stdin)"
      )
    }
    const screen = yield* Screen.Screen
    const host = value("host")
    if (host !== undefined) yield* Lookup.knownHost(host)
    const { bytes, path } = yield* contentOf(file, host)
    const { files, issues: all, servers } = yield* only(path, bytes, host)
    // an unset variable may be set on another machine
    const issues = all.flatMap((issue) => {
      const severity = issue.kind === "command-line" ? "error" as const : issue.severity
      return issue.kind === "variable-unset"
        ? []
        : [{ ...issue, path: issue.path === path ? file : issue.path, severity }]
    })
    const readAs = files[0]?.provider ?? host
    const valid = issues.every(({ severity }) => severity !== "error")
    if (shared.json) {
      yield* screen.json(Validated, { file, host: readAs, valid, servers: servers.map(({ name }) => name), issues })
    } else {
      const about = [counted(servers.length, "server"), ...(readAs === undefined ? [] : [`format ${readAs}`])].join(
        ", "
      )
      const verdict = valid ? { text: "valid", style: "good" as const } : { text: "invalid", style: "bad" as const }
      const faults = IssueShape.count(issues)
      yield* screen.out([verdict, `: ${about}${faults && `; ${faults}`}`], ...IssueShape.lines(issues))
    }
    return valid ? ExitCode.ok : ExitCode.config
  })

/** Adds the current folder to an entry that refers to files in it, because servers of the user start in any folder. */
const anchored = (entry: TypedServers.Entry, { root = "." }: Command.Shared) =>
  Effect.gen(function*() {
    if ("url" in entry) return entry
    const { resolve } = yield* Path.Path
    const files = yield* FileSystem.FileSystem
    const isRelative = (word: string) => /^\.{1,2}(?:[\\/]|$)/.test(word)
    const isFile = (word: string) => Effect.orElseSucceed(files.exists(resolve(root, word)), () => false)
    const { args, command } = entry
    const isHere = isRelative(command) || args.some(isRelative) ||
      (yield* Effect.exists(args, (word) => /^[^\\/-].*\.\w+$/.test(word) ? isFile(word) : Effect.succeed(false)))
    if (!isHere) return entry
    return { ...entry, command: isRelative(command) ? resolve(root, command) : command, cwd: resolve(root) }
  }).pipe(Effect.provide(disk))

const add = (invocation: Command.Invocation, [name, ...command]: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { shared } = invocation
    const typed = yield* TypedServers.entries(shared, yield* HostEnvironment.HostEnvironment)
    const behind = command.length === 0 ? [] : [yield* TypedServers.entryOf(command, shared)]
    const [entry, ...others] = [...behind, ...typed.values()]
    if (name === undefined || entry === undefined || others.length > 0) {
      return yield* wrong(
        "config add needs a name and one command or URL",
        "Usage: mcp-runtime config add NAME -- COMMAND ARGUMENTS, or mcp-runtime config add NAME --url URL"
      )
    }
    const placed = invocation.isSet("workspace") ? entry : yield* anchored(entry, shared)
    return yield* ConfigEdit.add(invocation, name, { mcpServers: { [name]: placed } })
  })

const remove = (invocation: Command.Invocation, [name, ...others]: ReadonlyArray<string>) =>
  name === undefined || others.length > 0
    ? wrong("config remove needs one server name")
    : ConfigEdit.remove(invocation, name)

/** Imports hosts, or lists the hosts that can be imported. */
const importing = ({ isSet, shared }: Command.Invocation, hosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    for (const host of hosts) yield* Lookup.knownHost(host, ["all"])
    if (hosts.length > 0) return yield* ConfigEdit.importHosts(shared, hosts, isSet("workspace"))
    const { discovery, near } = yield* Lookup.look({ ...shared, imports: ["all"] }, Effect.succeed)
    const found = NoServers.hostsOf(discovery)
    if (found.length === 0) yield* screen.note("No other programs with MCP servers were found on this machine.")
    else yield* screen.out(...NoServers.lines(found, near, screen.columns))
  })

type Run = (
  invocation: Command.Invocation,
  words: ReadonlyArray<string>
) => ReturnType<Command.Command["run"]>

/** The actions, each with the editing options that it accepts. */
const actions = new Map<string | undefined, { readonly options: ReadonlyArray<string>; readonly run: Run }>([
  [undefined, { options: [], run: overview }],
  ["add", { options: ["force", "workspace"], run: add }],
  ["remove", { options: ["workspace"], run: remove }],
  ["import", { options: ["workspace"], run: importing }],
  ["validate", { options: [], run: validate }],
  ["schema", { options: [], run: schema }]
])

const names = Array.from(actions.keys()).filter((name) => name !== undefined)

const run: Command.Command["run"] = (invocation) => {
  const [word, ...words] = invocation.args
  const action = actions.get(word)
  if (action === undefined) return wrong(`unknown action "${word}"`, suggestion(nearest(`${word}`, names)))
  const stray = ["force", "workspace"].find((option) => invocation.isSet(option) && !action.options.includes(option))
  return stray === undefined
    ? action.run(invocation, words)
    : wrong(`config${word === undefined ? "" : ` ${word}`} has no option --${stray}`)
}

export const command: Command.Command = {
  description: [
    "Without an action, shows the configuration files, the servers in them, and errors. No server is started.",
    "`config add`, `config remove` and `config import` edit mcp-client.json of the user, or of the workspace with "
    + "--workspace; they create it if needed, and keep comments and formatting. They do not edit TOML: for TOML they print "
    + "the lines to add.",
    "`config validate FILE` exits with 3 if the file has errors. `config schema` prints the JSON Schema of "
    + "mcp-client.json."
  ],
  args: [
    {
      name: "action",
      about: "add, remove, import, validate or schema (default: show the configuration)",
      choices: names,
      required: false
    },
    {
      name: "words",
      about: "add NAME -- COMMAND…; remove NAME; import HOST… (or all); validate FILE (- for stdin)",
      required: false,
      repeated: true
    }
  ],
  options: [
    { name: "host", value: "HOST", about: "Format of the file to validate (default: from its name)" },
    { name: "workspace", about: "Edit mcp-client.json of the workspace instead of the user" },
    { name: "force", about: "Let config add replace a server of the same name" }
  ],
  examples: [
    ["config", "Show configuration files and servers"],
    ["config add files -- npx -y @scope/server-files@1.2.0 .", "Add a local server for the user"],
    ["config add docs --url https://docs.example/mcp --workspace", "Add a remote server to the workspace"],
    ["config import cursor vscode", "Always read the servers of Cursor and VS Code too"],
    ["config validate - --host codex < config.toml", "Validate a Codex configuration from stdin"]
  ],
  run
}
