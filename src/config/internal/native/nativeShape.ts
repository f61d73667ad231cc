/**
 * The native format, as people and editors are told of it. Servers are read by the table of the format, as leniently as
 * those of all hosts; this says what is read without a word of complaint, and a test holds the two together.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import { ownHeaders } from "../dialect/ownHeaders.ts"

/** @internal */
export const reserved = "__proto__|constructor|prototype"

const line = /^[^\u0000\r\n]*$/
/** Neither empty, nor on another machine. */
const path = /^(?!\s*(?:\\\\|\/\/))(?=.*\S)[^\u0000\r\n]*$/
const variable = new RegExp(`^(?!(?:${reserved})$)[^=\\u0000]+$`)

/**
 * Letters in any case, as patterns of JSON Schema have no flag for it.
 *
 * @internal
 */
export const anyCase = (word: string): string =>
  word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)

const header = new RegExp(
  `^(?!(?:${ownHeaders.map(anyCase).join("|")})$)(?!${anyCase("mcp-")})(?!${
    anyCase("sec-websocket-")
  })(?!(?:${reserved})$)[!#$%&'*+.^_\`|~0-9A-Za-z-]+$`
)

/** White space around a header is cut off, line breaks too. */
const headerValue = /^\s*[\t\u0020-\u007e\u0080-\u00ff]*\s*$/

/** Where a variable begins an address it says all of it. */
const address = (schemes: string) => new RegExp(`^\\s*(?:\\$\\{|${anyCase(schemes)}://[^\\s/?#])[^\\u0000\\r\\n]*\\s*$`)

/** @internal */
export const text = (pattern: RegExp, description: string) =>
  Schema.String.pipe(Schema.pattern(pattern, { description }))
const words = (pattern: RegExp, description: string) =>
  Schema.Array(Schema.String.pipe(Schema.pattern(pattern))).annotations({ description })

/**
 * What another word is better for: editors strike it through.
 *
 * @internal
 */
export const older = <A, I>(schema: Schema.Schema<A, I>, instead: string): Schema.Schema<A, I> =>
  schema.annotations({
    description: `The same as ${instead}, which is better written.`,
    jsonSchema: { deprecated: true }
  })

const described = <A, I>(schema: Schema.Schema<A, I>, description: string): Schema.Schema<A, I> =>
  schema.annotations({ description })

/** @internal */
export const flag = (description: string) => described(Schema.Boolean, description)

const globs = (description: string) =>
  described(Schema.Union(Schema.Literal("*"), Schema.Array(Schema.String)), description)

/** Beyond it there are no whole milliseconds any more. */
const millis = (description: string) =>
  Schema.Number.pipe(
    Schema.greaterThan(0),
    Schema.lessThanOrEqualTo(Math.floor(Number.MAX_SAFE_INTEGER / 1000))
  ).annotations({ description })

const anything = (description: string) => described(Schema.Unknown, description)

/** @internal */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const isNothing = (value: unknown, all: ReadonlyArray<unknown>): boolean =>
  all.some((one) => JSON.stringify(one) === JSON.stringify(value))

/** What programs write that fill in all fields there are: a field of the other kind of server, with nothing in it. */
const nothing = (...all: ReadonlyArray<unknown>) =>
  optional(
    Schema.Unknown.pipe(
      Schema.filter((value) => isNothing(value, all), {
        jsonSchema: { enum: all, deprecated: true, description: "Belongs to the other kind of server." }
      })
    )
  )

const common = {
  title: optional(described(Schema.String, "What people call it.")),
  description: optional(described(Schema.String, "What it is for.")),
  enabled: optional(flag("Whether it is used; default: true.")),
  disabled: optional(older(Schema.Boolean, "`enabled` with the other value")),
  isDisabled: optional(older(Schema.Boolean, "`enabled` with the other value")),
  required: optional(flag("Whether the application does not start without it; default: false.")),
  lazy: optional(flag("Whether it is started only when it is needed; default: false.")),
  startupTimeoutMs: optional(millis("How long connecting may take, in milliseconds.")),
  requestTimeoutMs: optional(millis("How long a request may take, in milliseconds.")),
  enabledTools: optional(globs("The tools that are offered, with * and ?; absent: all, []: none.")),
  disabledTools: optional(globs("The tools that are not offered, even if they are enabled.")),
  autoApprove: optional(
    globs("The tools that are called without asking. Not read from files of a project, which may not allow themselves.")
  ),
  alwaysAllow: optional(older(Schema.Union(Schema.Literal("*"), Schema.Array(Schema.String)), "`autoApprove`")),
  protocol: optional(
    Schema.Literal("auto", "session", "stateless", "legacy", "2026-07-28").annotations({
      description:
        "Which era of the protocol is spoken: with sessions (`session`, or `legacy`), without (`stateless`, or `2026-07-28`), or what the server answers to."
    })
  ),
  source: optional(anything("Where the entry came from: registry, version, sha256.")),
  sandbox: optional(anything("Not supported: the server is not confined, and an issue says so."))
}

const stdioWord = Schema.Literal("stdio").annotations({
  description: "A program that is started and spoken to over its input and output."
})
const stdioWords = Schema.Literal("local", "command")

const remoteWord = Schema.Literal("streamable-http", "http", "sse", "ws", "auto").annotations({
  description: "How it is spoken to; `auto` and nothing: Streamable HTTP, then the older HTTP+SSE."
})
const remoteWords = Schema.Literal("streamableHttp", "streamablehttp", "streamable_http", "websocket", "remote")

const argv = Schema.Tuple([Schema.String.pipe(Schema.pattern(path))], Schema.String.pipe(Schema.pattern(line)))

