/**
 * The configuration of one server, tagged by its transport. The fields are the rows of `fields.ts`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as Fields from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Limits from "./Limits.ts"
import { Login } from "./Login.ts"
import { login } from "./loginFields.ts"
import * as Scope from "./Scope.ts"
import type * as Access from "./variableAccess.ts"

/** Made once, because a schema that stands in several others is compiled once. */
const common = FieldSchema.shape({ ...Fields.common, ...Fields.found })

const server = <T extends string, R extends FieldSchema.Rows>(transport: T, rows: R) => ({
  transport: Schema.Literal(transport),
  name: FieldSchema.ServerName,
  ...common,
  ...FieldSchema.shape(rows)
})

/** A server that is a child process and speaks over its stdin and stdout. */
export const StdioServer = Schema.Struct(server("stdio", Fields.stdio))

/**
 * The MCP gateway of Docker: a child process that speaks for the servers that Docker runs in containers. It is heavy:
 * by default it is started at the first call and ended after five minutes without one.
 */
export const DockerServer = Schema.Struct({
  ...server("docker", Fields.docker),
  lazy: Schema.optionalWith(FieldSchema.Flag, { default: () => true }),
  idleTimeout: Schema.optionalWith(FieldSchema.Time, { default: () => Duration.minutes(5) }),
  command: Schema.optionalWith(FieldSchema.Path, { default: () => "docker" })
})

/** A server behind one HTTP endpoint (Streamable HTTP). */
export const HttpServer = Schema.Struct(server("streamable-http", Fields.http))

/** A server behind the HTTP+SSE transport of 2024-11-05. */
export const SseServer = Schema.Struct(server("sse", Fields.sse))

/** A server behind a WebSocket. */
export const WebSocketServer = Schema.Struct(server("ws", Fields.webSocket))

/** The configuration of one server. */
export const ServerConfig = Schema.Union(StdioServer, DockerServer, HttpServer, SseServer, WebSocketServer)

export interface StdioServer extends Schema.Schema.Type<typeof StdioServer> {}
export interface DockerServer extends Schema.Schema.Type<typeof DockerServer> {}
export interface HttpServer extends Schema.Schema.Type<typeof HttpServer> {}
export interface SseServer extends Schema.Schema.Type<typeof SseServer> {}
export interface WebSocketServer extends Schema.Schema.Type<typeof WebSocketServer> {}

export type ServerConfig = StdioServer | DockerServer | HttpServer | SseServer | WebSocketServer

type Plain<A> = A extends Duration.Duration ? number
  : A extends Redacted.Redacted ? string
  : A extends ReadonlyMap<string, unknown> ? ReadonlyMap<string, string>
  : A extends ReadonlyArray<unknown> ? A
  : A extends object ? { readonly [K in keyof A]: Plain<A[K]> }
  : A

type Entered<Server> = Omit<Plain<Server>, keyof typeof Fields.found | "transport">

/** A program as a file describes it: plain texts that may be templates, and milliseconds. */
export interface StdioEntry extends Entered<StdioServer> {
  readonly transport: "stdio"
  readonly args: ReadonlyArray<string>
  readonly enabled: boolean
}

/** A server behind an address as a file describes it. `auto`: Streamable HTTP, then the older HTTP+SSE. */
export interface RemoteEntry extends Entered<HttpServer> {
  readonly transport: "streamable-http" | "sse" | "ws" | "auto"
  readonly enabled: boolean
  /** Variables that `${env:…}` in its texts is read from first, where the host has such a rule. */
  readonly env?: ReadonlyMap<string, string> | undefined
}

/** A server as a file of any host describes it: the native record, with its templates unresolved. */
export type Entry = StdioEntry | RemoteEntry

/** The variables of an entry; `null`: one that it does not get, even if it is inherited. */
export const variables = (entry: Entry): ReadonlyMap<string, string | null> =>
  new Map<string, string | null>([
    ...(entry.env ?? []),
    ...(entry.transport === "stdio" ? entry.withoutEnv ?? [] : []).map((name) => [name, null] as const)
  ])

type Input<Server extends Schema.Schema.Any> = Omit<Schema.Schema.Encoded<Server>, "transport">

/** The input of `stdio`: durations and secrets may be written plainly. */
export interface StdioInput extends Input<typeof StdioServer> {}

/** The input of `docker`. */
export interface DockerInput extends Input<typeof DockerServer> {}

/** The input of `http`. */
export interface HttpInput extends Input<typeof HttpServer> {}

/** The input of `sse` and `ws`. */
export interface RemoteInput extends Input<typeof SseServer> {}

const nameOf = (input: object): string =>
  "name" in input && typeof input.name === "string" && input.name.trim() !== "" ? input.name : "(unnamed)"

type Found = Pick<ServerConfig, "expansion" | "provenance">

