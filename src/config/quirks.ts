/** What only one host has: functions that a row of hosts.ts names. */
import * as Schema from "effect/Schema"
import { split } from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { isList, isTable, isText, scalar, type Table, table, type Value, without, withoutNulls } from "./document.ts"
import * as FieldSchema from "./fieldSchema.ts"
import * as Interpolation from "./Interpolation.ts"
import type { Reading } from "./readValues.ts"
import * as ServerEntry from "./serverEntry.ts"

/** Whether a relative path leads above the folder that it begins in. */
const escapes = (path: string): boolean => {
  let depth = 0
  for (const part of path.split(/[/\\]/)) {
    if (part === "..") depth--
    else if (part !== "" && part !== ".") depth++
    if (depth < 0) return true
  }
  return false
}

const pluginCommand = (command: Value | undefined, to: Reading): void => {
  if (!isText(command) || command === "") return
  const isPath = command.startsWith("./")
  // a path to a folder is no program, and a command that is no path is one word
  if (isPath ? /[/\\]\.?$/.test(command) : /\s/.test(command)) to.fail("invalid-value", "command")
  if (escapes(command) || (!isPath && /[/\\]/.test(command))) to.fail("path-escape", "command")
}

const pluginFolder = (cwd: Value | undefined, to: Reading): void => {
  if (!isText(cwd)) return
  const inside = /^(?:\.(?=\/)|\$\{PLUGIN_(?:ROOT|DATA)\}(?=\/|$))(.*)$/s.exec(cwd)?.[1]
  if (inside === undefined || escapes(inside)) to.fail("path-escape", "cwd")
}

const pluginAddress = (address: Value | undefined, to: Reading): void => {
  if (!isText(address) || !URL.canParse(address)) return
  const { password, username } = new URL(address)
  if (username !== "" || password !== "" || address.includes("#")) to.fail("invalid-url", "url")
}

/** The header with the key of a Mistral Vibe entry, from the three fields that describe it. */
const keyHeader = (entry: Table): readonly [string, string] | undefined => {
  const [variable, header, format] = ["api_key_env", "api_key_header", "api_key_format"].map((key) => entry.get(key))
  if (!isText(variable) || !/^\w+$/.test(variable)) return undefined
  const form = isText(format) ? format : "Bearer {token}"
  return [
    isText(header) ? header : "Authorization",
    form.split("{token}").map(Interpolation.literal).join(`\${env:${variable}}`)
  ]
}

type Prepare = (entry: Table, to: Reading, context: Dialect.Context) => Table

