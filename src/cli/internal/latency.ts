/**
 * How long servers take to answer, as far as it was tried: only those that are connected are asked, and none is connected
 * for it.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as McpRuntime from "../../McpRuntime.ts"

/** @internal */
export interface Latency {
  /** Asks each once, all at the same time. */
  readonly measure: Effect.Effect<void>
  /** Milliseconds, the newest last; nothing for an answer that did not come. */
  readonly of: (server: string) => ReadonlyArray<number | undefined>
}

/** How many are remembered. */
const kept = 8

/** What takes longer counts as no answer. */
const patience = Duration.seconds(5)

const perMilli = 1_000_000

/** @internal */
export const make = (runtime: McpRuntime.McpRuntime["Type"]): Latency => {
  const samples = new Map<string, ReadonlyArray<number | undefined>>()
  const of = (server: string) => samples.get(server) ?? []
  const one = ({ name }: McpRuntime.ServerInfo) =>
    Effect.gen(function*() {
      const began = yield* Clock.currentTimeNanos
      const answered = yield* runtime.withSession(name, ({ health }) => health).pipe(
        Effect.timeoutOption(patience),
        Effect.orElseSucceed(Option.none)
      )
      const took = Number((yield* Clock.currentTimeNanos) - began) / perMilli
      samples.set(name, [...of(name), Option.isSome(answered) ? took : undefined].slice(-kept))
    })
  return {
    of,
    measure: Effect.flatMap(
      runtime.servers,
      (servers) =>
        Effect.forEach(servers.filter(({ status }) => status._tag === "Connected"), one, {
          concurrency: "unbounded",
          discard: true
        })
    )
  }
}

/** @internal */
export const format = (milliseconds: number): string =>
  milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`
