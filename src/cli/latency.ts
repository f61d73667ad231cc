/** Latencies of calls and pings. A ping does not connect a server. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"

export interface Latency {
  /** Pings all connected servers concurrently. */
  readonly measure: Effect.Effect<void>
  /** Pings connected servers without a sample. */
  readonly pingNew: Effect.Effect<void>
  /** Milliseconds, the newest last; null for a missing answer. */
  readonly of: (server: string) => ReadonlyArray<number | null>
  /** The number of completed calls since `listen` was started. */
  readonly called: (server: string) => number
  /** Records the latencies of calls. Never ends. */
  readonly listen: Effect.Effect<void>
}

/** The number of samples that are remembered. */
const kept = 8

/** The timeout of a ping. */
const patience = Duration.seconds(5)

export const make = (runtime: McpRuntime.McpRuntime["Type"], timeout = patience): Latency => {
  const samples = new Map<string, ReadonlyArray<number | null>>()
  const calls = new Map<string, number>()
  const of = (server: string) => samples.get(server) ?? []
  const called = (server: string) => calls.get(server) ?? 0
  const take = (server: string, took: number | null) => {
    samples.set(server, [...of(server), took].slice(-kept))
  }
  const hear = (event: McpEvent.McpEvent): void => {
    if (event._tag !== "CallEnded") return
    const { outcome, server, took } = event
    calls.set(server, called(server) + 1)
    if (outcome === "Success" || outcome === "ToolError" || outcome === "RemoteError") {
      take(server, Duration.toMillis(took))
    } else if (outcome === "ConnectionLost" || outcome === "RequestTimeout") take(server, null)
  }
  const ping = ({ name }: McpRuntime.ServerInfo) =>
    Effect.map(
      runtime.withClient(name, ({ health }) => health).pipe(
        Effect.timeout(Duration.min(timeout, patience)),
        Effect.option,
        Effect.timed
      ),
      ([took, answer]) => take(name, Option.isSome(answer) ? Duration.toMillis(took) : null)
    )
  const asked = (isMeant: (server: string) => boolean) =>
    Effect.flatMap(runtime.servers.list, (servers) =>
      Effect.forEach(
        servers.filter(({ name, status }) => status._tag === "Connected" && isMeant(name)),
        ping,
        { concurrency: "unbounded", discard: true }
      ))
  return {
    of,
    called,
    listen: Stream.runForEach(runtime.events, (event) => Effect.sync(() => hear(event))),
    measure: asked(() => true),
    pingNew: asked((server) => of(server).length === 0)
  }
}

export const format = (milliseconds: number): string =>
  milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** A bar per sample, scaled to the highest; a cross for a missing answer. */
export const sparkline = (samples: ReadonlyArray<number | null>): string => {
  const highest = Math.max(0, ...samples.map((sample) => sample ?? 0))
  return samples.map((sample) => {
    if (sample === null) return "×"
    const share = highest === 0 ? 0 : Math.max(0, sample) / highest
    return bars[Math.round(share * (bars.length - 1))]
  }).join("")
}
