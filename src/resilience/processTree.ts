// @effect-diagnostics nodeBuiltinImport:off
/**
 * The processes of this machine, and the tree of those that belong to one server. All of it is synchronous, because the
 * last resort at process exit cannot wait.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import type * as Launcher from "../config/launcher.ts"

/** A process. Pids are used again, so pid and start time together are its identity. */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** 0 where the system does not report it. */
  readonly session: number
  /** On Linux, clock ticks since boot. */
  readonly start: string
  readonly isZombie: boolean
}

/** The processes of one moment, read when they are asked for. */
export interface ProcessTable {
  readonly find: (pid: number) => ProcessRow | undefined
  readonly children: (pid: number) => ReadonlyArray<number>
  readonly all: () => ReadonlyArray<ProcessRow>
  /** The processes started at or after `since` that have this variable in their environment; Linux only. */
  readonly marked: (marker: string, since: ProcessRow) => ReadonlyArray<ProcessRow>
}

/** Parses `/proc/<pid>/stat`. The program's name stands in parentheses and can hold anything, parentheses too. */
export const parseStat = (stat: string): ProcessRow | undefined => {
  const pid = Number.parseInt(stat, 10)
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, group, session] = fields
  const start = fields[19]
  if (!Number.isInteger(pid) || state === undefined || start === undefined) return undefined
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start,
    isZombie: state === "Z" || state === "X"
  }
}

/** Parses the output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`. */
export const parsePs = (output: string): ReadonlyArray<ProcessRow> =>
  output.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    if (match === null) return []
    const [, pid, parent, group, state, start] = match
    return [{
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      start: start!,
      isZombie: state!.startsWith("Z")
    }]
  })

/** Runs a program of the system to its end, within a second, and returns its output. */
const run = (command: string, args: ReadonlyArray<string>): string =>
  ChildProcess.spawnSync(command, args, {
    timeout: 1000,
    killSignal: "SIGKILL",
    maxBuffer: 8 * 1024 * 1024,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true
  }).stdout ?? ""

/** Reads something under /proc; the process may have ended in the meantime, or belong to another user. */
const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const textOf = (path: string): string | undefined => attempt(() => Fs.readFileSync(path, "latin1"))
const namesIn = (path: string): ReadonlyArray<string> => attempt(() => Fs.readdirSync(path)) ?? []

const hasVariable = (pid: number, assignment: string): boolean =>
  `\0${textOf(`/proc/${pid}/environ`)}\0`.includes(`\0${assignment}\0`)

const find = (pid: number): ProcessRow | undefined => {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat === undefined ? undefined : parseStat(stat)
}

const all = (): ReadonlyArray<ProcessRow> =>
  namesIn("/proc").flatMap((entry) => (/^\d+$/.test(entry) ? find(Number(entry)) : undefined) ?? [])

const proc: ProcessTable = {
  find,
  all,
  // The kernel's own list, per thread: some twenty small reads in place of one per process of the machine.
  children: (pid) => {
    const found: Array<number> = []
    for (const thread of namesIn(`/proc/${pid}/task`)) {
      const text = textOf(`/proc/${pid}/task/${thread}/children`)
      // The thread is gone, or this kernel was built without the list.
      if (text === undefined) return all().filter((row) => row.parent === pid).map((row) => row.pid)
      for (const child of text.split(" ")) if (child !== "") found.push(Number(child))
    }
    return found
  },
  marked: (marker, since) =>
    all().filter((row) => !row.isZombie && Number(row.start) >= Number(since.start) && hasVariable(row.pid, marker))
}

const ps = (): ProcessTable => {
  let rows: ReadonlyArray<ProcessRow> | undefined
  const all = () => rows ??= parsePs(run("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="]))
  return {
    all,
    find: (pid) => all().find((row) => row.pid === pid),
    children: (pid) => all().filter((row) => row.parent === pid).map((row) => row.pid),
    marked: () => []
  }
}

const none: ProcessTable = { find: () => undefined, children: () => [], all: () => [], marked: () => [] }

/** `/proc` on Linux, `ps` on other systems, and nothing on Windows, where `taskkill` ends whole trees. */
export const table = (platform: string): ProcessTable =>
  platform === "linux" ? proc : platform === "win32" ? none : ps()

/**
 * Tells from the processes of a launcher if it has started the server that it installs: `false` while the install is
 * visible, `undefined` if the processes do not show it.
 */
