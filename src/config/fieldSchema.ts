/**
 * The kinds of fields of a server: the schemas of their values, and the row of each in `fields.ts`.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { lookAlike } from "../text/lookAlike.ts"
import type * as Scope from "./Scope.ts"
import type * as Access from "./variableAccess.ts"

/** Names that mean something else as the key of an object. */
export const reserved: ReadonlyArray<string> = ["__proto__", "constructor", "prototype"]

/**
 * The name of a server: its identity in an application. Up to 128 characters, without control characters and without
 * letters that can be taken for others: no mixed scripts, no other encodings of plain letters, nothing invisible.
 */
export const ServerName = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(128),
  // eslint-disable-next-line no-control-regex
  Schema.pattern(/^[^\u0000-\u001f\u007f-\u009f]+$/),
  Schema.filter((name) => !reserved.includes(name)),
  Schema.filter((name) => lookAlike(name))
)

export const isSecret = (value: unknown): value is Redacted.Redacted =>
  Redacted.isRedacted(value) && typeof Redacted.value(value) === "string"

const SecretMap = Schema.declare(
  (input): input is ReadonlyMap<string, Redacted.Redacted> =>
    input instanceof Map && Array.from(input).every(([name, value]) => typeof name === "string" && isSecret(value)),
  { identifier: "ReadonlyMap<string, Redacted<string>>" }
)

/** Texts by header or variable name, or secrets already wrapped. */
export type SecretsInput = Readonly<Record<string, string | Redacted.Redacted>> | ReadonlyMap<string, Redacted.Redacted>

const SecretsInput = Schema.declare(
  (input): input is SecretsInput => typeof input === "object" && input !== null && !Array.isArray(input),
  { identifier: "an object of strings" }
)

/** Secret texts by name. A map, because the names come from files: `__proto__` is a name like any other. */
export const Secrets = Schema.transformOrFail(SecretsInput, SecretMap, {
  strict: true,
  decode: (input, _, ast) => {
    const secrets = new Map<string, Redacted.Redacted>()
    const entries: Iterable<readonly [unknown, unknown]> = input instanceof Map ? input : Object.entries(input)
    for (const [name, value] of entries) {
      const secret = typeof value === "string" ? Redacted.make(value) : value
      if (typeof name !== "string" || !isSecret(secret)) {
        return ParseResult.fail(new ParseResult.Type(ast, input, `expected a string at ${JSON.stringify(name)}`))
      }
      secrets.set(name, secret)
    }
    return ParseResult.succeed(secrets)
  },
  encode: (secrets) => ParseResult.succeed(secrets)
})

/** Variables of a process, and headers of a request: the same in code, and different patterns in the JSON Schema. */
export const Variables = Secrets.annotations({ title: "variables" })
export const Headers = Secrets.annotations({ title: "headers" })

export const SecretText = Schema.transformOrFail(
  Schema.Union(Schema.String, Schema.RedactedFromSelf(Schema.String)),
  Schema.RedactedFromSelf(Schema.String),
  {
    strict: true,
    decode: (input) => ParseResult.succeed(typeof input === "string" ? Redacted.make(input) : input),
    encode: ParseResult.succeed
  }
)

const DurationInput = Schema.declare(
  (input): input is Duration.DurationInput => Option.exists(Duration.decodeUnknown(input), Duration.isFinite),
  { identifier: "a finite duration" }
)

/** A `Duration`, milliseconds, or a text such as `"5 seconds"`; positive and finite. */
export const Time = Schema.transform(
  DurationInput,
  Schema.DurationFromSelf.pipe(Schema.greaterThanDuration(Duration.zero)),
  { strict: true, decode: (input) => Duration.decode(input), encode: (time) => time }
)

