// @effect-diagnostics nodeBuiltinImport:off -- whether a process is left is asked of the system, and of nobody else
/**
 * The processes of this machine, to see whether a server has left any. Only Linux is asked: elsewhere the report of the
 * teardown has to do.
 *
 * @internal
 */
import * as Fs from "node:fs"

/**
 * A pid is used again; with the time of its start it is not.
 *
 * @internal
 */
export interface Process {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly start: string
}

const read = (path: string): string => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    // it has ended in the meantime
    return ""
  }
}

/** The name of the program stands in parentheses, and may hold any itself. */
const processOf = (stat: string): Process | undefined => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, , session] = fields
  const start = fields[19]
  return start === undefined || state === "Z" || state === "X"
    ? undefined
    : { pid: Number.parseInt(stat, 10), parent: Number(parent), session: Number(session), start }
}

/** @internal */
export const all = (platform: string): ReadonlyArray<Process> => {
  if (platform !== "linux") return []
  try {
    return Fs.readdirSync("/proc").flatMap((entry) =>
      /^\d+$/.test(entry) ? processOf(read(`/proc/${entry}/stat`)) ?? [] : []
    )
  } catch {
    return []
  }
}

/**
 * Those that this process has started itself.
 *
 * @internal
 */
export const own = (platform: string): ReadonlyArray<Process> => {
  const me = process.pid
  return all(platform).filter(({ parent }) => parent === me)
}

/**
 * These, all that they have started, and all that is in a session of theirs, whoever is its parent by now.
 *
 * @internal
 */
export const tree = (roots: ReadonlyArray<Process>, platform: string): ReadonlyArray<Process> => {
  const pids = new Set(roots.map(({ pid }) => pid))
  const left = new Set(all(platform))
  const found: Array<Process> = []
  for (let before = -1; before !== found.length;) {
    before = found.length
    for (const one of left) {
      if (!pids.has(one.pid) && !pids.has(one.parent) && !pids.has(one.session)) continue
      pids.add(one.pid)
      left.delete(one)
      found.push(one)
    }
  }
  return found
}

const keyOf = ({ pid, start }: Process): string => `${pid} ${start}`

/**
 * Those of them that are there still, and whoever is in their sessions.
 *
 * @internal
 */
export const remaining = (known: ReadonlyArray<Process>, platform: string): ReadonlyArray<Process> => {
  if (known.length === 0) return []
  const keys = new Set(known.map(keyOf))
  const sessions = new Set(known.map(({ pid }) => pid))
  return all(platform).filter((one) => keys.has(keyOf(one)) || sessions.has(one.session))
}

/**
 * The sockets that are open in this process.
 *
 * @internal
 */
export const sockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap" || kind === "TLSWrap").length
