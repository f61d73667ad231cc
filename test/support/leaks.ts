/**
 * What is left: processes, files and handles of this process, and waiting until nothing is.
 */
import * as Effect from "effect/Effect"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"

interface Process {
  readonly pid: number
  readonly parent: number
  readonly isZombie: boolean
}

const find = (pid: number): Process | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { pid, parent: Number(parent), isZombie: state === "Z" || state === "X" }
  } catch {
    return undefined
  }
}

const all = (): ReadonlyArray<Process> =>
  readdirSync("/proc").flatMap((entry) => {
    const found = /^\d+$/.test(entry) ? find(Number(entry)) : undefined
    return found === undefined || found.isZombie ? [] : [found]
  })

/** Whether a process runs: a zombie has ended. */
export const isAlive = (pid: number): boolean => find(pid)?.isZombie === false

/** The processes that came of one, whatever session they are in. */
export const descendants = (pid: number = process.pid): ReadonlyArray<number> => {
  const processes = all()
  const found: Array<number> = []
  const queue = [pid]
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop()) {
    for (const child of processes) {
      if (child.parent !== parent) continue
      found.push(child.pid)
      queue.push(child.pid)
    }
  }
  return found
}

/** The processes, anybody's, that were started with this argument: give your servers one that nobody else has. */
export const pidsWithArgument = (argument: string): ReadonlyArray<number> =>
  all().flatMap(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument) ? [pid] : []
    } catch {
      return []
    }
  })

/** The open files of this process, as the kernel names them. */
export const openFiles = (): ReadonlyArray<string> =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })

/** What keeps this process busy, by kind. */
export const activeResources = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Waits, in real time, until something holds; what it says of itself otherwise is in the failure. */
export const eventually = (
  holds: () => boolean,
  describe: () => string = () => "it did not come true",
  within = 20_000
): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const until = performance.now() + within
    let timer: NodeJS.Timeout | undefined
    const look = (): void => {
      if (holds()) return resume(Effect.void)
      if (performance.now() > until) return resume(Effect.die(new Error(describe())))
      timer = setTimeout(look, 5)
    }
    look()
    return Effect.sync(() => clearTimeout(timer))
  })

const kinds = ["ProcessWrap", "PipeWrap", "TCPSocketWrap", "TCPServerWrap", "FSEvent", "FSReqCallback"]

/**
 * Runs a test, and then waits until everything it started is gone: processes, files, sockets and pipes. Timers are left
 * out, since the test runner has its own.
 */
export const assertNoLeak = <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const before = { processes: new Set(descendants()), files: openFiles().length, resources: activeResources() }
    const left = (): ReadonlyArray<string> => {
      const resources = activeResources()
      const files = openFiles()
      return [
        ...descendants().filter((pid) => !before.processes.has(pid)).map((pid) => `process ${pid}`),
        ...kinds.filter((kind) => (resources.get(kind) ?? 0) > (before.resources.get(kind) ?? 0)),
        ...(files.length > before.files ? [`${files.length - before.files} files`] : [])
      ]
    }
    return Effect.tap(test, () => eventually(() => left().length === 0, () => `left behind: ${left().join(", ")}`))
  })

/** Waits until a process is gone. */
export const gone = (pid: number): Effect.Effect<void> =>
  eventually(() => !isAlive(pid), () => `process ${pid} is still there`)

/** The content of a file that may not be there yet. */
export const contentOf = (path: string): string => existsSync(path) ? readFileSync(path, "utf8") : ""
