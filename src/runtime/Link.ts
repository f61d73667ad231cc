/**
 * One connection of a server, kept as the machine of `lifecycle.ts` says: an event changes the state in the step in which
 * it happens, and one fiber starts the commands that follow from it, in order.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import * as RetryAfter from "../client/retryAfter.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as ErrorRow from "../errorRow.ts"
import * as McpError from "../McpError.ts"
import * as Backoff from "../resilience/Backoff.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Connection from "./connection.ts"
import * as Lifecycle from "./lifecycle.ts"
import { ServerStatus } from "./ServerStatus.ts"

export type { Down, UseError } from "./lifecycle.ts"

export interface Options {
  /** Why the server is switched off from the beginning. */
  readonly down?: Lifecycle.Down | undefined
  /** The user that it connects for; `undefined` for the application. */
  readonly identity?: string | undefined
  /** Called synchronously with each new status. */
  readonly onStatus: (status: ServerStatus, previous: ServerStatus) => void
  /** What runs beside each connection, in its scope. */
  readonly beside: () => Iterable<Effect.Effect<void, never, Scope.Scope>>
}

/** The wait for a connection ends with the first attempt that fails, or with the last one of the series. */
export type Until = "first-attempt" | "settled"

export interface Link {
  readonly config: ServerConfig.ServerConfig
  /** Runs the commands until the link is closed. Its interruption ends the connection first. */
  readonly run: Effect.Effect<void>
  readonly status: () => ServerStatus
  /** Why the server was switched off at run time, for a link that takes the place of this one. */
  readonly switchedOff: () => Exclude<Lifecycle.Down, "configuration"> | undefined
  readonly connected: () => Connection.Connection | undefined
  readonly health: () => { readonly at: number; readonly ok: boolean } | undefined
  /** The connections that followed a loss or `reconnect`. */
  readonly reconnects: () => number
  readonly setTools: (tools: number) => void
  /** Waits for the first attempt, and fails if it failed and the link is not closed. */
  readonly first: Effect.Effect<void, Lifecycle.UseError>
  /** Waits for a connection: of the attempt under way, or of one that this begins if the state allows one. */
  readonly wanted: (until?: Until) => Effect.Effect<void, Lifecycle.UseError>
  readonly connect: (until?: Until) => Effect.Effect<void, Lifecycle.UseError>
  readonly reconnect: (until?: Until) => Effect.Effect<void, Lifecycle.UseError>
  readonly disconnect: Effect.Effect<void>
  readonly enable: Effect.Effect<void>
  readonly disable: Effect.Effect<void>
  /** Ends the calls in flight within `drain`, and takes no calls that would have to wait. */
  readonly retire: (drain: Duration.Duration) => Effect.Effect<void>
  /** Refuses callers at once. The connection ends with `run`. */
  readonly close: () => void
}

/** A defect of a connector makes its server unusable, and does not end the link. */
const connectError = (server: string, cause: Cause.Cause<McpError.ConnectError>): McpError.ConnectError =>
  Option.getOrElse(Cause.failureOption(cause), () =>
    new McpError.ConnectionLost({
      server,
      reason: "reset",
      detail: UntrustedText.excerpt(`the connector failed unexpectedly: ${Cause.pretty(cause)}`, 512),
      outcome: "not-sent"
    }))

interface Attempted {
  readonly error: McpError.ConnectError
  readonly wasConnected: boolean
}

/** The schedule, then the slow lane for a server that was once connected. Its output says which of them it is. */
const lanes = ({ schedule, slowLane }: ReconnectPolicy.Reconnect) =>
  Schedule.andThenEither(
    Schedule.mapInput(schedule, ({ error }: Attempted) => error),
    (slowLane ?? Schedule.stop).pipe(
      Schedule.mapInput(({ error }: Attempted) => error),
      Schedule.whileInput(({ wasConnected }) => wasConnected)
    )
  )

/** The time until a connect gives its slot to the next: a process has started by then, and the rest is waiting. */
const slotTime = Duration.millis(500)

/** Limits how many connects start at once. */
const connectSlots = (size: number) => {
  const slots = Effect.unsafeMakeSemaphore(Math.max(1, size))
  return <A, E, R>(connect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const held = Deferred.unsafeMake<void>(FiberId.none)
      const slot = slots.withPermits(1)(Effect.zipRight(Deferred.succeed(held, undefined), Effect.sleep(slotTime)))
      return Effect.acquireUseRelease(
        Effect.fork(Effect.interruptible(slot)),
        () => Effect.zipRight(Deferred.await(held), connect),
        Fiber.interrupt
      )
    })
}

