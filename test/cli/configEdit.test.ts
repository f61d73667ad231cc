/** `config add`, `config remove` and `config import` change a file in place, and say what they wrote and where. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { own, type Place, place, run } from "./inProcess.ts"

const userFile = ({ home }: Place): string => join(home, ".config/mcp-runtime/mcp-client.json")

const written = (file: string) => JSON.parse(readFileSync(file, "utf8"))

/** The words of the user for the shell, without a question. */
const add = (at: Place, ...argv: ReadonlyArray<string>) => run(at, ["config", "add", ...argv])

describe("config add", () => {
  it.scopedLive("creates the file of the user for the user alone, and the server is there", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { code, err } = yield* add(
        at,
        "demo",
        "--env",
        "A=1",
        "--env",
        "TOKEN",
        "--",
        "npx",
        "-y",
        "demo@1.0.0",
        "--x"
      )
      assert.strictEqual(code, 0, err)
      assert.include(err, `Added demo in ${userFile(at)}`)
      assert.deepStrictEqual(written(userFile(at)).mcpServers, {
        demo: { command: "npx", args: ["-y", "demo@1.0.0", "--x"], env: { A: "1", TOKEN: "${env:TOKEN}" } }
      })
      assert.strictEqual(statSync(userFile(at)).mode & 0o777, 0o600)
      const { out } = yield* run(at, ["config", "--json"])
      assert.strictEqual(JSON.parse(out).servers[0].state, "waiting")
    }))

  it.scopedLive("lets a program that names a file of this folder start here, wherever the server is used", () =>
    Effect.gen(function*() {
      const at = yield* place
      const script = at.write("work/adder.mjs", "import * as Process from \"node:process\"\nProcess.exit(7)\n")
      chmodSync(script, 0o700)
      yield* add(at, "local", "--", "node", "adder.mjs")
      yield* add(at, "folder", "--", "npx", "-y", "files", ".")
      yield* add(at, "program", "--", "./adder.mjs")
      yield* add(at, "other", "--", "npx", "-y", "server.io")
      assert.deepStrictEqual(written(userFile(at)).mcpServers, {
        local: { command: "node", args: ["adder.mjs"], cwd: at.root },
        folder: { command: "npx", args: ["-y", "files", "."], cwd: at.root },
        program: { command: script, args: [], cwd: at.root },
        other: { command: "npx", args: ["-y", "server.io"] }
      })
      const elsewhere = yield* run({ ...at, root: at.home }, ["tools", "local", "--timeout", "5s"])
      assert.match(elsewhere.err, /code 7/)
    }))

  it.scopedLive("keeps comments, formatting and mode", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write(
        own,
        "// mine\n{\n    // servers\n    \"mcpServers\": {\n        \"a\": {\"command\": \"a\"}\n    }\n}\n"
      )
      yield* add(at, "docs", "--url", "https://docs.example/mcp", "--header", "X-Team: blue")
      assert.strictEqual(
        readFileSync(file, "utf8"),
        `// mine
{
    // servers
    "mcpServers": {
        "a": {"command": "a"},
        "docs": {
            "url": "https://docs.example/mcp",
            "headers": {
                "X-Team": "blue"
            }
        }
    }
}
`
      )
    }))

  it.scopedLive("refuses a name that exists, unless --force is given", () =>
    Effect.gen(function*() {
      const at = yield* place
      yield* add(at, "a", "--", "one")
      const { code, err } = yield* add(at, "a", "--", "two")
      assert.strictEqual(code, 2)
      assert.match(err, /the server "a" already exists in .*mcp-client\.json\nReplace it with --force/)
      assert.strictEqual(written(userFile(at)).mcpServers.a.command, "one")
      yield* add(at, "a", "--force", "--", "two")
      assert.strictEqual(written(userFile(at)).mcpServers.a.command, "two")
    }))

  it.scopedLive("writes the file of the workspace with --workspace, whose server has to be approved", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { err } = yield* add(at, "a", "--workspace", "--", "one")
      assert.match(err, /mcp-runtime approve a/)
      assert.deepStrictEqual(Object.keys(written(join(at.root, "mcp-client.json")).mcpServers), ["a"])
      assert.isFalse(existsSync(userFile(at)))
      const { out } = yield* run(at, ["config", "--json"])
      assert.strictEqual(JSON.parse(out).servers[0].state, "needs approval")
    }))

  it.scopedLive("writes nothing that could not be read", () =>
    Effect.gen(function*() {
      const at = yield* place
      const table = [
        [["a", "--url", "nowhere"], 3, /nothing was written: .*url/],
        [["a*b", "--", "x"], 3, /nothing was written: .*name/],
        [["a"], 2, /needs a name and one command or URL/],
        [["a", "--url", "https://a.example", "--", "x"], 2, /needs a name and one command or URL/],
        [[], 2, /needs a name/]
      ] as const
      for (const [argv, code, words] of table) {
        const ran = yield* add(at, ...argv)
        assert.strictEqual(ran.code, code, ran.err)
        assert.match(ran.err, words)
      }
      assert.isFalse(existsSync(userFile(at)))
      writeFileSync(at.write(own, ""), "{ \"mcpServers\": {")
      const broken = yield* add(at, "a", "--", "x")
      assert.strictEqual(broken.code, 3)
      assert.match(broken.err, /line 1: .*fix the syntax/)
      assert.strictEqual(readFileSync(userFile(at), "utf8"), "{ \"mcpServers\": {")
    }))
})

