/**
 * What an entry of a list of skills says, and whether a file is that.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as McpClient from "../../client/McpClient.ts"
import * as Document from "../../config/document.ts"
import { canonicalJson, sha256 } from "../../json/canonical.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Skills from "../Skills.ts"

const File = Schema.Struct({
  uri: Schema.String,
  digest: Schema.optional(Schema.String),
  size: Schema.optional(Schema.NonNegativeInt)
})

const Entry = Schema.Struct({
  uri: Schema.String,
  frontmatter: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  resources: Schema.optionalWith(Schema.Array(Schema.Unknown), { default: () => [] })
})

const decodeEntry = Schema.decodeUnknownOption(Entry)
const decodeFile = Schema.decodeUnknownOption(File)

const skillOf = (server: string, entry: unknown): Option.Option<Skills.Skill> =>
  Option.flatMap(decodeEntry(entry), ({ frontmatter, resources, uri }) => {
    const { description, name } = frontmatter
    if (typeof name !== "string" || name === "") return Option.none()
    return Option.some({
      server,
      uri,
      name,
      description: typeof description === "string" ? description : undefined,
      // the cast: what came as JSON is JSON
      frontmatter: frontmatter as JsonRpc.JsonObject,
      files: resources.flatMap((file) =>
        Option.match(decodeFile(file), {
          onNone: () => [],
          onSome: ({ digest, size, uri }) => [{ uri, digest, size }]
        })
      )
    })
  })

/** @internal */
export const decoded = (server: string, entries: unknown): ReadonlyArray<Skills.Skill> =>
  Array.isArray(entries) ? entries.flatMap((entry) => Option.toArray(skillOf(server, entry))) : []

/** @internal */
export const digestOf = ({ digest }: Skills.File): string | undefined =>
  /^sha256:([0-9a-f]{64})$/i.exec(digest ?? "")?.[1]?.toLowerCase()

/** @internal */
export const bytesOf = (contents: ReadonlyArray<McpClient.ResourceContents>, uri: string): Uint8Array => {
  const content = contents.find((content) => content.uri === uri) ?? contents[0]
  if (content === undefined) return new Uint8Array()
  return content._tag === "Text" ? new TextEncoder().encode(content.text) : Buffer.from(content.blob, "base64")
}

/** @internal */
export const fault = (file: Skills.File, bytes: Uint8Array): "size" | "digest" | undefined => {
  if (file.size !== undefined && bytes.byteLength !== file.size) return "size"
  return sha256(bytes) === digestOf(file) ? undefined : "digest"
}

const fence = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * What follows the frontmatter; nothing, if that is not what the entry says, field by field.
 *
 * @internal
 */
export const withoutFrontmatter = (
  text: string,
  expected: JsonRpc.JsonObject
): Effect.Effect<string | undefined> => {
  const [whole, written] = fence.exec(text) ?? []
  if (whole === undefined || written === undefined) return Effect.succeed(undefined)
  return Effect.map(
    Document.decode(new TextEncoder().encode(written), "yaml"),
    ({ root }) =>
      root !== undefined && canonicalJson(json(root)) === canonicalJson(expected) ? text.slice(whole.length) : undefined
  )
}

const json = (value: Document.Value): JsonRpc.Json => {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number") {
    return value
  }
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Date) return value.toISOString()
  if (isList(value)) return value.map(json)
  return Object.fromEntries(Array.from(value, ([key, one]) => [key, json(one)]))
}

const isList = (
  value: Document.Table | ReadonlyArray<Document.Value>
): value is ReadonlyArray<Document.Value> => Array.isArray(value)
