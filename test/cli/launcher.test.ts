/** Commands over servers of launchers: `test/fixtures/launcher` has an npx that installs and a docker that hangs. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Journal from "../faults/journal.ts"
import * as Workspace from "./workspace.ts"

const launchers = fileURLToPath(new URL("../fixtures/launcher", import.meta.url))

let work: Workspace.Workspace
let cache: string
let servers: string

const at = (name: string): string => join(cache, name)
const is = (name: string): boolean => existsSync(at(name))
const pids = (): ReadonlyArray<number> =>
  is("pids") ? readFileSync(at("pids"), "utf8").trim().split("\n").map(Number) : []
const alive = (): ReadonlyArray<number> => pids().filter(Journal.isAlive)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const entry = (...server: ReadonlyArray<string>) => ({ command: "npx", args: ["-y", "@scope/slow", cache, ...server] })

const start = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}): Workspace.Running =>
  work.start([...args, "--config", servers], {
    variables: { PATH: `${launchers}${delimiter}${process.env["PATH"] ?? ""}`, ...variables }
  })

const finish = (): void => writeFileSync(at("go"), "")

const assertWhole = (): void => {
  assert.isFalse(is("half"), "the install was stopped in the middle")
  assert.isTrue(is("whole"))
  assert.deepStrictEqual(alive(), [])
}

beforeEach(() => {
  work = Workspace.make()
  cache = join(work.folder, "cache")
  const { args, command } = work.server
  servers = work.write("servers.json", { mcpServers: { slow: entry(command, ...args) } })
})

afterEach(() => {
  for (const pid of alive()) process.kill(pid, "SIGKILL")
  work.remove()
})

describe.runIf(process.platform === "linux")("a launcher that is still installing", { timeout: 60_000 }, () => {
  it("has longer than the connect limit, and its server is listed", async () => {
    const running = start(["list", "--verbose"], { MCP_TIMEOUT: "4000" })
    await running.says(/npx is still installing/)
    // past the limit
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    finish()
    const { code, stderr, stdout } = await running.ended
    assertWhole()
    assert.strictEqual(code, 0)
    assert.match(stdout, /^slow +stdio +connected +4 /m)
    assert.match(stderr, /^npx is installing @scope\/slow for slow: waiting until it is done$/m)
  })

  it("is waited for at the end of a command that has timed out, so that its cache stays whole", async () => {
    const running = start(["list", "--timeout", "1s"])
    await running.says(/still connecting/)
    const isAtWork = is("half")
    finish()
    const { code, stderr, stdout } = await running.ended
    assertWhole()
    assert.isTrue(isAtWork)
    assert.strictEqual(code, 4)
    assert.match(stdout, /^slow +stdio +starting /m)
    assert.match(stderr, /^slow: still connecting$/m)
    assert.match(stderr, /^npx is installing @scope\/slow for slow: waiting until it is done/m)
  })

  it("is named by the error of a timeout", async () => {
    const running = start(["call", "slow/typed", "title=a", "--timeout", "1s"])
    await running.says(/waiting until it is done/)
    // past the end of the wait for an answer
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    finish()
    const { code, stderr } = await running.ended
    assertWhole()
    assert.strictEqual(code, 4)
    assert.match(stderr, /^npx is installing @scope\/slow for slow: /m)
    // the limit of the command and that of the connect end at about the same time
    assert.match(stderr, /^error: slow: (?:still connecting|not connected within 1s; still in the install phase)$/m)
  })

  it("is named by the doctor", async () => {
    const running = start(["doctor", "--timeout", "1s"])
    await running.says(/waiting until it is done/)
    finish()
    const { code, stdout } = await running.ended
    assertWhole()
    assert.strictEqual(code, 4)
    assert.match(stdout, /^ {2}error {2}npx is still installing the server \(initialize\)$/m)
  })

  it("may finish when Ctrl-C is pressed once", async () => {
    const running = start(["tools"])
    await until(() => is("half"))
    running.interrupt()
    await running.says(/waiting until it is done.* Press Ctrl-C again to stop it\./)
    const isAtWork = is("half") && alive().length > 0
    finish()
    const { code } = await running.ended
    assertWhole()
    assert.isTrue(isAtWork)
    assert.strictEqual(code, 130)
  })

  it("gets SIGTERM when Ctrl-C is pressed twice, and is not waited for any longer", async () => {
    const running = start(["tools"])
    await until(() => is("half"))
    running.interrupt()
    await running.says(/waiting until it is done/)
    running.interrupt()
    // nothing but the second Ctrl-C ends it
    await running.ended
    await until(() => alive().length === 0)
    assert.isFalse(is("half"))
    assert.isFalse(is("whole"))
  })

  it("is no excuse for a server that it has started and that never answers", async () => {
    servers = work.write("servers.json", { mcpServers: { slow: entry("sh", "-c", "while read -r _; do :; done") } })
    mkdirSync(cache)
    writeFileSync(at("whole"), "")
    const { code, stderr } = await start(["tools", "slow"], { MCP_TIMEOUT: "3000" }).ended
    assert.strictEqual(code, 4)
    assert.match(stderr, /^error: slow: not connected within 3s; still in the (discover|initialize) phase/m)
    assert.deepStrictEqual(alive(), [])
  })
})

describe("a launcher whose install cannot be seen", { timeout: 60_000 }, () => {
  it("has the connect limit of its server, and is not waited for at the end", async () => {
    servers = work.write("servers.json", { mcpServers: { hung: { command: "docker", args: ["run", cache] } } })
    const { code, stderr } = await start(["tools", "hung"], { MCP_TIMEOUT: "1000" }).ended
    assert.strictEqual(code, 4)
    assert.match(stderr, /^error: hung: not connected within 1s; still in the (discover|initialize) phase/m)
    assert.notMatch(stderr, /is installing/)
    assert.lengthOf(pids(), 1)
    assert.deepStrictEqual(alive(), [])
  })
})