/** Rewrite an entry before it is read, or report what the host would refuse. */
export const prepare = {
  /** Agent Plugins: programs and paths stay inside the plugin. */
  insidePlugin: (entry, to) => {
    pluginCommand(entry.get("command"), to)
    pluginFolder(entry.get("cwd"), to)
    pluginAddress(entry.get("url"), to)
    const env = entry.get("env")
    if (isTable(env)) {
      for (const name of env.keys()) if (name.startsWith("PLUGIN_")) to.fail("invalid-env", name)
    }
    return entry
  },

  /** Mistral Vibe: the header of an API key has fields of its own, because `headers` has no variables. */
  apiKeyHeader: (entry, to) => {
    const written = entry.get("headers")
    const key = entry.has("url") ? keyHeader(entry) : undefined
    if (key === undefined && !isTable(written)) return entry
    const headers = new Map<string, Value>()
    for (const [name, value] of isTable(written) ? written : []) {
      const { template, warnings } = Interpolation.canonical({}, isText(value) ? value : "")
      for (const warning of warnings) to.warn(warning, `headers.${name}`)
      headers.set(name, isText(value) ? template : value)
    }
    if (key !== undefined) headers.set(...key)
    return new Map([...entry, ["headers", headers]])
  },

  /** Docker: an entry with an image is for Docker's gateway; one with an address is in `remote`. */
  catalogEntry: (entry, to) => {
    const remote = entry.get("remote")
    if (entry.has("image") || !isTable(remote)) {
      to.fail("needs-gateway", undefined, scalar(entry.get("image")))
      return entry
    }
    const shown = Array.from(entry).filter(([key]) => key === "title" || key === "description")
    return withoutNulls(new Map([...shown, ...remote]))
  },

  /** mcporter: a command is a line if there are no arguments, and only one of the two lists of tools is allowed. */
  commandLine: (entry, to) => {
    const names = Array.from(entry.keys())
    if (names.some((name) => /^allowed_?tools$/i.test(name)) && names.some((name) => /^blocked_?tools$/i.test(name))) {
      to.warn("host-would-reject")
    }
    const key = entry.has("command") ? "command" : "executable"
    const line = entry.get(key)
    const args = entry.get("args")
    if (!isText(line) || (isList(args) && args.length > 0)) return entry
    const argv = split(line, mcporterLine).words.map(({ text }) => text)
    return argv.length > 1 ? new Map([...entry, [key, argv]]) : entry
  },

  /** Zed: an older `command` is a table, and an entry of an extension is not an MCP server. */
  commandTable: (entry, to) => {
    if (entry.get("source") === "extension" || (entry.has("settings") && !entry.has("command") && !entry.has("url"))) {
      to.fail("not-an-mcp-server")
    }
    const command = entry.get("command")
    if (!isTable(command) || !command.has("path")) return entry
    to.warn("deprecated", "command.path", "use the path as the command")
    const parts = ["args", "env"].flatMap((key) => {
      const value = command.get(key)
      return value === undefined ? [] : [[key, value] as const]
    })
    return new Map([...entry, ["command", command.get("path") ?? null], ...parts])
  },

  /** Native: an entry of the type `docker` is the command line of Docker's gateway. */
  dockerGateway: (entry, to) => {
    const key = entry.has("type") ? "type" : "transport"
    if (entry.get(key) !== "docker") return entry
    const rest = new Map(entry)
    const take = (key: string): Value | undefined => {
      const value = rest.get(key)
      rest.delete(key)
      return value
    }
    const part = <A>(key: string, is: (value: unknown) => value is A): A | undefined => {
      const value = take(key)
      return value === undefined || is(value) ? value : to.fail("invalid-value", key)
    }
    const profile = part("profile", Schema.is(FieldSchema.ProfileName))
    const servers = part("servers", Schema.is(FieldSchema.Listed))
    const args = take("args") ?? []
    for (const key of ["cwd", "envFile", "withoutEnv"]) if (take(key) !== undefined) to.warn("unused-field", key)
    const more = isList(args) ? args : to.fail("invalid-type", "args")
    const line = [...ServerEntry.gatewayArgs({ profile, servers }), ...more]
    return new Map<string, Value>([["command", "docker"], ...rest, [key, "stdio"], ["args", line]])
  },

  /** Goose: an empty list of tools means all of them, empty fields are absent, and `sse` is no longer supported. */
  emptyFields: (entry, to) => {
    const written = withoutNulls(entry)
    if (written.get("type") === "sse") to.reject("unknown-transport", "type")
    const tools = written.get("available_tools")
    return isList(tools) && tools.length === 0 ? without(written, "available_tools") : written
  },

  /** Kilo: the headers of a workspace have no variables. */
  headersWithoutVariables: (entry, to, { origin }) => {
    const headers = entry.get("headers")
    const hasVariables = isTable(headers) &&
      Array.from(headers.values()).some((value) => isText(value) && /\{(env|file):/.test(value))
    if (origin === "workspace" && hasVariables) to.fail("variable-forbidden", "headers")
    return entry
  },

  /** Continue: the headers are in `requestOptions`. */
  requestOptions: (written) => {
    const entry = withoutNulls(written)
    const options = entry.get("requestOptions")
    if (!isTable(options) || !options.has("headers")) return entry
    const others = without(options, "headers")
    return new Map([
      ...without(entry, "requestOptions"),
      ["headers", options.get("headers") ?? null],
      ...(others.size > 0 ? [["requestOptions", others] as const] : [])
    ])
  },

  /** Copilot's cloud agent: an entry needs a list of tools. */
  toolsRequired: (entry, to) => {
    if (!entry.has("tools")) to.reject("missing-transport", "tools")
    return entry
  },

  /** YAML: a field that is left empty is absent. */
  withoutNulls
} satisfies Record<string, Prepare>

/** Quotes keep words together, and a backslash takes any character as it is. */
const mcporterLine = { blank: / /, opens: () => true, escapes: () => true }

const pluginSchema = /^https:\/\/agent-plugins\.org\/schemas\/1\.\d+\.\d+\/mcp\.schema\.json$/

type Issue = Document.DocumentIssue

const useless = (at: string, expected: string): Issue => ({
  kind: "unused-field",
  severity: "warning",
  at,
  detail: `expected ${expected}`
})

/** The parts of a question of a native document, and what each has to be. */
const inputParts: ReadonlyMap<string, readonly [isRight: (value: Value) => boolean, expected: string]> = new Map([
  ["id", [(value) => isText(value) && value !== "", "a text"]],
  ["description", [isText, "a text"]],
  ["secret", [(value) => typeof value === "boolean", "true or false"]],
  ["default", [isText, "a text"]],
  ["choices", [(value) => isList(value) && value.every(isText), "a list of strings"]]
])

const inputFaults = (input: Value, at: string): ReadonlyArray<Issue> => [
  ...(isTable(input) && input.has("id") ? [] : [useless(at, "a table with an id")]),
  ...Array.from(table(input)).flatMap(([key, value]): ReadonlyArray<Issue> => {
    const place = `${at}/${UntrustedText.excerpt(key, 64)}`
    const [isRight, expected] = inputParts.get(key) ?? []
    if (isRight === undefined) return [{ kind: "unknown-key", severity: "warning", at: place }]
    return isRight(value) ? [] : [useless(place, expected!)]
  })
]

const importFaults = (host: Value, at: string): ReadonlyArray<Issue> =>
  isText(host) ? [] : [useless(at, "the id of a host")]

const faultsIn = (root: Table, key: string, faults: typeof inputFaults): ReadonlyArray<Issue> => {
  const value = root.get(key)
  if (value === undefined) return []
  return isList(value) ? value.flatMap((one, at) => faults(one, `${key}/${at}`)) : [useless(key, "a list")]
}

type Inspect = (root: Table) => ReadonlyArray<Document.DocumentIssue>

/** Report faults of a document outside its servers; an error disables the document. */
export const inspect = {
  /** Agent Plugins: nothing but the schema and the servers. */
  closedDocument: (root) => {
    const schema = root.get("$schema")
    if (!isText(schema) || !pluginSchema.test(schema)) {
      return [{ kind: "unsupported-schema", severity: "error", at: "$schema" }]
    }
    if (!isTable(root.get("mcpServers"))) return [{ kind: "servers-not-a-map", severity: "error", at: "mcpServers" }]
    const other = Array.from(root.keys()).find((key) => key !== "$schema" && key !== "mcpServers")
    return other === undefined ? [] : [{ kind: "unsupported-schema", severity: "error", at: other }]
  },

  /** Our own format: the faults of questions and imports, which are read as far as they are right. */
  native: (root) => [...faultsIn(root, "inputs", inputFaults), ...faultsIn(root, "imports", importFaults)]
} satisfies Record<string, Inspect>
