/** @internal */
import type * as ProcessTable from "./processTable.ts"

/** @internal */
export interface Signals {
  /** Signals a process, or a group by its negative number; false if there is nobody. Signal 0 only asks. */
  readonly send: (target: number, signal: Signal | 0) => boolean
}

/** @internal */
export type Signal = "SIGTERM" | "SIGKILL"

/** @internal */
export interface ProcessTree {
  /** Looks for processes that have come since. Once a process has ended, its children can not be found any more. */
  readonly refresh: () => void
  /** Told when the leader has ended and its pid is free for others. */
  readonly leaderEnded: () => void
  /** Who is still alive. */
  readonly remaining: () => ReadonlyArray<number>
  readonly signal: (signal: Signal) => void
}

/**
 * The processes that one server consists of: the group it was started in, and its descendants, wherever they went.
 *
 * @internal
 */
export const make = (leader: number, now: () => ProcessTable.ProcessTable, signals: Signals): ProcessTree => {
  /** Descendants, with the start that tells them from others that get their pid. */
  const known = new Map<number, ProcessTable.ProcessRow>()
  let leaderIsAlive = true
  let groupIsGone = false

  const current = (
    table: ProcessTable.ProcessTable,
    row: ProcessTable.ProcessRow
  ): ProcessTable.ProcessRow | undefined => {
    const found = table.find(row.pid)
    return found?.start === row.start && !found.isZombie ? found : undefined
  }

  const groupMembers = (table: ProcessTable.ProcessTable): ReadonlyArray<ProcessTable.ProcessRow> => {
    if (groupIsGone) return []
    if (!signals.send(-leader, 0)) {
      groupIsGone = true
      return []
    }
    const rows = table.all()
    // The number of a group is not used again while it has members; a process of this number is a stranger with a
    // group of its own.
    if (rows.some((row) => row.pid === leader)) {
      groupIsGone = true
      return []
    }
    return rows.filter((row) => row.group === leader && !row.isZombie)
  }

  const refresh = (): void => {
    const table = now()
    const queue: Array<number> = leaderIsAlive ? [leader] : []
    for (const row of known.values()) {
      if (current(table, row) !== undefined) queue.push(row.pid)
      else known.delete(row.pid)
    }
    if (!leaderIsAlive) {
      for (const row of groupMembers(table)) {
        known.set(row.pid, row)
        queue.push(row.pid)
      }
    }
    const seen = new Set<number>()
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
      if (seen.has(pid)) continue
      seen.add(pid)
      for (const child of table.children(pid)) {
        const row = table.find(child)
        if (row === undefined || row.isZombie) continue
        known.set(child, row)
        queue.push(child)
      }
    }
  }

  return {
    refresh,
    leaderEnded: () => {
      leaderIsAlive = false
      if (!signals.send(-leader, 0)) groupIsGone = true
    },
    remaining: () => {
      if (!leaderIsAlive && known.size === 0 && groupIsGone) return []
      const table = now()
      const others = new Set([...known.values()].filter((row) => current(table, row)).map((row) => row.pid))
      if (!leaderIsAlive) { for (const row of groupMembers(table)) others.add(row.pid) }
      return leaderIsAlive ? [leader, ...others] : [...others]
    },
    signal: (signal) => {
      const table = now()
      if (leaderIsAlive || groupMembers(table).length > 0) signals.send(-leader, signal)
      // Who is in the group has had its signal already; a second SIGTERM means "at once" to some programs.
      for (const row of known.values()) {
        const found = current(table, row)
        if (found !== undefined && found.group !== leader) signals.send(row.pid, signal)
      }
    }
  }
}

/**
 * Real signals. On Windows there are neither groups nor a polite signal that a program without a window would get, so
 * only `SIGKILL` does something, and to the whole tree.
 *
 * @internal
 */
export const signals = (platform: string, killTree: (pid: number) => void): Signals => ({
  send: (target, signal) => {
    if (platform === "win32") {
      if (signal === "SIGKILL") killTree(Math.abs(target))
      return signal !== 0
    }
    try {
      return process.kill(target, signal)
    } catch (error) {
      // EPERM: there is somebody, who has become another user.
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
  }
})
