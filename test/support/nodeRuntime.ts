/** A runtime over real processes and sockets, and what its tests look at. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Schedule, type Scope, Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import type * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import type * as Journal from "../faults/journal.ts"
import * as Configs from "./configs.ts"
import { assertNoLeak } from "./leaks.ts"

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/runtime/${name}`, import.meta.url))

const patient = { startupTimeout: "40 seconds", requestTimeout: "40 seconds", discoverPatience: "40 seconds" } as const

/** A server in Node that starts, and does what it is told. */
export const thin = (
  journal: Journal.Journal,
  settings: Readonly<Record<string, string | number>> = {},
  more: Partial<ServerConfig.StdioInput> = {}
) =>
  Configs.stdio({
    name: "thin",
    command: process.execPath,
    args: [fixture("thin.mjs"), journal.file, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
    ...patient,
    ...more
  })

/** A server in a shell, which costs next to nothing. */
export const small = (
  journal: Journal.Journal,
  name: string,
  more: Partial<ServerConfig.StdioInput> & { readonly stubborn?: boolean } = {}
) => {
  const { stubborn, ...config } = more
  return Configs.stdio({
    name,
    command: "sh",
    args: [fixture("crowd.sh"), journal.file, name, ...(stubborn === true ? ["stubborn"] : [])],
    ...patient,
    ...config
  })
}

export interface Remote {
  readonly pid: number
  readonly port: number
  /** As kill -9 does it, and not before it is gone. */
  readonly kill: Effect.Effect<void>
  readonly config: (name: string, more?: Partial<ServerConfig.HttpInput>) => ServerConfig.ServerConfig
}

const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGKILL")
  await gone
}

/** An HTTP server in a process of its own, on a port of its own or this one; `mute`: its paths of this name are silent. */
export const remote = (
  journal: Journal.Journal,
  at = 0,
  mute: ReadonlyArray<"mute"> = []
): Effect.Effect<Remote, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [fixture("remote.mjs"), journal.file, String(at), ...mute], {
          stdio: ["pipe", "ignore", "inherit"]
        })
      ),
      (child) => Effect.promise(() => kill(child))
    )
    const entry = yield* journal.until(({ pid, port }) => pid === child.pid && port !== undefined)
    const port = Number(entry["port"])
    return {
      pid: Number(entry.pid),
      port,
      kill: Effect.promise(() => kill(child)),
      config: (name, more) => Configs.http({ name, url: `http://127.0.0.1:${port}/${name}/mcp`, ...patient, ...more })
    }
  })

/** Attempts in quick succession and never too many of them: what a test waits for is the outcome, not the time. */
export const quick = { schedule: Schedule.spaced("20 millis"), stormReconnects: 10_000 }

export const options = (
  servers: ReadonlyArray<ServerConfig.ServerConfig>,
  more: Partial<NodeMcpRuntime.Options> = {}
): NodeMcpRuntime.Options => ({
  servers,
  reconnect: quick,
  // a busy machine takes long to start many processes
  catalog: { firstListWait: "settled" },
  teardown: { stdinGrace: "2 seconds", termGrace: "2 seconds", farewellTimeout: "500 millis" },
  ...more
})

/** A test with a runtime of these servers; when it has ended, nothing is left behind. */
export const test = <E>(
  name: string,
  body: Effect.Effect<unknown, E, Scope.Scope>
): void => it.live(name, () => assertNoLeak(Effect.scoped(Effect.asVoid(body))), 60_000)

export const using = <A, E>(
  given: NodeMcpRuntime.Options,
  body: (runtime: McpRuntime.McpRuntime["Type"]) => Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E | NodeMcpRuntime.Failure> =>
  Effect.scoped(Effect.flatMap(McpRuntime.McpRuntime, body)).pipe(Effect.provide(NodeMcpRuntime.layerTest(given)))

export const textOf = (result: McpRuntime.CallResult): string =>
  result.content.map((part) => part._tag === "Text" ? part.text : `<${part._tag}>`).join("")

/** Waits until a server has a status that is this. */
export const until = (
  runtime: McpRuntime.McpRuntime["Type"],
  server: string,
  holds: (status: ServerStatus.ServerStatus) => boolean
): Effect.Effect<void> =>
  runtime.servers.changes.pipe(
    Stream.filter((servers) => servers.some(({ name, status }) => name === server && holds(status))),
    Stream.runHead,
    Effect.asVoid
  )

export const is = (tag: ServerStatus.ServerStatus["_tag"]) => (status: ServerStatus.ServerStatus) => status._tag === tag

/** Begins a call that its server never answers, and waits until the server has begun it. */
export const hanging = (runtime: McpRuntime.McpRuntime["Type"], server: string, journal: Journal.Journal) =>
  Effect.gen(function*() {
    const before = journal.executions("hang")
    const call = yield* Effect.fork(Effect.flip(runtime.callTool({ server, tool: "hang" })))
    yield* journal.until(() => journal.executions("hang") > before)
    return call
  })

/** The effect ends in far less than whatever it would otherwise wait for. */
export const within = <A, E, R>(limit: Duration.DurationInput, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.map(Effect.timed(self), ([took, value]) => {
    assert.isBelow(Duration.toMillis(took), Duration.toMillis(limit))
    return value
  })
