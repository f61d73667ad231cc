import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as ProcessTree from "../../src/resilience/processTree.ts"
import { runs } from "../support/runs.ts"

/** A machine of processes that can be forked, moved to another group, ended and signalled. */
const machine = () => {
  const rows = new Map<number, ProcessTree.ProcessRow>()
  const signalled: Array<string> = []
  const marks = new Set<number>()
  const look = { fails: false }
  let clock = 0
  const start = (pid: number, parent: number, group: number, isMarked = false) => {
    rows.set(pid, { pid, parent, group, session: group, start: `${clock++}`, isZombie: false })
    if (isMarked) marks.add(pid)
  }
  const end = (pid: number) => {
    rows.delete(pid)
    for (const row of rows.values()) if (row.parent === pid) rows.set(row.pid, { ...row, parent: 1 })
  }
  const table: ProcessTree.ProcessTable = {
    find: (pid) => rows.get(pid),
    children: (pid) => [...rows.values()].filter((row) => row.parent === pid).map((row) => row.pid),
    all: () => look.fails ? [] : [...rows.values()],
    marked: (_, since) =>
      [...rows.values()].filter((row) => marks.has(row.pid) && Number(row.start) >= Number(since.start))
  }
  const send: ProcessTree.Send = (target, signal) => {
    const hit = [...rows.values()].filter((row) => target < 0 ? row.group === -target : row.pid === target)
    if (signal === 0) return hit.length > 0
    for (const { pid } of hit) signalled.push(`${signal} ${pid}`)
    if (signal === "SIGKILL") { for (const { pid } of hit) end(pid) }
    return hit.length > 0
  }
  const kill = (pid: number, tree: ProcessTree.ProcessTree) => {
    end(pid)
    tree.leaderEnded()
  }
  return {
    look,
    rows,
    signalled,
    start,
    end,
    kill,
    tree: (leader: number) => ProcessTree.make(leader, "marker=1", () => table, send)
  }
}

