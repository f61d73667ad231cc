/**
 * A child of this process and all that it has started: one tree to watch and to end, whatever the child is for.
 *
 * @internal
 */
import * as ProcessTable from "./processTable.ts"
import * as ProcessTree from "./processTree.ts"
import * as Spawn from "./spawn.ts"

/** @internal */
export interface ChildTree {
  readonly tree: ProcessTree.ProcessTree
  /** Signals the remaining processes, at once and synchronously. */
  readonly kill: (signal?: ProcessTree.Signal) => void
  /** Lets go of the pipes and of the process; only errors are still listened to. */
  readonly release: () => void
}

/** @internal */
export const make = (child: Spawn.Child, platform: string): ChildTree => {
  const signals = ProcessTree.signals(platform, (pid) => {
    Spawn.run("taskkill", ["/pid", String(pid), "/T", "/F"])
  })
  const tree = ProcessTree.make(child.pid, () => ProcessTable.now(platform), signals)
  return {
    tree,
    kill: (signal = "SIGKILL") => {
      tree.refresh()
      tree.signal(signal)
    },
    release: () => {
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      child.unref()
    }
  }
}