/** Makes links, whose services are those of the application, because a link outlives its callers. */
export const making = (batchSize: number) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const connector = yield* Connector.Connector
    const health = yield* HealthCheck.HealthCheck
    const policy = yield* ReconnectPolicy.ReconnectPolicy
    // how long an established connection may take to close before the next attempt
    const closeWithin = (yield* Teardown.Teardown).options.deadline
    const inTurn = connectSlots(batchSize)
    const now = () => clock.unsafeCurrentTimeMillis()
    let generation = 0

    return (config: ServerConfig.ServerConfig, options: Options): Link => {
      const reconnect = policy.for(config)
      const server = config.name
      const backoffs = Backoff.make(lanes(reconnect))

      const [initial, begun] = Lifecycle.start({
        server,
        blocked: config.blocked,
        down: options.down ?? (config.enabled === false ? "configuration" : undefined),
        eager: ServerConfig.isEager(config)
      })
      let machine = initial
      const commands = [...begun]
      /** Open while there are commands to start. */
      const toStart = Effect.unsafeMakeLatch(true)
      let status = Lifecycle.statusOf(machine, ServerStatus.Closed())
      /** The last connection, lost or not, because the probes that it failed stay visible. */
      let current: Connection.Connection | undefined = undefined
      let reconnects = 0
      /** The last connection was ended because it was idle or switched off, so the next one is no reconnect. */
      let rested = true
      let backoff: Effect.Effect.Success<typeof backoffs> | undefined = undefined
      let timer: Fiber.RuntimeFiber<void> | undefined = undefined
      /** The attempts and connections by their numbers; an attempt has a fiber until it ends. */
      const attempts = new Map<number, { readonly scope: Scope.CloseableScope; fiber?: Fiber.RuntimeFiber<void> }>()
      /** One permit for each release under way. An attempt needs one too, because two releases are outstanding at most. */
      const releases = Effect.unsafeMakeSemaphore(2)
      /** The answers that callers wait for. */
      const gates = new Map<Until, Deferred.Deferred<void, Lifecycle.UseError>>()
      /** Closed while a connection is being drained or released. */
      const atRest = Effect.unsafeMakeLatch(true)

      const connected = (): Connection.Connection | undefined =>
        machine.state._tag === "Ready" || machine.state._tag === "Retired" ? current : undefined

      const answer = (exit: Exit.Exit<void, Lifecycle.UseError>, ...waiting: ReadonlyArray<Until>): void => {
        for (const until of waiting) {
          const gate = gates.get(until)
          gates.delete(until)
          if (gate !== undefined) Deferred.unsafeDone(gate, exit)
        }
      }

      const become = (next: ServerStatus): void => {
        if (Equal.equals(next, status)) return
        const previous = status
        status = next
        options.onStatus(next, previous)
      }

      /** Runs synchronously what callers see of a command, and leaves the rest to the fiber. */
      const issue = (command: Lifecycle.Command): void => {
        switch (command._tag) {
          case "Admit":
            return answer(Exit.void, "first-attempt", "settled")
          case "Reject":
            return answer(Exit.fail(command.error), "first-attempt", "settled")
          case "RejectFirst":
            return answer(Exit.fail(command.error), "first-attempt")
          case "Release":
            // in the step that makes the attempt unwanted, so that it goes no further
            attempts.get(command.gen)?.fiber?.unsafeInterruptAsFork(FiberId.none)
        }
        commands.push(command)
      }

      const apply = (event: Lifecycle.Event, at: number): void => {
        const before = machine
        const [after, issued] = Lifecycle.transition(before, event, reconnect, at)
        machine = after
        const { state } = after
        if (state._tag === "Ready" && before.state._tag === "Opening") {
          if (!rested) reconnects++
          rested = false
        }
        if (event._tag === "Quiet" || event._tag === "Disable") rested = true
        for (const next of Lifecycle.statusesOf(before, after, status)) become(next)
        issued.forEach(issue)
        if (state._tag === "Retired" || state._tag === "Releasing") atRest.unsafeClose()
        else atRest.unsafeOpen()
        if (commands.length > 0 || state._tag === "Closed") toStart.unsafeOpen()
      }

      const events: Array<readonly [event: Lifecycle.Event, at: number]> = []
      let isApplying = false
      /** An event that a listener causes is applied after the one that it hears of, in the same step. */
      const dispatch = (event: Lifecycle.Event, at = now()): void => {
        events.push([event, at])
        if (isApplying) return
        isApplying = true
        try {
          for (let next = events.shift(); next !== undefined; next = events.shift()) apply(...next)
        } finally {
          isApplying = false
        }
      }

      /** Asks for a connection, and waits for the answer. */
      const ask = (
        _tag: "Wanted" | "Connect" | "Reconnect",
        until: Until = "first-attempt"
      ): Effect.Effect<void, Lifecycle.UseError> =>
        Effect.suspend(() => {
          const gate = gates.get(until) ?? Deferred.unsafeMake<void, Lifecycle.UseError>(FiberId.none)
          gates.set(until, gate)
          dispatch({ _tag })
          return Deferred.await(gate)
        })

      const lost = (gen: number) => (error: McpError.ConnectError): void =>
        dispatch({ _tag: "Lost", gen, error, next: ErrorRow.nextAfterLoss(error) })

      const opened = (gen: number, scope: Scope.CloseableScope, session: McpClient.McpClient): Effect.Effect<void> =>
        Effect.suspend(() => {
          const connection = Connection.make({
            server,
            generation: ++generation,
            session,
            scope,
            now,
            onLost: lost(gen),
            onIdle: () => dispatch({ _tag: "Quiet", gen })
          })
          current = connection
          attempts.set(gen, { scope })
          dispatch({ _tag: "Opened", gen, era: session.era })
          session.onEnded(lost(gen))
          session.onPaused((until) => dispatch({ _tag: "Paused", gen, until }))
          if (connected() !== connection) return Effect.void
          const beside = Array.from(options.beside(), Scope.extend(scope))
          beside.push(connection.untilSilent(health))
          if (config.idleTimeout !== undefined) beside.push(connection.untilIdle(Duration.toMillis(config.idleTimeout)))
          return Effect.forEach(beside, (effect) => Effect.forkIn(effect, scope), { discard: true })
        })

      const open = (gen: number): Effect.Effect<void> =>
        Effect.zipRight(
          releases.withPermits(1)(Effect.void),
          Effect.flatMap(Scope.make(), (scope) =>
            Effect.withFiberRuntime<void>((fiber) => {
              // released before it began
              if (machine.gen !== gen || machine.state._tag !== "Opening") return Effect.void
              attempts.set(gen, { scope, fiber })
              return inTurn(Connector.open(config)).pipe(
                Effect.provideService(Connector.Identity, options.identity),
                Effect.provideService(Connector.Connector, connector),
                Scope.extend(scope),
                Effect.exit,
                Effect.flatMap((exit) => {
                  if (Exit.isSuccess(exit)) return opened(gen, scope, exit.value)
                  const error = connectError(server, exit.cause)
                  return Effect.sync(() => dispatch({ _tag: "OpenFailed", gen, error, next: ErrorRow.next(error) }))
                })
              )
            }))
        )

      const allReleased = releases.withPermits(2)(Effect.void)

      /** Begins to release an attempt, which ends first, or a connection. The wait for a connection is bounded. */
      const release = (gen: number): Effect.Effect<unknown> =>
        Effect.suspend(() => {
          const attempt = attempts.get(gen)
          if (attempt === undefined) return Effect.void
          attempts.delete(gen)
          const { fiber, scope } = attempt
          const ended = fiber === undefined ? Effect.void : Fiber.await(fiber)
          return Effect.flatMap(
            // in a fiber of its own, because a finalizer leaves fiber references of its acquisition in the fiber it runs in
            Effect.fork(Effect.uninterruptible(Effect.zipRight(ended, Scope.close(scope, Exit.void)))),
            (closing) =>
              Effect.fork(
                releases.withPermits(1)(
                  Effect.zipRight(ended, BoundedWait.within(closeWithin)(Fiber.await(closing)))
                )
              )
          )
        })

      /** Asks the schedule for the next attempt. */
      const plan = ({ attempt, error, gen, wasConnected }: Lifecycle.Command & { _tag: "Plan" }): Effect.Effect<void> =>
        Effect.gen(function*() {
          const notBefore = RetryAfter.of(error, now(), RetryAfter.longestOfConnects)?.until ?? 0
          // a new run, because a step that is under way would overwrite the state of one that was reset
          if (attempt === 1 || backoff === undefined) backoff = yield* backoffs
          // the first attempt after a move needs no delay; further ones follow the schedule, so that moves cannot spin
          const isMoved = attempt === 1 && error._tag === "ConnectionLost" && error.reason === "moved"
          // a defect of a schedule ends the series
          const next = isMoved ? undefined : Option.getOrUndefined(
            yield* Effect.catchAllDefect(backoff.next({ error, wasConnected }), () => Effect.succeedNone)
          )
          const planned = now()
          const at = next === undefined ? undefined : Math.max(planned + Duration.toMillis(next[0]), notBefore)
          const lane = next !== undefined && Either.isRight(next[1]) ? "slow" : "fast"
          dispatch({ _tag: "Planned", gen, at: isMoved ? planned : at, lane, notBefore }, planned)
        })

      /** Replaces the timer by the timer that this effect waits for. */
      const setTimer = (ring: Effect.Effect<void>): Effect.Effect<void> =>
        Effect.suspend(() => {
          timer?.unsafeInterruptAsFork(FiberId.none)
          return Effect.map(Effect.fork(ring), (fiber) => {
            timer = fiber
          })
        })

      /** Starts one command. What takes time runs in a child fiber. */
      const begin = (command: Lifecycle.Command): Effect.Effect<unknown> => {
        switch (command._tag) {
          case "Open":
            return Effect.fork(open(command.gen))
          case "Release": {
            const { beside, gen } = command
            if (beside) return release(gen)
            const released = Effect.sync(() => dispatch({ _tag: "Released", gen }))
            return Effect.zipRight(release(gen), Effect.fork(Effect.zipRight(allReleased, released)))
          }
          case "Drain":
            return Effect.sync(() => current?.drain())
          case "Plan":
            return Effect.fork(plan(command))
          case "SetTimer": {
            const { at, gen } = command
            // the state may have set another time that is still to be started
            const ring = Effect.sync(() => Lifecycle.timerOf(machine.state) === at && dispatch({ _tag: "Timer", gen }))
            return setTimer(Effect.suspend(() => Effect.delay(ring, Math.max(0, at - now()))))
          }
          case "ClearTimer":
            return setTimer(Effect.void)
          default:
            return Effect.void
        }
      }

      const loop: Effect.Effect<void> = Effect.flatMap(toStart.await, () => {
        const command = commands.shift()
        if (command !== undefined) return Effect.zipRight(begin(command), loop)
        if (machine.state._tag === "Closed") return Effect.void
        toStart.unsafeClose()
        return loop
      })

      const stop = (why: "disabled" | "disconnected"): Effect.Effect<void> =>
        Effect.suspend(() => {
          dispatch({ _tag: "Disable", why })
          return atRest.await
        })

      return {
        config,
        run: loop.pipe(
          Effect.ensuring(Effect.suspend(() => {
            dispatch({ _tag: "Close" })
            return Effect.zipRight(
              Effect.forEach([...attempts.keys()], release, { discard: true }),
              allReleased
            )
          })),
          Effect.ensuring(Effect.sync(() => dispatch({ _tag: "Released", gen: machine.gen })))
        ),
        status: () => status,
        switchedOff: () => machine.down === "configuration" ? undefined : machine.down,
        connected,
        health: () => current?.health(),
        reconnects: () => reconnects,
        setTools: (tools) => {
          machine = { ...machine, tools }
          become(Lifecycle.statusOf(machine, status))
        },
        first: Effect.catchIf(ask("Wanted"), () => Lifecycle.isEnding(machine.state), () => Effect.void),
        wanted: (until) => ask("Wanted", until),
        connect: (until) => ask("Connect", until),
        reconnect: (until) => ask("Reconnect", until),
        disconnect: stop("disconnected"),
        disable: stop("disabled"),
        enable: Effect.sync(() => dispatch({ _tag: "Enable" })),
        retire: (drain) =>
          Effect.suspend(() => {
            dispatch({ _tag: "Retire" })
            return Effect.asVoid(BoundedWait.within(drain)(atRest.await))
          }),
        close: () => dispatch({ _tag: "Close" })
      }
    }
  })
