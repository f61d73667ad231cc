/** The wait of a command until its servers are connected and listed, and what a person sees of it. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import type * as Screen from "./Screen.ts"

type Installing = Extract<McpEvent.McpEvent, { readonly _tag: "Installing" }>

export interface Watch {
  readonly screen: Screen.Screen["Type"]
  /** Installs under way, by server. */
  readonly installs: ReadonlyMap<string, string>
}

const installing = ({ installs, launcher, server }: Installing): string =>
  UntrustedText.excerpt(`${launcher} is installing ${installs === undefined ? "" : `${installs} for `}${server}`, 256)

/**
 * Hears of installs while a command runs and while its servers end. A note tells of those that delay the end, because the
 * command would be silent for minutes.
 */
export const watched = <A, E, R>(
  events: McpEvent.McpEvents["Type"],
  screen: Screen.Screen["Type"],
  { quiet }: Pick<Command.Shared, "quiet">,
  use: (watch: Watch, onInterrupt: Effect.Effect<void>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const installs = new Map<string, string>()
  let isInterrupted = false
  const hear = (event: McpEvent.McpEvent): void => {
    if (event._tag === "StatusChanged" && event.status._tag !== "Connecting") installs.delete(event.server)
    if (event._tag !== "Installing") return
    const what = installing(event)
    if (event.awaitedBy === "connect") installs.set(event.server, what)
    else if (!quiet) {
      const stop = `Ctrl-C ${isInterrupted ? "again" : "twice"} stops it.`
      screen.log(`${what}: waiting until it is done, because stopping it now can break its cache. ${stop}`)
    }
  }
  const onInterrupt = Effect.sync(() => {
    isInterrupted = true
  })
  return Effect.acquireUseRelease(
    Effect.sync(() => events.onEvent(hear)),
    () => use({ installs, screen }, onInterrupt),
    (stop) => Effect.sync(stop)
  )
}

/** A server that is connected is listed a moment after; one that is not refuses to be, or takes its time. */
const isListed = ({ status }: McpRuntime.ServerInfo): boolean =>
  status._tag !== "Connected" || status.tools !== undefined

/** How long a server may take to be listed before it is asked why it is not. */
const moment = Duration.seconds(1)

/** A server that did not start within the time that it was given has failed a moment after. */
const grace = Duration.millis(200)

/** How often progress is shown. */
const tick = Duration.seconds(1)

/** Shows for how long a wait has lasted, and details of it. */
export const showing =
  (screen: Screen.Screen["Type"], what: () => string, details: Effect.Effect<ReadonlyArray<string>>) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => {
      const tell = Effect.zipWith(details, Clock.currentTimeMillis, (all, now) => {
        const seconds = Math.floor((now - began) / 1_000)
        const time = seconds === 0 ? [] : [`(${Duration.format(Duration.seconds(seconds))})`]
        // the end of a line may not fit
        screen.progress([what(), ...time, all.join(", ")].join(" "))
      })
      return Effect.raceFirst(wait, Effect.forever(Effect.zipRight(tell, Effect.sleep(tick))))
    }).pipe(Effect.ensuring(Effect.sync(() => screen.progress(undefined))))

export const over = (
  runtime: McpRuntime.McpRuntime["Type"],
  timeout: Duration.Duration | undefined,
  { installs, screen }: Watch
): Pick<Application.Application, "settled" | "started"> => {
  const until = (holds: (server: McpRuntime.ServerInfo) => boolean) =>
    Stream.runHead(Stream.filter(runtime.servers.changes, (servers) => servers.every(holds)))

  const listed = Effect.gen(function*() {
    yield* until(({ status }) => status._tag !== "Connecting")
    yield* Effect.timeoutOption(until(isListed), moment)
    const left = (yield* runtime.servers.list).filter((server) => !isListed(server))
    // the command that needs the list tells why it fails
    yield* Effect.forEach(left, ({ name }) => Effect.either(runtime.refreshTools(name)), {
      concurrency: "unbounded",
      discard: true
    })
  })

  const woken = Effect.gen(function*() {
    const asleep = (yield* runtime.servers.list).filter(({ status }) => status._tag === "Idle").map(({ name }) => name)
    // errors are in the status
    yield* Effect.forEach(asleep, (name) => Effect.fork(Effect.ignore(runtime.servers.connect(name))), {
      discard: true
    })
    yield* until(({ name, status }) => status._tag !== "Idle" || !asleep.includes(name))
    yield* listed
  })

  const left = Effect.map(
    runtime.servers.list,
    (servers) => servers.flatMap(({ name, status }) => status._tag === "Connecting" ? [installs.get(name) ?? name] : [])
  )
  const shown = (wait: Effect.Effect<void>) =>
    Effect.zipRight(
      showing(screen, () => "connecting…", left)(
        timeout === undefined ? wait : Effect.timeoutOption(wait, Duration.sum(timeout, grace))
      ),
      runtime.servers.list
    )

  return { settled: shown(listed), started: shown(woken) }
}
