/** The program on a real pseudo-terminal. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
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

describe("a terminal", patient, () => {
  it("is told which server the end waits for as soon as Ctrl-C is pressed in a call", async () => {
    const file = work.write("servers.json", { mcpServers: { slow: stubborn() } })
    const session = Pty.open(work, ["call", "slow/wait", "--config", file])
    await session.until(/a quarter/)
    session.type(Pty.ctrlC)
    await session.until(/stopping: waiting until slow has ended; Ctrl-C again kills/)
    assert.strictEqual(await session.ended, 130)
    await work.until(({ cancelled }) => cancelled !== undefined)
  })
})
