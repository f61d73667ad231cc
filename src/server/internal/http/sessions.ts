/**
 * The sessions of an endpoint: made by a handshake, found by a name that nobody can guess, ended by their caller, by
 * silence, or with everything.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Nonce from "../../../safety/Nonce.ts"
import * as Scoped from "../../../scoped.ts"
import type * as HttpEndpoint from "../../HttpEndpoint.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Session from "./session.ts"

interface Entry {
  readonly id: string
  readonly session: Session.Session
  readonly scope: Scope.CloseableScope
  readonly principal: string | undefined
  usedAt: number
}

/** @internal */
export interface Sessions {
  /** A session that nobody finds before it is kept; nothing, where there are too many. */
  readonly open: (principal: string | undefined) => Effect.Effect<Opened | undefined>
  readonly find: (id: string, principal: string | undefined) => Session.Session | undefined
  /** Whether there was such a session. What it holds is released beside. */
  readonly end: (id: string, principal: string | undefined) => boolean
  readonly size: () => number
  /** All streams end; what is under way goes on until the scope closes. */
  readonly close: () => void
}

/** @internal */
export interface Opened {
  readonly id: string
  readonly session: Session.Session
  readonly keep: () => void
  readonly discard: () => void
}

/** @internal */
export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<Sessions, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const nonce = yield* Nonce.Nonce
    const all = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const run = yield* FiberSet.makeRuntime<never, void>()
    const entries = new Map<string, Entry>()
    const timeout = Duration.toMillis(options.sessionTimeout)
    let opening = 0
    const now = () => clock.unsafeCurrentTimeMillis()

    const release = ({ scope, session }: Pick<Entry, "session" | "scope">): void => {
      session.close()
      run(Scope.close(scope, Exit.void))
    }

    const remove = (entry: Entry): void => {
      entries.delete(entry.id)
      release(entry)
    }

    const find = (id: string, principal: string | undefined): Entry | undefined => {
      const entry = entries.get(id)
      return entry?.principal === principal ? entry : undefined
    }

    /** Room for one more: the one that was silent for longest gives way, if it is not at work. */
    const hasRoom = (): boolean => {
      if (entries.size + opening < options.maxSessions) return true
      const idle = Array.from(entries.values()).filter(({ session }) => !session.isBusy())
        .toSorted((one, other) => one.usedAt - other.usedAt)[0]
      if (idle === undefined) return false
      remove(idle)
      return true
    }

    const expire = Effect.map(Clock.currentTimeMillis, (time) => {
      for (const entry of Array.from(entries.values())) {
        if (entry.session.isBusy()) entry.usedAt = time
        else if (time - entry.usedAt >= timeout) remove(entry)
      }
    })
    yield* Effect.forkScoped(
      Effect.repeat(expire, Schedule.spaced(Duration.millis(Math.max(50, Math.min(timeout / 4, 30_000)))))
    )
    const close = (): void => {
      for (const { session } of entries.values()) session.close()
      entries.clear()
    }
    yield* Scoped.onClose(close)

    return {
      open: (principal) =>
        Effect.gen(function*() {
          if (!hasRoom()) return undefined
          const id = yield* nonce
          const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
          // what is begun for it later is as interruptible as its making was
          const session = yield* Effect.onError(
            Effect.interruptible(Scope.extend(Session.make(offer, options, principal), scope)),
            (cause) => Scope.close(scope, Exit.failCause(cause))
          )
          // one that is being opened takes up room too
          opening++
          return {
            id,
            session,
            keep: () => {
              opening--
              entries.set(id, { id, session, scope, principal, usedAt: now() })
            },
            discard: () => {
              opening--
              release({ session, scope })
            }
          }
        }).pipe(Effect.uninterruptible),
      find: (id, principal) => {
        const entry = find(id, principal)
        if (entry !== undefined) entry.usedAt = now()
        return entry?.session
      },
      end: (id, principal) => {
        const entry = find(id, principal)
        if (entry === undefined) return false
        remove(entry)
        return true
      },
      size: () => entries.size,
      close
    }
  })