describe("ProcessTree", () => {
  it("finds descendants at any depth, also those that left the group", () => {
    const { start, tree } = machine()
    start(10, 1, 10)
    start(11, 10, 10)
    start(12, 11, 12)
    start(13, 12, 12)
    start(20, 1, 20)
    const mine = tree(10)
    mine.refresh()
    assert.sameMembers([...mine.remaining()], [10, 11, 12, 13])
  })

  it("remembers descendants after their parents have ended", () => {
    const { kill, start, tree } = machine()
    start(10, 1, 10)
    start(12, 10, 12)
    const mine = tree(10)
    mine.refresh()
    kill(10, mine)
    assert.deepStrictEqual(mine.remaining(), [12])
  })

  it("finds the rest of the group after the leader has ended, without an earlier look", () => {
    const { kill, start, tree } = machine()
    start(10, 1, 10)
    start(11, 10, 10)
    const mine = tree(10)
    kill(10, mine)
    assert.deepStrictEqual(mine.remaining(), [11])
    mine.refresh()
    mine.signal("SIGKILL")
    assert.deepStrictEqual(mine.remaining(), [])
  })

  it("keeps the group of an ended leader through a look at the processes that failed", () => {
    const { kill, look, start, tree } = machine()
    start(10, 1, 10)
    start(11, 10, 10)
    const mine = tree(10)
    kill(10, mine)
    look.fails = true
    mine.refresh()
    look.fails = false
    assert.deepStrictEqual(mine.remaining(), [11])
    mine.signal("SIGKILL")
    assert.deepStrictEqual(mine.remaining(), [])
  })

  it("signals each process once", () => {
    const { signalled, start, tree } = machine()
    start(10, 1, 10)
    start(11, 10, 10)
    start(12, 11, 12)
    const mine = tree(10)
    mine.refresh()
    mine.signal("SIGTERM")
    assert.sameMembers(signalled, ["SIGTERM 10", "SIGTERM 11", "SIGTERM 12"])
  })

  it("does not touch a stranger that got the pid of a descendant", () => {
    const { end, rows, start, tree } = machine()
    start(10, 1, 10)
    start(12, 10, 12)
    const mine = tree(10)
    mine.refresh()
    end(12)
    start(12, 1, 12)
    mine.signal("SIGKILL")
    assert.deepStrictEqual(mine.remaining(), [10])
    assert.isTrue(rows.has(12))
  })

  it("does not touch a stranger that got the pid of the leader, nor its group", () => {
    const { end, kill, rows, start, tree } = machine()
    start(10, 1, 10)
    start(11, 10, 10)
    const mine = tree(10)
    kill(10, mine)
    end(11)
    start(10, 1, 10)
    start(15, 10, 10)
    mine.refresh()
    mine.signal("SIGKILL")
    assert.deepStrictEqual(mine.remaining(), [])
    assert.isTrue(rows.has(10) && rows.has(15))
  })

  it("finds by its marker a process that left group and parents before any look, and reports it", () => {
    const { kill, rows, start, tree } = machine()
    start(5, 1, 5, true)
    start(10, 1, 10, true)
    const mine = tree(10)
    start(30, 1, 30, true)
    start(31, 1, 31)
    mine.refresh()
    kill(10, mine)
    assert.deepStrictEqual(mine.remaining(), [])
    mine.sweep()
    assert.deepStrictEqual([mine.remaining(), mine.escaped()], [[30], [30]])
    mine.signal("SIGKILL")
    assert.deepStrictEqual([...rows.keys()], [5, 31])
  })

  it("leaves none of its own and touches none of the others, whatever the machine looks like", () => {
    const fork = FastCheck.record({ parent: FastCheck.nat(), leaves: FastCheck.boolean() })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(fork, { maxLength: 30 }), FastCheck.boolean(), (forks, leaderDies) => {
        const { kill, rows, start, tree } = machine()
        start(10, 1, 10)
        start(11, 1, 11)
        const ours = new Set([10])
        for (const [i, { leaves, parent }] of forks.entries()) {
          const pid = 100 + i
          const of = rows.get([...rows.keys()][parent % rows.size]!)!
          start(pid, of.pid, leaves ? pid : of.group)
          if (ours.has(of.pid)) ours.add(pid)
        }
        const mine = tree(10)
        mine.refresh()
        if (leaderDies) kill(10, mine)
        mine.refresh()
        mine.signal("SIGKILL")
        assert.deepStrictEqual([...rows.keys()].filter((pid) => ours.has(pid)), [])
        assert.strictEqual(rows.size, forks.length + 2 - ours.size)
      }),
      { numRuns: runs(1000) }
    )
  })
})

describe("the process table", () => {
  it("reads a program whose name is made to confuse", () => {
    const stat = readFileSync("/proc/self/stat", "latin1").replace(/\(.*\)/, "(evil) Z 1 1 (x)")
    const row = ProcessTree.parseStat(stat)
    assert.deepInclude(row, { pid: process.pid, parent: process.ppid, isZombie: false })
  })

  it("makes nothing of a file that is cut off", () => {
    assert.isUndefined(ProcessTree.parseStat(""))
    assert.isUndefined(ProcessTree.parseStat("12 (node) S 1"))
  })

  it("reads the output of ps", () => {
    const output =
      "    1     0     1 Ss   Wed Nov 18 12:30:01 2026\n  77    1    77 Z+   Wed Nov 18 12:31:01 2026\nodd\n\n"
    assert.deepStrictEqual(ProcessTree.parsePs(output), [
      { pid: 1, parent: 0, group: 1, session: 0, start: "Wed Nov 18 12:30:01 2026", isZombie: false },
      { pid: 77, parent: 1, group: 77, session: 0, start: "Wed Nov 18 12:31:01 2026", isZombie: true }
    ])
  })

  it.skipIf(spawnSync("ps", ["-V"]).error !== undefined)("sees the same in /proc and through ps", () => {
    const [proc, ps] = [ProcessTree.table("linux"), ProcessTree.table("darwin")]
    const { session: _, start: __, ...mine } = proc.find(process.pid)!
    assert.deepInclude(ps.find(process.pid), mine)
    assert.include(ps.children(process.ppid), process.pid)
    assert.include(proc.children(process.ppid), process.pid)
  })
})
