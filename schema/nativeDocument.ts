/**
 * The published JSON Schema of the native format (`mcp-client.json`, `.jsonc` and `.toml`), made from the rows of `fields.ts`.
 * The reader is lenient; the schema says what it reads without a warning. `npm run schema` writes it, and the package has
 * only what is written.
 */
import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import { tables } from "../src/config/fields.ts"
import * as FieldSchema from "../src/config/fieldSchema.ts"
import { Login } from "../src/config/Login.ts"
import { login } from "../src/config/loginFields.ts"
import { ownHeaders } from "../src/config/readValues.ts"
import * as Parts from "./nativeSchema.ts"

type Json = { readonly [Key in string]: unknown }
type Rows = { readonly [Key in string]: FieldSchema.Row }

/** Letters in any case, because patterns of JSON Schema have no flag for it. */
const anyCase = (word: string): string => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)

const reserved = FieldSchema.reserved.join("|")
const oneLine = { type: "string", pattern: "^[^\\u0000\\r\\n]*$" }
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
  [FieldSchema.Words, listOf(oneLine)],
  [FieldSchema.Argv, { type: "array", prefixItems: [path], items: oneLine, minItems: 1 }],
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
  [FieldSchema.ProxyAddress, { type: "string", pattern: "^(?:direct|https?://[^\\s/?#@]+/?)$" }],
  [Login, either(flag, { enum: ["oauth"] }, ref("oauth"))],
  [FieldSchema.Scopes, either(text, listOf(text))],
  [FieldSchema.SecretText, text],
  [FieldSchema.ProfileName, word],
  [FieldSchema.Listed, { type: "array", items: { type: "string", pattern: "^[^\\s,\"]+$" }, minItems: 1 }]
])

const jsonOf = ({ description: about, restrictedTo, schema, words = {} }: FieldSchema.Row): Json => {
  const description = restrictedTo === undefined ? about : `${about} Ignored in project and plugin files.`
  const known = written.get(schema)
  if (known !== undefined) return described(description, known)
  const { $schema: _, enum: literals = [], ...rest } = Object(JSONSchema.make(schema as Schema.Schema<unknown>))
  return described(description, { ...rest, enum: [...literals, ...Object.keys(words)] })
}

/** Editors strike through a word for which there is a better one. */
const older = (json: Json, instead: string): Json => ({
  ...json,
  description: `Deprecated: use ${instead}.`,
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
      description: "A field of the other kind of server.",
      deprecated: true
    }])
  )

/** One kind of server: its fields, and those of the other kind with nothing in them. */
const serverOf = (own: Rows, other: Rows, more: Json): Json => ({
  ...propertiesOf(own),
  ...more,
  ...empty(own, other),
  disabled: older(flag, "`enabled` with the other value"),
  isDisabled: older(flag, "`enabled` with the other value"),
  ...Parts.ignored
})

/** `type`, and `transport` in its place. */
const typeOf = ({ description, instead, olderWords, words }: typeof Parts.transports.remote): Json => {
  const type = described(description, { enum: words })
  return {
    type: olderWords.length === 0 ? type : either(type, older({ enum: olderWords }, `\`${instead}\``)),
    transport: older({ enum: [...words, ...olderWords] }, "`type`")
  }
}

/** With one of these words for how it is spoken to, the address must have one of these schemes. */
const addressIf = (words: Json, schemes: string): Json =>
  either(
    { allOf: ["type", "transport"].map((key) => ({ not: { properties: { [key]: words }, required: [key] } })) },
    { properties: { url: addressOf(schemes) } }
  )

const servers = (): Json => {
  const [stdio, remote, docker]: readonly [Rows, Rows, Rows] = [tables.stdio, tables["streamable-http"], tables.docker]
  const line = older(
    { type: "array", prefixItems: [path], items: oneLine, minItems: 1 },
    "a program, and its arguments in `args`"
  )
  const command = either(jsonOf(stdio["command"]!), line)
  const settings = Object.entries<FieldSchema.Row>(login).map(([key, { aliases: _, ...row }]) => [key, row])
  return {
    stdio: {
      title: "A local program",
      ...object({ ...typeOf(Parts.transports.stdio), ...serverOf(stdio, remote, { command }) }, ["command"]),
      allOf: once(stdio)
    },
    remote: {
      title: "A remote server",
      ...object({ ...typeOf(Parts.transports.remote), ...serverOf(remote, stdio, {}) }, ["url"]),
      allOf: [
        addressIf({ enum: ["ws", "websocket"] }, "wss?"),
        addressIf({ not: { enum: ["ws", "websocket", "auto", "remote"] } }, "https?"),
        ...once(remote)
      ]
    },
    docker: {
      title: "The Docker MCP gateway",
      ...object({ ...typeOf(Parts.transports.docker), ...serverOf(docker, remote, {}) }),
      allOf: [{ anyOf: [{ required: ["type"] }, { required: ["transport"] }] }, ...once(docker)]
    },
    oauth: {
      title: "How to log in",
      ...object({ ...Parts.ofLogin, ...propertiesOf(Object.fromEntries(settings)) })
    }
  }
}

/** A name that begins with a hyphen is an option on a command line. */
const serverName = {
  type: "string",
  pattern: `^(?!(?:${reserved})$)(?![- ])(?!.* (?: |$))[^\\u0000-\\u001f\\u007f-\\u009f*]+$`,
  maxLength: 128
}

const definitions = Object.entries<{ readonly required?: ReadonlyArray<string>; readonly properties: Json }>(
  Parts.definitions
).map(([name, { properties, required, ...about }]) => [name, { ...about, ...object(properties, required) }])

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
      additionalProperties: either(ref("stdio"), ref("remote"), ref("docker"))
    }),
    ...Parts.beside
  },
  $defs: {
    ...servers(),
    rule: either(...Object.entries(Parts.rules).map(([key, value]) => object({ [key]: value }, [key]))),
    ...Object.fromEntries(definitions)
  }
})
