/**
 * The first minute of a user who has Claude Desktop, Cursor and VS Code: three servers that work, and one of each kind that
 * does not. The program, its servers and a stand-in for npx run as processes, and questions are asked on a real terminal.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener, type Server } from "node:http"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Workspace from "./workspace.ts"

const adder = fileURLToPath(new URL("../fixtures/cli/adder.mjs", import.meta.url))
const words = fileURLToPath(new URL("../fixtures/stderr/npx-404.txt", import.meta.url))
const { listener }: { readonly listener: RequestListener } = await import(adder)

const listening = (listener: RequestListener): Promise<readonly [Server, url: string]> =>
  new Promise((resolve) => {
    const server = createServer(listener)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve([server, `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`])
    })
  })

let remote: readonly [Server, url: string]
let down: string

beforeAll(async () => {
  remote = await listening(listener)
  const [closed, url] = await listening(listener)
  await new Promise((resolve) => closed.close(resolve))
  down = url
})

afterAll(() => {
  remote[0].closeAllConnections()
  remote[0].close()
})

// oxlint-disable-next-line no-control-regex
const styles = /\u001b\[[\d;?]*[A-Za-z]/g

const user = () => {
  const work = Workspace.make()
  const home = work.environment["HOME"] ?? ""
  const write = (path: string, content: string | object) => {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 })
    return file
  }
  chmodSync(
    write(
      "bin/npx",
      `#!/bin/sh\ncase "$*" in\n*@demo/adder*) exec '${process.execPath}' '${adder}' ;;\nesac\ncat '${words}' >&2\nexit 1\n`
    ),
    0o700
  )
  write(".config/Claude/claude_desktop_config.json", {
    mcpServers: {
      adder: { command: process.execPath, args: [adder] },
      gone: { command: "npx", args: ["-y", "@no-such-scope-xyz/nope-nope"] }
    }
  })
  write(".cursor/mcp.json", {
    mcpServers: {
      package: { command: "npx", args: ["-y", "@demo/adder"] },
      down: { url: down },
      token: { command: process.execPath, args: [adder], env: { GITHUB_TOKEN: "${env:GITHUB_TOKEN}" } }
    }
  })
  write(".config/Code/User/mcp.json", {
    inputs: [{ id: "api-key", type: "promptString", description: "The key", password: true }],
    servers: {
      remote: { type: "http", url: remote[1] },
      asks: { command: process.execPath, args: [adder], env: { KEY: "${input:api-key}" } }
    }
  })
  const variables = { PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` }
  return {
    file: join(home, ".config/mcp-runtime/mcp-client.json"),
    work,
    run: (...args: ReadonlyArray<string>) => work.run(args, { variables }),
    /** The command on a terminal, and what the person types after each of these questions. */
    onTerminal: (line: string, typed: ReadonlyArray<readonly [question: string, answer: string]>) =>
      new Promise<{ readonly code: number | null; readonly shown: string }>((resolve) => {
        const child = spawn("script", ["-qefc", `'${process.execPath}' '${Workspace.bin}' ${line}`, "/dev/null"], {
          cwd: work.folder,
          env: { ...work.environment, ...variables, TERM: "xterm", SHELL: "/bin/sh" },
          stdio: ["pipe", "pipe", "ignore"]
        })
        const left = [...typed]
        let shown = ""
        let from = 0
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          shown += text
          const [next] = left
          const at = next === undefined ? -1 : shown.indexOf(next[0], from)
          if (next === undefined || at < 0) return
          from = at + next[0].length
          left.shift()
          child.stdin.write(`${next[1]}\n`)
        })
        child.once("close", (code) => resolve({ code, shown: shown.replaceAll(styles, "") }))
      })
  }
}

const using = (test: (person: ReturnType<typeof user>) => Promise<void>) => async () => {
  const person = user()
  try {
    await test(person)
  } finally {
    person.work.remove()
  }
}

// there is a terminal for another process only where there is the `script` of Linux
const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0

