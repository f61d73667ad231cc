// @effect-diagnostics nodeBuiltinImport:off -- platform does not know the name of the machine
/**
 * Which process this is, in a way that others can tell whether it is still there.
 *
 * @internal
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Os from "node:os"
import { sha256 } from "../../json/canonical.ts"

/** @internal */
export interface Process {
  /** Where its number means something: a machine since its last start, or a container. */
  readonly realm: string
  readonly pid: number
  /** When it began, as the system counts; `0` where that cannot be learned. Numbers of processes are used again. */
  readonly born: string
}

/** @internal */
export interface Processes {
  readonly me: Process
  /** Whether a process has certainly ended; of other realms nothing is known. */
  readonly isGone: (process: Process) => Effect.Effect<boolean>
}

const ended = /^[ZXx]/

/** What comes after the name of the program in `/proc/<pid>/stat`, which can have anything in it. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

const bornAt = 19

/** Whether there is a process with this number, for systems without `/proc`. It may be somebody else's. */
const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH")
  }
}

/** @internal */
export const make: Effect.Effect<Processes, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const statOf = (pid: number | "self") => fs.readFileString(`/proc/${pid}/stat`)
  const spaces = yield* Effect.option(fs.readLink("/proc/self/ns/pid"))
  const boot = yield* Effect.option(fs.readFileString("/proc/sys/kernel/random/boot_id"))
  const stat = yield* Effect.option(statOf("self"))
  const born = Option.match(stat, { onNone: () => undefined, onSome: (text) => fieldsOf(text)[bornAt] })
  const realm = sha256([Os.hostname(), ...Option.toArray(spaces), ...Option.toArray(boot)].join("\n")).slice(0, 16)
  return {
    me: { realm, pid: process.pid, born: born ?? "0" },
    isGone: (other) => {
      if (other.realm !== realm) return Effect.succeed(false)
      if (born === undefined) return Effect.sync(() => !exists(other.pid))
      return Effect.match(statOf(other.pid), {
        onFailure: (error) => error._tag === "SystemError" && error.reason === "NotFound",
        onSuccess: (text) => {
          const fields = fieldsOf(text)
          return fields[bornAt] !== other.born || ended.test(fields[0] ?? "")
        }
      })
    }
  }
})
