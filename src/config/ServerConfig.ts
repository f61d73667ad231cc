/**
 * The configuration of one server, tagged by its transport.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as Expansion from "./Expansion.ts"
import { lookAlike } from "./internal/names/lookAlike.ts"
import * as Address from "./internal/servers/address.ts"
import * as Limits from "./Limits.ts"
import * as Provenance from "./Provenance.ts"
import * as Scope from "./Scope.ts"

/**
 * The name of a server: its identity in an application. Up to 128 characters, without control characters and `*`, and
 * nothing that can be taken for another name: no letters of scripts that are not written together, no other spelling of
 * plain letters, nothing that nobody sees.
 *
 * @since 0.1.0
 * @category models
 */
export const ServerName = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(128),
  // eslint-disable-next-line no-control-regex
  Schema.pattern(/^[^\u0000-\u001f\u007f-\u009f]+$/),
  Schema.filter((name) => !["__proto__", "constructor", "prototype"].includes(name)),
  Schema.filter((name) => lookAlike(name))
)

const isSecret = (value: unknown): value is Redacted.Redacted =>
  Redacted.isRedacted(value) && typeof Redacted.value(value) === "string"

/** Looked at by hand: a schema for each entry makes of thousands of servers a noticeable wait. */
const SecretMap = Schema.declare(
  (input): input is ReadonlyMap<string, Redacted.Redacted> =>
    input instanceof Map && Array.from(input).every(([name, value]) => typeof name === "string" && isSecret(value)),
  { identifier: "ReadonlyMap<string, Redacted<string>>" }
)

/**
 * Secret texts by name. A map, because the names come from files: `__proto__` is a name like any other.
 *
 * @since 0.1.0
 * @category models
 */
export const Secrets = Schema.transformOrFail(Schema.Unknown, SecretMap, {
  strict: true,
  decode: (input, _, ast) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      return ParseResult.fail(new ParseResult.Type(ast, input, "expected an object of texts"))
    }
    const secrets = new Map<string, Redacted.Redacted>()
    const entries: Iterable<readonly [unknown, unknown]> = input instanceof Map ? input : Object.entries(input)
    for (const [name, value] of entries) {
      const secret = typeof value === "string" ? Redacted.make(value) : value
      if (typeof name !== "string" || !isSecret(secret)) {
        return ParseResult.fail(new ParseResult.Type(ast, input, `expected a text at ${JSON.stringify(name)}`))
      }
      secrets.set(name, secret)
    }
    return ParseResult.succeed(secrets)
  },
  encode: (secrets) =>
    ParseResult.succeed(Object.fromEntries(Array.from(secrets, ([name, value]) => [name, Redacted.value(value)])))
})

/**
 * Texts by header or variable name, or secrets already wrapped.
 *
 * @since 0.1.0
 * @category models
 */
export type SecretsInput = Readonly<Record<string, string | Redacted.Redacted>> | ReadonlyMap<string, Redacted.Redacted>

const Names = Schema.Array(Schema.NonEmptyString)
const Positive = Schema.Int.pipe(Schema.positive())
const Time = Schema.DurationFromSelf.pipe(Schema.greaterThanDuration(Duration.zero))

const common = {
  name: ServerName,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  enabled: Schema.optional(Schema.Boolean),
  required: Schema.optional(Schema.Boolean),
  lazy: Schema.optional(Schema.Boolean),
  /** Whether the annotations of this server's tools are believed. */
  trusted: Schema.optional(Schema.Boolean),
  protocol: Schema.optional(Schema.Literal("auto", "session", "stateless")),
  startupTimeout: Schema.optional(Time),
  requestTimeout: Schema.optional(Time),
  toolTimeout: Schema.optional(Time),
  listTimeout: Schema.optional(Time),
  stallTimeout: Schema.optional(Time),
  discoverPatience: Schema.optional(Time),
  keepAlive: Schema.optional(Time),
  idleTimeout: Schema.optional(Time),
  concurrency: Schema.optional(Positive),
  /** `shared`: all users of an application have one connection and one login. Default: each identity has its own. */
  affinity: Schema.optional(Schema.Literal("identity", "shared")),
  maxMessageBytes: Schema.optional(Positive),
  enabledTools: Schema.optional(Names),
  disabledTools: Schema.optional(Names),
  autoApprove: Schema.optional(Names),
  /** Why it must not be used, by policy or for want of trust. It is there to be seen. */
  blocked: Schema.optional(Schema.Literal("denied", "untrusted")),
  /** Its texts are templates, and this is what they may be resolved with. */
  expansion: Schema.optional(Expansion.Expansion),
  /** Where it was found. */
  provenance: Schema.optional(Provenance.Provenance)
}

