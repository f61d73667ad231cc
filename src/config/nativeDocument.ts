/**
 * The published JSON Schema of the native format (`mcp-client.json`, `.jsonc` and `.toml`), made from the rows of `fields.ts`.
 * The reader is lenient; the schema says what it reads without a warning.
 */
import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import { tables } from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import { ownHeaders } from "./readValues.ts"

type Json = { readonly [Key in string]: unknown }
type Rows = { readonly [Key in string]: FieldSchema.Row }

/** Letters in any case, because patterns of JSON Schema have no flag for it. */
const anyCase = (word: string): string => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)

const reserved = FieldSchema.reserved.join("|")
const line = { type: "string", pattern: "^[^\\u0000\\r\\n]*$" }
/** Neither empty, nor on another machine. */
const path = { type: "string", pattern: "^(?!\\s*(?:\\\\\\\\|\\/\\/))(?=.*\\S)[^\\u0000\\r\\n]*$" }
const variable = { type: "string", pattern: `^(?!(?:${reserved})$)[^=\\u0000]+$` }
const text = { type: "string" }
const flag = { type: "boolean" }
const word = { type: "string", minLength: 1 }
const listOf = (items: Json): Json => ({ type: "array", items })
const either = (...anyOf: ReadonlyArray<Json>): Json => ({ anyOf })
const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` })
const described = (description: string, json: Json): Json => ({ ...json, description })

const object = (properties: Json, required: ReadonlyArray<string> = []): Json => ({
  type: "object",
  required,
  properties,
  additionalProperties: false
})

const headerName = {
  type: "string",
  pattern: `^(?!(?:${ownHeaders.map(anyCase).join("|")})$)(?!${anyCase("mcp-")})(?!${
    anyCase("sec-websocket-")
  })(?!(?:${reserved})$)[!#$%&'*+.^_\`|~0-9A-Za-z-]+$`
}

/** White space around a header is cut off, line breaks too. */
const headerValue = { type: "string", pattern: "^\\s*[\\t\\u0020-\\u007e\\u0080-\\u00ff]*\\s*$" }

/** Where a variable begins an address, it says where it leads. */
const addressOf = (schemes: string): Json => ({
  type: "string",
  pattern: `^\\s*(?:\\$\\{|${anyCase(schemes)}://[^\\s/?#])[^\\u0000\\r\\n]*\\s*$`
})

/** Beyond it there are no whole milliseconds any more. */
const milliseconds = {
  type: "number",
  exclusiveMinimum: 0,
  maximum: Math.floor(Number.MAX_SAFE_INTEGER / 1000)
}

const duration = "^(?=[^ ]*[1-9])\\d{1,9}(\\.\\d+)? (milli|second|minute|hour|day|week)s?$"

/** How a value is written in a file, where that is not how it is in code. */
const written: ReadonlyMap<Schema.Schema.Any, Json> = new Map<Schema.Schema.Any, Json>([
  [FieldSchema.Text, text],
  [FieldSchema.Flag, flag],
  [FieldSchema.Time, either(milliseconds, { type: "string", pattern: duration })],
  [FieldSchema.Count, { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }],
  [FieldSchema.Port, { type: "integer", minimum: 1, maximum: 65_535 }],
  [FieldSchema.Names, either({ enum: ["*"] }, listOf(text))],
  [FieldSchema.Words, listOf(line)],
  [FieldSchema.Argv, { type: "array", prefixItems: [path], items: line, minItems: 1 }],
  [FieldSchema.Path, path],
  [FieldSchema.Folder, path],
  [FieldSchema.EnvFile, path],
  [FieldSchema.Variables, {
    type: "object",
    propertyNames: variable,
    additionalProperties: { type: "string", pattern: "^[^\\u0000]*$" }
  }],
  [FieldSchema.VariableNames, listOf(variable)],
  [FieldSchema.VariableName, { type: "string", pattern: "^[^\\s=${}:|\\u0000]+$" }],
  [FieldSchema.Inherited, either(flag, listOf(text))],
  [FieldSchema.Headers, { type: "object", propertyNames: headerName, additionalProperties: headerValue }],
  [FieldSchema.HttpAddress, addressOf("(?:http|ws)s?")],
  [FieldSchema.Login, either(flag, { enum: ["oauth"] }, ref("oauth"))],
  [FieldSchema.Scopes, either(text, listOf(text))],
  [FieldSchema.SecretText, text]
])

