/** The skills of servers (SEP-2640). Each file is verified against its entry in the list, and read only when it is needed. */
import { filterMap } from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as McpClient from "../client/McpClient.ts"
import * as Document from "../config/document.ts"
import { canonicalJson, sha256 } from "../json/canonical.ts"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as UntrustedText from "../text/UntrustedText.ts"

/** The extension that a server with skills declares. */
export const extension = "io.modelcontextprotocol/skills"

const File = Schema.Struct({
  uri: Schema.String,
  /** `sha256:` and hexadecimal digits. */
  digest: Schema.optional(Schema.String),
  /** In bytes. */
  size: Schema.optional(Schema.NonNegativeInt)
})

/** A file of a skill, with its digest and size. */
export type File = typeof File.Type

/** An entry of a server's list. All fields are untrusted. */
export interface Skill {
  readonly server: string
  /** The main file (`SKILL.md`), which is also in `files`. */
  readonly uri: string
  readonly name: string
  readonly description: string | undefined
  readonly frontmatter: JsonObject
  readonly files: ReadonlyArray<File>
}

/** A file does not match its entry. `unlisted`: the entry has no such file. `unverifiable`: the entry has no digest of it. */
export class SkillRejected extends Data.TaggedError("SkillRejected")<{
  readonly server: string
  readonly uri: string
  readonly reason: "size" | "digest" | "frontmatter" | "unlisted" | "unverifiable"
}> {
  override get message(): string {
    const server = UntrustedText.quote(this.server, 128)
    return `${server}: the skill file ${UntrustedText.quote(this.uri)} does not match its entry (${this.reason})`
  }
}

type Runtime = McpRuntime.McpRuntime["Type"]

type Failure = McpError.RuntimeError | SkillRejected

const maxPages = 100
const maxSkills = 1000

const decodeEntry = Schema.decodeUnknownOption(Schema.Struct({
  uri: Schema.String,
  frontmatter: Schema.Struct(
    { name: Schema.NonEmptyString },
    Schema.Record({ key: Schema.String, value: Schema.Unknown })
  ),
  resources: Schema.optionalWith(Schema.Array(Schema.Unknown), { default: () => [] })
}))
const decodeFile = Schema.decodeUnknownOption(File)

/** The valid skills of a page. */
const skillsOf = (server: string, entries: unknown): ReadonlyArray<Skill> =>
  filterMap(Array.isArray(entries) ? entries : [], (entry: unknown) => decodeEntry(entry))
    .map(({ frontmatter, resources, uri }) => ({
      server,
      uri,
      name: frontmatter.name,
      description: typeof frontmatter["description"] === "string" ? frontmatter["description"] : undefined,
      // the cast: parsed from JSON
      frontmatter: frontmatter as JsonObject,
      files: filterMap(resources, (file) => decodeFile(file))
    }))

const pages = (
  server: string,
  session: McpClient.McpClient
): Effect.Effect<ReadonlyArray<Skill>, McpError.CallError> =>
  Effect.gen(function*() {
    let all: ReadonlyArray<Skill> = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages && all.length < maxSkills; page++) {
      const { nextCursor, skills } = yield* session.request("skills/list", cursor === undefined ? {} : { cursor })
      all = all.concat(skillsOf(server, skills)).slice(0, maxSkills)
      if (typeof nextCursor !== "string" || nextCursor === cursor) break
      cursor = nextCursor
    }
    return all
  })

const hasSkills = ({ capabilities: { extensions } }: McpClient.McpClient): boolean =>
  isObject(extensions) && Object.hasOwn(extensions, extension)

/** The skills of a server; empty if it does not declare the extension. Invalid entries are omitted. */
export const list = (runtime: Runtime, server: string): Effect.Effect<ReadonlyArray<Skill>, McpError.RuntimeError> =>
  runtime.withClient(
    server,
    (session) => hasSkills(session) ? pages(server, session) : Effect.succeed([])
  )

const digestOf = ({ digest }: File): string | undefined =>
  /^sha256:([0-9a-f]{64})$/i.exec(digest ?? "")?.[1]?.toLowerCase()

const bytesOf = (contents: ReadonlyArray<McpClient.ResourceContents>, uri: string): Uint8Array => {
  const content = contents.find((content) => content.uri === uri) ?? contents[0]
  if (content === undefined) return new Uint8Array()
  return content._tag === "Text" ? new TextEncoder().encode(content.text) : Buffer.from(content.blob, "base64")
}

/** Reads and verifies a file of a skill. */
export const file = (
  runtime: Runtime,
  { files, server }: Skill,
  uri: string,
  options?: McpRuntime.RequestOptions
): Effect.Effect<Uint8Array, Failure> =>
  Effect.gen(function*() {
    const rejected = (reason: SkillRejected["reason"]) => new SkillRejected({ server, uri, reason })
    const listed = files.find((file) => file.uri === uri)
    if (listed === undefined) return yield* rejected("unlisted")
    const digest = digestOf(listed)
    if (digest === undefined) return yield* rejected("unverifiable")
    const bytes = bytesOf(yield* runtime.readResource(server, uri, options), uri)
    if (listed.size !== undefined && bytes.byteLength !== listed.size) return yield* rejected("size")
    return sha256(bytes) === digest ? bytes : yield* rejected("digest")
  })

const fence = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

const jsonOf = (value: Document.Value): Json => {
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Date) return value.toISOString()
  if (Document.isList(value)) return value.map(jsonOf)
  return Document.isTable(value) ? Object.fromEntries(Array.from(value, ([key, item]) => [key, jsonOf(item)])) : value
}

/** The main file of a skill without its frontmatter, which must equal that of the entry. */
export const load = (
  runtime: Runtime,
  skill: Skill,
  options?: McpRuntime.RequestOptions
): Effect.Effect<string, Failure> =>
  Effect.gen(function*() {
    const { frontmatter, server, uri } = skill
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(yield* file(runtime, skill, uri, options))
    const [whole, written] = fence.exec(text) ?? []
    const { root } = yield* Document.decode(new TextEncoder().encode(written ?? ""), "yaml")
    if (whole === undefined || root === undefined || canonicalJson(jsonOf(root)) !== canonicalJson(frontmatter)) {
      return yield* new SkillRejected({ server, uri, reason: "frontmatter" })
    }
    return text.slice(whole.length)
  })