/**
 * A server that is a child process and speaks over its stdin and stdout.
 *
 * @since 0.1.0
 * @category models
 */
export const StdioServer = Schema.Struct({
  transport: Schema.Literal("stdio"),
  ...common,
  /** One executable, never a shell line. */
  command: Schema.NonEmptyString,
  args: Schema.optional(Schema.Array(Schema.String)),
  env: Schema.optional(Secrets),
  /** Variables that it does not get, even if they are inherited. */
  withoutEnv: Schema.optional(Names),
  /** A file of `NAME=value` lines, read at each start; `env` is stronger. */
  envFile: Schema.optional(Schema.NonEmptyString),
  /** What the process gets of this process's environment: `false`, the safe list; `true`, all; or the list and these. */
  inheritEnv: Schema.optional(Schema.Union(Schema.Boolean, Names)),
  cwd: Schema.optional(Schema.NonEmptyString)
})

/** A name in a list that is written with commas. */
const Listed = Schema.NonEmptyString.pipe(
  Schema.filter((name) => /[\s,"]/.test(name) ? "a name without commas, quotes and spaces" : undefined)
)

/**
 * The MCP gateway of Docker: a child process that speaks for the servers that Docker runs in containers. It is heavy,
 * so it is started when it is first needed, and ended when it was not needed for five minutes, unless told otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export const DockerServer = Schema.Struct({
  transport: Schema.Literal("docker"),
  ...common,
  lazy: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  idleTimeout: Schema.optionalWith(Time, { default: () => Duration.minutes(5) }),
  /** The program `docker`, by name or path. */
  command: Schema.optionalWith(Schema.NonEmptyString, { default: () => "docker" }),
  /** The profile whose servers it runs; Docker takes either this or `servers`. */
  profile: Schema.optional(Schema.NonEmptyString),
  /** The servers of the catalog that it runs. */
  servers: Schema.optional(Schema.Array(Listed).pipe(Schema.minItems(1))),
  /** What else `docker mcp gateway run` is given. */
  args: Schema.optional(Schema.Array(Schema.String)),
  env: Schema.optional(Secrets),
  /** As for a stdio server; the variables that tell Docker where its daemon is are inherited in any case. */
  inheritEnv: Schema.optional(Schema.Union(Schema.Boolean, Names))
})

const Url = (protocols: ReadonlyArray<string>) =>
  Schema.NonEmptyString.pipe(Schema.filter((text) => Address.fault(text, protocols)))

const needsIssuer = "a client secret needs the issuer of its authorization server, such as " +
  "\"https://login.example.com\": without it, the MCP server would choose where the secret is sent"

/**
 * How to log in. A `clientSecret` needs an `issuer`.
 *
 * @since 0.1.0
 * @category models
 */
export const OAuth = Schema.Struct({
  clientId: Schema.optional(Schema.String),
  clientSecret: Schema.optional(Schema.RedactedFromSelf(Schema.String)),
  clientMetadataUrl: Schema.optional(Schema.String),
  scopes: Schema.optional(Schema.Array(Schema.String)),
  redirectUri: Schema.optional(Schema.String),
  callbackPort: Schema.optional(Schema.Int.pipe(Schema.between(1, 65_535))),
  issuer: Schema.optional(Schema.String),
  resource: Schema.optional(Schema.String),
  grantType: Schema.optional(Schema.String),
  tokenEndpointAuthMethod: Schema.optional(Schema.String),
  authServerMetadataUrl: Schema.optional(Schema.String),
  /**
   * A server of before servers described themselves (2025-03-26): its own origin is the authorization server, whatever
   * that calls itself. It is less safe.
   */
  legacy: Schema.optional(Schema.Boolean),
  /** Whether tokens are bound to a key of ours (default: where the authorization server can do it). */
  dpop: Schema.optional(Schema.Boolean)
})

/** Reports the error of the field instead of one for each alternative of the union. */
const Login = Schema.Union(Schema.Literal(false), OAuth).pipe(
  Schema.filter((oauth) =>
    oauth === false || oauth.clientSecret === undefined || (oauth.issuer ?? "") !== ""
      ? undefined
      : { path: ["issuer"], message: needsIssuer }
  )
)

const remote = {
  ...common,
  headers: Schema.optional(Secrets),
  /** The name of an environment variable that holds a bearer token. */
  bearerTokenEnvVar: Schema.optional(Schema.NonEmptyString),
  /** A program (argv, no shell) that prints a JSON object of headers. */
  headersCommand: Schema.optional(Schema.NonEmptyArray(Schema.String)),
  /** How to log in if the server asks for it; `false`: not at all. */
  oauth: Schema.optional(Login)
}

