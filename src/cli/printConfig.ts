// @effect-diagnostics strictEffectProvide:off -- files are needed by few commands, and provided where they are
/** `serve --print-config`: the entry with which a host starts the gateway, in the format of the host. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Toml from "smol-toml"
import * as Yaml from "yaml"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Dialect from "../config/Dialect.ts"
import type * as Document from "../config/document.ts"
import * as Hazards from "../config/hazards.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Interpolation from "../config/Interpolation.ts"
import * as Locate from "../config/locate.ts"
import { home as homeOf, locationsNamed } from "../config/paths.ts"
import * as Secrets from "../config/secrets.ts"
import * as Templates from "../config/templates.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Answers from "./answers.ts"
import type * as Command from "./Command.ts"
import { usage } from "./Command.ts"
import * as Lookup from "./lookup.ts"
import { orNull } from "./orNull.ts"
import * as Screen from "./Screen.ts"
import * as Unattended from "./unattended.ts"

export interface Program {
  /** The name of the entry. */
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
}

type Shape = (program: Program) => JsonRpc.JsonObject

const usual: Shape = ({ args, command }) => ({ command, args })
const typed: Shape = ({ args, command }) => ({ type: "stdio", command, args })
const local: Shape = ({ args, command }) => ({ type: "local", command: [command, ...args], enabled: true })
const listed: Shape = ({ args, command, name }) => ({ name, command, args })
const copilot: Shape = ({ args, command }) => ({ type: "local", command, args, tools: ["*"] })

/** The hosts whose entries do not use `command` and `args`, or need more fields. */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ["continue", listed],
  ["copilot-cli", copilot],
  ["copilot-cloud", copilot],
  ["crush", typed],
  ["goose", ({ args, command, name }) => ({ name, type: "stdio", cmd: command, args, enabled: true })],
  ["kilo", local],
  ["mistral-vibe", ({ args, command, name }) => ({ name, transport: "stdio", command, args })],
  ["opencode", local],
  ["sep-2633", typed],
  ["vscode", typed],
  ["zed", ({ args, command }) => ({ source: "custom", command, args })]
])

/** The hosts that configure servers as a list. */
const lists: ReadonlySet<string> = new Set(["continue", "mistral-vibe"])

/** Hosts without a user file for servers: catalogs, plugins, second formats, editor settings. */
const unwritable: ReadonlySet<string> = new Set([
  "agent-plugins",
  "continue-json",
  "docker-mcp",
  "kilo-legacy",
  "native",
  "sidecar"
])

export const isWritable = ({ host }: Dialect.Dialect): boolean => !unwritable.has(host)

const pretty = (document: unknown): string => JSON.stringify(document, null, 2)

