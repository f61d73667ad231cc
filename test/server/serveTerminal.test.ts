/** `mcp-runtime serve` at a terminal: a pseudo-terminal of `script`, with a person who types. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { connect, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 60_000 }

const stdioClient = fileURLToPath(new URL("../fixtures/peers/stdioClient.mjs", import.meta.url))

const quoted = (words: ReadonlyArray<string>): string => words.map((word) => `'${word}'`).join(" ")

/** A program in a terminal of its own. */
const inTerminal = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const child = spawn("script", ["-qfec", quoted(words), "/dev/null"], { env, stdio: ["pipe", "pipe", "ignore"] })
  const ended = once(child, "exit")
  let text = ""
  let look = () => undefined as void
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk
    look()
  })
  let from = 0
  return {
    /** The match in the text after the previous match, once it is there. */
    sees: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        look = () => {
          const found = pattern.exec(text.slice(from))
          if (found === null) return
          from += found.index + found[0].length
          resolve(found)
        }
        void ended.then(() => reject(new Error(`ended without ${pattern}: ${text}`)))
        look()
      }),
    types: (line: string) => child.stdin.write(`${line}\n`),
    text: () => text,
    ended,
    interrupt: () => {
      child.stdin.write("\u0003")
      return ended
    }
  }
}

let place: Serving.Place

beforeAll(() => {
  place = Serving.make()
})

afterAll(() => place.remove())

const servers: Serving.Servers = { demo: Serving.peers["old"]! }

const adder = fileURLToPath(new URL("../fixtures/cli/adder.mjs", import.meta.url))

/** A server that tells its variable TOKEN, for which it asks. */
const asking: Serving.Servers = {
  adder: { command: process.execPath, args: [adder], env: { TOKEN: "${secret:token}" } }
}

const question = /No permission rule covers this tool:[^]*add[^]*"a": 1[^]*Allow this call\? \[y\/N\] /

describe("serve --http at a terminal", patient, () => {
  it("asks there about a call of a client that cannot ask, and says so at the start", async () => {
    const { args, command, env } = place.command("http", servers, ["--http", "0"])
    const terminal = inTerminal([command, ...args], env)
    const [, url] = await terminal.sees(/(http:\S+)/)
    await terminal.sees(/For clients without elicitation, this terminal asks\./)
    const headers = { authorization: `Bearer ${env["MCP_RUNTIME_TOKEN"]}` }
    const caller = await connect["SDK 1.x"]({ url: url!, headers }, {})
    const add = () => caller.call("mcp__demo__add", { a: 1, b: 2 })
    const approved = add()
    await terminal.sees(question)
    terminal.types("y")
    assert.strictEqual((await approved).content[0]?.text, "3")
    const denied = add()
    await terminal.sees(question)
    terminal.types("n")
    const { content, isError } = await denied
    assert.isTrue(isError)
    assert.include(content[0]?.text, "PermissionDenied")
    await caller.close()
    await terminal.interrupt()
  })

  it("asks the person behind a client that can ask, and not at the terminal", async () => {
    const { args, command, env } = place.command("elicits", servers, ["--http", "0"])
    const terminal = inTerminal([command, ...args], env)
    const [, url] = await terminal.sees(/(http:\S+)/)
    const headers = { authorization: `Bearer ${env["MCP_RUNTIME_TOKEN"]}` }
    const caller = await connect["SDK 1.x"]({ url: url!, headers }, { elicitation: { form: {} } })
    const { content } = await caller.call("mcp__demo__add", { a: 1, b: 2 })
    // the answer of this client's person is no decision
    assert.include(content[0]?.text, "it was not approved")
    assert.notMatch(terminal.text(), /Allow this call/)
    await caller.close()
    await terminal.interrupt()
  })

  it("asks for an --input without a value before it serves, and shows nothing of a secret", async () => {
    const { args, command, env } = place.command("input", asking, [
      "--http",
      "0",
      "--input",
      "token",
      "--allow",
      "adder/*"
    ])
    const terminal = inTerminal([command, ...args], env)
    await terminal.sees(/token: /)
    terminal.types("s3cret")
    const [, url] = await terminal.sees(/(http:\S+)/)
    const headers = { authorization: `Bearer ${env["MCP_RUNTIME_TOKEN"]}` }
    const caller = await connect["SDK 1.x"]({ url: url!, headers }, {})
    await whenOffered(caller, ["mcp__adder__variable"])
    const { content } = await caller.call("mcp__adder__variable", { name: "TOKEN" })
    assert.strictEqual(content[0]?.text, "s3cret")
    assert.notInclude(terminal.text(), "s3cret")
    await caller.close()
    await terminal.interrupt()
  })

  it("asks nowhere in the background of the terminal, because reading there would stop it", async () => {
    const { args, command, env } = place.command("background", servers, ["--http", "0"])
    const job = `set -m; ${quoted([command, ...args])} & echo job $!; wait`
    const terminal = inTerminal(["bash", "-c", job.replaceAll("'", "\"")], env)
    const [, pid] = await terminal.sees(/job (\d+)/)
    const [, url] = await terminal.sees(/(http:\S+)/)
    await terminal.sees(/only these are allowed: read-only tools of\s+demo/)
    const headers = { authorization: `Bearer ${env["MCP_RUNTIME_TOKEN"]}` }
    const caller = await connect["SDK 1.x"]({ url: url!, headers }, {})
    const { content } = await caller.call("mcp__demo__add", { a: 1, b: 2 })
    assert.include(content[0]?.text, "no person can be asked")
    await caller.close()
    process.kill(Number(pid), "SIGTERM")
    await terminal.ended
  })
})

describe("serve over stdio", patient, () => {
  const client = (name: string, stderr: "inherit" | "pipe", flags: ReadonlyArray<string> = []) => {
    const { args, command, env } = place.command(name, { ...servers, ...asking }, flags)
    return inTerminal([process.execPath, stdioClient, stderr, command, ...args], env)
  }

  it("asks at the terminal of the process, if its stderr is there", async () => {
    const terminal = client("inherits", "inherit")
    await terminal.sees(question)
    terminal.types("y")
    await terminal.sees(/result: 3/)
  })

  it("asks there for an --input without a value", async () => {
    const terminal = client("inputs", "inherit", ["--input", "token", "--allow", "demo/*"])
    await terminal.sees(/token: /)
    terminal.types("s3cret")
    await terminal.sees(/result: 3/)
    assert.notInclude(terminal.text(), "s3cret")
  })

  it("asks nowhere if the program that starts it reads stderr, because the terminal is that program's", async () => {
    const terminal = client("pipes", "pipe")
    const [result] = await terminal.sees(/result: .*--allow demo\/add/)
    assert.include(result, "no person can be asked")
    assert.notMatch(terminal.text(), /Allow this call/)
  })
})
