/** Native files are edited in place: comments and formatting stay, and a change that cannot be used is not written. */
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as EditNative from "../../src/config/editNative.ts"

const disk = Layer.provideMerge(ConfigFiles.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer))

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "mcp-edit-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const server = { command: "npx", args: ["-y", "demo@1.0.0"] }

const changed = (
  text: string | undefined,
  change: (file: EditNative.NativeFile) => Effect.Effect<string, EditNative.Refusal>,
  name = "mcp-client.json"
) =>
  Effect.gen(function*() {
    const path = join(yield* folder, name)
    if (text !== undefined) writeFileSync(path, text, { mode: 0o600 })
    const file = yield* EditNative.open([path, `${path}.other`], "user")
    yield* EditNative.write(file, yield* change(file))
    return readFileSync(path, "utf8")
  }).pipe(Effect.scoped, Effect.provide(disk))

const adding = (content: EditNative.Content) => (file: EditNative.NativeFile) => EditNative.add(file, content)

const removing = (name: string) => (file: EditNative.NativeFile) =>
  EditNative.remove(file, file.decoded.items.find((item) => item.name === name)!)

describe("editNative.add", () => {
  it.live("creates a file that does not exist", () =>
    Effect.gen(function*() {
      const text = yield* changed(undefined, adding({ mcpServers: { demo: server }, imports: ["cursor"] }))
      assert.strictEqual(text, `${JSON.stringify({ mcpServers: { demo: server }, imports: ["cursor"] }, null, 2)}\n`)
    }))

  it.live("keeps comments, tabs and line ends", () =>
    Effect.gen(function*() {
      const text = "{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"command\": \"a\" } // first\r\n\t}\r\n}\r\n"
      assert.strictEqual(
        yield* changed(text, adding({ mcpServers: { b: { command: "b" } } })),
        "{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"command\": \"a\" }, // first\r\n"
          + "\t\t\"b\": {\r\n\t\t\t\"command\": \"b\"\r\n\t\t}\r\n\t}\r\n}\r\n"
      )
    }))

  it.live("keeps what an empty file says in comments", () =>
    Effect.gen(function*() {
      const text = yield* changed("// mine\n", adding({ imports: ["cursor"] }), "mcp-client.jsonc")
      assert.match(text, /^\/\/ mine\n\{\n {2}"imports": \[/)
    }))

  it.live("puts the table of a file of comments on its own line", () =>
    Effect.gen(function*() {
      const text = yield* changed("// todo", adding({ mcpServers: { a: { command: "a" } } }))
      assert.match(text, /^\/\/ todo\n\{\n {2}"mcpServers": \{\n/)
    }))

  it.live("refuses a file that is not UTF-8, and leaves its bytes alone", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "mcp-client.json")
      const bytes = Buffer.from("{ \"mcpServers\": {} } // caf\u00e9", "latin1")
      writeFileSync(path, bytes, { mode: 0o600 })
      const { detail } = yield* Effect.flip(EditNative.open([path], "user"))
      assert.match(detail, /save it as UTF-8/)
      assert.isTrue(bytes.equals(readFileSync(path)))
    }).pipe(Effect.scoped, Effect.provide(disk)))

  it.live("names the file that is broken, of those that could be there", () =>
    Effect.gen(function*() {
      const at = yield* folder
      const path = join(at, "mcp-client.toml")
      writeFileSync(path, "mcp_servers = [", { mode: 0o600 })
      const refusal = yield* Effect.flip(EditNative.open([join(at, "mcp-client.json"), path], "user"))
      assert.strictEqual(refusal.path, path)
    }).pipe(Effect.scoped, Effect.provide(disk)))

  it.live("takes a comma behind a comment for the comma of its entry", () =>
    Effect.gen(function*() {
      const text = "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" } /* a */,\n  }\n}\n"
      const added = yield* changed(text, adding({ mcpServers: { b: { command: "b" } } }))
      assert.include(added, "{ \"command\": \"a\" } /* a */,\n    \"b\": {")
    }))

  it.live("replaces a question of the same id, so that a secret is not echoed", () =>
    Effect.gen(function*() {
      const before = { inputs: [{ id: "b" }, { id: "a", description: "x" }], mcpServers: { a: { command: "a" } } }
      const text = yield* changed(
        JSON.stringify(before),
        adding({ mcpServers: { a: server }, inputs: [{ id: "a", secret: true } as { id: string }] })
      )
      assert.deepStrictEqual(JSON.parse(text), {
        inputs: [{ id: "b" }, { id: "a", secret: true }],
        mcpServers: { a: server }
      })
    }))

  it.live("writes servers below the key that the file uses, so that the others stay in use", () =>
    Effect.gen(function*() {
      for (const key of ["mcpServers", "servers", "mcp_servers"]) {
        const text = yield* changed(
          JSON.stringify({ [key]: { a: { command: "a" } } }),
          adding({ mcpServers: { b: server } })
        )
        assert.deepStrictEqual(JSON.parse(text), { [key]: { a: { command: "a" }, b: server } })
      }
    }))

  it.live("adds no host and no question twice", () =>
    Effect.gen(function*() {
      const before = { imports: ["cursor"], inputs: [{ id: "a" }], mcpServers: {} }
      const text = yield* changed(
        JSON.stringify(before),
        adding({ imports: ["cursor", "vscode"], inputs: [{ id: "a" }, { id: "b" }] })
      )
      assert.deepStrictEqual(JSON.parse(text), {
        imports: ["cursor", "vscode"],
        inputs: [{ id: "a" }, { id: "b" }],
        mcpServers: {}
      })
    }))

  it.live("refuses an entry that cannot be used, and a file that is broken, and leaves the file alone", () =>
    Effect.gen(function*() {
      const cases = [
        ["{ \"mcpServers\": {} }", { mcpServers: { demo: { url: "nowhere" } } }, /nothing was written: Server "demo"/],
        ["{ \"mcpServers\": {} }", { mcpServers: { "a*b": server } }, /nothing was written: Server "a\*b"/],
        ["{ \"mcpServers\": {", { mcpServers: { demo: server } }, /line 1: .*fix the syntax/],
        ["{ \"imports\": \"cursor\" }", { imports: ["vscode"] }, /imports/],
        ["{ \"inputs\": {} }", { inputs: [{ id: "a" }] }, /inputs/]
      ] as const
      for (const [text, content, words] of cases) {
        let path = ""
        const error = yield* Effect.flip(changed(text, (file) => {
          path = file.path
          return Effect.tapError(
            EditNative.add(file, content),
            () => Effect.sync(() => assert.strictEqual(readFileSync(path, "utf8"), text))
          )
        }))
        assert.match(error.detail, words)
      }
    }))

  it.live("gives the lines for a TOML file, which it does not change", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        changed("# mine\n", adding({ mcpServers: { "my demo": server } }), "mcp-client.toml")
      )
      assert.strictEqual(error.detail, "only JSON files can be edited")
      assert.include(error.byHand, "[mcp_servers.\"my demo\"]\ncommand = \"npx\"\nargs = [ \"-y\", \"demo@1.0.0\" ]")
    }))
})