const jsonOf = ({ description, schema, words = {} }: FieldSchema.Row): Json => {
  const known = written.get(schema)
  if (known !== undefined) return described(description, known)
  const { $schema: _, enum: literals = [], ...rest } = Object(JSONSchema.make(schema as Schema.Schema<unknown>))
  return described(description, { ...rest, enum: [...literals, ...Object.keys(words)] })
}

/** Editors strike through a word for which there is a better one. */
const older = (json: Json, instead: string): Json => ({
  ...json,
  description: `The same as ${instead}, which is better written.`,
  deprecated: true
})

const propertiesOf = (rows: Rows): Json => {
  const properties: Record<string, Json> = {}
  for (const [key, row] of Object.entries(rows)) {
    properties[key] = jsonOf(row)
    for (const alias of row.aliases ?? []) properties[alias] = older(jsonOf(row), `\`${key}\``)
  }
  return properties
}

/** Of two words for one field only one has an effect, unless they are lists. */
const once = (rows: Rows): ReadonlyArray<Json> =>
  Object.entries(rows).flatMap(([key, { aliases = [], schema }]) =>
    schema === FieldSchema.Names ? [] : aliases.map((alias) => ({ not: { required: [key, alias] } }))
  )

/** What programs write that fill in all fields there are: a field of the other kind of server, with nothing in it. */
const empty = (own: Rows, other: Rows): Json =>
  Object.fromEntries(
    Object.entries(other).filter(([key, { required }]) => !Object.hasOwn(own, key) && required !== true).map((
      [key, { schema }]
    ) => [key, {
      enum: schema === FieldSchema.Variables ? [{}] : schema === FieldSchema.VariableNames ? [[]] : [false, [], {}],
      description: "Belongs to the other kind of server.",
      deprecated: true
    }])
  )

const disabled = older(flag, "`enabled` with the other value")

const beside = {
  disabled,
  isDisabled: disabled,
  source: { description: "Where the entry came from: registry, version, sha256." },
  sandbox: { description: "Not supported: the server is not confined, and an issue says so." }
}

const type = (words: ReadonlyArray<string>, olderWords: ReadonlyArray<string>, description: string): Json => {
  const word = described(description, { enum: words })
  return {
    type: either(word, older({ enum: olderWords }, `\`${words[0]}\``)),
    transport: older({ enum: [...words, ...olderWords] }, "`type`")
  }
}

const webSocket = { enum: ["ws", "websocket"] }

/** With such a word for how it is spoken to, the address must be of that kind. */
const goesWith = (kind: Json, address: Json): Json => {
  const without = (key: string): Json => ({ not: { properties: { [key]: kind }, required: [key] } })
  return either({ allOf: [without("type"), without("transport")] }, { properties: { url: address } })
}

const servers = (): Json => {
  const [stdio, remote]: readonly [Rows, Rows] = [tables.stdio, tables["streamable-http"]]
  const program = type(
    ["stdio"],
    ["local", "command"],
    "A program that is started and spoken to over stdin and stdout."
  )
  const address = type(
    ["streamable-http", "http", "sse", "ws", "auto"],
    ["streamableHttp", "streamablehttp", "streamable_http", "websocket", "remote"],
    "How it is spoken to; `auto` and nothing: Streamable HTTP, then the older HTTP+SSE."
  )
  const properties = propertiesOf(stdio)
  const line = older({
    type: "array",
    prefixItems: [path],
    items: written.get(FieldSchema.Words)!["items"],
    minItems: 1
  }, "a program, and its arguments in `args`")
  return {
    stdio: {
      title: "A program of this machine",
      ...object(
        {
          ...program,
          ...properties,
          command: either(Object(properties.command), line),
          ...empty(stdio, remote),
          ...beside
        },
        ["command"]
      ),
      allOf: once(stdio)
    },
    remote: {
      title: "A server behind an address",
      ...object({ ...address, ...propertiesOf(remote), ...empty(remote, stdio), ...beside }, ["url"]),
      allOf: [
        goesWith(webSocket, addressOf("wss?")),
        goesWith({ not: { enum: [...webSocket.enum, "auto", "remote"] } }, addressOf("https?")),
        ...once(remote)
      ]
    },
    oauth: {
      title: "How to log in",
      ...object({
        enabled: described("Whether to log in.", flag),
        public: described("Whether the client has no secret.", flag),
        ...propertiesOf(Object.fromEntries(
          Object.entries<FieldSchema.Row>(FieldSchema.login).map(([key, { aliases: _, ...row }]) => [key, row])
        ))
      })
    }
  }
}