const construct = <Config extends ServerConfig, Encoded>(
  schema: Schema.Schema<Config, Encoded>
): (input: object, found?: Found) => Either.Either<Config, McpError.ConfigurationError> => {
  const decode = Schema.decodeUnknownEither(schema)
  return (input, found) => {
    const invalid = (path: string, detail: string) =>
      new McpError.ConfigurationError({ server: nameOf(input), path, detail })
    const decoded = Either.mapLeft(decode(input), (error) => {
      const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
      return invalid(issue?.path.map(String).join(".") ?? "", issue?.message ?? "invalid")
    })
    return Either.filterOrLeft(
      decoded,
      (config) =>
        !("url" in config) || (found?.expansion ?? config.expansion) !== undefined || !config.url.includes("${"),
      () => invalid("url", "a variable, but nothing says what it may be")
    )
  }
}

const constructAny = construct<ServerConfig, typeof ServerConfig.Encoded>(ServerConfig)

/** `decode` without an effect. `found` is added unchecked. */
export const decodeEither = (
  input: unknown,
  found?: Found
): Either.Either<ServerConfig, McpError.ConfigurationError> =>
  typeof input !== "object" || input === null
    ? Either.left(new McpError.ConfigurationError({ server: "(unnamed)", path: "", detail: "expected an object" }))
    : Either.map(constructAny(input, found), (config) => ({ ...config, ...found }))

/**
 * Checks a configuration from outside: plain texts become secrets, durations may be `Duration`s, milliseconds or texts
 * such as `"5 seconds"`.
 */
export const decode = (input: unknown): Effect.Effect<ServerConfig, McpError.ConfigurationError> =>
  Effect.suspend(() => decodeEither(input))

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A user and a password in an address become a header, because addresses are shown and logged. */
const withoutUserinfo = ({ headers, url }: RemoteEntry): Pick<RemoteEntry, "url" | "headers"> => {
  const address = url.includes("${") || !URL.canParse(url) ? undefined : new URL(url)
  if (address === undefined || (address.username === "" && address.password === "")) return { url, headers }
  const basic = Encoding.encodeBase64(`${decoded(address.username)}:${decoded(address.password)}`)
  address.username = ""
  address.password = ""
  const has = Array.from(headers?.keys() ?? []).some((header) => header.toLowerCase() === "authorization")
  return {
    url: address.href,
    headers: has ? headers : new Map([...(headers ?? []), ["Authorization", Interpolation.literal(`Basic ${basic}`)]])
  }
}

const gateway = ["mcp", "gateway", "run"]

/** The arguments of `docker` that start its gateway. */
export const gatewayArgs = (
  { args = [], profile, servers }: Pick<DockerServer, "args" | "profile" | "servers">
): ReadonlyArray<string> => [
  ...gateway,
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(servers === undefined ? [] : ["--servers", servers.join(",")]),
  ...args
]

const isGateway = ({ args, command, cwd, envFile }: StdioEntry): boolean =>
  command === "docker" && cwd === undefined && envFile === undefined && gateway.every((word, at) => args[at] === word)

/** The configuration of an entry that was found. A person's program starts where this one does, others at their files. */
export const ofEntry = (
  entry: Entry,
  found: Required<Found>
): Either.Either<ServerConfig, McpError.ConfigurationError> => {
  if (entry.transport !== "stdio") {
    const { env: _, transport, ...fields } = entry
    const { headers, url } = withoutUserinfo(entry)
    return decodeEither(
      { ...fields, transport: transport === "auto" ? "streamable-http" : transport, url, headers },
      found
    )
  }
  if (isGateway(entry)) {
    const { command: _, cwd: __, envFile: ___, withoutEnv: ____, ...fields } = entry
    return decodeEither({ ...fields, transport: "docker", args: entry.args.slice(gateway.length) }, found)
  }
  const { expansion, provenance } = found
  const isPersonal = provenance?.scope === "user" || provenance?.scope === "managed"
  const cwd = entry.cwd ??
    (isPersonal || expansion === undefined ? undefined : Interpolation.literal(expansion.directory))
  return decodeEither(cwd === undefined ? entry : { ...entry, cwd }, found)
}

/** A configuration, or the effect that a constructor gives. */
export type Source = ServerConfig | Effect.Effect<ServerConfig, McpError.ConfigurationError>

/** The configurations of all sources; fails with the first that is invalid. */
export const all = (
  sources: ReadonlyArray<Source>
): Effect.Effect<ReadonlyArray<ServerConfig>, McpError.ConfigurationError> =>
  Effect.forEach(sources, (source) => Effect.isEffect(source) ? source : Effect.succeed(source))

type Made<From> = From extends Effect.Effect<infer Config, unknown> ? Config : From