describe("two at the same time", () => {
  it.scopedLive("lose no server", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: {} })
      const names = ["a", "b", "c", "d"]
      const ran = yield* Effect.forEach(names, (name) => add(at, name, "--", "x"), { concurrency: "unbounded" })
      for (const { code, err } of ran) assert.strictEqual(code, 0, err)
      assert.sameMembers(Object.keys(written(userFile(at)).mcpServers), names)
    }))
})

describe("a file of TOML", () => {
  const toml = own.replace(/json$/, "toml")

  it.scopedLive("gets only what is new, with where it belongs", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write(toml, "imports = [\"cursor\"]\n[mcp_servers.\"a.b\"]\ncommand = \"x\"\n")
      const imported = yield* run(at, ["config", "import", "cursor", "vscode"])
      assert.deepStrictEqual([imported.code, imported.out], [
        2,
        "# at the top of the file, in place of the imports there\nimports = [ \"cursor\", \"vscode\" ]\n"
      ])
      const replaced = yield* add(at, "a.b", "--force", "--", "y")
      assert.match(
        replaced.out,
        /^# in place of the table \[mcp_servers\."a\.b"\]\n\[mcp_servers\."a\.b"\]\ncommand = "y"/
      )
      assert.strictEqual(
        (yield* run(at, ["config", "remove", "a.b"])).out,
        "# remove the table [mcp_servers.\"a.b\"]\n"
      )
      const none = yield* run(at, ["config", "import", "cursor"])
      assert.deepStrictEqual([none.code, none.out], [0, ""])
      at.write(toml, "[mcp_servers.a]\ncommand = \"x\"\n")
      const first = yield* run(at, ["config", "import", "cursor"])
      assert.strictEqual(first.out, "# at the top of the file\nimports = [ \"cursor\" ]\n")
      at.write(toml, "[")
      assert.include((yield* add(at, "c", "--", "x")).err, file)
    }))
})

describe("config remove", () => {
  it.scopedLive("refuses a duplicate key, and says so", () =>
    Effect.gen(function*() {
      const at = yield* place
      const text = "{ \"mcpServers\": { \"a\": { \"command\": \"a\" }, \"a\": { \"command\": \"b\" } } }"
      at.write(own, text)
      const { code, err } = yield* run(at, ["config", "remove", "a"])
      assert.strictEqual(code, 3)
      assert.match(err, /line 1: The key mcpServers\/a appears twice/)
      assert.strictEqual(readFileSync(userFile(at), "utf8"), text)
    }))

  it.scopedLive("removes a server, and says where", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(
        own,
        "{\n  \"mcpServers\": {\n    // first\n    \"a\": { \"command\": \"a\" },\n    \"b\": { \"command\": \"b\" }\n  }\n}\n"
      )
      const { code, out } = yield* run(at, ["config", "remove", "b", "--json"])
      assert.deepStrictEqual([code, JSON.parse(out)], [
        0,
        { file: userFile(at), added: [], removed: ["b"], imported: [] }
      ])
      assert.match(readFileSync(userFile(at), "utf8"), /\/\/ first\n {4}"a": \{ "command": "a" \}\n/)
      const again = yield* run(at, ["config", "remove", "b"])
      assert.strictEqual(again.code, 2)
      assert.match(again.err, /the server "b" is not in/)
    }))
})

