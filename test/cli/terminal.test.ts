/** The program on a real pseudo-terminal. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { pidsWithArgument } from "../support/leaks.ts"
import * as Pty from "./pty.ts"
import * as Workspace from "./workspace.ts"

const patient = { timeout: 30_000 }

let work: Workspace.Workspace

beforeEach(() => {
  work = Workspace.make()
})

afterEach(() => {
  const left = pidsWithArgument(work.journal)
  work.remove()
  assert.deepStrictEqual(left, [])
})

/** A server that goes on after its stdin has ended, until it gets SIGTERM. */
const stubborn = () => {
  const { args, command } = work.server
  return { command: "sh", args: ["-c", `'${command}' ${args.map((arg) => `'${arg}'`).join(" ")}; exec sleep 60`] }
}

const fixture = (name: string, ...args: ReadonlyArray<string>) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../fixtures/cli/${name}`, import.meta.url)), ...args]
})

const servers = (mcpServers: object) => work.write("servers.json", { mcpServers })

const start = (...words: ReadonlyArray<string>) => Pty.open(work, ["mcp-runtime", ...words])

describe("a terminal", patient, () => {
  it("shows which server the end waits for as soon as Ctrl-C is pressed in a call", async () => {
    const session = start("call", "slow/wait", "--config", servers({ slow: stubborn() }))
    await session.until(/a quarter/)
    session.type(Pty.ctrlC)
    await session.until(/stopping slow; press Ctrl-C again to kill/)
    assert.strictEqual(await session.ended, 130)
    await work.until(({ cancelled }) => cancelled !== undefined)
  })

  it("shows the nearest option for one that neither the command nor the tool has, and calls nothing", async () => {
    const session = start("call", "slow/typed", "--tilte", "a", "--config", servers({ slow: work.server }))
    await session.until(/unknown option "--tilte", and the tool has no argument "tilte"\r\n/)
    await session.until(/Did you mean "--title"\?/)
    assert.strictEqual(await session.ended, 2)
    assert.deepStrictEqual(work.entries().filter(({ called }) => called !== undefined), [])
  })

  it("is refused raw bytes, and gets text without control characters", async () => {
    const file = servers({ offers: fixture("offers.mjs") })
    const raw = start("read", "note://one", "--output", "raw", "--config", file)
    await raw.until(/raw output is not written to a terminal/)
    assert.strictEqual(await raw.ended, 2)
    assert.notInclude(raw.shown(), "first")
  })

  it("asks for a tool and its arguments, and echoes no secret", async () => {
    const schema = { type: "object", properties: { title: { type: "string" }, token: { type: "string" } } }
    const session = start(
      "call",
      "asks/own",
      "--wizard",
      "--config",
      servers({
        asks: fixture("asks.mjs", JSON.stringify(schema))
      })
    )
    await session.until(/title \(text\) \[skip\]: /)
    session.type(`hello${Pty.enter}`)
    await session.until(/This looks like a secret/)
    await session.until(/token \(text\) \[skip\]: /)
    session.type(`s3cret${Pty.enter}`)
    await session.until(/mcp-runtime call asks\/own title=hello token=@FILE/)
    await session.until(/Call it now\? \[Y\/n\] /)
    assert.notInclude(session.shown(), "s3cret")
    session.type(Pty.enter)
    await session.until(/"token":"s3cret"/)
    assert.strictEqual(await session.ended, 0)
  })

  it("completes a tool in the repl, cancels a call with Ctrl-C, and ends with Ctrl-D", async () => {
    const session = start("repl", "--config", servers({ slow: work.server }))
    await session.until(/mcp> /)
    await work.until(({ started }) => started === true)
    // the list of tools arrives a moment after the start
    for (let shown = ""; !shown.includes("slow/picture");) {
      session.type(`show slow/pic${Pty.tab}`)
      await new Promise((resolve) => setTimeout(resolve, 300))
      shown = session.shown()
      if (!shown.includes("slow/picture")) session.type(Pty.ctrlU)
    }
    session.type(Pty.enter)
    await session.until(/Shows a picture\./)
    session.type(`call slow/wait${Pty.enter}`)
    await session.until(/a quarter/)
    session.type(Pty.ctrlC)
    await session.until(/cancelled/)
    await session.until(/mcp> /)
    session.type(Pty.ctrlD)
    assert.strictEqual(await session.ended, 0)
    await work.until(({ cancelled }) => cancelled !== undefined)
  })

  it("completes hosts and actions in a shell", async () => {
    const session = Pty.open(work, ["bash", "--norc", "-i"])
    session.type(`PS1='$ '; eval "$(mcp-runtime --completions bash)"; echo rea''dy${Pty.enter}`)
    await session.until(/ready/)
    session.type(`mcp-runtime list --import curs${Pty.tab}`)
    await session.until(/--import cursor /)
    session.type(`${Pty.ctrlU}mcp-runtime auth logo${Pty.tab}`)
    await session.until(/auth logout /)
    session.type(`${Pty.ctrlU}exit${Pty.enter}`)
    await session.ended
  })
})