const names = (description: string): Json => described(description, listOf(word))

const ruleAddress = {
  type: "string",
  pattern: `^(?:\\*|(?:${anyCase("https?")}|${anyCase("wss?")}|[^:/?#\\s]*\\*[^:/?#\\s]*)://` +
    "(?:\\[[0-9A-Fa-f:.*]+\\](?::[0-9*]+)?|[^/?#\\s<>^|%\\\\[\\]]+)(?:[/?#]\\S*)?|.*\\$\\{.*)$"
}

const rules = {
  name: described(
    "By name, with * for any characters: a convenience, and no protection, because a name can be changed.",
    word
  ),
  command: described("By the whole command line, word by word.", {
    type: "array",
    prefixItems: [word],
    items: text,
    minItems: 1
  }),
  commandLine: described("By the command line, its words joined by spaces, with * for any characters.", word),
  program: described("By the program, whatever its arguments.", word),
  url: described("By address, with * for any characters: https://*.example.com/*", ruleAddress),
  fingerprint: described("By fingerprint: this very configuration.", word)
}

const policies: Json = {
  rule: either(...Object.entries(rules).map(([key, json]) => object({ [key]: json }, [key]))),
  policy: {
    title: "Which servers may be used",
    ...object({
      allow: described("Only these servers, if there is any rule.", listOf(ref("rule"))),
      deny: described("Not these servers, whatever allows them.", listOf(ref("rule"))),
      managedOnly: described("Whether only an administrator's list of what is allowed counts.", flag),
      requireIdentity: described(
        "Whether rules about names alone allow nothing: then each server needs one about its command or url.",
        flag
      ),
      managed_only: older(flag, "`managedOnly`"),
      exclusive: described("Whether an administrator's file silences all other files.", flag),
      providers: names("The hosts whose files may be read.")
    })
  },
  permission: object({
    tool: described("server/tool or mcp__server__tool, with * for any characters; server/resource:URI.", word),
    action: { enum: ["allow", "ask", "deny"] },
    args: described("Only calls with these arguments, each a pattern.", { type: "object", additionalProperties: text })
  }, ["tool", "action"]),
  permissions: {
    title: "Which tools may be used",
    ...object({
      rules: described("deny counts more than ask, and ask more than allow.", listOf(ref("permission"))),
      allow: names("What a model may use without asking: each needs the name of a server, or is mcp__*."),
      ask: names("What a person has to agree to."),
      deny: names("What may not be used.")
    })
  },
  input: {
    title: "A question to a person",
    ...object({
      id: described("What ${input:id} asks for.", word),
      description: text,
      secret: described("Whether the answer is hidden while it is typed.", flag),
      default: text,
      choices: listOf(text)
    }, ["id"])
  }
}

/** A name that begins with a hyphen is an option on a command line. */
const serverName = {
  type: "string",
  pattern: `^(?!(?:${reserved})$)(?![- ])(?!.* (?: |$))[^\\u0000-\\u001f\\u007f-\\u009f*]+$`,
  maxLength: 128
}

/** The JSON Schema (2020-12) that the package has for editors: `schema/mcp-client.schema.json`. */
export const jsonSchema = (): Json => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:effect-mcp-runtime:mcp-client:1",
  title: "MCP client configuration",
  description:
    "Servers of the Model Context Protocol, as effect-mcp-runtime reads them (mcp-client.json, .jsonc, .toml).",
  type: "object",
  properties: {
    $schema: text,
    mcpServers: described("The servers, by name.", {
      type: "object",
      propertyNames: serverName,
      additionalProperties: either(ref("stdio"), ref("remote"))
    }),
    inputs: described("What is asked before a server is connected.", listOf(ref("input"))),
    imports: described(
      "The hosts whose files are read too, the strongest first; []: none; absent: what is usual.",
      listOf(text)
    ),
    policy: ref("policy"),
    permissions: ref("permissions"),
    security: {
      type: "object",
      properties: {
        mcp_server_allowlist: names("Only the servers of these names."),
        mcp_server_denylist: names("Not the servers of these names.")
      }
    }
  },
  $defs: { ...servers(), ...policies }
})