describe("config import", () => {
  const withCursor = Effect.tap(place, (at) =>
    Effect.sync(() => {
      at.write("home/.cursor/mcp.json", { mcpServers: { one: { command: "one" }, two: { command: "two" } } })
      at.write("home/.config/Claude/claude_desktop_config.json", { mcpServers: { three: { command: "three" } } })
    }))

  it.scopedLive("reads the servers of a host from now on, and adds no host twice", () =>
    Effect.gen(function*() {
      const at = yield* withCursor
      for (const hosts of [["cursor"], ["cursor", "claude-desktop"]]) {
        assert.strictEqual((yield* run(at, ["config", "import", ...hosts])).code, 0)
      }
      assert.deepStrictEqual(written(userFile(at)).imports, ["cursor", "claude-desktop"])
      const { out } = yield* run(at, ["config", "--json"])
      assert.sameMembers(JSON.parse(out).servers.map(({ name }: { name: string }) => name), ["one", "two", "three"])
    }))

  it.scopedLive("changes the file of the workspace with --workspace", () =>
    Effect.gen(function*() {
      const at = yield* withCursor
      const { code, err } = yield* run(at, ["config", "import", "cursor", "--workspace"])
      assert.strictEqual(code, 0, err)
      assert.deepStrictEqual(written(join(at.root, "mcp-client.json")), { imports: ["cursor"] })
      assert.isFalse(existsSync(userFile(at)))
    }))

  it.scopedLive("refuses the options of other actions", () =>
    Effect.gen(function*() {
      const at = yield* withCursor
      const table = [
        [["import", "cursor", "--force"], "config import has no option --force"],
        [["remove", "a", "--force"], "config remove has no option --force"],
        [["schema", "--workspace"], "config schema has no option --workspace"],
        [["--workspace"], "config has no option --workspace"]
      ] as const
      for (const [argv, words] of table) {
        const { code, err } = yield* run(at, ["config", ...argv])
        assert.strictEqual(code, 2)
        assert.include(err, words)
      }
      assert.isFalse(existsSync(userFile(at)))
    }))

  it.scopedLive("without a host lists the programs that have servers, and refuses an unknown one", () =>
    Effect.gen(function*() {
      const at = yield* withCursor
      const { out } = yield* run(at, ["config", "import"])
      assert.match(out, /^cursor +Cursor +2 +.*\.cursor\/mcp\.json$/m)
      assert.match(out, /^claude-desktop +Claude Desktop +1 +/m)
      const { code, err } = yield* run(at, ["config", "import", "curser"])
      assert.deepStrictEqual([code, /unknown host "curser".*\n.*"cursor"/.test(err)], [2, true])
    }))
})

describe("without a configuration", () => {
  const table = ["list", "tools", "status", "doctor", "call a/b", "config"]

  it.scopedLive("commands name the programs that have servers, and how to use them", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write("home/.cursor/mcp.json", { mcpServers: { one: { command: "one" }, two: { command: "two" } } })
      at.write("home/.config/Code/User/mcp.json", { servers: { three: { command: "three" } } })
      at.write("home/.codeium/windsurf/mcp_config.json", { mcpServers: {} })
      for (const line of table) {
        const { err, out } = yield* run(at, line.split(" "))
        const words =
          /Other programs have servers: Cursor \(2 servers\), VS Code \(1 server\)\. Use them once with --import all/
        assert.match(out + err, words, line)
      }
    }))

  it.scopedLive("commands ask a person whether to use them from now on, and go on with them", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write("home/.cursor/mcp.json", { mcpServers: { one: { command: "/none/one" } } })
      const no = yield* run(at, ["list"], { answers: ["n"], columns: 100 })
      assert.deepStrictEqual(no.asked, ["Always use these servers? [y/N] "])
      assert.match(no.err, /^cursor +Cursor +1 +~\/\.cursor\/mcp\.json$/m)
      assert.isFalse(existsSync(userFile(at)))
      const yes = yield* run(at, ["list"], { answers: ["y"], columns: 100 })
      assert.match(yes.out, /^one +stdio/m)
      assert.deepStrictEqual(written(userFile(at)).imports, ["cursor"])
      const later = yield* run(at, ["list"], { answers: [], columns: 100 })
      assert.deepStrictEqual([later.asked, /^one +stdio/m.test(later.out)], [[], true])
    }))

  it.scopedLive("nothing is offered where a file is named, or no program has servers", () =>
    Effect.gen(function*() {
      const at = yield* place
      const empty = at.write("work/empty.json", { mcpServers: {} })
      assert.deepStrictEqual((yield* run(at, ["list"], { answers: [] })).asked, [])
      at.write("home/.cursor/mcp.json", { mcpServers: { one: { command: "one" } } })
      at.write(own, "{ \"mcpServers\": {")
      const broken = yield* run(at, ["list"], { answers: [] })
      assert.deepStrictEqual([broken.code, broken.asked], [3, []])
      const { asked, err } = yield* run(at, ["list", "--config", empty], { answers: [] })
      assert.deepStrictEqual(asked, [])
      assert.notInclude(err, "Cursor")
    }))
})
