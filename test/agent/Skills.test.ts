import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as Skills from "../../src/agent/Skills.ts"
import { sha256 } from "../../src/json/canonical.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Agent from "../support/agent.ts"
import * as Pool from "../support/pool.ts"

const body = "---\nname: pdf\ndescription: Fill, and merge\ntags: [a, b]\n---\nDo this.\n"
const forms = "All forms.\n"
const frontmatter = { description: "Fill, and merge", name: "pdf", tags: ["a", "b"] }

const listed = (uri: string, text: string) => ({
  uri,
  digest: `sha256:${sha256(text)}`,
  size: Buffer.byteLength(text)
})

const entry = {
  uri: "skill://pdf/SKILL.md",
  frontmatter,
  resources: [listed("skill://pdf/SKILL.md", body), listed("skill://pdf/FORMS.md", forms)]
}

const served = (uri: string, text: string): MemoryServer.Resource => ({
  uri,
  name: uri,
  read: () => Effect.succeed(text)
})

const offer = (
  entries: ReadonlyArray<unknown>,
  texts: Readonly<Record<string, string>> = {}
): MemoryServer.Options => ({
  era: "stateless",
  capabilities: { resources: {}, extensions: { [Skills.extension]: {} } },
  resources: Object.entries({ "skill://pdf/SKILL.md": body, "skill://pdf/FORMS.md": forms, ...texts }).map(
    ([uri, text]) => served(uri, text)
  ),
  methods: {
    "skills/list": ({ cursor }) => {
      const at = typeof cursor === "string" ? Number(cursor) : 0
      return Effect.succeed({
        resultType: "complete",
        skills: entries.slice(at, at + 1) as never,
        ...(at + 1 < entries.length ? { nextCursor: String(at + 1) } : {})
      })
    }
  }
})

const run = <A, E>(
  options: MemoryServer.Options,
  use: (runtime: McpRuntime.McpRuntime["Type"], server: MemoryServer.Server) => Effect.Effect<A, E>
) =>
  Effect.flatMap(MemoryServer.make(options), (server) =>
    Effect.provide(
      Effect.flatMap(McpRuntime.McpRuntime, (runtime) => use(runtime, server)),
      Agent.layer({ a: server }, { servers: [Pool.remote("a")] })
    ))

const reasonOf = <A, E>(result: Either.Either<A, E>): unknown =>
  Either.isLeft(result) && result.left instanceof Skills.SkillRejected ? result.left.reason : undefined

describe("Skills", () => {
  it.scoped("are listed from all pages, without invalid entries, and without reading a file", () =>
    run(
      offer([entry, { uri: 1 }, { ...entry, frontmatter: {} }, { ...entry, uri: "skill://b/SKILL.md" }]),
      (runtime, server) =>
        Effect.gen(function*() {
          const skills = yield* Skills.list(runtime, "a")
          assert.deepStrictEqual(skills.map(({ uri }) => uri), ["skill://pdf/SKILL.md", "skill://b/SKILL.md"])
          assert.deepInclude(skills[0], { server: "a", name: "pdf", description: "Fill, and merge" })
          assert.strictEqual(server.received("resources/read").length, 0)
        })
    ))

  it.scoped("are not requested from a server without the extension", () =>
    run({ ...offer([entry]), capabilities: { resources: {} } }, (runtime, server) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* Skills.list(runtime, "a"), [])
        assert.strictEqual(server.received("skills/list").length, 0)
      })))

  it.scoped("are loaded without their frontmatter, and files as bytes", () =>
    run(offer([entry]), (runtime) =>
      Effect.gen(function*() {
        const [skill] = yield* Skills.list(runtime, "a")
        assert.strictEqual(yield* Skills.load(runtime, skill!), "Do this.\n")
        const bytes = yield* Skills.file(runtime, skill!, "skill://pdf/FORMS.md")
        assert.strictEqual(new TextDecoder().decode(bytes), forms)
      })))

  const tampered: ReadonlyArray<[what: string, entry: unknown, text: string, reason: string]> = [
    ["another content of the same size", entry, body.replace("this", "that"), "digest"],
    ["more content", entry, `${body}and more`, "size"],
    [
      "frontmatter that differs from the entry",
      { ...entry, frontmatter: { ...frontmatter, description: "Merge" } },
      body,
      "frontmatter"
    ],
    ["a field less in the entry", { ...entry, frontmatter: { name: "pdf", tags: ["a", "b"] } }, body, "frontmatter"],
    ["no frontmatter", { ...entry, resources: [listed(entry.uri, "Do this.\n")] }, "Do this.\n", "frontmatter"],
    ["no digest", { ...entry, resources: [{ uri: entry.uri, size: body.length }] }, body, "unverifiable"],
    ["a digest of another kind", { ...entry, resources: [{ uri: entry.uri, digest: "md5:00" }] }, body, "unverifiable"],
    ["no word of its own file", { ...entry, resources: [] }, body, "unlisted"]
  ]
  for (const [what, one, text, reason] of tampered) {
    it.scoped(`are not loaded with ${what}`, () =>
      run(offer([one], { "skill://pdf/SKILL.md": text }), (runtime) =>
        Effect.gen(function*() {
          const [skill] = yield* Skills.list(runtime, "a")
          assert.strictEqual(reasonOf(yield* Effect.either(Skills.load(runtime, skill!))), reason)
        })))
  }

  it.scoped("are read only if a rule permits their files", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make(offer([entry]))
      const error = yield* Effect.provide(
        Effect.flatMap(McpRuntime.McpRuntime, (runtime) =>
          Effect.flatMap(Skills.list(runtime, "a"), ([skill]) =>
            Effect.flip(Skills.load(runtime, skill!, { origin: "model" })))),
        Agent.layer({ a: server }, {
          servers: [Pool.remote("a")],
          permissions: { rules: [{ decision: "deny", tool: "a/resource:skill://pdf/*" }] }
        })
      )
      assert.strictEqual(error._tag, "PermissionDenied")
      assert.strictEqual(server.received("resources/read").length, 0)
    }))
})
