/**
 * Skills that servers offer (SEP-2640): what there is, and the files of one that is loaded, each held to what its entry
 * said of it before. Nothing of a skill is read before somebody loads it.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as McpClient from "../client/McpClient.ts"
import type * as McpError from "../McpError.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Entry from "./internal/skillEntry.ts"

/**
 * The extension that a server declares which offers skills.
 *
 * @since 0.1.0
 * @category constants
 */
export const extension = "io.modelcontextprotocol/skills"

/**
 * A file of a skill, and what its content has to be.
 *
 * @since 0.1.0
 * @category models
 */
export interface File {
  readonly uri: string
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string | undefined
  /** In bytes. */
  readonly size: number | undefined
}

/**
 * An entry of a server's list. All of it is the server's own words.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  readonly server: string
  /** Of the file that begins it (`SKILL.md`), which is one of its files. */
  readonly uri: string
  readonly name: string
  readonly description: string | undefined
  readonly frontmatter: JsonRpc.JsonObject
  readonly files: ReadonlyArray<File>
}

/**
 * A file is not what the entry said, so that it is not used. `unlisted`: the entry does not speak of it; `unverifiable`: it
 * does not say what can be checked.
 *
 * @since 0.1.0
 * @category errors
 */
export class SkillRejected extends Data.TaggedError("SkillRejected")<{
  readonly server: string
  readonly uri: string
  readonly reason: "size" | "digest" | "frontmatter" | "unlisted" | "unverifiable"
}> {
  override get message(): string {
    const { reason, server, uri } = this
    return `${JSON.stringify(UntrustedText.excerpt(server, 128))}: the skill file ${
      JSON.stringify(UntrustedText.excerpt(uri, 256))
    } is not what was listed (${reason})`
  }
}

type Runtime = McpRuntime.McpRuntime["Type"]

type Failure = McpError.RuntimeError | SkillRejected

const maxPages = 100
const maxSkills = 1000

const declares = (client: McpClient.McpClient): boolean => {
  const { extensions } = client.capabilities
  return JsonRpc.isObject(extensions) && Object.hasOwn(extensions, extension)
}

const pages = (
  server: string,
  session: McpClient.McpClient,
  cursor: string | undefined,
  before: ReadonlyArray<Skill>,
  page: number
): Effect.Effect<ReadonlyArray<Skill>, McpError.CallError> =>
  Effect.flatMap(session.request("skills/list", cursor === undefined ? {} : { cursor }), ({ nextCursor, skills }) => {
    const all = before.concat(Entry.decoded(server, skills)).slice(0, maxSkills)
    const isMore = typeof nextCursor === "string" && nextCursor !== cursor
    return isMore && page < maxPages && all.length < maxSkills
      ? pages(server, session, nextCursor, all, page + 1)
      : Effect.succeed(all)
  })

/**
 * The skills of a server; none, if it does not say that it has any. Entries that say nothing usable are left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const list = (runtime: Runtime, server: string): Effect.Effect<ReadonlyArray<Skill>, McpError.RuntimeError> =>
  runtime.withClient(
    server,
    (session) => declares(session) ? pages(server, session, undefined, [], 1) : Effect.succeed([])
  )

/**
 * A file of a skill.
 *
 * @since 0.1.0
 * @category combinators
 */
export const file = (
  runtime: Runtime,
  { files, server }: Skill,
  uri: string,
  options?: McpRuntime.RequestOptions
): Effect.Effect<Uint8Array, Failure> =>
  Effect.gen(function*() {
    const listed = files.find((file) => file.uri === uri)
    if (listed === undefined) return yield* new SkillRejected({ server, uri, reason: "unlisted" })
    if (Entry.digestOf(listed) === undefined) return yield* new SkillRejected({ server, uri, reason: "unverifiable" })
    const bytes = Entry.bytesOf(yield* runtime.readResource(server, uri, options), uri)
    const fault = Entry.fault(listed, bytes)
    return fault === undefined ? bytes : yield* new SkillRejected({ server, uri, reason: fault })
  })

/**
 * The text of the file that a skill begins with, without its frontmatter, which was compared field by field.
 *
 * @since 0.1.0
 * @category combinators
 */
export const load = (
  runtime: Runtime,
  skill: Skill,
  options?: McpRuntime.RequestOptions
): Effect.Effect<string, Failure> =>
  Effect.gen(function*() {
    const { frontmatter, server, uri } = skill
    const bytes = yield* file(runtime, skill, uri, options)
    const text = yield* Entry.withoutFrontmatter(new TextDecoder().decode(bytes), frontmatter)
    return text ?? (yield* new SkillRejected({ server, uri, reason: "frontmatter" }))
  })
