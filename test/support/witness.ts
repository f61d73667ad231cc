/** What this process does to the world while something runs: programs, sockets, and names that are looked up. */
import { Effect, type Scope } from "effect"
import { createHook } from "node:async_hooks"
import type * as ChildProcess from "node:child_process"
import { createRequire, syncBuiltinESMExports } from "node:module"

const effects: ReadonlySet<string> = new Set([
  "PROCESSWRAP",
  "WORKER",
  "TCPWRAP",
  "TCPCONNECTWRAP",
  "TCPSERVERWRAP",
  "PIPEWRAP",
  "PIPECONNECTWRAP",
  "PIPESERVERWRAP",
  "TLSWRAP",
  "UDPWRAP",
  "UDPSENDWRAP",
  "GETADDRINFOREQWRAP",
  "GETNAMEINFOREQWRAP",
  "QUERYWRAP"
])

const synchronous = ["spawnSync", "execFileSync", "execSync"] as const

export interface Witness {
  /** In the order in which they happened, by the names that Node has for them. */
  readonly seen: () => ReadonlyArray<string>
}

/** It sees all of the process, so nothing else may go on in it meanwhile. */
export const watch: Effect.Effect<Witness, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const seen: Array<string> = []
      const hook = createHook({
        init: (_, type) => {
          if (effects.has(type)) seen.push(type)
        }
      }).enable()
      // these have no resource that a hook could see
      const programs = createRequire(import.meta.url)("node:child_process") as typeof ChildProcess
      const before = synchronous.map((name) => [name, programs[name]] as const)
      for (const [name, run] of before) {
        Object.assign(programs, {
          [name]: (...given: ReadonlyArray<unknown>) => {
            seen.push(name)
            return Reflect.apply(run, programs, given)
          }
        })
      }
      syncBuiltinESMExports()
      return {
        seen,
        close: () => {
          hook.disable()
          Object.assign(programs, Object.fromEntries(before))
          syncBuiltinESMExports()
        }
      }
    }),
    ({ close }) => Effect.sync(close)
  ),
  ({ seen }) => ({ seen: () => [...seen] })
)