describe("from the install to a result of a tool", () => {
  it(
    "two commands are enough: the first names the programs that have servers, the second calls a tool of one",
    using(async ({ run }) => {
      const first = await run("list")
      assert.match(
        first.stderr,
        /^No servers are configured\.\nOther programs have servers: Claude Desktop \(2 servers\), Cursor \(3 servers\), VS Code \(2 servers\)\..*--import all/
      )
      const second = await run("call", "package/add", "a=1", "b=2", "--import", "all")
      assert.deepStrictEqual([second.code, second.stdout], [0, "3\n"], second.stderr)
    })
  )

  it(
    "one command is enough for a server that is typed",
    using(async ({ run }) => {
      const { code, stderr, stdout } = await run("call", "--stdio", "npx -y @demo/adder", "add", "a=1")
      assert.deepStrictEqual([code, stdout], [0, "42\n"], stderr)
    })
  )

  it(
    "a server that is typed is there in the repl, and behind serve",
    using(async ({ run, work }) => {
      const typed = ["--stdio", `${process.execPath} ${adder}`]
      const repl = await work.run(["repl", ...typed], { input: "call add a=1\n" })
      assert.deepStrictEqual([repl.code, repl.stdout], [0, "42\n"], repl.stderr)
      const request = (id: number, method: string, params: object) =>
        `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
      const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }
      const served = await work.run(["serve", ...typed], {
        input: `${request(1, "initialize", client)}${request(2, "tools/list", {})}`
      })
      assert.match(served.stdout, /"name":"mcp__adder__add"/, served.stderr)
      assert.strictEqual((await run("serve", "--stdio")).code, 2)
    })
  )

  it.skipIf(!hasTerminal)(
    "a terminal asks, and remembers the programs",
    using(async ({ file, onTerminal, run }) => {
      const { code, shown } = await onTerminal("list", [["Always use these servers? [y/N] ", "y"]])
      assert.strictEqual(code, 4, shown)
      assert.match(shown, /claude-desktop +Claude Desktop +2 +~\/\.config\/Claude\//)
      assert.match(shown, /adder .*connected/)
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), {
        imports: ["claude-desktop", "cursor", "vscode"]
      })
      const called = await run("call", "remote/add", "a=1", "b=2")
      assert.deepStrictEqual([called.code, called.stdout], [0, "3\n"], called.stderr)
    })
  )

  it.skipIf(!hasTerminal)(
    "a no on the terminal writes nothing",
    using(async ({ file, onTerminal }) => {
      const { shown } = await onTerminal("tools", [["Always use these servers? [y/N] ", "n"]])
      assert.match(shown, /--import all/)
      assert.isFalse(existsSync(file))
    })
  )
})

describe("a server that does not work", () => {
  const causes = [
    ["gone", /npm cannot find the package "@no-such-scope-xyz\/nope-nope"/],
    ["down", /ECONNREFUSED|connection refused|refused/],
    ["token", /"GITHUB_TOKEN" is not set/],
    ["asks", /unanswered input "api-key"/]
  ] as const

  it(
    "has its true cause in list, with all the others connected",
    using(async ({ run }) => {
      const { stderr, stdout } = await run("list", "--import", "all", "--json")
      const { servers } = JSON.parse(stdout) as {
        readonly servers: ReadonlyArray<{ name: string; state: string; error: { message: string } | null }>
      }
      const byName = new Map(servers.map((server) => [server.name, server]))
      for (const name of ["adder", "package", "remote"]) {
        assert.strictEqual(byName.get(name)?.state, "connected", stderr)
      }
      for (const [name, cause] of causes) assert.match(byName.get(name)?.error?.message ?? "", cause)
    })
  )

  it(
    "has the same cause where it is called, and in doctor",
    using(async ({ run }) => {
      for (const [name, cause] of causes) {
        const called = await run("call", `${name}/add`, "a=1", "--import", "all")
        assert.match(called.stderr, cause)
        const looked = await run("doctor", name, "--import", "all")
        assert.match(looked.stdout, cause)
      }
    }),
    120_000
  )
})

describe("an input of VS Code", () => {
  it.skipIf(!hasTerminal)(
    "is asked for without showing the answer, and kept",
    using(async ({ onTerminal, run }) => {
      const call = ["call", "asks/variable", "name=KEY", "--import", "vscode"]
      const asked = await onTerminal(call.join(" "), [["\napi-key: ", "s3cret-answer"]])
      assert.strictEqual(asked.code, 0, asked.shown)
      assert.match(asked.shown, /needs api-key: The key/)
      // once, as the result of the tool
      assert.lengthOf(asked.shown.split("s3cret-answer"), 2)
      assert.match(asked.shown, /s3cret-answer\r\n$/)
      const again = await run(...call)
      assert.deepStrictEqual([again.code, again.stdout], [0, "s3cret-answer\n"], again.stderr)
    })
  )

  it(
    "is answered by a flag without a terminal",
    using(async ({ run }) => {
      const { stderr, stdout } = await run(
        "call",
        "asks/variable",
        "name=KEY",
        "--import",
        "vscode",
        "--input",
        "api-key=x"
      )
      assert.deepStrictEqual([stdout, stderr], ["x\n", ""])
    })
  )
})