/**
 * A server behind one HTTP endpoint (Streamable HTTP).
 *
 * @since 0.1.0
 * @category models
 */
export const HttpServer = Schema.Struct({
  transport: Schema.Literal("streamable-http"),
  ...remote,
  url: Url(Address.http),
  /** Whether 400, 404 or 405 to the first request means that the old HTTP+SSE transport is tried (default: yes). */
  sseFallback: Schema.optional(Schema.Boolean)
})

/**
 * A server behind the HTTP+SSE transport of 2024-11-05.
 *
 * @since 0.1.0
 * @category models
 */
export const SseServer = Schema.Struct({
  transport: Schema.Literal("sse"),
  ...remote,
  url: Url(Address.http)
})

/**
 * A server behind a WebSocket.
 *
 * @since 0.1.0
 * @category models
 */
export const WebSocketServer = Schema.Struct({
  transport: Schema.Literal("ws"),
  ...remote,
  url: Url(Address.webSocket)
})

/**
 * The configuration of one server.
 *
 * @since 0.1.0
 * @category models
 */
export const ServerConfig = Schema.Union(StdioServer, DockerServer, HttpServer, SseServer, WebSocketServer)

/**
 * @since 0.1.0
 * @category models
 */
export type ServerConfig = typeof ServerConfig.Type

/**
 * @since 0.1.0
 * @category models
 */
export type StdioServer = typeof StdioServer.Type

/**
 * @since 0.1.0
 * @category models
 */
export type DockerServer = typeof DockerServer.Type

/**
 * @since 0.1.0
 * @category models
 */
export type HttpServer = typeof HttpServer.Type

/**
 * @since 0.1.0
 * @category models
 */
export type SseServer = typeof SseServer.Type

/**
 * @since 0.1.0
 * @category models
 */
export type WebSocketServer = typeof WebSocketServer.Type

type Times =
  | "startupTimeout"
  | "requestTimeout"
  | "toolTimeout"
  | "listTimeout"
  | "stallTimeout"
  | "discoverPatience"
  | "keepAlive"
  | "idleTimeout"

type Loose<Config> =
  & Omit<Config, Times | "transport" | "env" | "headers">
  & {
    readonly [K in Times]?: Duration.DurationInput | undefined
  }

/**
 * What `stdio` takes: durations and secrets may be written plainly.
 *
 * @since 0.1.0
 * @category models
 */
export interface StdioInput extends Loose<StdioServer> {
  readonly env?: SecretsInput | undefined
}

/**
 * What `docker` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface DockerInput extends Omit<Loose<DockerServer>, "lazy" | "command"> {
  readonly lazy?: boolean | undefined
  readonly command?: string | undefined
  readonly env?: SecretsInput | undefined
}

/**
 * What `http` takes.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpInput extends Loose<HttpServer> {
  readonly headers?: SecretsInput | undefined
}

/**
 * What `sse` and `ws` take.
 *
 * @since 0.1.0
 * @category models
 */
export interface RemoteInput extends Loose<SseServer> {
  readonly headers?: SecretsInput | undefined
}

const times: ReadonlyArray<Times> = [
  "startupTimeout",
  "requestTimeout",
  "toolTimeout",
  "listTimeout",
  "stallTimeout",
  "discoverPatience",
  "keepAlive",
  "idleTimeout"
]

/**
 * Checks a configuration from outside: plain texts become secrets, durations may be `Duration`s, milliseconds or texts
 * such as `"5 seconds"`.
 */
export const decode = (input: unknown): Effect.Effect<ServerConfig, McpError.ConfigurationError> =>
  Effect.suspend(() => decodeEither(input))

/** `decode` without an effect, for a caller with thousands of configurations. `found` is added unchecked. */
export const decodeEither = (
  input: unknown,
  found?: Pick<ServerConfig, "expansion" | "provenance">
): Either.Either<ServerConfig, McpError.ConfigurationError> =>
  typeof input !== "object" || input === null
    ? Either.left(new McpError.ConfigurationError({ server: "(unnamed)", path: "", detail: "expected an object" }))
    : Either.map(check(decodeStruct, input, found), (config) => ({ ...config, ...found }))

const decodeStruct = Schema.decodeUnknownEither(ServerConfig)

const nameOf = (input: object): string => "name" in input && typeof input.name === "string" ? input.name : "(unnamed)"

