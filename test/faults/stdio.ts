/** Cases over child processes. */
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Configs from "../support/configs.ts"
import * as harness from "./harness.ts"
import * as Journal from "./journal.ts"

export const program = fileURLToPath(new URL("../fixtures/faults/server.mjs", import.meta.url))

export interface Options extends harness.Options {
  readonly config?: Partial<ServerConfig.StdioInput> | undefined
  /** Runs the server under a shell, as launchers do. */
  readonly wrapped?: boolean | undefined
  /** Speaks the protocol without a handshake. */
  readonly stateless?: boolean | undefined
  /** What the server does, where it is not what the case is called. */
  readonly mode?: string | undefined
}

export const defaults = {
  name: "fleet",
  startupTimeout: "4 seconds",
  requestTimeout: "4 seconds",
  toolTimeout: "6 seconds",
  listTimeout: "4 seconds",
  stallTimeout: "1 second"
} as const

const command = (mode: string, journal: Journal.Journal, { stateless, wrapped }: Options) => {
  const args = [program, mode, journal.file, ...(stateless === true ? ["stateless"] : [])]
  return wrapped === true
    ? { command: "sh", args: ["-c", `${[process.execPath, ...args].map((arg) => `"${arg}"`).join(" ")}; true`] }
    : { command: process.execPath, args }
}

/** A journal whose processes end with the case: one that fails because something is left must not leave it. */
export const journalOfMine = Effect.tap(Journal.make, (journal) =>
  Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const pid of journal.pids().filter(Journal.isAlive)) process.kill(pid, "SIGKILL")
    })
  ))

/** The processes of the case that are alive now. */
export const alive = (journal: Journal.Journal): ReadonlyArray<number> => journal.pids().filter(Journal.isAlive)

/** A process in this mode, as what a case begins with. */
export const processFor = (mode: string, options: Options = {}) =>
  Effect.map(journalOfMine, (journal) => ({
    config: Configs.stdio({
      ...defaults,
      ...command(mode, journal, options),
      ...options.config
    }),
    server: journal,
    remains: { left: () => alive(journal).map((pid) => `process ${pid}`) }
  }))

/** Declares a test with a process in this mode. */
export const stdio = <E>(
  mode: string,
  says: string,
  use: (peer: harness.Peer, journal: Journal.Journal) => Effect.Effect<unknown, E>,
  options: Options = {}
): void => harness.test(mode, says, harness.run(processFor(options.mode ?? mode, options), use, options))
