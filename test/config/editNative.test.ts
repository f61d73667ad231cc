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
        ["{ \"mcpServers\": {", { mcpServers: { demo: server } }, /line 1: .*correct the syntax/],
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
      assert.strictEqual(error.detail, "only JSON is changed here")
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

describe("editNative.write", () => {
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
      yield* EditNative.write({ path, scope }, "{ }")
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
