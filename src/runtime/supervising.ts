/**
 * The loop of one server. Everything that callers see changes in single synchronous steps: nobody can pick a connection
 * that is known to have ended.
 *
 * @internal
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import type * as McpClient from "../client/McpClient.ts"
import * as RetryAfter from "../client/retryAfter.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as Signal from "../internal/signal.ts"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import { onExitSync } from "../resilience/onExitSync.ts"
import * as Current from "./current.ts"
import type * as Link from "./Link.ts"
import * as Off from "./off.ts"
import * as Releases from "./releases.ts"
import * as Series from "./series.ts"
import { ServerStatus } from "./ServerStatus.ts"
import * as Verdict from "./verdict.ts"

/** How long somebody who needs a server waits for the next attempt, in milliseconds; longer waits are told of at once. */
const patience = 15_000

const unsentClosed = (server: string) =>
  new McpError.Closed({ server, operation: "using the server", outcome: "not-sent" })

/** How one connection went, from the attempt to its end. */
type Turn =
  | { readonly _tag: "Refused"; readonly error: McpError.ConnectError }
  | { readonly _tag: "Lost"; readonly error: McpError.ConnectError; readonly uptime: number }
  | { readonly _tag: "Idle" }
  /** Somebody wants it otherwise. */
  | { readonly _tag: "Stopped" }

