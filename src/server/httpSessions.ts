/**
 * The sessions of an HTTP endpoint, each a conversation whose answers leave on many streams. A session begins with a
 * handshake, has an id that cannot be guessed, and is ended by its caller, by silence, or with the endpoint.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Nonce from "../safety/Nonce.ts"
import * as Scoped from "../scoped.ts"
import * as Conversation from "./conversation.ts"
import * as EventStream from "./eventStream.ts"
import * as Exchange from "./exchange.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import type * as McpServer from "./McpServer.ts"
import type * as Messages from "./messages.ts"

export interface Session {
  readonly id: string
  readonly principal: string | undefined
  readonly conversation: Conversation.Conversation
  /** Acts on the messages of one POST. The stream of their answers is there once it has an event, or at the limit. */
  readonly post: (
    messages: ReadonlyArray<Messages.Received>,
    header: McpServer.Exchange["header"],
    limit: Duration.DurationInput
  ) => Effect.Effect<EventStream.EventStream>
  /** The stream for messages that belong to no request, or the rest of a stream that broke. */
  readonly get: (lastEventId: string | undefined) => Stream.Stream<Uint8Array>
  /** Whether a request is in flight or a stream is read. */
  readonly isBusy: () => boolean
  /** Ends its streams. */
  readonly close: () => void
}

/** The first version whose callers know an event without data. */
const firstPriming = "2025-11-25"

/** How many streams that have ended can still be read again. */
const maxEnded = 16

const makeSession = (
  id: string,
  principal: string | undefined,
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function*() {
    const fork = yield* FiberSet.makeRuntime<never, void>()
    const standalone = new EventStream.EventStream({ ...options, name: "0" })
    const streams = new Map([["0", standalone]])
    let posts = 0
    const conversation = yield* Conversation.make({
      offer,
      limits: options,
      link: "http",
      principal,
      output: standalone
    })

    const keep = (name: string, stream: EventStream.EventStream): void => {
      streams.set(name, stream)
      const ended = Array.from(streams.keys()).filter((name) => {
        const { isAttached, isEnded } = streams.get(name)!
        return isEnded && !isAttached
      })
      for (const name of ended.slice(0, -maxEnded)) streams.delete(name)
    }

    return {
      id,
      principal,
      conversation,
      post: (messages, header, limit) =>
        Effect.gen(function*() {
          const name = `${++posts}`
          /** A broken connection cancels nothing until the caller has had time to come back. */
          const cancel = (isAbandoned: () => boolean) =>
            Effect.sync(() => {
              if (!isAbandoned()) return
              for (const message of messages) if (message._tag === "Request") conversation.cancel(message.id)
            })
          const stream = new EventStream.EventStream({
            ...options,
            name,
            primes: (conversation.protocolVersion() ?? "") >= firstPriming,
            left: (isAbandoned) => Effect.sync(() => fork(Effect.delay(cancel(isAbandoned), options.resumeTimeout)))
          })
          let waiting = messages.length
          const done = (): void => {
            if (--waiting === 0) stream.end()
          }
          const arrival: Exchange.Arrival = { output: stream, principal, header, done }
          yield* Effect.forEach(messages, (message) => conversation.receive(message, arrival), { discard: true })
          yield* stream.ready(limit)
          if (!stream.isShort) keep(name, stream)
          return stream
        }),
      get: (lastEventId) => {
        const last = lastEventId === undefined ? undefined : EventStream.parseId(lastEventId)
        const stream = last && streams.get(last.name)
        // events of a stream that is no longer known are lost, and later ones come here
        return stream === undefined ? standalone.stream() : stream.stream(last?.number)
      },
      isBusy: () => !conversation.isIdle() || Array.from(streams.values()).some(({ isAttached }) => isAttached),
      close: () => {
        for (const stream of streams.values()) stream.end()
      }
    }
  })

export interface Sessions {
  /** A session that waits for its handshake. */
  readonly open: (principal: string | undefined) => Effect.Effect<Session, McpServer.Refusal>
  readonly find: (id: string, principal: string | undefined) => Session | undefined
  /** Ends a session. What it holds is released beside. */
  readonly end: (session: Session) => Effect.Effect<void>
  readonly size: () => number
  /** Ends all streams; requests go on until the scope closes. */
  readonly close: () => void
}

interface Entry {
  readonly session: Session
  readonly scope: Scope.CloseableScope
  usedAt: number
}

export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<Sessions, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const nonce = yield* Nonce.Nonce
    const all = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const releasing = yield* FiberSet.make<void>()
    const entries = new Map<string, Entry>()
    const timeout = Duration.toMillis(options.sessionTimeout)

    const end = ({ close, id }: Session): Effect.Effect<void> =>
      Effect.suspend(() => {
        const entry = entries.get(id)
        if (!entries.delete(id) || entry === undefined) return Effect.void
        close()
        return Effect.asVoid(FiberSet.run(releasing, Scope.close(entry.scope, Exit.void)))
      })

    /** Makes room for one more by ending the session that was silent for longest. */
    const makeRoom = Effect.suspend(() => {
      if (entries.size < options.maxSessions) return Effect.void
      const [idle] = Array.from(entries.values()).filter(({ session }) => !session.isBusy())
        .toSorted((one, other) => one.usedAt - other.usedAt)
      return idle === undefined ? Exchange.overloaded("Too many sessions") : end(idle.session)
    })

    const expire = Effect.suspend(() => {
      const now = clock.unsafeCurrentTimeMillis()
      const expired = Array.from(entries.values()).filter((entry) => {
        if (entry.session.isBusy()) entry.usedAt = now
        return now - entry.usedAt >= timeout
      })
      return Effect.forEach(expired, ({ session }) => end(session), { discard: true })
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
          yield* makeRoom
          const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
          // fibers that it forks later are as interruptible as its making is
          const session = yield* makeSession(yield* nonce, principal, offer, options).pipe(
            Scope.extend(scope),
            Effect.interruptible,
            Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
          )
          entries.set(session.id, { session, scope, usedAt: clock.unsafeCurrentTimeMillis() })
          return session
        }),
      find: (id, principal) => {
        const entry = entries.get(id)
        if (entry === undefined || entry.session.principal !== principal) return undefined
        entry.usedAt = clock.unsafeCurrentTimeMillis()
        return entry.session
      },
      end,
      size: () => entries.size,
      close
    }
  })
