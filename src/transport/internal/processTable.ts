// @effect-diagnostics nodeBuiltinImport:off
// Processes are looked up in /proc, and synchronously: the last resort has no later.
/** @internal */
import * as Fs from "node:fs"
import type * as Launcher from "../../config/launcher.ts"
import * as Spawn from "./spawn.ts"

/**
 * A process. Its pid and its start together are its identity: pids are used again.
 *
 * @internal
 */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly start: string
  readonly isZombie: boolean
}

/**
 * The processes of one moment, looked up when they are asked for.
 *
 * @internal
 */
export interface ProcessTable {
  /** One process, if it exists. */
  readonly find: (pid: number) => ProcessRow | undefined
  readonly children: (pid: number) => ReadonlyArray<number>
  readonly all: () => ReadonlyArray<ProcessRow>
}

/**
 * A line of `/proc/<pid>/stat`. The name of the program stands in parentheses and can hold anything, parentheses too.
 *
 * @internal
 */
export const parseStat = (stat: string): ProcessRow | undefined => {
  const pid = Number.parseInt(stat, 10)
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, group] = fields
  const start = fields[19]
  if (!Number.isInteger(pid) || state === undefined || start === undefined) return undefined
  return { pid, parent: Number(parent), group: Number(group), start, isZombie: state === "Z" || state === "X" }
}

/**
 * The output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`.
 *
 * @internal
 */
export const parsePs = (output: string): ReadonlyArray<ProcessRow> =>
  output.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    if (match === null) return []
    const [, pid, parent, group, state, start] = match
    return [{
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      start: start!,
      isZombie: state!.startsWith("Z")
    }]
  })

const read = (path: string): string | undefined => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    // It has ended in the meantime, or it is not ours to see.
    return undefined
  }
}

const list = (path: string): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync(path)
  } catch {
    return []
  }
}

const find = (pid: number): ProcessRow | undefined => {
  const stat = read(`/proc/${pid}/stat`)
  return stat === undefined ? undefined : parseStat(stat)
}

const all = (): ReadonlyArray<ProcessRow> =>
  list("/proc").flatMap((entry) => {
    const row = /^\d+$/.test(entry) ? find(Number(entry)) : undefined
    return row === undefined ? [] : [row]
  })

const proc: ProcessTable = {
  find,
  all,
  // The kernel's own list, per thread: some twenty small reads in place of one per process of the machine.
  children: (pid) => {
    const found: Array<number> = []
    for (const thread of list(`/proc/${pid}/task`)) {
      const text = read(`/proc/${pid}/task/${thread}/children`)
      if (text === undefined) {
        // The thread is gone, or this kernel was built without the list.
        return all().filter((row) => row.parent === pid).map((row) => row.pid)
      }
      for (const child of text.split(" ")) if (child !== "") found.push(Number(child))
    }
    return found
  }
}

const ps = (): ProcessTable => {
  let rows: ReadonlyArray<ProcessRow> | undefined
  const all = () => rows ??= parsePs(Spawn.run("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="]))
  return {
    all,
    find: (pid) => all().find((row) => row.pid === pid),
    children: (pid) => all().filter((row) => row.parent === pid).map((row) => row.pid)
  }
}

const none: ProcessTable = { find: () => undefined, children: () => [], all: () => [] }

/**
 * The processes of this machine: `/proc` on Linux, `ps` on other systems, and on Windows, where trees are ended by
 * `taskkill`, nothing.
 *
 * @internal
 */
export const now = (platform: string): ProcessTable => platform === "linux" ? proc : platform === "win32" ? none : ps()

const folder = (pid: number): string | undefined => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/**
 * Tells from its processes if a launcher has started the server that it installs: `false` is an install that is seen,
 * `undefined` that they do not show it.
 *
 * @internal
 */
export const hasStartedServer = (pid: number, { server }: Launcher.Launcher, platform: string): boolean | undefined => {
  if (platform !== "linux" || server === "same") return undefined
  const isMarked = (child: number): boolean =>
    `\0${read(`/proc/${child}/environ`)}`.includes("\0npm_lifecycle_event=npx\0") || proc.children(child).some(isMarked)
  return server === "marked"
    ? proc.children(pid).some(isMarked)
    : proc.children(pid).some((child) => folder(child) === folder(pid))
}
