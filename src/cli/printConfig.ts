/** The entry that makes a host start a program: in the format of the host, with the path of its file on this machine. */
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as Dialect from "../config/Dialect.ts"
import type * as Document from "../config/document.ts"
import type * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Locate from "../config/locate.ts"
import { nameOfFile, pathsOf } from "../config/paths.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"

export interface Program {
  /** The name of the entry. */
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
}

export interface Printed {
  readonly text: string
  readonly format: Document.Format
  /** The key of the servers in the file. */
  readonly root: string
  /** The files of the host on this machine that can hold the entry, first the usual one; none for a host without a file. */
  readonly paths: ReadonlyArray<string>
}

type Shape = (program: Program) => JsonRpc.JsonObject

const usual: Shape = ({ args, command }) => ({ command, args })
const typed: Shape = ({ args, command }) => ({ type: "stdio", command, args })
const local: Shape = ({ args, command }) => ({ type: "local", command: [command, ...args], enabled: true })
const listed: Shape = ({ args, command, name }) => ({ name, command, args })
const copilot: Shape = ({ args, command }) => ({ type: "local", command, args, tools: ["*"] })

/** The hosts whose entries have other fields than `command` and `args`. */
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

/** The hosts whose servers are a list. */
const lists: ReadonlySet<string> = new Set(["continue", "mistral-vibe"])

/** Rows without a file of a person for servers: catalogues, plugins, second formats, settings of an editor. */
const unwritable: ReadonlySet<string> = new Set([
  "agent-plugins",
  "continue-json",
  "docker-mcp",
  "kilo-legacy",
  "native",
  "sidecar"
])

export const isWritable = ({ host }: Dialect.Dialect): boolean => !unwritable.has(host)

/** A value in TOML and in YAML; the texts of JSON are valid in both. */
const written = (value: JsonRpc.Json | undefined): string =>
  Array.isArray(value) ? `[${value.map(written).join(", ")}]` : JSON.stringify(value)

const fields = (entry: JsonRpc.JsonObject, separator: string): ReadonlyArray<string> =>
  Object.entries(entry).map(([key, value]) => `${key}${separator}${written(value)}`)

const indented = (lines: ReadonlyArray<string>, depth: number): ReadonlyArray<string> =>
  lines.map((line) => "  ".repeat(depth) + line)

const textOf = (
  format: Document.Format,
  root: ReadonlyArray<string>,
  name: string,
  entry: JsonRpc.JsonObject,
  isList: boolean
): string => {
  if (format === "toml") {
    const header = isList ? `[[${root.join(".")}]]` : `[${[...root, name].join(".")}]`
    return [header, ...fields(entry, " = ")].join("\n")
  }
  if (format === "yaml") {
    const lines = fields(entry, ": ")
    const item = isList
      ? lines.map((line, at) => `${at === 0 ? "- " : "  "}${line}`)
      : [`${name}:`, ...indented(lines, 1)]
    return [...root.map((key, depth) => `${"  ".repeat(depth)}${key}:`), ...indented(item, root.length)].join("\n")
  }
  const servers: JsonRpc.Json = isList ? [entry] : { [name]: entry }
  return JSON.stringify(root.reduceRight<JsonRpc.Json>((inner, key) => ({ [key]: inner }), servers), null, 2)
}

/** The entry of a program for a host. */
export const print = (
  dialect: Dialect.Dialect,
  program: Program,
  { platform, variables }: HostEnvironment.Host,
  options: ConfigDiscovery.Options
): Printed => {
  const { host, roots = [["mcpServers"]] } = dialect
  const environment = variables()
  const home = (platform === "win32" ? environment["USERPROFILE"] : environment["HOME"]) ?? ""
  const place: Locate.Place = {
    platform,
    variables: environment,
    started: (name) => environment[name],
    home,
    root: "",
    folders: [],
    plugins: [],
    app: options.app
  }
  const rules = new Set(
    dialect.locations.flatMap((location) => location.policyOnly === true ? pathsOf(location).map(nameOfFile) : [])
  )
  const found = Locate.locate(place, options, [{ host, isOfWorkspace: false }]).filter((source) =>
    source.dialect === dialect && source.scope === "user" && source.origin === "home" &&
    !rules.has(nameOfFile(source.path)) &&
    source.pointer === undefined && !source.path.includes("*")
  )
  const format = found[0]?.format ?? dialect.format
  // a file in TOML has the spelling with underscores, where a host has two
  const isOfFormat = (root: ReadonlyArray<string>) => root.join().includes("_") === (format === "toml")
  const root = roots.find(isOfFormat) ?? roots[0] ?? []
  const entry = (shapes.get(host) ?? usual)(program)
  return {
    text: textOf(format, root, program.name, entry, lists.has(host)),
    format,
    root: root.join("."),
    paths: found.map(({ path }) => platform === "win32" ? path.replaceAll("/", "\\") : path)
  }
}
