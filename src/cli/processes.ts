/** Finds leaked processes (on Linux) and sockets, for the commands that check for them. */
import * as Effect from "effect/Effect"
import * as ProcessTree from "../resilience/processTree.ts"

export type Process = ProcessTree.ProcessRow

const all = (platform: string): ReadonlyArray<Process> =>
  platform === "linux" ? ProcessTree.table(platform).all().filter(({ isZombie }) => !isZombie) : []

/** The children of this process. */
export const children = (platform: string): ReadonlyArray<Process> => {
  const me = process.pid
  return all(platform).filter(({ parent }) => parent === me)
}

/** These processes, their descendants, and the processes in their sessions, even if reparented. */
export const tree = (roots: ReadonlyArray<Process>, platform: string): ReadonlyArray<Process> => {
  const pids = new Set(roots.map(({ pid }) => pid))
  const left = new Set(all(platform))
  const found: Array<Process> = []
  for (let before = -1; before !== found.length;) {
    before = found.length
    for (const row of left) {
      if (!pids.has(row.pid) && !pids.has(row.parent) && !pids.has(row.session)) continue
      pids.add(row.pid)
      left.delete(row)
      found.push(row)
    }
  }
  return found
}

const keyOf = ({ pid, start }: Process): string => `${pid} ${start}`

/** The processes among these that are still alive, and those in their sessions. */
export const remaining = (known: ReadonlyArray<Process>, platform: string): ReadonlyArray<Process> => {
  if (known.length === 0) return []
  const keys = new Set(known.map(keyOf))
  const sessions = new Set(known.map(({ pid }) => pid))
  return all(platform).filter((row) => keys.has(keyOf(row)) || sessions.has(row.session))
}

/** The number of open sockets of this process. */
export const sockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap" || kind === "TLSWrap").length

/** The processes and sockets that are still there after at most a second, because they take a moment to end. */
export const leftovers = (known: ReadonlyArray<Process>, platform: string, before: number) =>
  Effect.repeat(
    Effect.delay(
      Effect.sync(() => ({
        pids: remaining(known, platform).map(({ pid }) => pid),
        open: Math.max(0, sockets() - before)
      })),
      "10 millis"
    ),
    { times: 100, until: ({ open, pids }) => open + pids.length === 0 }
  )
