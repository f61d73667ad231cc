/**
 * The configuration of one server, tagged by its transport. The fields are the rows of `fields.ts`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as Fields from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import * as Limits from "./Limits.ts"
import * as Scope from "./Scope.ts"

/** Made once, because a schema that several others share is compiled once. */
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
      () => invalid("url", "contains a variable, but there is no `expansion` to resolve it with")
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
