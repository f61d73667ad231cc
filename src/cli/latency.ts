/** How long servers take to answer calls and pings. A ping connects no server. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"

export interface Latency {
  /** Pings each connected server, all at the same time. */
  readonly measure: Effect.Effect<void>
  /** Pings those without a sample. */
  readonly greet: Effect.Effect<void>
  /** Milliseconds, the newest last; nothing for an answer that did not come. */
  readonly of: (server: string) => ReadonlyArray<number | undefined>
  /** How many calls have ended since it listens. */
  readonly called: (server: string) => number
  /** Listens to the calls that are made. Never ends. */
  readonly listen: Effect.Effect<void>
}

/** How many are remembered. */
const kept = 8

/** What takes longer counts as no answer. */
export const patience = Duration.seconds(5)

const perMilli = 1_000_000

/** The outcomes of calls without an answer. */
const unanswered: ReadonlySet<Extract<McpEvent.McpEvent, { readonly _tag: "CallEnded" }>["outcome"]> = new Set([
  "ConnectionLost",
  "RequestTimeout"
])

export const make = (runtime: McpRuntime.McpRuntime["Type"], limit = patience): Latency => {
  const samples = new Map<string, ReadonlyArray<number | undefined>>()
  const calls = new Map<string, number>()
  const of = (server: string) => samples.get(server) ?? []
  const called = (server: string) => calls.get(server) ?? 0
  const take = (server: string, took: number | undefined) => {
    samples.set(server, [...of(server), took].slice(-kept))
  }
  const hear = (event: McpEvent.McpEvent): void => {
    if (event._tag !== "CallEnded") return
    const { outcome, server, took } = event
    calls.set(server, called(server) + 1)
    if (outcome === "Success" || outcome === "ToolError" || outcome === "RemoteError") {
      take(server, Duration.toMillis(took))
    } else if (unanswered.has(outcome)) take(server, undefined)
  }
  const one = ({ name }: McpRuntime.ServerInfo) =>
    Effect.gen(function*() {
      const began = yield* Clock.currentTimeNanos
      const answered = yield* runtime.withClient(name, ({ health }) => health).pipe(
        Effect.timeoutOption(limit),
        Effect.orElseSucceed(Option.none)
      )
      const took = Number((yield* Clock.currentTimeNanos) - began) / perMilli
      take(name, Option.isSome(answered) ? took : undefined)
    })
  const asked = (isMeant: (server: string) => boolean) =>
    Effect.flatMap(runtime.servers.list, (servers) =>
      Effect.forEach(
        servers.filter(({ name, status }) => status._tag === "Connected" && isMeant(name)),
        one,
        { concurrency: "unbounded", discard: true }
      ))
  return {
    of,
    called,
    listen: Stream.runForEach(runtime.events, (event) => Effect.sync(() => hear(event))),
    measure: asked(() => true),
    greet: asked((server) => of(server).length === 0)
  }
}

/** What was heard since the connections were opened, within an application that is open already. */
export class Heard extends Context.Reference<Heard>()("effect-mcp-runtime/cli/latency/Heard", {
  defaultValue: (): { readonly latency: Latency | undefined } => ({ latency: undefined })
}) {}

export const format = (milliseconds: number): string =>
  milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** Numbers as bars beside each other, scaled to the highest; null, an answer that did not come, is a cross. */
export const sparkline = (samples: ReadonlyArray<number | null>): string => {
  const highest = Math.max(0, ...samples.map((sample) => sample ?? 0))
  return samples.map((sample) => {
    if (sample === null) return "×"
    const share = highest === 0 ? 0 : Math.max(0, sample) / highest
    return bars[Math.round(share * (bars.length - 1))]
  }).join("")
}
