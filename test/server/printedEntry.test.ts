/** The entry of `serve --print-config`, started as a host starts it: from another folder, without a terminal. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Caller, connect, whenOffered } from "./callers.ts"
import * as Serving from "./serving.ts"

const patient = { timeout: 60_000 }

const adder = fileURLToPath(new URL("../fixtures/cli/adder.mjs", import.meta.url))

let place: Serving.Place
let folder: string
let program: Serving.Command

beforeAll(() => {
  place = Serving.make()
  folder = realpathSync(mkdtempSync(join(tmpdir(), "mcp-printed-")))
  program = place.command("printed", {})
  mkdirSync(join(folder, ".git"))
  writeFileSync(
    join(folder, "server.mjs"),
    `process.argv[1] = ${JSON.stringify(adder)}\nawait import(${JSON.stringify(adder)})\n`
  )
})

afterAll(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command of the program in the folder. */
const run = (args: ReadonlyArray<string>, cwd = folder) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    const { args: [bin = ""], command, env } = program
    const child = execFile(command, [bin, ...args], { cwd, env }, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err })
    })
    child.stdin?.end()
  })

/** The arguments of the entry that is printed for these arguments of `serve`. */
const printed = async (args: ReadonlyArray<string>, cwd?: string): Promise<ReadonlyArray<string>> => {
  const { err, out } = await run(["serve", "--print-config", "cursor", ...args], cwd)
  assert.notStrictEqual(out, "", err)
  const { args: words } = JSON.parse(out).mcpServers["mcp-runtime"]
  assert.deepStrictEqual(words.slice(0, 3), ["-y", "effect-mcp-runtime", "serve"])
  return words.slice(2)
}

/** Starts the entry from another folder, with the program of this build. */
const using = async <A>(words: ReadonlyArray<string>, use: (caller: Caller) => Promise<A>): Promise<A> => {
  const { args: [bin = ""], command, env } = program
  const line = `cd /tmp && exec "$0" "$@"`
  const caller = await connect["SDK 1.x"]({ command: "sh", args: ["-c", line, command, bin, ...words], env }, {})
  try {
    return await use(caller)
  } finally {
    await caller.close()
  }
}

const variable = async (caller: Caller, name: string) => {
  await whenOffered(caller, ["mcp__adder__variable"])
  const { content } = await caller.call("mcp__adder__variable", { name })
  return content[0]?.text
}

describe("a printed entry", patient, () => {
  it("starts the programs of --stdio in the folder in which it was printed", async () => {
    for (const line of ["node server.mjs", "node ./server.mjs"]) {
      const words = await printed(["--stdio", line, "--name", "adder", "--allow", "adder/*"])
      assert.strictEqual(await using(words, (caller) => variable(caller, "NONE")), "undefined")
    }
  })

  it("reads the files of the workspace in which it was printed, with their approvals", async () => {
    const inner = join(folder, "inner")
    mkdirSync(inner, { recursive: true })
    writeFileSync(
      join(folder, "mcp-client.json"),
      JSON.stringify({ mcpServers: { adder: { command: "node", args: ["server.mjs"] } } })
    )
    const { servers: [waiting] } = JSON.parse((await run(["approve", "--json"])).out)
    await run(["approve", waiting.fingerprint])
    const words = await printed(["--allow", "adder/*"], inner)
    assert.deepStrictEqual(words, ["serve", "--root", folder, "--allow", "adder/*"])
    assert.strictEqual(await using(words, (caller) => variable(caller, "NONE")), "undefined")
    rmSync(join(folder, "mcp-client.json"))
  })

  it("has no folder where no server is of the workspace", async () => {
    assert.deepStrictEqual(await printed(["--search"]), ["serve", "--search"])
  })

  it("has none of the answers of --input, which are kept, and works with them", async () => {
    const config = join(folder, "inputs.json")
    const env = { TOKEN: "${secret:token}", STAGE: "${input:stage}" }
    writeFileSync(config, JSON.stringify({ mcpServers: { adder: { command: "node", args: [adder], env } } }))
    const shared = ["--config", "inputs.json", "--allow", "adder/*"]
    const words = await printed([...shared, "--input", "token=s3cret", "--input", "stage=live"])
    assert.deepStrictEqual(words, ["serve", "--config", config, "--allow", "adder/*"])
    assert.strictEqual(await using(words, (caller) => variable(caller, "TOKEN")), "s3cret")
    assert.strictEqual(await using(words, (caller) => variable(caller, "STAGE")), "live")
  })

  it("cannot have an --input without a value where no terminal asks for it", async () => {
    const { code, err, out } = await run(["serve", "--print-config", "cursor", "--input", "token"])
    assert.deepStrictEqual([code, out], [2, ""])
    assert.include(err, "--input \"token\" needs a value")
  })

  it("shows no secret of --stdio, --url, --env or --header, and is refused in its place", async () => {
    const secret = "s3cret-Aa1Bb2Cc3Dd4"
    const table = [
      ["--stdio", `node server.mjs --token ${secret}`],
      ["--stdio", `node server.mjs --api-key=${secret}`],
      ["--stdio", "node server.mjs", "--env", `API_TOKEN=${secret}`],
      ["--url", `https://example.com/mcp?api_key=${secret}`],
      ["--url", "https://example.com/mcp", "--header", `Authorization: Bearer ${secret}`],
      ["--url", "https://example.com/mcp", "--header", `X-Thing: ghp_${"a1B2".repeat(9)}`]
    ]
    for (const words of table) {
      const { code, err, out } = await run(["serve", "--print-config", "cursor", ...words])
      assert.deepStrictEqual([code, out], [2, ""], words.join(" "))
      assert.notInclude(err, secret)
      assert.match(err, /\$\{env:NAME\}.*--env-file/s)
    }
    const words = ["--url", "https://example.com/mcp", "--header", "Authorization: Bearer ${env:TOKEN}"]
    assert.deepStrictEqual(await printed(words), ["serve", ...words])
  })
})
