/** Waits until the servers of a command are connected and listed, and shows the progress. */
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
  /** Running installs, by server. */
  readonly installs: ReadonlyMap<string, string>
}

/** The servers after the wait, and their tools. */
export interface Listed {
  readonly servers: ReadonlyArray<McpRuntime.ServerInfo>
  readonly tools: McpRuntime.Tools
}

const installing = ({ installs, launcher, server }: Installing): string =>
  UntrustedText.excerpt(`${launcher} is installing ${installs === undefined ? "" : `${installs} for `}${server}`, 256)

/**
 * Follows installs while a command runs and while its servers stop. A note names installs that delay the end, because the
 * command would otherwise print nothing for minutes.
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
    if (event.awaitedBy === "connect") {
      installs.set(event.server, what)
      // a terminal shows it as progress
      if (!quiet && !screen.isTerminal) screen.log(`${what}: waiting until it is done`)
    } else if (!quiet) {
      const stop = `Press Ctrl-C ${isInterrupted ? "again" : "twice"} to stop it.`
      screen.log(`${what}: waiting until it is done, because stopping it now can corrupt its cache. ${stop}`)
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

/** A connected server is usually listed within `moment`; after that its list is requested, which can fail. */
const isListed = ({ status }: McpRuntime.ServerInfo): boolean =>
  status._tag !== "Connected" || status.tools !== undefined

const moment = Duration.seconds(1)

/** The time after its limit in which a server reports the timeout. */
const grace = Duration.millis(200)

/** Shows the elapsed time and details every second while an effect runs. */
export const showing =
  (screen: Screen.Screen["Type"], what: () => string, details: Effect.Effect<ReadonlyArray<string>>) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => {
      const tell = Effect.zipWith(details, Clock.currentTimeMillis, (all, now) => {
        const seconds = Math.floor((now - began) / 1_000)
        const time = seconds === 0 ? [] : [`(${Duration.format(Duration.seconds(seconds))})`]
        // the details come last, because the end of the line may be cut
        screen.progress([what(), ...time, all.join(", ")].join(" "))
      })
      return Effect.raceFirst(wait, Effect.forever(Effect.zipRight(tell, Effect.sleep(Duration.seconds(1)))))
    }).pipe(Effect.ensuring(Effect.sync(() => screen.progress(undefined))))

export const over = (
  runtime: McpRuntime.McpRuntime["Type"],
  timeout: Duration.Duration | undefined,
  { installs, screen }: Watch
): Pick<Application.Application, "ask" | "listed" | "starting"> => {
  const { servers } = runtime
  const until = (holds: (server: McpRuntime.ServerInfo) => boolean) =>
    Stream.runHead(Stream.filter(servers.changes, (all) => all.every(holds)))

  const starting = Effect.map(
    servers.list,
    (all) => all.flatMap(({ name, status }) => status._tag === "Connecting" ? [installs.get(name) ?? name] : [])
  )

  const settle = Effect.gen(function*() {
    const idle = (yield* servers.list).filter(({ status }) => status._tag === "Idle").map(({ name }) => name)
    // the status has the errors
    yield* Effect.forEach(idle, (name) => Effect.fork(Effect.ignore(servers.connect(name))), { discard: true })
    yield* until(({ name, status: { _tag } }) => _tag !== "Connecting" && (_tag !== "Idle" || !idle.includes(name)))
    yield* Effect.timeoutOption(until(isListed), moment)
    const left = (yield* servers.list).filter((server) => !isListed(server))
    // the list of tools has the errors in `missing`
    yield* Effect.forEach(left, ({ name }) => Effect.ignore(runtime.refreshTools(name)), {
      concurrency: "unbounded",
      discard: true
    })
  })
  const bounded = timeout === undefined ? settle : Effect.timeoutOption(settle, Duration.sum(timeout, grace))

  const connecting = showing(screen, () => "connecting…", starting)

  return {
    starting,
    ask: (self) => connecting(Effect.zipRight(bounded, self)),
    listed: connecting(Effect.gen(function*() {
      yield* bounded
      const infos = yield* servers.list
      const isSettled = infos.every((info) => info.status._tag !== "Connecting" && isListed(info))
      // `runtime.tools` would wait again for a list that has failed or cannot come yet
      const tools = yield* isSettled ? runtime.tools : runtime.offered(moment).tools
      return { servers: yield* servers.list, tools }
    }))
  }
}
