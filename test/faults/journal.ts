/** What a misbehaving process wrote down of itself: pids, the messages it got, the tools it ran. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Entry {
  readonly pid?: number
  readonly role?: "server" | "grandchild"
  readonly got?: string
  readonly id?: string | number
  readonly params?: { readonly [key: string]: unknown }
  readonly executed?: string
  readonly end?: "stdin"
  readonly [key: string]: unknown
}

export interface Journal {
  readonly folder: string
  readonly file: string
  readonly entries: () => ReadonlyArray<Entry>
  readonly pids: () => ReadonlyArray<number>
  readonly executions: (tool: string) => number
  readonly count: (method: string) => number
  /** Waits until an entry satisfies the predicate; the case's own bound ends it. */
  readonly until: (predicate: (entry: Entry) => boolean) => Effect.Effect<Entry>
}

const parse = (line: string): Entry => JSON.parse(line) as Entry

/** Whether a process exists and is not merely waiting to be reaped. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).charAt(0) !== "Z"
  } catch {
    // Gone between the two looks, or a system without /proc, where the signal is all there is to ask.
    return process.platform !== "linux"
  }
}

/** How many file descriptors this process holds. */
export const descriptors = (): number => process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0

/** A journal in a folder of its own, removed with the scope. */
export const make: Effect.Effect<Journal, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-faults-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => {
    const file = join(folder, "journal")
    const entries = (): ReadonlyArray<Entry> => {
      try {
        // The last line may still be on its way.
        return readFileSync(file, "utf8").split("\n").slice(0, -1).map(parse)
      } catch {
        return []
      }
    }
    const until: Journal["until"] = (predicate) =>
      Effect.suspend(() => {
        const found = entries().find(predicate)
        return found === undefined ? Effect.delay(until(predicate), "10 millis") : Effect.succeed(found)
      })
    return {
      folder,
      file,
      entries,
      until,
      pids: () => entries().flatMap((entry) => entry.pid === undefined ? [] : [entry.pid]),
      executions: (tool) => entries().filter((entry) => entry.executed === tool).length,
      count: (method) => entries().filter((entry) => entry.got === method).length
    }
  }
)