describe("editNative.remove", () => {
  it.live("removes one server, and keeps the rest as it is", () =>
    Effect.gen(function*() {
      const text = `{
  // keep
  "mcpServers": {
    "a": { "command": "a" },
    "b": { "command": "b" } // stays
  }
}
`
      const left = yield* changed(text, removing("a"))
      assert.include(left, "// keep")
      assert.include(left, "\"b\": { \"command\": \"b\" } // stays")
      assert.notInclude(left, "\"a\"")
    }))
})

describe("editNative.remove leaves the rest of the file as it is", () => {
  const wrap = (...lines: ReadonlyArray<string>) => `{\n  "mcpServers": {\n${lines.join("\n")}\n  }\n}\n`
  const [a, b, c] = ["a", "b", "c"].map((name) => `"${name}": { "command": "x" }`)
  const table: ReadonlyArray<readonly [what: string, before: string, name: string, after: string]> = [
    [
      "the comment of the server before",
      wrap(`    ${a}, // about a`, `    ${b} // about b`),
      "b",
      wrap(`    ${a} // about a`)
    ],
    [
      "the comments before the next key",
      wrap("    // of both", `    ${a}, // about a`, "", "    /* next */", `    ${b}`),
      "a",
      wrap("    // of both", "", "    /* next */", `    ${b}`)
    ],
    ["a trailing comma", wrap(`    ${a},`, `    ${b},`), "b", wrap(`    ${a},`)],
    ["commas at the beginning of lines", wrap(`    ${a}`, `    , ${b}`), "b", wrap(`    ${a}`)],
    ["commas behind a comment", wrap(`    ${a} // a`, `    , ${b}`), "a", wrap(`     ${b}`)],
    ["servers of one line", wrap(`    ${a}, ${b}, ${c}`), "b", wrap(`    ${a}, ${c}`)],
    ["the last of one line", wrap(`    ${a}, ${b} // both`), "b", wrap(`    ${a} // both`)],
    [
      "line ends of Windows",
      wrap(`    ${a},`, `    ${b}`).replaceAll("\n", "\r\n"),
      "b",
      wrap(`    ${a}`).replaceAll("\n", "\r\n")
    ],
    ["a sole server", "{\"mcpServers\": { \"a\": {} }}", "a", "{\"mcpServers\": {}}"],
    ["a sole server with a trailing comma", "{\"mcpServers\": {\"a\": {},}}", "a", "{\"mcpServers\": {}}"],
    ["a sole server over lines", wrap(`    ${a}`), "a", "{\n  \"mcpServers\": {}\n}\n"],
    ["a sole server below a comment", wrap("    // none", `    ${a}`), "a", wrap("    // none")],
    ["the line of the table", `{"mcpServers": {${a},\n  ${b}}}`, "a", `{"mcpServers": {\n  ${b}}}`],
    ["the other way round", `{"mcpServers": {${a},\n  ${b}}}`, "b", `{"mcpServers": {${a}\n}}`]
  ]
  for (const [what, before, name, after] of table) {
    it.live(what, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* changed(before, removing(name)), after)
      }))
  }

  it.live("refuses a duplicate key, of which a reader takes the last", () =>
    Effect.gen(function*() {
      const twice = `{\n"mcpServers": {"a": { "command": "a" },\n"a": { "command": "b" }, "b": { "command": "b" }}}`
      for (const change of [removing("a"), adding({ mcpServers: { a: server } })]) {
        const { detail } = yield* Effect.flip(changed(twice, change))
        assert.match(detail, /line 3: The key mcpServers\/a appears twice.*: remove one/)
      }
      assert.notInclude(yield* changed(twice, removing("b")), "\"b\":")
    }))
})