/** @internal */
export const make = (options: Link.Options): Effect.Effect<Link.Link> =>
  Effect.map(Effect.clock, (clock) => {
    const { config, reconnect } = options
    const server = config.name
    const now = () => clock.unsafeCurrentTimeMillis()
    const signal = Signal.make()
    const series = Series.make(reconnect)
    const idleTimeout = config.idleTimeout === undefined ? undefined : Duration.toMillis(config.idleTimeout)

    let down: Link.Down | undefined = options.down ?? (config.enabled === false ? "configuration" : undefined)
    const off = (): Off.Why | undefined => config.blocked ?? down
    /** Another has taken its place, and it only ends what it has begun. */
    let retired = false
    let closed = false
    /** Why it was switched off, until the loop has published that. */
    let unpublished: Off.Why | undefined = undefined
    /** Somebody needs the server, or it is to be there before anybody does. */
    let wanted = off() === undefined && ServerConfig.isEager(config)
    /** The wait for the next attempt is to end now. */
    let hurry = false
    /** What is connected is to be replaced. */
    let restart = false
    let current: Current.Current | undefined = undefined
    let gate: Deferred.Deferred<void, Link.UseError> | undefined = undefined
    let stormed = false
    /** The pause that the server has asked for instead of a connection. */
    let pause: RetryAfter.Pause | undefined = undefined
    /** Callers wait for the attempt that is planned. */
    let patient = true
    let lastError: McpError.ConnectError | undefined = undefined
    let knownTools: number | undefined = undefined
    let reconnects = 0
    /** What it was connected to was given up because nobody needed it, or wanted it. */
    let rested = true
    let health: ReturnType<Link.Link["health"]> = undefined
    const offAtFirst = off()
    let status: ServerStatus = offAtFirst !== undefined
      ? Off.status(offAtFirst)
      : wanted
      ? ServerStatus.Connecting()
      : ServerStatus.Idle({ tools: undefined })

    const become = (next: ServerStatus): void => {
      const previous = status
      status = next
      options.onStatus(next, previous)
      signal.raise()
    }

    /** Lets all who wait look again, or fail. */
    const openGate = (outcome: Exit.Exit<void, Link.UseError>): void => {
      const waited = gate
      gate = undefined
      if (waited !== undefined) Deferred.unsafeDone(waited, outcome)
    }

    const refusal = (): Link.UseError | undefined => {
      if (closed || retired) return unsentClosed(server)
      const why = off()
      if (why !== undefined) return Off.refusal(server, why)
      if (status._tag === "NeedsAuth") return status.error
      const isImpatient = status._tag === "Failed" || (status._tag === "Reconnecting" && !patient)
      if (pause !== undefined && pause.until > now() && isImpatient) return RetryAfter.refusal(pause, now())
      const wait = stormed || series.isSlow() ? series.wait(now()) : 0
      if (wait === 0) return undefined
      // it is tried again by itself, only not for everyone who asks
      if (!stormed && lastError !== undefined) return McpError.notSent(lastError)
      return new McpError.ServerUnavailable({
        server,
        why: "storm",
        detail: `it was tried ${reconnect.storm.reconnects} times within ${
          Duration.format(reconnect.storm.within)
        }, and did not stay`,
        retryAfter: Duration.millis(wait)
      })
    }

    const use: Link.Link["use"] = (f) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const mine = current
          if (mine === undefined) return restore(Effect.zipRight(queue, use(f)))
          mine.begin()
          return onExitSync(restore(Effect.suspend(() => f(mine))), mine.end)
        })
      )

    /** Asks for a connection and waits for the outcome of that. */
    const queue = Effect.suspend((): Effect.Effect<void, Link.UseError> => {
      // it may have come since
      if (current !== undefined) return Effect.void
      const refused = refusal()
      if (refused !== undefined) return Effect.fail(refused)
      gate ??= Deferred.unsafeMake<void, Link.UseError>(FiberId.none)
      const mine = gate
      wanted = true
      signal.raise()
      return Deferred.await(mine)
    })

    const dropping = (mine: Current.Current) => {
      if (current === mine) current = undefined
    }

    const isUnwanted = () => closed || off() !== undefined || restart

    const attempts = Series.attempts(() => retired || isUnwanted())

    /** The end of each change of what is wanted. */
    const changed = (): void => {
      attempts.check()
      signal.raise()
    }

    const releases = Releases.make(options.closeWithin)

    /** Only lost and refused connections are released beside the backoff. */
    const isBeside = (exit: Exit.Exit<Turn>): boolean =>
      Exit.isSuccess(exit) && (exit.value._tag === "Lost" || exit.value._tag === "Refused")

    /** One connection, from the attempt to its end, in a scope of its own. */
    const turn: Effect.Effect<Turn> = Effect.acquireUseRelease(
      Scope.make(),
      (scope) =>
        options.inTurn(Connector.open(config)).pipe(
          Effect.provideService(Connector.Connector, options.connector),
          Scope.extend(scope),
          attempts.run,
          Effect.flatMap((exit) => {
            if (exit === undefined) return Effect.succeed<Turn>({ _tag: "Stopped" })
            if (Exit.isSuccess(exit)) return connected(exit.value, scope)
            return Effect.succeed<Turn>({ _tag: "Refused", error: Verdict.errorOf(server, exit.cause) })
          })
        ),
      // in a fiber of its own, because a finalizer leaves the fiber references of whoever acquired behind in the fiber it
      // runs in: this one would keep something of every connection that it ever had
      (scope, exit) =>
        Effect.flatMap(Effect.fork(Scope.close(scope, exit)), (closing) => {
          releases.add(closing)
          return isBeside(exit) ? Effect.void : releases.downTo(0)
        })
    )

    const connected = (session: McpClient.McpClient, scope: Scope.Scope): Effect.Effect<Turn> =>
      Effect.suspend(() => {
        if (retired || isUnwanted()) return Effect.succeed<Turn>({ _tag: "Stopped" })
        const since = now()
        let lost: McpError.ConnectError | undefined = undefined
        let idle = false
        const lose = (error: McpError.ConnectError): void => {
          lost ??= error
          dropping(mine)
          signal.raise()
        }
        const mine = Current.make({
          server,
          generation: options.nextGeneration(),
          session,
          scope,
          now,
          onQuiet: () => {
            if (retired) signal.raise()
          },
          onMissed: lose
        })
        current = mine
        series.connected()
        if (!rested) reconnects++
        rested = false
        health = undefined
        stormed = false
        hurry = false
        // what the slow lane has found again is kept like what somebody has asked for
        wanted = true
        session.onEnded(lose)
        session.onPaused((until) => paused(mine, until))
        if (lost === undefined) {
          const { era } = session
          become(ServerStatus.Connected({ since, era, tools: knownTools, pausedUntil: undefined }))
          openGate(Exit.void)
        }

        // only those have use for the scope, and to provide it is a third of what a fiber that waits is made of
        const beside: Array<Effect.Effect<void>> = [
          ...Array.from(options.beside(mine), Scope.extend(scope)),
          Effect.map(
            Current.untilSilent(mine, options.health, server, (probe) => {
              health = probe
            }),
            lose
          )
        ]
        if (idleTimeout !== undefined) {
          beside.push(Current.untilIdle(mine, idleTimeout, now, () => {
            // in one step with the decision, so that no call can slip in between
            idle = true
            wanted = false
            dropping(mine)
            signal.raise()
          }))
        }
        return Effect.forEach(beside, (one) => Effect.forkIn(one, scope), { discard: true }).pipe(
          Effect.zipRight(Current.untilOver({
            now,
            signal,
            isOver: () => current !== mine || isUnwanted(),
            pausedUntil: () => status._tag === "Connected" ? status.pausedUntil : undefined,
            onPauseEnd: () => paused(mine, undefined)
          })),
          Effect.map((): Turn => {
            dropping(mine)
            if (lost !== undefined) return { _tag: "Lost", error: lost, uptime: now() - since }
            return idle ? { _tag: "Idle" } : { _tag: "Stopped" }
          }),
          Effect.ensuring(Effect.sync(() => dropping(mine)))
        )
      })

    /** Publishes the end of the pause on this connection; `undefined` when the pause is over. */
    const paused = (mine: Current.Current, until: number | undefined): void => {
      if (current !== mine || status._tag !== "Connected" || (until !== undefined && until <= now())) return
      become(ServerStatus.Connected({ ...status, pausedUntil: until }))
    }

    /** Given up until somebody asks, who begins a new series. */
    const park = (next: ServerStatus, error: Link.UseError): void => {
      series.over()
      wanted = false
      hurry = false
      // refused without another attempt, it is what it was
      if (next._tag !== status._tag) become(next)
      openGate(Exit.fail(error))
    }

    const giveUp = (error: McpError.ConnectError, refused: Link.UseError = McpError.notSent(error)): void =>
      park(
        ServerStatus.Failed({ error, stderrTail: "stderrTail" in error ? error.stderrTail : undefined }),
        refused
      )

    const recover = (error: McpError.ConnectError, next: McpError.Next): Effect.Effect<void> => {
      lastError = error
      const failedAt = now()
      pause = RetryAfter.of(error, failedAt, RetryAfter.longestOfConnects)
      if (next === "login") return Effect.sync(() => park(ServerStatus.NeedsAuth({ error }), McpError.notSent(error)))
      if (next === "final") return Effect.sync(() => giveUp(error))
      return Effect.flatMap(series.next(error), (delay) => {
        if (delay === undefined) return Effect.sync(() => giveUp(error))
        if (isUnwanted()) return Effect.void
        // whoever has asked for an attempt since has had the one that has failed
        hurry = false
        become(ServerStatus.Reconnecting({
          attempt: series.attempt(),
          until: now() + Duration.toMillis(delay),
          error
        }))
        options.onRetry(series.attempt(), delay, error)
        // callers wait for a delay of `Retry-After` longer than for a delay of the schedule
        const isPutOff = pause !== undefined && pause.until - failedAt >= Duration.toMillis(delay)
        patient = !series.isSlow() && Duration.toMillis(delay) <= (isPutOff ? RetryAfter.longestOfCalls : patience)
        if (!patient) {
          openGate(Exit.fail(refusal() ?? McpError.notSent(error)))
          if (series.isSlow()) wanted = false
        }
        return Effect.raceFirst(
          Effect.sleep(delay),
          signal.until(() => isUnwanted() || hurry || (series.isSlow() && wanted && refusal() === undefined))
        )
      })
    }

    const step: Effect.Effect<void> = Effect.suspend(() => {
      // it ends what it has begun, and begins nothing
      if (retired) return signal.until(() => closed)
      // switched off and on again while the connection ended: `Disabled` is published in between
      const why = off() ?? unpublished
      if (why !== undefined) {
        // a server is off once its processes are gone
        if (releases.count() > 0) return releases.downTo(0)
        unpublished = undefined
        series.forget()
        stormed = false
        rested = true
        if (!Equal.equals(status, Off.status(why))) become(Off.status(why))
        return signal.until(() => closed || off() !== why)
      }
      if (restart) {
        restart = false
        stormed = false
        series.forget()
      }
      // in the slow lane it is tried although nobody asks
      if (!wanted && !series.isSlow()) {
        if (status._tag === "Disabled" || status._tag === "Connecting" || status._tag === "Connected") {
          become(ServerStatus.Idle({ tools: knownTools }))
        }
        return signal.until(() => closed || off() !== undefined || wanted)
      }
      // two are outstanding at most
      if (releases.count() > 1) return releases.downTo(1)
      const early = series.admit(now())
      if (early > 0 && series.isSlow()) {
        return Effect.raceFirst(Effect.sleep(Duration.millis(early)), signal.until(isUnwanted))
      }
      if (early > 0) {
        stormed = true
        return Effect.sync(() => giveUp(lastError ?? unsentClosed(server), refusal()))
      }
      hurry = false
      const isRepetition = status._tag === "Reconnecting" && series.attempt() > 0
      if (!isRepetition && status._tag !== "Connecting") become(ServerStatus.Connecting())
      return Effect.flatMap(turn, (ended) => {
        switch (ended._tag) {
          case "Stopped":
            return Effect.void
          case "Idle":
            return Effect.sync(() => {
              series.calm()
              rested = true
              become(ServerStatus.Idle({ tools: knownTools }))
            })
          case "Refused":
            return recover(ended.error, McpError.next(ended.error))
          case "Lost":
            if (ended.uptime >= Duration.toMillis(reconnect.stableAfter)) series.over()
            return recover(ended.error, McpError.nextAfterLoss(ended.error))
        }
      })
    })

    const loop: Effect.Effect<void> = Effect.suspend(() => closed ? Effect.void : Effect.zipRight(step, loop))

    const whenUp = (begin: () => void): Effect.Effect<void, Link.UseError> =>
      Effect.suspend(() => {
        if (down === "disconnected") down = undefined
        if (closed || off() !== undefined) return use(() => Effect.void)
        begin()
        changed()
        return use(() => Effect.void)
      })

    const stop = (why: Link.Down) =>
      Effect.suspend(() => {
        if (closed) return Effect.void
        // what was disabled stays so until it is enabled
        if (down === undefined || why === "disabled") down = why
        unpublished = off()
        wanted = false
        hurry = false
        restart = false
        current = undefined
        openGate(Exit.fail(refusal() ?? unsentClosed(server)))
        changed()
        return signal.until(() => Off.isOff(status) || down === undefined)
      })

    const settled = signal.until(() => status._tag !== "Connecting")

    return {
      config,
      run: Effect.ensuring(
        Effect.zipRight(loop, releases.downTo(0)),
        Effect.sync(() => {
          closed = true
          current = undefined
          become(ServerStatus.Closed())
          openGate(Exit.fail(unsentClosed(server)))
        })
      ),
      status: () => status,
      switchedOff: () => down === "configuration" ? undefined : down,
      connected: () => current,
      health: () => health,
      reconnects: () => reconnects,
      use,
      setTools: (tools) => {
        if (tools === knownTools) return
        knownTools = tools
        if (status._tag === "Connected") become(ServerStatus.Connected({ ...status, tools }))
        else if (status._tag === "Idle") become(ServerStatus.Idle({ tools }))
      },
      first: Effect.flatMap(
        settled,
        () => "error" in status ? Effect.fail(McpError.notSent(status.error)) : Effect.void
      ),
      connect: whenUp(() => {
        if (current !== undefined) return
        series.forget()
        stormed = false
        pause = undefined
        wanted = true
        hurry = true
        if (status._tag === "NeedsAuth") become(ServerStatus.Connecting())
      }),
      reconnect: whenUp(() => {
        current = undefined
        stormed = false
        pause = undefined
        wanted = true
        restart = true
        if (status._tag === "NeedsAuth") become(ServerStatus.Connecting())
      }),
      disconnect: stop("disconnected"),
      disable: stop("disabled"),
      enable: Effect.sync(() => {
        if (down === undefined) return
        down = undefined
        wanted = ServerConfig.isEager(config)
        changed()
      }),
      retire: (drain) => {
        // in one step with what takes its place
        retired = true
        openGate(Exit.fail(unsentClosed(server)))
        changed()
        return Effect.asVoid(
          BoundedWait.within(drain)(signal.until(() => current === undefined || current.inFlight() === 0))
        )
      },
      close: () => {
        closed = true
        current = undefined
        openGate(Exit.fail(unsentClosed(server)))
        changed()
      }
    }
  })