const check = <Config extends ServerConfig>(
  decode: (input: unknown) => Either.Either<Config, ParseResult.ParseError>,
  input: object,
  found?: Pick<ServerConfig, "expansion">
): Either.Either<Config, McpError.ConfigurationError> => {
  const invalid = (path: string, detail: string) =>
    new McpError.ConfigurationError({ server: nameOf(input), path, detail })
  const plain: Record<string, unknown> = { ...input }
  for (const key of times) {
    if (plain[key] === undefined) continue
    const duration = Duration.decodeUnknown(plain[key])
    if (duration._tag === "None" || !Duration.isFinite(duration.value)) {
      return Either.left(invalid(key, "expected a finite duration"))
    }
    plain[key] = duration.value
  }
  const decoded = Either.mapLeft(decode(plain), (error) => {
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

const construct = <Config extends ServerConfig, Encoded>(
  schema: Schema.Schema<Config, Encoded>,
  input: object
): Effect.Effect<Config, McpError.ConfigurationError> =>
  Effect.suspend(() => check(Schema.decodeUnknownEither(schema), input))

/** A program that speaks MCP over its stdin and stdout. */
export function stdio<Required extends boolean = false>(
  input: StdioInput & RequiredFlag<Required>
): Effect.Effect<StdioServer & RequiredFlag<Required>, McpError.ConfigurationError>
export function stdio(input: StdioInput): Effect.Effect<StdioServer, McpError.ConfigurationError> {
  return construct(StdioServer, { ...input, transport: "stdio" })
}

/** The MCP gateway of Docker. */
export function docker<Required extends boolean = false>(
  input: DockerInput & RequiredFlag<Required>
): Effect.Effect<DockerServer & RequiredFlag<Required>, McpError.ConfigurationError>
export function docker(input: DockerInput): Effect.Effect<DockerServer, McpError.ConfigurationError> {
  return construct(DockerServer, { ...input, transport: "docker" })
}

/** A remote server (Streamable HTTP). */
export function http<Required extends boolean = false>(
  input: HttpInput & RequiredFlag<Required>
): Effect.Effect<HttpServer & RequiredFlag<Required>, McpError.ConfigurationError>
export function http(input: HttpInput): Effect.Effect<HttpServer, McpError.ConfigurationError> {
  return construct(HttpServer, { ...input, transport: "streamable-http" })
}

/** A remote server with the HTTP+SSE transport of 2024-11-05. */
export function sse<Required extends boolean = false>(
  input: RemoteInput & RequiredFlag<Required>
): Effect.Effect<SseServer & RequiredFlag<Required>, McpError.ConfigurationError>
export function sse(input: RemoteInput): Effect.Effect<SseServer, McpError.ConfigurationError> {
  return construct(SseServer, { ...input, transport: "sse" })
}

/** A remote server behind a WebSocket. */
export function ws<Required extends boolean = false>(
  input: RemoteInput & RequiredFlag<Required>
): Effect.Effect<WebSocketServer & RequiredFlag<Required>, McpError.ConfigurationError>
export function ws(input: RemoteInput): Effect.Effect<WebSocketServer, McpError.ConfigurationError> {
  return construct(WebSocketServer, { ...input, transport: "ws" })
}

/**
 * The limits in force for a server: its own where it sets one, those of `base` elsewhere (default: `Limits.defaults`).
 *
 * @since 0.1.0
 * @category combinators
 */
export const limits = (config: ServerConfig, base: Limits.Limits = Limits.defaults): Limits.Limits => ({
  ...base,
  startupTimeout: config.startupTimeout ?? base.startupTimeout,
  requestTimeout: config.requestTimeout ?? base.requestTimeout,
  toolTimeout: config.toolTimeout ?? base.toolTimeout,
  listTimeout: config.listTimeout ?? base.listTimeout,
  stallTimeout: config.stallTimeout ?? base.stallTimeout,
  discoverPatience: config.discoverPatience ?? base.discoverPatience,
  keepAlive: config.keepAlive ?? base.keepAlive,
  maxMessageBytes: config.maxMessageBytes ?? base.maxMessageBytes
})

/**
 * Whether a server that is enabled connects before anybody needs it. What is required does, even if its kind is lazy by
 * default.
 *
 * @since 0.1.0
 * @category guards
 */
export const isEager = (config: ServerConfig): boolean => config.lazy !== true || config.required === true

/**
 * True if a read-only annotation may replace a person's approval: `trusted`, or else whether the server's file may
 * approve tools. Files of a workspace or a plugin may not.
 *
 * @since 0.1.0
 * @category guards
 */
export const isTrusted = ({ expansion, trusted }: ServerConfig): boolean =>
  trusted ?? (expansion !== undefined && Scope.rights(expansion.origin).approveTools)
