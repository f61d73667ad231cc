import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as CallResult from "../../src/cli/callResult.ts"
import { Prompted } from "../../src/cli/commands/prompt.ts"
import { Prompts } from "../../src/cli/commands/prompts.ts"
import { owners, Read } from "../../src/cli/commands/read.ts"
import { Resources } from "../../src/cli/commands/resources.ts"
import { own, type Place, place, run as runAny, server, type Typing } from "./inProcess.ts"

const run = (at: Place, argv: ReadonlyArray<string>, typing: Typing = {}) => runAny(at, argv, typing)

const decode = <A, I>(shape: Schema.Schema<A, I>, text: string) =>
  Schema.decodeUnknownSync(Schema.parseJson(shape), { onExcessProperty: "error" })(text)

const having = (servers: object) => Effect.tap(place, (at) => Effect.sync(() => at.write(own, { servers })))

const one = having({ offers: server("cli/offers.mjs") })

const two = having({
  offers: server("cli/offers.mjs"),
  more: server("cli/offers.mjs", "more"),
  dead: { command: "/none" }
})

// oxlint-disable-next-line no-control-regex
const controls = /[\u001b\u202e]/

describe("who has a resource", () => {
  it("is whoever lists it, or else whose template says most of it", () => {
    const entries = [
      { server: "a", uri: "x://1" },
      { server: "b", uri: "x://1" },
      { server: "b", uri: "x://2" },
      { server: "c", uriTemplate: "y://{id}" },
      { server: "d", uriTemplate: "y://z/{id}" },
      { server: "e", uriTemplate: "{+any}" },
      { server: "f", uriTemplate: "x://{id}" }
    ]
    const table = [
      ["x://1", ["a", "b"]],
      ["x://2", ["b"]],
      ["x://3", ["f"]],
      ["y://1", ["c"]],
      ["y://z/1", ["d"]],
      ["z://1", []]
    ] as const
    for (const [uri, servers] of table) assert.deepStrictEqual([uri, owners(uri, entries)], [uri, servers])
  })

  it("is written to files whose names can be told apart", () => {
    const table = [
      ["a.png", 0, "a.png"],
      ["a.png", 1, "a-2.png"],
      ["b.d/a", 2, "b.d/a-3"],
      ["b/.env", 1, "b/.env-2"]
    ] as const
    for (const [file, at, name] of table) assert.strictEqual(CallResult.nameOf(file, at), name)
  })
})

describe("resources", () => {
  it.live("are one document", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, out } = yield* run(yield* two, ["resources", "--json"])
      const told = decode(Resources, out)
      assert.strictEqual(code, 0)
      assert.strictEqual(told.resources.filter((each) => each.uri === "note://one").length, 2)
      assert.deepStrictEqual(told.templates.map((each) => [each.server, each.uriTemplate]), [[
        "offers",
        "page://{number}"
      ]])
      assert.deepStrictEqual(told.missing.map((each) => [each.server, each.tag]), [["dead", "SpawnFailed"]])
      assert.notMatch(out, controls)
    })))

  it.live("are shown with what each is, and fit 80 columns", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, err, out } = yield* run(yield* two, ["resources", "more"], { columns: 80 })
      assert.strictEqual(code, 0)
      assert.match(out, /^more\n {2}note:\/\/one\n {4}A note\.\n/)
      assert.include(out, "  own://more\n")
      assert.notInclude(out, "offers")
      assert.notMatch(out + err.replaceAll("\r\u001b[K", ""), controls)
      assert.isAtMost(Math.max(...out.split("\n").map((line) => line.length)), 80)
    })))

  it.live("are missing for a reason", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* two
      const table = [["dead", 4, "/none"], ["offer", 2, "did you mean \"offers\"?"]] as const
      for (const [name, exit, text] of table) {
        const { code, err } = yield* run(at, ["resources", name])
        assert.strictEqual(code, exit)
        assert.include(err, text)
      }
    })))
})