describe("editNative.write", () => {
  it.live("writes nothing over what was written since it was read, and names the next step", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "mcp-client.json")
      for (const before of [undefined, "{}"]) {
        rmSync(path, { force: true })
        if (before !== undefined) writeFileSync(path, before, { mode: 0o600 })
        const file = yield* EditNative.open([path], "user")
        writeFileSync(path, "{ \"imports\": [] }", { mode: 0o600 })
        const { detail } = yield* Effect.flip(EditNative.write(file, "{ }"))
        assert.match(detail, /has changed since it was read, so nothing was written: run the command again/)
        assert.strictEqual(readFileSync(path, "utf8"), "{ \"imports\": [] }")
      }
    }).pipe(Effect.scoped, Effect.provide(disk)))

  const written = (mode: number | undefined, scope: "project" | "user", isLink = false) =>
    Effect.gen(function*() {
      const at = yield* folder
      const real = join(at, isLink ? "real.json" : "new/mcp-client.json")
      const path = isLink ? join(at, "mcp-client.json") : real
      if (isLink) symlinkSync(real, path)
      if (mode !== undefined) {
        writeFileSync(real, "{}")
        chmodSync(real, mode)
      }
      const bytes = mode === undefined ? undefined : Buffer.from("{}")
      yield* EditNative.write({ path, scope, bytes }, "{ }")
      assert.strictEqual(readFileSync(path, "utf8"), "{ }")
      assert.deepStrictEqual(readdirSync(at).toSorted(), isLink ? ["mcp-client.json", "real.json"] : ["new"])
      return (statSync(real).mode & 0o777).toString(8)
    }).pipe(Effect.scoped, Effect.provide(disk))

  it.live("gives a new file of the user to the user alone, and keeps the mode of a file that exists", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* written(undefined, "user"), "600")
      assert.strictEqual(yield* written(undefined, "project"), "644")
      assert.strictEqual(yield* written(0o640, "user", true), "640")
    }))
})
