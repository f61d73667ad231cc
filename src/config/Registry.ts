/**
 * Entries from the MCP registry. `lookUp` takes a name of the registry, or the address of a `server.json`; `search` finds
 * names; `read` takes a document that is at hand. Of what they find, `lines` shows what would run, and `document` is the
 * native file. Nothing is downloaded but the document, and nothing is started.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Consent from "./consent.ts"
import * as Dialect from "./Dialect.ts"
import * as Document from "./document.ts"
import { isText, list, scalar, table, tables } from "./document.ts"
import * as Hazards from "./hazards.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Reader from "./reader.ts"
import { isClear } from "./remoteHeaders.ts"
import { answeredBy } from "./variableAccess.ts"

type Table = Document.Table
type Value = Document.Value

/** May be set too, and is left out because the document has no value for it. */
export interface Optional {
  /** `env.LOG_FILE`, `headers.X-Team`, `packageArguments.2`. */
  readonly at: string
  readonly description: string | undefined
  readonly secret: boolean
}

export interface Fault {
  readonly kind: ConfigIssue.EntryFault
  readonly at?: string | undefined
}

/** A program that runs the server, or an address of it. */
export interface Option {
  /** The name that was asked for, or the last part of the server's name. */
  readonly name: string
  /** The kind of the package (`npm`, `pypi`, `oci`, `nuget`, …), or the transport of the remote. */
  readonly source: string
  /** The entry as a native file has it, with `${input:…}` for each question; or why there is none. */
  readonly entry: Table | Fault
  readonly inputs: ReadonlyArray<Dialect.Input>
  readonly optional: ReadonlyArray<Optional>
}

export const isFault = (entry: Option["entry"]): entry is Fault => "kind" in entry

/** The parts of a package that decide how it is started, with templates for the questions. */
interface Package {
  readonly identifier: string
  readonly version: string | undefined
  readonly runtime: ReadonlyArray<string>
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyMap<string, string>
}

interface Kind {
  /** The names a package may have; the program could take any other text for an option or an address. */
  readonly identifier: RegExp
  /** The registry that the program asks. The same name in another registry is another package. */
  readonly domain: string
  /** The arguments of each program that runs such a package; the first program is the default. */
  readonly programs: { readonly [program: string]: (of: Package) => ReadonlyArray<string> }
}

const versioned = ({ identifier, version }: Package, between: string): string =>
  version === undefined ? identifier : `${identifier}${between}${version}`

const container = (of: Package): ReadonlyArray<string> => {
  const runtime = of.runtime[0] === "run" ? of.runtime.slice(1) : of.runtime
  const hasTag = /[:@]/.test(of.identifier.slice(of.identifier.lastIndexOf("/") + 1))
  return [
    "run",
    ...["-i", "--rm"].filter((option) => !runtime.includes(option)),
    ...runtime,
    // names only: the values stay in the environment, where other programs do not see them
    ...Array.from(of.env.keys()).flatMap((name) => ["-e", name]),
    hasTag ? of.identifier : versioned(of, ":"),
    ...of.args
  ]
}

const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["npm", {
    identifier: /^(?:@[\w~][\w.~-]*\/)?[\w~][\w.~-]*$/,
    domain: "npmjs.org",
    programs: {
      npx: (of) => [...(of.runtime.length === 0 ? ["-y"] : of.runtime), versioned(of, "@"), ...of.args],
      bunx: (of) => [...of.runtime, versioned(of, "@"), ...of.args]
    }
  }],
  ["pypi", {
    identifier: /^[A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?$/,
    domain: "pypi.org",
    programs: {
      uvx: (of) => [...of.runtime, versioned(of, "=="), ...of.args],
      pipx: (of) => ["run", ...of.runtime, "--spec", versioned(of, "=="), of.identifier, ...of.args]
    }
  }],
  ["oci", {
    identifier: /^[A-Za-z0-9][\w.:@/-]*$/,
    domain: "docker.io",
    programs: { docker: container, podman: container }
  }],
  ["nuget", {
    identifier: /^[A-Za-z0-9][\w.-]*$/,
    domain: "nuget.org",
    programs: {
      dnx: (of) => [...of.runtime, versioned(of, "@"), "--yes", ...(of.args.length === 0 ? [] : ["--", ...of.args])]
    }
  }]
])