/** The errors of a layer over these sources: `RequiredServersFailed` only if one of them may be `required`. */
export type Failure<From extends Source = Source> =
  | McpError.ConfigurationError
  | (true extends Extract<Made<From>, ServerConfig>["required"] ? McpError.RequiredServersFailed : never)

/** The literal type of `required`, which `Failure` reads. */
export interface RequiredFlag<Required extends boolean> {
  readonly required?: Required | undefined
}

const constructor = <Config extends ServerConfig, Encoded>(
  schema: Schema.Schema<Config, Encoded>,
  transport: string
) => {
  const make = construct(schema)
  function of<Required extends boolean = false>(
    input: Omit<Encoded, "transport"> & RequiredFlag<Required>
  ): Effect.Effect<Config & RequiredFlag<Required>, McpError.ConfigurationError>
  function of(input: object): Effect.Effect<Config, McpError.ConfigurationError> {
    return Effect.suspend(() => make({ ...input, transport }))
  }
  return of
}

/** A program that speaks MCP over its stdin and stdout. */
export const stdio = constructor<StdioServer, typeof StdioServer.Encoded>(StdioServer, "stdio")

/** The MCP gateway of Docker. */
export const docker = constructor<DockerServer, typeof DockerServer.Encoded>(DockerServer, "docker")

/** A remote server (Streamable HTTP). */
export const http = constructor<HttpServer, typeof HttpServer.Encoded>(HttpServer, "streamable-http")

/** A remote server with the HTTP+SSE transport of 2024-11-05. */
export const sse = constructor<SseServer, typeof SseServer.Encoded>(SseServer, "sse")

/** A remote server behind a WebSocket. */
export const ws = constructor<WebSocketServer, typeof WebSocketServer.Encoded>(WebSocketServer, "ws")

/** The limits in force for a server: its own where it sets one, those of `base` elsewhere (default: `Limits.defaults`). */
export const limits = (config: ServerConfig, base: Limits.Limits = Limits.defaults): Limits.Limits => {
  const own = Object.entries(config).filter(([key, value]) => value !== undefined && Object.hasOwn(base, key))
  return { ...base, ...Object.fromEntries(own) }
}

/** True if an enabled server connects at start: a required one does, even if its transport is lazy by default. */
export const isEager = (config: ServerConfig): boolean => config.lazy !== true || config.required === true

/**
 * True if a read-only annotation may replace a person's approval: `trusted`, or else whether the server's file may
 * approve tools. Files of a workspace or a plugin may not.
 */
export const isTrusted = ({ expansion, trusted }: ServerConfig): boolean =>
  trusted ?? (expansion !== undefined && Scope.rights(expansion.origin).approveTools)

/** One text of a configuration that may be a template. */
export interface Site {
  /** `command`, `args.0`, `env.TOKEN`. */
  readonly at: string
  readonly field: Access.Field
  readonly template: string
}

/** Gives the text that takes the place of a template; `undefined`: the text is left out. */
export type Replace = (site: Site) => string | undefined

const mapValue = (value: unknown, at: string, field: Access.Field, replace: Replace): unknown => {
  if (typeof value === "string") return replace({ at, field, template: value })
  if (FieldSchema.isSecret(value)) {
    const text = replace({ at, field, template: Redacted.value(value) })
    return text === undefined ? undefined : Redacted.make(text)
  }
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      mapValue(item, `${at}.${index}`, index > 0 && field === "command" ? "argument" : field, replace)
    )
  }
  if (!(value instanceof Map)) return value
  const mapped = Array.from(value, ([name, item]) => [name, mapValue(item, `${at}.${name}`, field, replace)] as const)
  return new Map(mapped.filter(([, item]) => item !== undefined))
}

const mapFields = (table: FieldSchema.Rows, from: object, at: string, replace: Replace): object =>
  Object.fromEntries(
    Object.entries(from).flatMap(([key, value]) => {
      const row = Object.hasOwn(table, key) ? table[key] : undefined
      const mapped = row === undefined
        ? value
        : row.template !== undefined
        ? mapValue(value, `${at}${key}`, row.template, replace)
        : row.schema === Login && typeof value === "object" && value !== null
        ? mapFields(login, value, `${at}${key}.`, replace)
        : value
      return mapped === undefined ? [] : [[key, mapped]]
    })
  )

/** A configuration with other texts in place of its templates. */
export const mapTexts = (config: Pick<ServerConfig, "transport">, replace: Replace): object =>
  mapFields(Fields.tables[config.transport], config, "", replace)

/** The texts of a configuration that may be templates. */
export const texts = (config: Pick<ServerConfig, "transport">): ReadonlyArray<Site> => {
  const sites: Array<Site> = []
  mapTexts(config, (site) => {
    sites.push(site)
    return site.template
  })
  return sites
}
