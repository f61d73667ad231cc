import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as PrintConfig from "../../src/cli/printConfig.ts"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import * as Dialect from "../../src/config/Dialect.ts"
import { root } from "../package/project.ts"
import { place, run } from "./inProcess.ts"

const program = { name: "mcp-runtime", command: "npx", args: ["-y", "effect-mcp-runtime", "serve", "--allow", "a b/*"] }

const machines = {
  linux: { HOME: "/home/ann" },
  darwin: { HOME: "/Users/ann" },
  win32: { USERPROFILE: "C:\\Users\\ann", APPDATA: "C:\\Users\\ann\\AppData\\Roaming" }
} as const

const print = (host: string, platform: keyof typeof machines = "linux") => {
  const machine = { platform, variables: () => machines[platform] }
  return PrintConfig.print(Dialect.find(host)!, program, machine, ConfigDiscovery.defaults)
}

describe("the entry of a host", () => {
  for (const dialect of Dialect.all.filter(PrintConfig.isWritable)) {
    it.effect(`is read as the same program in the file of ${dialect.host}`, () =>
      Effect.gen(function*() {
        const { format, paths: [path], text } = print(dialect.host)
        const options = { host: dialect.host, scope: "user", origin: "home", path, format, strict: true } as const
        const { items: [item, ...others], issues } = yield* ConfigFile.decode(
          new TextEncoder().encode(text),
          options
        )
        assert.deepStrictEqual(issues.map(({ message }) => message), [])
        assert.deepStrictEqual(others, [])
        assert.strictEqual(item?.name, program.name)
        assert.deepInclude(item?._tag === "Server" ? item.entry : undefined, {
          transport: "stdio",
          command: program.command,
          args: program.args
        })
      }))
  }

  it("is TOML for Codex", () => {
    assert.deepStrictEqual(print("codex"), {
      text: [
        "[mcp_servers.mcp-runtime]",
        "command = \"npx\"",
        "args = [ \"-y\", \"effect-mcp-runtime\", \"serve\", \"--allow\", \"a b/*\" ]"
      ].join("\n"),
      format: "toml",
      root: "mcp_servers",
      paths: ["/home/ann/.codex/config.toml"]
    })
  })

  it.each(
    [
      ["claude-desktop", "linux", "/home/ann/.config/Claude/claude_desktop_config.json"],
      ["claude-desktop", "darwin", "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json"],
      ["claude-desktop", "win32", "C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
      ["cursor", "linux", "/home/ann/.cursor/mcp.json"],
      ["cursor", "win32", "C:\\Users\\ann\\.cursor\\mcp.json"],
      ["vscode", "linux", "/home/ann/.config/Code/User/mcp.json"],
      ["vscode", "darwin", "/Users/ann/Library/Application Support/Code/User/mcp.json"],
      ["codex", "darwin", "/Users/ann/.codex/config.toml"]
    ] as const
  )("belongs to a file of %s on %s", (host, platform, path) => {
    assert.strictEqual(print(host, platform).paths[0], path)
  })

  it("belongs to the file that docs/hosts.md names, on each system", () => {
    const page = readFileSync(new URL("docs/hosts.md", root), "utf8")
    const rows = Array.from(
      page.matchAll(/^\| [\w ]+ \| `([\w-]+)` \| `(.+)` \| `(.+)` \| `(.+)` \|$/gm),
      (row) => row.slice(1)
    )
    assert.isAbove(rows.length, 5)
    const folders = {
      "~": ["/home/ann", "/Users/ann"],
      "%USERPROFILE%": [machines.win32.USERPROFILE],
      "%APPDATA%": [machines.win32.APPDATA]
    }
    for (const [host = "", ...documented] of rows) {
      const printed = (["linux", "darwin", "win32"] as const).map((platform) => {
        const path = print(host, platform).paths[0] ?? ""
        const [short, folder] = Object.entries(folders).toReversed().flatMap(([short, folders]) =>
          folders.filter((folder) =>
            path.startsWith(folder)
          ).map((folder) => [short, folder] as const)
        )[0] ?? ["", ""]
        return `${short}${path.slice(folder.length)}`
      })
      assert.deepStrictEqual(printed, documented, host)
    }
  })
})

describe("serve --print-config", () => {
  const example = { mcpServers: { demo: { command: "demo" } } }

  it.scoped("writes the entry to stdout with the options of the run, and the file and what holds to stderr", () =>
    Effect.gen(function*() {
      const at = yield* place
      const config = at.write("servers.json", { mcpServers: { ...example.mcpServers, other: { command: "other" } } })
      const argv = ["serve", "--print-config", "cursor", "--config", config, "--server", "demo", "--allow", "demo/add"]
      const { code, err, out } = yield* run(at, [...argv, "--search"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(JSON.parse(out), {
        mcpServers: {
          "mcp-runtime": {
            command: "npx",
            args: [
              "-y",
              "effect-mcp-runtime",
              "serve",
              "--config",
              config,
              "--root",
              at.root,
              "--server",
              "demo",
              "--allow",
              "demo/add",
              "--search"
            ]
          }
        }
      })
      assert.include(err, "Add this to ~/.cursor/mcp.json.")
      assert.include(err, "read-only tools of demo, and calls allowed by demo/add.")
      assert.notInclude(err, "other")
    }))

  it.scoped("names the file that exists, and writes a document with --json", () =>
    Effect.gen(function*() {
      const at = yield* place
      const path = at.write("home/.config/VSCodium/User/mcp.json", {})
      const { out } = yield* run(at, ["serve", "--print-config", "vscode", "--json"])
      const { text, ...entry } = Schema.decodeUnknownSync(Schema.parseJson(PrintConfig.Entry), {
        onExcessProperty: "error"
      })(out)
      assert.deepInclude(entry, { host: "vscode", path, root: "servers", format: "jsonc" })
      assert.deepStrictEqual(Object.keys(JSON.parse(text)), ["servers"])
    }))

  it.scoped("refuses a host whose file this gateway reads, because the gateway would start itself", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write("home/.cursor/mcp.json", example)
      const { code, err, out } = yield* run(at, ["serve", "--print-config", "cursor", "--import", "cursor"])
      assert.deepStrictEqual([code, out], [2, ""])
      assert.include(err, "would make it start itself")
      assert.include(err, "Remove cursor from --import or from \"imports\" in mcp-client.json")
    }))

  it.scoped("refuses a host that is unknown, or has no file of its own", () =>
    Effect.gen(function*() {
      const at = yield* place
      for (const host of ["cursr", "native"]) {
        const { code, out } = yield* run(at, ["serve", "--print-config", host])
        assert.deepStrictEqual([code, out], [2, ""])
      }
    }))
})
