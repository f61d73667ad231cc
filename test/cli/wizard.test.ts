import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either } from "effect"
import * as Arguments from "../../src/cli/toolArguments.ts"
import * as ShellWords from "../../src/text/shellWords.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { own, place, run as runAny, server } from "./inProcess.ts"

const schema = {
  type: "object",
  properties: {
    title: { type: "string", description: "What it is\u001b[2J called." },
    count: { type: "integer", default: 1 },
    state: { enum: ["open", "closed"] },
    token: { type: "string" }
  },
  required: ["title"]
}

const ask = (argv: ReadonlyArray<string>, answers: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const at = yield* place
    at.write(own, { mcpServers: { one: server("cli/asks.mjs"), two: server("cli/asks.mjs", JSON.stringify(schema)) } })
    return yield* runAny(at, ["call", "--wizard", ...argv], { answers, columns: 80 })
  })

describe("the wizard", () => {
  it.scopedLive("asks for server, tool and arguments, calls the tool, and shows the command line for it", () =>
    Effect.gen(function*() {
      const answers = ["2", "3", "it's me", "7", "closed", "s3cret", ""]
      const { asked, code, err, out } = yield* ask(["--timeout", "90s"], answers)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(out), { title: "it's me", count: 7, state: "closed", token: "s3cret" })
      assert.deepStrictEqual(asked, [
        "  server (one of these): ",
        "  tool (one of these): ",
        "  title (text): ",
        "  count (integer) [1]: ",
        "  state (one of these) [skip]: ",
        "  token (text) [skip]: ",
        "Call it now? [Y/n] "
      ])
      const line =
        /mcp-runtime call two\/own 'title=it'\\''s me' count=7 state=closed token=@FILE --root \S+ --timeout 90s\n/
      assert.match(err, line)
      assert.notInclude(err, "s3cret")
      assert.include(err, "What it is\\x1b[2J called.")
    }))

  it.scopedLive("calls nothing without a yes, and ends with its input as with Ctrl-C", () =>
    Effect.gen(function*() {
      const no = yield* ask(["one/declared"], ["n"])
      assert.deepStrictEqual([no.code, no.out], [0, ""])
      assert.include(no.err, "mcp-runtime call one/declared")
      const interrupted = yield* Effect.exit(ask(["two/own"], ["a"]))
      assert.isTrue(interrupted._tag === "Failure" && interrupted.cause._tag === "Interrupt")
    }))

  it.scopedLive("is for somebody at a terminal, and asks for all arguments", () =>
    Effect.gen(function*() {
      const at = yield* place
      const table = [
        [["call", "--wizard"], {}, "--wizard needs a terminal"],
        [["call", "--wizard", "a/b", "x=1"], { answers: [] }, "--wizard cannot be used with tool arguments"]
      ] as const
      for (const [argv, typing, text] of table) {
        const { code, err } = yield* runAny(at, argv, typing)
        assert.strictEqual(code, 2)
        assert.include(err, text)
      }
    }))
})

describe("what one would type", () => {
  const shared = {
    json: false,
    root: undefined,
    imports: [],
    configs: [],
    stdio: [],
    urls: [],
    name: undefined,
    env: [],
    headers: [],
    inputs: [],
    envFiles: [],
    servers: [],
    timeout: Duration.millis(1_500),
    quiet: false,
    verbose: false,
    colour: true
  }

  it("is read as the same arguments again", () => {
    const texts = [
      "",
      "a b",
      "it's",
      "@file",
      "@@",
      "1",
      "true",
      "{\"a\":1}",
      "a\nb",
      "$HOME `x` \"y\"",
      "日本",
      "\u202e",
      "*"
    ]
    const others = [0, -1.5, 1e21, true, false, null, [], [1, "2"], ["a,b"], { a: { b: [null] } }]
    const values: ReadonlyArray<JsonRpc.Json> = [...texts, "~", "#", ...others]
    const names = ["a", "a.b", "a b", "x:", "é", "__proto__", "constructor", "--json"]
    const kinds = [{}, { type: "string" }, { type: ["integer", "string"] }, {
      type: "array",
      items: { type: "string" }
    }]
    for (const kind of kinds) {
      for (const name of names) {
        const schema = { type: "object", properties: Object.fromEntries([[name, kind]]) }
        for (const value of values) {
          const line = Arguments.commandLine(
            { server: "my server", tool: "x" },
            schema,
            [[name, value]],
            new Set(),
            shared
          )
          assert.notMatch(line, /[\u0000-\u001f\u202e]/)
          const words = ShellWords.split(line, ShellWords.shell).words.map(({ text }) => text)
          assert.deepStrictEqual(words.slice(0, 3), ["mcp-runtime", "call", "my server/x"])
          assert.deepStrictEqual(words.slice(-2), ["--timeout", "1500ms"])
          const [word = "", json = "{}"] = words.slice(3, -2)
          const read = word === "--args"
            ? Arguments.object(json, "")
            : Either.flatMap(Arguments.read(word), (one) => Arguments.build(schema, [one]))
          assert.deepStrictEqual([line, Either.getOrThrow(read)], [line, Object.fromEntries([[name, value]])])
          assert.isFalse(word.startsWith("--") && word !== "--args", line)
        }
      }
    }
  })
})
