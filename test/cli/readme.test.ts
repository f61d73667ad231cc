/** The command lines of the first two pages over the demo server. `npm run walk` runs all of them, and needs the network. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Readme from "../../scripts/readme.mjs"
import { root } from "../package/project.ts"
import { pidsWithArgument } from "../support/leaks.ts"
import { place, run } from "./inProcess.ts"

const blocksOf = (page: string) => Readme.blocks(readFileSync(new URL(page, root), "utf8"))

/** The command lines of the program, each as its words, with the output that the page shows. */
const linesOf = (blocks: ReadonlyArray<Readme.Block>) =>
  blocks.flatMap(({ commands }) => commands).flatMap(({ line, output }) => {
    const [first, program, ...argv] = line.replace(/\s+#.*$/, "").split(/\s+/)
    // `smoke` is tested elsewhere, and takes as long as all the others
    return first === "npx" && program === "effect-mcp-runtime" && argv[0] !== "smoke" ? [{ line, argv, output }] : []
  })

/** A clone in small: the demo server and its file, inside the repository so that it finds what it depends on. */
const clone = Effect.acquireRelease(
  Effect.promise(async () => {
    const cache = join(fileURLToPath(root), "node_modules", ".cache")
    mkdirSync(cache, { recursive: true })
    const folder = mkdtempSync(join(cache, "readme-"))
    mkdirSync(join(folder, "src/demo"), { recursive: true })
    cpSync(new URL("src/demo/.mcp.json", root), join(folder, "src/demo/.mcp.json"))
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    const server = join(folder, "dist/demo/DemoServer.js")
    await build({
      entryPoints: [fileURLToPath(new URL("src/demo/DemoServer.ts", root))],
      outfile: server,
      format: "esm",
      logLevel: "silent"
    })
    return { folder, server }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("the README and docs/getting-started.md", () => {
  it.scopedLive(
    "have commands that write what is shown, and leave no process running",
    () =>
      Effect.gen(function*() {
        const { folder, server } = yield* clone
        const at = yield* place
        const started = blocksOf("docs/getting-started.md")
        const config = started.find(({ file }) => file === "mcp-client.json")?.code ?? ""
        const written = config.replace("node_modules/effect-mcp-runtime/dist/demo/DemoServer.js", server)
        assert.notStrictEqual(written, config)
        writeFileSync(join(folder, "mcp-client.json"), written)
        const [ofReadme, ofStarted] = [linesOf(blocksOf("README.md")), linesOf(started)]
        assert.isAbove(ofReadme.length, 4)
        assert.isAbove(ofStarted.length, 1)
        for (const { argv, line, output } of [...ofReadme, ...ofStarted]) {
          const placed = argv.map((word) => /^(src\/demo\/|mcp-client\.json$)/.test(word) ? join(folder, word) : word)
          const ran = yield* run(at, placed)
          assert.strictEqual(ran.code, 0, `${line}\n${ran.out}${ran.err}`)
          assert.notStrictEqual(ran.out, "", line)
          if (output !== undefined) assert.isUndefined(Readme.missing(output, ran.out + ran.err), line)
        }
        assert.deepStrictEqual(pidsWithArgument(server), [])
      }),
    60_000
  )
})

describe("what the walk reads", () => {
  const text = [
    "```sh",
    "# a remark",
    "first one \\",
    "  more # of it",
    "",
    "second",
    "```",
    "",
    "```text",
    "12 servers",
    "…",
    "end of …",
    "```",
    "```ts",
    "code",
    "```",
    "Words.",
    "```sh",
    "third",
    "```",
    "Words.",
    "```text",
    "not its output",
    "```",
    "<!-- save: main.ts -->",
    "```ts",
    "program",
    "```",
    "",
    "```text",
    "its output",
    "```"
  ].join("\n")

  it("are the commands of shells, and what the last of them writes", () => {
    assert.deepStrictEqual(Readme.blocks(text).filter(({ language }) => language !== "text"), [
      {
        language: "sh",
        code: "# a remark\nfirst one \\\n  more # of it\n\nsecond\n",
        commands: [
          { line: "first one more # of it", output: undefined },
          { line: "second", output: "12 servers\n…\nend of …\n" }
        ]
      },
      { language: "ts", code: "code\n", commands: [] },
      { language: "sh", code: "third\n", commands: [{ line: "third", output: undefined }] },
      { language: "ts", code: "program\n", file: "main.ts", output: "its output\n", commands: [] }
    ])
  })

  const compared: ReadonlyArray<readonly [shown: string, written: string, missing: string | undefined]> = [
    ["a", "a\n", undefined],
    ["a 5 ms", "x\na   17.2 ms\ny", undefined],
    ["a\n…\nc", "a\nb\nb\nc", undefined],
    ["a …", "a long story", undefined],
    ["a", "ab", "a"],
    ["a …", "b", "a …"],
    ["b\na", "a\nb", "a"],
    ["a\na", "a", "a"]
  ]
  for (const [shown, written, missing] of compared) {
    it(`${JSON.stringify(shown)} is ${missing === undefined ? "" : "not "}in ${JSON.stringify(written)}`, () => {
      assert.strictEqual(Readme.missing(shown, written), missing)
    })
  }
})