/** Documents before September 2025 write the same fields with underscores. */
const get = (from: Table, key: string): Value | undefined =>
  from.get(key) ?? from.get(key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const text = (from: Table, key: string): string | undefined => scalar(get(from, key))

const isId = (id: string): boolean => /^\w[\w.-]*$/.test(id)

/** An option that has none of these is a switch. */
const valueKeys = ["value", "default", "isRequired", "valueHint", "format", "choices", "placeholder"]

/** Makes templates of the inputs of one option, and gathers the questions. */
class Questions {
  /** By the environment variables that answer them. */
  readonly inputs = new Map<string | undefined, Dialect.Input>()
  readonly optional: Array<Optional> = []
  private renamed = 1
  private readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  /** The value of an input, its default, or a question; nothing if it can be left out. */
  template(input: Table, id: string, at: string): string | undefined {
    const secret = get(input, "isSecret") === true
    const value = text(input, "value")
    if (value !== undefined) return this.filled(value, table(input.get("variables")), secret)
    const fallback = text(input, "default")
    if (fallback !== undefined) return Interpolation.literal(fallback)
    if (get(input, "isRequired") === true && isId(id)) return this.question(id, input, secret)
    this.optional.push({ at, description: text(input, "description"), secret })
    return undefined
  }

  /** A text in which `{name}` stands for a variable, if there is one of this name. */
  filled(value: string, variables: Table, secret: boolean): string {
    const parts = new Map<string, string>()
    let template = ""
    let end = 0
    for (const match of value.matchAll(/\{([^{}]*)\}/g)) {
      const id = match[1]!
      if (!variables.has(id) || !isId(id)) continue
      const variable = table(variables.get(id))
      const fixed = text(variable, "value")
      template += Interpolation.literal(value.slice(end, match.index))
      const part = parts.get(id) ??
        (fixed === undefined ? this.question(id, variable, secret) : Interpolation.literal(fixed))
      parts.set(id, part)
      template += part
      end = match.index + match[0].length
    }
    return template + Interpolation.literal(value.slice(end))
  }

  /** A question of its own: two inputs can have one name, and `TOKEN` and `token` are answered by one variable. */
  private question(name: string, input: Table, secret: boolean): string {
    const answer = (id: string) => answeredBy({ kind: "input", name: id, fallback: undefined })
    let id = this.prefix + name
    while (this.inputs.has(answer(id))) id = `${this.prefix}${name}-${++this.renamed}`
    const fallback = text(input, "default")
    const choices = get(input, "choices")
    this.inputs.set(answer(id), {
      id,
      description: text(input, "description"),
      secret: secret || get(input, "isSecret") === true,
      default: fallback,
      choices: choices === undefined ? undefined : list(choices).filter(isText)
    })
    // braces or variables in the default would end the template too early; the input has the default anyway
    return fallback === undefined || /[${}\\]/.test(fallback) ? `\${input:${id}}` : `\${input:${id}:-${fallback}}`
  }

  argument(input: Table, at: string, place: number): ReadonlyArray<string> {
    const name = input.get("type") === "named" ? text(input, "name") : undefined
    const option = name === undefined ? [] : [Interpolation.literal(name)]
    if (name !== undefined && valueKeys.every((key) => get(input, key) === undefined)) return option
    const id = name?.replaceAll(/^-+|=$/g, "") ?? text(input, "valueHint") ?? `argument-${place + 1}`
    const value = this.template(input, id, at)
    if (value === undefined) return []
    return name?.endsWith("=") === true ? [option + value] : [...option, value]
  }

  arguments(from: Table, key: string): ReadonlyArray<string> {
    return tables(get(from, key)).flatMap((input, place) => this.argument(input, `${key}.${place}`, place))
  }

  named(inputs: Value | undefined, at: string): ReadonlyMap<string, string> {
    return new Map(
      tables(inputs).flatMap((input) => {
        const name = text(input, "name") ?? ""
        const value = this.template(input, name, `${at}.${name}`)
        return value === undefined ? [] : [[name, value] as const]
      })
    )
  }
}

const isOf = (domain: string, address: string): boolean => {
  const host = /^https:\/\/([^/:?#@]+)\/?$/.exec(address)?.[1]?.toLowerCase()
  return host === domain || host?.endsWith(`.${domain}`) === true
}

const packageOf = (questions: Questions, from: Table): Table | Fault => {
  const kind = kinds.get(text(from, "registryType") ?? "")
  // a bundle would have to be downloaded and unpacked first
  if (kind === undefined) return { kind: "unsupported-field", at: "registryType" }
  // a package with an address would have to be started and then connected to
  const transport = table(from.get("transport")).get("type") ?? "stdio"
  if (transport !== "stdio") return { kind: "unsupported-field", at: "transport" }
  const identifier = text(from, "identifier")
  if (identifier === undefined || !kind.identifier.test(identifier)) return { kind: "invalid-value", at: "identifier" }
  const version = text(from, "version")
  if (version !== undefined && !/^\w[\w.+-]*$/.test(version)) return { kind: "invalid-value", at: "version" }
  const base = text(from, "registryBaseUrl")
  if (base !== undefined && !isOf(kind.domain, base) && !identifier.startsWith(`${base.replace(/^https:\/\//, "")}/`)) {
    return { kind: "unsupported-field", at: "registryBaseUrl" }
  }
  const command = text(from, "runtimeHint") ?? Object.keys(kind.programs)[0]!
  if (!Object.hasOwn(kind.programs, command)) return { kind: "unsupported-field", at: "runtimeHint" }
  const runtime = questions.arguments(from, "runtimeArguments")
  const args = questions.arguments(from, "packageArguments")
  const env = questions.named(get(from, "environmentVariables"), "env")
  return new Map<string, Value>([
    ["type", "stdio"],
    ["command", command],
    ["args", kind.programs[command]!({ identifier, version, runtime, args, env })],
    ...(env.size === 0 ? [] : [["env", env] as const])
  ])
}

const remoteOf = (questions: Questions, from: Table): Table => {
  const url = questions.filled(text(from, "url") ?? "", table(from.get("variables")), false)
  const headers = questions.named(from.get("headers"), "headers")
  return new Map<string, Value>([
    ["type", from.get("type") ?? null],
    ["url", url],
    ...(headers.size === 0 ? [] : [["headers", headers] as const])
  ])
}

/** An entry as the reader of native files takes it. */
const itemOf = (name: string, entry: Table) =>
  Reader.decode(Dialect.native, new Map([["mcpServers", new Map([[name, entry]])]]), {
    scope: "user",
    origin: "home",
    path: undefined
  }).items[0]

/** A registry answers with the document under `server`, beside metadata of its own. */
const serverOf = (root: Table): Table => root.has("server") ? table(root.get("server")) : root

/** The last part of a server's name. */
export const shortName = (name: string): string => name.replace(/^.*\//s, "")

/**
 * The options to configure a server that a document offers, packages first. An unusable option has its fault. A
 * package is started from the registry of its kind, by a program of its kind, whatever the document hints at. The ids of
 * the questions begin with `as`, because an answer is for all servers of a file that ask by the same id.
 */
export const options = (document: Table, as?: string): ReadonlyArray<Option> => {
  const server = serverOf(document)
  const short = shortName(text(server, "name") ?? "")
  const prefix = as === undefined ? "" : `${as.replaceAll(/[^\w.-]+/g, "-")}-`
  const option = (from: Table, source: string, read: (questions: Questions, from: Table) => Table | Fault): Option => {
    const questions = new Questions(prefix)
    const entry = read(questions, from)
    const { inputs, optional } = questions
    const item = isFault(entry) ? undefined : itemOf(short, entry)
    const checked = item?._tag === "Invalid" ? { kind: item.kind, at: item.at } : entry
    return {
      name: as ?? short,
      source: text(from, source) ?? "",
      entry: checked,
      inputs: [...inputs.values()],
      optional
    }
  }
  return [
    ...tables(server.get("packages")).map((from) => option(from, "registryType", packageOf)),
    ...tables(server.get("remotes")).map((from) => option(from, "type", remoteOf))
  ]
}

export interface LookUpOptions {
  /** Of the registry: https, or this machine. */
  readonly address: string
  /** Of the whole look-up. */
  readonly timeout: Duration.DurationInput
  /** Of an answer. */
  readonly maxBytes: number
}

export const defaults: LookUpOptions = {
  address: "https://registry.modelcontextprotocol.io",
  timeout: "10 seconds",
  maxBytes: 1024 * 1024
}

export interface Match {
  /** As the registry has it: `io.github.acme/weather`. */
  readonly name: string
  readonly version: string
  readonly description: string | undefined
}

export interface Found extends Match {
  /** The address of the document, for `source` of an entry. */
  readonly address: string
  /** For `options`. */
  readonly server: Table
}

const reference = /^([A-Za-z0-9][\w.-]{0,127}\/[A-Za-z0-9][\w.-]{0,127})(?:@([\w.+-]{1,128}))?$/

const matchOf = (server: Table): Match => ({
  name: text(server, "name") ?? "",
  version: text(server, "version") ?? "",
  description: text(server, "description")
})

/** The registry's own record of a server: its status, and if it is the latest version. */
const listed = (root: Table): Table => table(table(root.get("_meta")).get("io.modelcontextprotocol.registry/official"))

const foundIn = (root: Table | undefined, address: string, name?: string): Effect.Effect<Found, string> => {
  const server = serverOf(root ?? new Map())
  const match = matchOf(server)
  if (root === undefined || match.name === "" || match.name !== (name ?? match.name)) {
    const next = name === undefined ? "provide a server.json" : "check the address of the registry"
    return Effect.fail(`it is not the document of ${name === undefined ? "a" : "this"} server: ${next}`)
  }
  return listed(root).get("status") === "deleted"
    ? Effect.fail("the server was deleted from the registry")
    : Effect.succeed({ ...match, address, server })
}

const bytesOf = (response: HttpClientResponse.HttpClientResponse, maxBytes: number) =>
  response.stream.pipe(
    Stream.runFoldEffect({ size: 0, chunks: new Array<Uint8Array>() }, ({ chunks, size }, chunk) => {
      chunks.push(chunk)
      const all = { size: size + chunk.length, chunks }
      return all.size > maxBytes ? Effect.fail(`the response has more than ${maxBytes} bytes`) : Effect.succeed(all)
    }),
    Effect.map(({ chunks }) => Buffer.concat(chunks))
  )

/** The next step after an answer with a status other than 200 and 404. */
const adviceOn = (status: number): string => {
  if (status >= 300 && status < 400) return "it redirects: use the final address"
  return status >= 500 || status === 429 || status === 408
    ? "try again later"
    : "it refuses the request: check the address, and whether it needs a login"
}

/** The first document that there is among these paths of a registry. Fails with the fault and its remedy in a sentence. */
const fetched = (address: string, paths: ReadonlyArray<string>, { maxBytes, timeout }: LookUpOptions) =>
  Effect.gen(function*() {
    const base = URL.canParse(address) ? new URL(address) : undefined
    if (
      base === undefined || !/^https?:$/.test(base.protocol) || isClear(base) || base.username + base.password !== ""
    ) {
      return yield* Effect.fail("the address of a registry must be https, or on this machine, and have no credentials")
    }
    for (const path of paths) {
      const url = new URL(path, address.replace(/\/?$/, "/")).href
      const response = yield* HttpClient.get(url, { headers: { accept: "application/json" } })
      const { status } = response
      if (status === 200) {
        return { root: (yield* Document.decode(yield* bytesOf(response, maxBytes), "json")).root, url }
      }
      if (status !== 404) {
        return yield* Effect.fail(`the registry responded with status ${status}: ${adviceOn(status)}`)
      }
    }
    return yield* Effect.fail("the registry has no such server or version: check the name")
  }).pipe(
    // a redirect could lead anywhere
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.scoped,
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => "the registry did not respond in time: try again, or use another registry"
    }),
    Effect.catchTags({
      RequestError: ({ cause }) => {
        const why = cause instanceof Error ? UntrustedText.excerpt(cause.message, 256) : "no answer"
        return Effect.fail(`the registry cannot be reached (${why}): check the network, or use another registry`)
      },
      ResponseError: () => Effect.fail("the response of the registry was cut off: try again")
    })
  )

/** An address without user and password, which errors and logs must not show. The user of an invalid one can end anywhere. */
const shown = (address: string): string =>
  address.replace(URL.canParse(address) ? /^([\w+.-]+:)[/\\]*[^/\\?#]*@/ : /(:)\/\/.*@/s, "$1//")

const failing = (server: string, address: string) =>
  Effect.mapError((detail: string) =>
    new McpError.RegistryError({ server: shown(server), address: shown(address), detail })
  )

/** The paths of a server below the address of a registry. Where that has no API of version 0.1, version 0 is asked. */
const pathsOf = (name: string, version = "latest"): ReadonlyArray<string> => {
  const path = `servers/${encodeURIComponent(name)}`
  const versioned = `${path}/versions/${encodeURIComponent(version)}`
  return [`v0.1/${versioned}`, `v0/${versioned}`, ...(version === "latest" ? [`v0/${path}`] : [])]
}

/**
 * Looks up `name` or `name@version` in a registry; without a version, the latest. An address
 * (`https://acme.example/server.json`) is read as it is.
 */
export const lookUp = (
  wanted: string,
  partial?: Partial<LookUpOptions>
): Effect.Effect<Found, McpError.RegistryError, HttpClient.HttpClient> => {
  const limits = { ...defaults, ...partial }
  const [, name, version] = reference.exec(wanted) ?? []
  const address = wanted.includes("://") ? wanted : limits.address
  const paths = name === undefined ? [wanted] : pathsOf(name, version)
  const found = name === undefined && address !== wanted
    ? Effect.fail("a registry name looks like io.github.acme/weather; add @1.2.3 for a version")
    : Effect.flatMap(fetched(address, paths, limits), ({ root, url }) => foundIn(root, url, name))
  return failing(wanted, address)(found)
}

/** The servers of a registry, in their latest versions, whose names contain a text; at most 30. */
export const search = (
  part: string,
  partial?: Partial<LookUpOptions>
): Effect.Effect<ReadonlyArray<Match>, McpError.RegistryError, HttpClient.HttpClient> => {
  const limits = { ...defaults, ...partial }
  const query = `servers?search=${encodeURIComponent(part)}&version=latest&limit=30`
  return fetched(limits.address, [`v0.1/${query}`, `v0/${query}`], limits).pipe(
    Effect.map(({ root }) =>
      tables(root?.get("servers"))
        .filter((root) => listed(root).get("status") !== "deleted" && listed(root).get("isLatest") !== false)
        .map((root) => matchOf(serverOf(root)))
        .filter(({ name }) => reference.test(name))
        .slice(0, 30)
    ),
    failing(part, limits.address)
  )
}

/** Reads the text of a `server.json`, or of an answer of a registry. `address` is where it came from. */
export const read = (bytes: Uint8Array, address: string): Effect.Effect<Found, McpError.RegistryError> =>
  Effect.flatMap(Document.decode(bytes, "json"), ({ root }) => foundIn(root, address)).pipe(failing(address, address))

/** The lines of the program or address of an option, as `approve` shows them: everything in it, without secrets. */
export const lines = ({ entry, inputs, name }: Option): ReadonlyArray<Consent.ConsentLine> => {
  const item = isFault(entry) ? undefined : itemOf(name, entry)
  if (item?._tag !== "Server") return []
  const hazards = Hazards.hazards(item.entry, inputs)
  return Consent.lines({ server: name, entry: item.entry, extra: item.extra, variables: [], inputs, hazards })
}

const json = (entry: Table): object =>
  JSON.parse(JSON.stringify(entry, (_, value) => value instanceof Map ? Object.fromEntries(value) : value))

/** The native document of one option, to be written to `mcp-client.json`; nothing for an option with a fault. */
export const document = (
  { address }: Found,
  { entry, inputs, name }: Option
): { readonly mcpServers: { readonly [name: string]: object }; readonly inputs?: Option["inputs"] } | undefined =>
  isFault(entry)
    ? undefined
    : {
      mcpServers: { [name]: { ...json(entry), source: address } },
      ...(inputs.length === 0 ? {} : { inputs })
    }
