/**
 * Conversations with an agent: so many at once, each with one turn at a time, forgotten when nobody has gone on with it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Nonce from "../../safety/Nonce.ts"
import * as Agent from "../Agent.ts"
import type * as AgentServer from "../AgentServer.ts"

interface Session {
  readonly id: string
  readonly principal: string | undefined
  readonly scope: Scope.CloseableScope
  readonly turns: Effect.Semaphore
  waiting: number
  usedAt: number
}

type Turn<R = never> = Effect.Effect<string, Agent.AgentFailed, R>

/** @internal */
export interface AgentSessions {
  readonly begin: (
    principal: string | undefined,
    first: (id: string) => Turn<Scope.Scope>
  ) => Effect.Effect<{ readonly id: string; readonly response: string }, Agent.AgentFailed>
  readonly continued: (id: string, principal: string | undefined, turn: Turn) => Turn
  readonly size: () => number
}

const failed = (reason: string): Effect.Effect<never, Agent.AgentFailed> =>
  Effect.fail(new Agent.AgentFailed({ reason }))

/** @internal */
export const make = (
  { maxSessions, maxWaiting, sessionTimeout }: AgentServer.Options
): Effect.Effect<AgentSessions, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const nonce = yield* Nonce.Nonce
    const all = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const run = yield* FiberSet.makeRuntime<never, void>()
    const sessions = new Map<string, Session>()
    const timeout = Duration.toMillis(sessionTimeout)
    let beginning = 0
    const now = () => clock.unsafeCurrentTimeMillis()

    const forget = (session: Session): void => {
      sessions.delete(session.id)
      run(Scope.close(session.scope, Exit.void))
    }

    const expire = Effect.map(Clock.currentTimeMillis, (time) => {
      for (const session of Array.from(sessions.values())) {
        if (session.waiting === 0 && time - session.usedAt >= timeout) forget(session)
      }
    })
    yield* Effect.forkScoped(
      Effect.repeat(expire, Schedule.spaced(Duration.millis(Math.max(50, Math.min(timeout / 4, 30_000)))))
    )

    return {
      begin: (principal, first) =>
        Effect.suspend(() => {
          if (sessions.size + beginning >= maxSessions) {
            return failed("Too many conversations are going on. Go on with one of them, or try again later.")
          }
          beginning++
          // a conversation that has begun is kept, whatever happens at that moment: nobody else would end it
          return Effect.uninterruptibleMask((restore) =>
            Effect.gen(function*() {
              const id = yield* nonce
              const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
              const response = yield* Effect.onExit(
                restore(Scope.extend(first(id), scope)),
                (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)
              )
              sessions.set(id, {
                id,
                principal,
                scope,
                turns: Effect.unsafeMakeSemaphore(1),
                waiting: 0,
                usedAt: now()
              })
              return { id, response }
            })
          ).pipe(Effect.ensuring(Effect.sync(() => beginning--)))
        }),
      continued: (id, principal, turn) =>
        Effect.suspend(() => {
          const session = sessions.get(id)
          // whose it is is nobody else's business
          if (session === undefined || session.principal !== principal) {
            return failed("There is no such conversation, or it was forgotten. Begin a new one.")
          }
          if (session.waiting > maxWaiting) {
            return failed("Too much was said to this conversation at once. Wait for it.")
          }
          session.waiting++
          return Effect.ensuring(
            session.turns.withPermits(1)(turn),
            Effect.sync(() => {
              session.waiting--
              session.usedAt = now()
            })
          )
        }),
      size: () => sessions.size
    }
  })