/** @internal */
export const stdio = Schema.Struct({
  type: optional(Schema.Union(stdioWord, older(stdioWords, "`stdio`"))),
  transport: optional(older(Schema.Union(stdioWord, stdioWords), "`type`")),
  command: Schema.Union(
    text(path, "One program, by name or path: no line for a shell."),
    older(
      argv,
      "a program, and its arguments in `args`"
    )
  ),
  args: optional(words(line, "Its arguments, each by itself.")),
  env: optional(
    Schema.Record({
      key: Schema.String.pipe(Schema.pattern(variable)),
      // eslint-disable-next-line no-control-regex
      value: Schema.String.pipe(Schema.pattern(/^[^\u0000]*$/))
    }).annotations({ description: "Its variables. A value can take others: ${env:NAME}, ${input:id}, ${secret:id}." })
  ),
  withoutEnv: optional(
    Schema.Array(Schema.String.pipe(Schema.pattern(variable))).annotations({
      description: "Variables that it does not get, even if they are inherited."
    })
  ),
  envFile: optional(text(path, "A file of NAME=value lines; `env` is stronger.")),
  inheritEnv: optional(
    Schema.Union(Schema.Boolean, Schema.Array(Schema.String)).annotations({
      description:
        "What it gets of the environment: false, only what every program needs (default); true, all; a list, these too."
    })
  ),
  cwd: optional(text(path, "The folder it is started in. A relative one begins at the project, or beside this file.")),
  headers: nothing(false, [], {}),
  headersCommand: nothing(false, [], {}),
  oauth: nothing(false, [], {}),
  ...common
}).annotations({ identifier: "stdio", title: "A program of this machine" })

const oauth = Schema.Struct({
  enabled: optional(flag("Whether to log in.")),
  clientId: optional(Schema.String),
  clientSecret: optional(
    described(Schema.String, "Needs `issuer`. Use ${env:NAME} or ${secret:id} instead of the secret itself.")
  ),
  clientMetadataUrl: optional(Schema.String),
  scopes: optional(Schema.Union(Schema.Array(Schema.String), Schema.String)),
  redirectUri: optional(Schema.String),
  callbackPort: optional(Schema.Int.pipe(Schema.between(1, 65_535))),
  issuer: optional(described(Schema.String, "The authorization server that gets the secret.")),
  resource: optional(Schema.String),
  grantType: optional(described(Schema.String, "authorization_code or client_credentials.")),
  tokenEndpointAuthMethod: optional(
    described(Schema.String, "none, client_secret_basic, client_secret_post or private_key_jwt.")
  ),
  authServerMetadataUrl: optional(Schema.String),
  public: optional(flag("Whether the client has no secret.")),
  legacy: optional(
    flag("A server that does not describe itself (2025-03-26): its own origin logs people in, unchecked. Less safe.")
  ),
  dpop: optional(flag("Whether tokens are bound to a key (default: where the authorization server can do it)."))
}).annotations({ identifier: "oauth", title: "How to log in" })

const isWs = Schema.is(Schema.Literal("ws", "websocket"))
const isAuto = Schema.is(Schema.Literal("auto", "remote"))

const anyAddress = address("(?:http|ws)s?")
const httpAddress = address("https?")
const wsAddress = address("wss?")

const webSocket = { enum: ["ws", "websocket"] }
const undecided = { enum: ["auto", "remote"] }

/** With such a word for how it is spoken to, the address must be of that kind. */
const goesWith = (word: object, pattern: RegExp): object => {
  const without = (key: string): object => ({ not: { properties: { [key]: word }, required: [key] } })
  return {
    anyOf: [
      { allOf: [without("type"), without("transport")] },
      { properties: { url: { pattern: pattern.source } } }
    ]
  }
}

/** @internal */
export const remote = Schema.Struct({
  type: optional(Schema.Union(remoteWord, older(remoteWords, "`streamable-http`, `ws` or `auto`"))),
  transport: optional(older(Schema.Union(remoteWord, remoteWords), "`type`")),
  url: text(anyAddress, "Where it is. It can have variables: ${env:NAME}, ${input:id}, ${secret:id}."),
  headers: optional(
    Schema.Record({
      key: Schema.String.pipe(Schema.pattern(header)),
      value: Schema.String.pipe(Schema.pattern(headerValue))
    }).annotations({
      description: "What it is sent with every request. Secrets are better not written here: ${env:NAME}."
    })
  ),
  headersCommand: optional(
    argv.annotations({
      description: "A program and its arguments, without a shell, that prints more headers as a JSON object."
    })
  ),
  oauth: optional(
    Schema.Union(Schema.Boolean, Schema.Literal("oauth"), oauth).annotations({
      description: "How to log in if the server asks for it; false: not at all."
    })
  ),
  args: nothing(false, [], {}),
  env: nothing({}),
  withoutEnv: nothing([]),
  envFile: nothing(false, [], {}),
  inheritEnv: nothing(false, [], {}),
  cwd: nothing(false, [], {}),
  ...common
}).annotations({ identifier: "remote", title: "A server behind an address" }).pipe(
  Schema.filter(
    ({ transport, type, url }) => {
      const word = type ?? transport
      return word === undefined || isAuto(word) || (isWs(word) ? wsAddress : httpAddress).test(url)
    },
    {
      identifier: "remoteServer",
      jsonSchema: {
        allOf: [
          goesWith(webSocket, wsAddress),
          goesWith({ not: { enum: [...webSocket.enum, ...undecided.enum] } }, httpAddress)
        ]
      }
    }
  )
)

/** @internal */
export const server = Schema.Union(stdio, remote)