export const hasStartedServer = (pid: number, { server }: Launcher.Launcher, platform: string): boolean | undefined => {
  if (platform !== "linux" || server === "same") return undefined
  const folder = (pid: number) => attempt(() => Fs.readlinkSync(`/proc/${pid}/cwd`))
  const isMarked = (child: number): boolean =>
    hasVariable(child, "npm_lifecycle_event=npx") || proc.children(child).some(isMarked)
  return server === "marked"
    ? proc.children(pid).some(isMarked)
    : proc.children(pid).some((child) => folder(child) === folder(pid))
}

export type Signal = "SIGTERM" | "SIGKILL"

/** Signals a process, or a group by its negative number; false if it does not exist. Signal 0 only asks. */
export type Send = (target: number, signal: Signal | 0) => boolean

/**
 * Real signals. Windows has neither groups nor a polite signal that reaches a program without a window, so only
 * `SIGKILL` does something there, and to the whole tree.
 */
export const sender = (platform: string): Send => (target, signal) => {
  if (platform === "win32") {
    if (signal === "SIGKILL") run("taskkill", ["/pid", String(Math.abs(target)), "/T", "/F"])
    return signal !== 0
  }
  try {
    return process.kill(target, signal)
  } catch (error) {
    // EPERM: the process exists and has become another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

export interface ProcessTree {
  /** Looks for new descendants. They are found through their parents, so only while those live. */
  readonly refresh: () => void
  /** Looks for new descendants, and for processes that left the tree, by the marker in their environment. */
  readonly sweep: () => void
  /** Called when the leader has ended and its pid is free for others. */
  readonly leaderEnded: () => void
  /** The pids still alive. */
  readonly remaining: () => ReadonlyArray<number>
  /** The pids that were found by their marker only. */
  readonly escaped: () => ReadonlyArray<number>
  readonly signal: (signal: Signal) => void
}

/**
 * The processes of one server: the group it was started in, its descendants wherever they went, and on Linux what has
 * its marker in the environment.
 */
export const make = (leader: number, marker: string, now: () => ProcessTable, send: Send): ProcessTree => {
  /** The descendants, with the start time that tells them from later processes with the same pid. */
  const known = new Map<number, ProcessRow>()
  const escaped = new Set<number>()
  const born = now().find(leader)
  let leaderIsAlive = true
  let groupIsGone = false

  const current = (table: ProcessTable, row: ProcessRow): ProcessRow | undefined => {
    const found = table.find(row.pid)
    return found?.start === row.start && !found.isZombie ? found : undefined
  }

  /** What is left of the group after the leader has ended. */
  const groupMembers = (table: ProcessTable): ReadonlyArray<ProcessRow> => {
    if (leaderIsAlive || groupIsGone) return []
    const exists = send(-leader, 0)
    // Empty also if `ps` failed, which says nothing about the group.
    const rows = exists ? table.all() : []
    // The number of a group is not used again while it has members, so a process with this pid is a stranger.
    groupIsGone = !exists || rows.some((row) => row.pid === leader)
    return groupIsGone ? [] : rows.filter((row) => row.group === leader && !row.isZombie)
  }

  const refresh = (): void => {
    const table = now()
    const queue: Array<number> = leaderIsAlive ? [leader] : []
    for (const row of known.values()) {
      if (current(table, row) !== undefined) queue.push(row.pid)
      else known.delete(row.pid)
    }
    for (const row of groupMembers(table)) {
      known.set(row.pid, row)
      queue.push(row.pid)
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
    sweep: () => {
      refresh()
      if (born === undefined) return
      for (const row of now().marked(marker, born)) {
        if ((leaderIsAlive && row.pid === leader) || known.has(row.pid)) continue
        known.set(row.pid, row)
        escaped.add(row.pid)
      }
    },
    leaderEnded: () => {
      leaderIsAlive = false
      if (!send(-leader, 0)) groupIsGone = true
    },
    remaining: () => {
      if (!leaderIsAlive && known.size === 0 && groupIsGone) return []
      const table = now()
      const others = new Set([...known.values()].filter((row) => current(table, row)).map((row) => row.pid))
      for (const row of groupMembers(table)) others.add(row.pid)
      return leaderIsAlive ? [leader, ...others] : [...others]
    },
    escaped: () => [...escaped],
    signal: (signal) => {
      const table = now()
      if (leaderIsAlive || groupMembers(table).length > 0) send(-leader, signal)
      // The group has had its signal already, and a second SIGTERM means "at once" to some programs.
      for (const row of known.values()) {
        const found = current(table, row)
        if (found !== undefined && found.group !== leader) send(row.pid, signal)
      }
    }
  }
}