const writers: Record<Document.Format, (document: unknown) => string> = {
  json: pretty,
  jsonc: pretty,
  toml: Toml.stringify,
  // all strings in quotes, because YAML 1.1 readers take some words for booleans
  yaml: (document) => Yaml.stringify(document, { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" })
}

/** The entry of a program for a host, and the files of the host that can hold it, the usual one first. */
export const print = (
  dialect: Dialect.Dialect,
  program: Program,
  { platform, variables }: HostEnvironment.Host,
  options: ConfigDiscovery.Options
) => {
  const { host, roots = [["mcpServers"]] } = dialect
  const environment = variables()
  const machine: Locate.Machine = {
    platform,
    variables: environment,
    started: (name) => environment[name],
    home: homeOf(undefined, { platform, variables }) ?? "",
    root: "",
    folders: [],
    files: [],
    plugins: [],
    app: options.app
  }
  const found = Locate.locate(machine, options, [{ host, isOfWorkspace: false }]).filter((source) =>
    source.dialect === dialect && source.scope === "user" && source.origin === "home" &&
    !locationsNamed(dialect, source.path).some(({ policyOnly }) => policyOnly === true) &&
    source.pointer === undefined && !source.path.includes("*")
  )
  const format = found[0]?.format ?? dialect.format
  // if a host has two spellings of the key, TOML files use the one with underscores
  const isOfFormat = (root: ReadonlyArray<string>) => root.join().includes("_") === (format === "toml")
  const root = roots.find(isOfFormat) ?? roots[0] ?? []
  const entry = (shapes.get(host) ?? usual)(program)
  const servers: JsonRpc.Json = lists.has(host) ? [entry] : { [program.name]: entry }
  const document = root.reduceRight<JsonRpc.Json>((inner, key) => ({ [key]: inner }), servers)
  return {
    text: writers[format](document).trimEnd(),
    format,
    root: root.join("."),
    paths: found.map(({ path }) => platform === "win32" ? path.replaceAll("/", "\\") : path)
  }
}

/** The document of `serve --print-config HOST --json`. */
export const Entry = Schema.Struct({
  host: Schema.String,
  /** The file for it; null for a host without a file of its own. */
  path: orNull(Schema.String),
  /** The key of the servers in the file. */
  root: Schema.String,
  format: Schema.Literal("json", "jsonc", "toml", "yaml"),
  text: Schema.String,
  unattended: Unattended.Unattended
})

/** The name of the entry, and the command of the package. */
const program = { name: "mcp-runtime", command: "npx", args: ["-y", "effect-mcp-runtime", "serve"] }

/** The options that the entry repeats: those that choose the servers and how they are served. */
const options = ("config root import server stdio url name env header env-file timeout "
  + "share output allow search plain caller-decides").split(" ")

/** Options whose paths are made absolute, because a host starts the program in another folder. */
const pathOptions = new Set(["config", "root", "env-file"])

/** The workspace folder, if one of the servers needs it. */
const rootOf = ({ root, stdio }: Command.Shared, { servers }: ConfigDiscovery.Discovery): string | undefined =>
  root ?? (stdio.length > 0 ? "." : undefined) ??
    servers.find(({ provenance: { scope } }) => scope === "project" || scope === "local")?.config?.expansion?.root

/** True if a `--stdio` or `--url` server contains a literal secret. */
const hasSecret = ({ config, provenance }: ConfigDiscovery.Found): boolean => {
  if (config === undefined || provenance.origin !== "code") return false
  const isLiteral = (text: string) => text !== "" && Interpolation.references(text).length === 0
  const texts = Templates.texts(config).flatMap(({ at, template }) => {
    const [, name] = /^(?:env|headers)\.(.+)$/.exec(at) ?? []
    return isLiteral(template) ? [template, `${name}: ${template}`] : []
  })
  return Secrets.named(config).some(isLiteral) || texts.some(Hazards.hasSecret)
}

/** The options of this run that the entry repeats. A flag has an empty value. */
const repeated = ({ shared, values }: Command.Invocation, discovery: ConfigDiscovery.Discovery) =>
  Effect.map(Path.Path, ({ resolve }) => {
    const root = rootOf(shared, discovery)
    const valuesOf = (name: string) => name !== "root" ? values(name) : root === undefined ? [] : [root]
    return options.flatMap((name) =>
      valuesOf(name).flatMap((value) =>
        value === "" ? [`--${name}`] : [`--${name}`, pathOptions.has(name) ? resolve(value) : value]
      )
    )
  })

/** Prints the entry to stdout, and where to put it to stderr. */
export const run = (
  invocation: Command.Invocation,
  host: string,
  { discovery, near }: Lookup.Found
): Effect.Effect<void, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    yield* Lookup.knownHost(host)
    const dialect = Dialect.find(host)
    if (dialect === undefined || !isWritable(dialect)) {
      return yield* usage(`${host} has no configuration file that can hold this entry`, "Choose another host.")
    }
    const { title } = dialect
    if (discovery.files.some(({ provider, servers }) => provider === host && servers > 0)) {
      const detail = `this gateway reads the servers of ${title}, so an entry there would make it start itself`
      const next =
        `Remove ${host} from --import or from "imports" in mcp-client.json, and copy its servers to mcp-client.json.`
      return yield* usage(detail, next)
    }
    const secret = discovery.servers.find(hasSecret)
    if (secret !== undefined) {
      return yield* usage(
        `the entry would contain a secret from the command line of "${secret.name}"`,
        "Use '${env:NAME}' in single quotes instead, and put the variable into a file for --env-file."
      )
    }
    const screen = yield* Screen.Screen
    const files = yield* FileSystem.FileSystem
    yield* Answers.make(invocation.shared, discovery.servers, new Set(), true)
    const args = [...program.args, ...(yield* repeated(invocation, discovery))]
    const environment = yield* HostEnvironment.HostEnvironment
    const { format, paths, root, text } = print(dialect, { ...program, args }, environment, ConfigDiscovery.defaults)
    const existing = yield* Effect.filter(paths, (path) => Effect.orElseSucceed(files.exists(path), () => false))
    const path = existing[0] ?? paths[0]
    const unattended = Unattended.of(invocation, discovery, false)
    if (invocation.shared.json) return yield* screen.json(Entry, { host, path, root, format, text, unattended })
    yield* screen.out(...text.split("\n"))
    yield* screen.note(
      path === undefined ? `Paste this into the settings of ${title}.` : `Add this to ${near(path)}.`,
      `If "${root}" already exists there, add only the entry "${program.name}". Then restart ${title}.`,
      ...Unattended.banner(unattended)
    )
  }).pipe(Effect.provide(NodeContext.layer))