describe("read", () => {
  it.live("writes a text, without what a terminal would take for orders", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* one
      const { code, out } = yield* run(at, ["read", "note://one"], { columns: 80 })
      assert.deepStrictEqual([code, out], [0, "first\nsecond\\x1b[2J\n"])
      const written = yield* run(at, ["read", "note://one", "--json"])
      assert.deepStrictEqual(decode(Read, written.out), {
        server: "offers",
        uri: "note://one",
        contents: [{ uri: "note://one", mimeType: "text/plain", text: "first\nsecond\u001b[2J\n", blob: null }]
      })
    })))

  it.live("writes Markdown, and raw bytes to a pipe but not to a terminal", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* one
      const read = (uri: string, format: string, typing: Typing = {}) =>
        run(at, ["read", uri, "--output", format], typing)
      assert.strictEqual((yield* read("note://one", "markdown")).out, "first\nsecond\\x1b[2J\n")
      assert.strictEqual((yield* read("note://picture", "markdown")).out, "*image/png, 8 bytes*\n")
      assert.strictEqual((yield* read("note://one", "raw")).out, "first\nsecond\u001b[2J\n")
      const shown = yield* read("note://one", "raw", { columns: 80 })
      assert.deepStrictEqual([shown.code, shown.out], [2, ""])
      assert.include(shown.err, "raw output is not written to a terminal\nUse --out FILE or a pipe.")
    })))

  it.live("writes to a file what was read, as it is", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* one
      const file = join(at.root, "picture.png")
      const shown = yield* run(at, ["read", "note://picture"])
      assert.strictEqual(shown.out, "[image/png, 8 bytes; use --out FILE to save it]\n")
      const { code, err, out } = yield* run(at, ["read", "note://picture", "--out", file])
      assert.deepStrictEqual([code, out, err], [0, "", `Wrote ${file} (8 bytes)\n`])
      assert.strictEqual(readFileSync(file).toString("base64"), "iVBORw0KGgo=")
      yield* run(at, ["read", "note://two", "--out", join(at.root, "part.txt")])
      assert.deepStrictEqual(["part.txt", "part-2.txt"].map((name) => readFileSync(join(at.root, name), "utf8")), [
        "a",
        "b"
      ])
      const nowhere = yield* run(at, ["read", "note://two", "--out", join(at.root, "no/where")])
      assert.strictEqual(nowhere.code, 2)
    })))

  it.live("finds the server that has it, by its list or its template", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* two
      const table = [
        [["read", "own://more"], 0, "more\n"],
        [["read", "page://7"], 0, "page 7 of offers\n"],
        [["read", "note://same", "--server", "more"], 0, "more\n"],
        [["read", "page://7", "--server", "more"], 0, "page 7 of more\n"]
      ] as const
      for (const [argv, exit, text] of table) {
        const { code, out } = yield* run(at, argv)
        assert.deepStrictEqual([argv, code, out], [argv, exit, text])
      }
    })))

  it.live("asks which, and says that there is none", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* two
      const table = [
        ["note://same", "Use --server with one of: offers, more"],
        ["note://sam", "did you mean \"note://same\""]
      ] as const
      for (const [uri, text] of table) {
        const { code, err } = yield* run(at, ["read", uri])
        assert.strictEqual(code, 2)
        assert.include(err, text)
      }
    })))
})

describe("prompts", () => {
  it.live("are one document, or a line each with what it takes", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* one
      const shown = yield* run(at, ["prompts"])
      assert.strictEqual(shown.out, "offers/review file=… [tone=…]\n    Reviews.\noffers/hello\n")
      const written = yield* run(at, ["prompts", "offers", "--json"])
      assert.deepStrictEqual(decode(Prompts, written.out).prompts[0], {
        server: "offers",
        name: "review",
        title: null,
        description: "Reviews.",
        arguments: [
          { name: "file", description: "Which.", required: true },
          { name: "tone", description: null, required: false }
        ]
      })
    })))

  it.live("are given what was typed", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* one
      const { code, out } = yield* run(at, ["prompt", "offers/review", "file=a=b", "tone="], { columns: 80 })
      assert.strictEqual(code, 0)
      assert.strictEqual(
        out,
        "user\nreview: {\"file\":\"a=b\",\"tone\":\"\"}\\x1b[31m\n\nassistant\n[image, image/png; use --json to get it]\n"
      )
      const written = yield* run(at, ["prompt", "hello", "--json"])
      const told = decode(Prompted, written.out)
      assert.deepInclude(told, { server: "offers", prompt: "hello", description: "About hello." })
      assert.deepStrictEqual(told.messages.map(({ role }) => role), ["user", "assistant"])
      assert.deepInclude(told.messages[1]?.content, { type: "image", data: "iVBORw0KGgo=" })
    })))

  it.live("are not asked for wrongly", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* two
      const table = [
        [["prompt", "offers/review"], "missing argument \"file\""],
        [["prompt", "offers/review", "fiel=a"], "Did you mean \"file\"?"],
        [["prompt", "offers/review", "a"], "invalid argument \"a\""],
        [["prompt", "hello"], "Use one of: offers/hello, more/hello"],
        [["prompt", "offers/helo"], "did you mean \"offers/hello\"?"]
      ] as const
      for (const [argv, text] of table) {
        const { code, err } = yield* run(at, argv)
        assert.deepStrictEqual([argv, code], [argv, 2])
        assert.include(err, text)
      }
    })))
})