export const Text = Schema.String
export const Flag = Schema.Boolean
export const Count = Schema.Int.pipe(Schema.positive())
/** Patterns of tool names. */
export const Names = Schema.Array(Schema.NonEmptyString)
/** The arguments of a program. */
export const Words = Schema.Array(Schema.String)
/** A program and its arguments, without a shell. */
export const Argv = Schema.NonEmptyArray(Schema.String)
export const Path = Schema.NonEmptyString
export const Folder = Path.annotations({ title: "a folder" })
export const EnvFile = Path.annotations({ title: "a file of variables" })
export const VariableName = Schema.NonEmptyString.annotations({ title: "the name of a variable" })
export const VariableNames = Schema.Array(Schema.NonEmptyString).annotations({ title: "names of variables" })
export const Inherited = Schema.Union(Schema.Boolean, Schema.Array(Schema.NonEmptyString))
export const Scopes = Schema.Array(Schema.String).annotations({ title: "scopes" })
export const Protocol = Schema.Literal("auto", "session", "stateless")
export const Affinity = Schema.Literal("identity", "shared", "session")
export const Blocked = Schema.Literal("denied", "untrusted")
export const ProfileName = Schema.NonEmptyString.annotations({ title: "the name of a profile" })
export const Port = Schema.Int.pipe(Schema.between(1, 65_535))

/** One name of a list that Docker takes with commas. */
export const Listed = Schema.Array(
  Schema.NonEmptyString.pipe(
    Schema.filter((name) => /[\s,"]/.test(name) ? "a name without commas, quotes and spaces" : undefined)
  )
).pipe(Schema.minItems(1))

/** The fault of an address. A template says where it leads only when it is resolved. */
const addressFault = (text: string, protocols: ReadonlyArray<string>): string | undefined => {
  if (text.includes("${")) return undefined
  if (!URL.canParse(text)) return `not a URL: ${JSON.stringify(text.slice(0, 256))}`
  const url = new URL(text)
  if (!protocols.includes(url.protocol)) return `the scheme must be one of ${protocols.join(" ")}`
  return url.username === "" && url.password === "" ? undefined : "credentials belong in headers, not in the URL"
}

const address = (...protocols: ReadonlyArray<string>) =>
  Schema.NonEmptyString.pipe(Schema.filter((text) => addressFault(text, protocols)))

export const HttpAddress = address("http:", "https:")
export const WebSocketAddress = address("ws:", "wss:")
/** The credentials of a proxy belong in the environment, because this is shown. */
export const ProxyAddress = Schema.String.pipe(Schema.pattern(/^(?:direct|https?:\/\/[^\s/?#@]+\/?)$/, {
  message: () => "expected `direct`, or the URL of an HTTP proxy without credentials"
}))

/** One field of a server. */
export interface Row {
  readonly schema: Schema.Schema.Any
  readonly required?: true
  /**
   * `true`: another value makes it another server, with a connection, pins and approvals of its own. `false`: the field
   * says how the server is used.
   */
  readonly identity: boolean
  /** `false`: another value needs no new connection. */
  readonly connection?: false
  /** The kind of its texts, if they may hold templates; after the first text of a list they are arguments. */
  readonly template?: Access.Field
  /** The right that the origin of a file needs to set it. */
  readonly restrictedTo?: keyof Scope.Rights
  /**
   * The rule where the entry of a stronger file is laid over that of a weaker one. `target`: it says what is started
   * or reached. `credential`: it is meant for that target and does not follow to another one. Default: it follows.
   */
  readonly overlay?: "target" | "credential"
  /** Other words for it in native files. */
  readonly aliases?: ReadonlyArray<string>
  /** Other words for its values in files. */
  readonly words?: { readonly [Word in string]: string }
  /** A person is shown that it is there, and not its value. */
  readonly secret?: true
  /** The sentence that editors show. */
  readonly description: string
  /** The first words of its line of consent. Without it the field is shown as a setting, by its key. */
  readonly label?: string
}

export type Rows = { readonly [Key in string]: Row }

type Shape<R extends Rows> = {
  readonly [K in keyof R]: R[K] extends { readonly required: true } ? R[K]["schema"] : Schema.optional<R[K]["schema"]>
}

/** The fields of a `Schema.Struct`. */
export const shape = <R extends Rows>(table: R): Shape<R> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { required, schema }]) => [key, required ? schema : Schema.optional(schema)])
  ) as Shape<R>
