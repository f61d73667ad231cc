/** One session over HTTP: a conversation whose answers leave on many streams, which can be read again where they broke. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Scoped from "../scoped.ts"
import * as Conversation from "./conversation.ts"
import * as EventStream from "./eventStream.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import type * as McpServer from "./McpServer.ts"
import type * as Messages from "./messages.ts"

export interface HttpSession {
  readonly id: string
  readonly principal: string | undefined
  readonly conversation: Conversation.Conversation
  /** Acts on the messages of a POST. Returns the stream of their answers when it has an event, or at the limit. */
  readonly post: (
    messages: ReadonlyArray<Messages.Received>,
    header: McpServer.Exchange["header"],
    limit: Duration.DurationInput
  ) => Effect.Effect<EventStream.EventStream>
  /** The stream for messages that belong to no request, or the rest of a stream that broke. */
  readonly get: (lastEventId: string | undefined) => Stream.Stream<Uint8Array>
  /** True while a request is in flight or a stream is read. */
  readonly isBusy: () => boolean
  readonly endStreams: () => void
}

/** The first version whose callers know an event without data. */
const firstPriming = "2025-11-25"

/** How many streams that have ended can still be read again. */
const maxEnded = 16

export const make = (
  id: string,
  principal: string | undefined,
  offer: McpServer.Offer,
  options: HttpEndpoint.Options
): Effect.Effect<HttpSession, never, Scope.Scope> =>
  Effect.gen(function*() {
    const fork = yield* FiberSet.makeRuntime<never, void>()
    const { keepAlive, maxMessageBytes, resumeTimeout } = options
    const standalone = new EventStream.EventStream({ maxMessageBytes, keepAlive, name: "0" })
    const streams = new Map([["0", standalone]])
    let posts = 0
    const conversation = yield* Conversation.make({
      offer,
      limits: options,
      link: "http",
      principal,
      output: standalone
    })
    const endStreams = (): void => streams.forEach((stream) => stream.end())
    yield* Scoped.onClose(endStreams)

    const keep = (name: string, stream: EventStream.EventStream): void => {
      streams.set(name, stream)
      const ended = Array.from(streams).filter(([, { isAttached, isEnded }]) => isEnded && !isAttached)
      for (const [name] of ended.slice(0, -maxEnded)) streams.delete(name)
    }

    return {
      id,
      principal,
      conversation,
      post: (messages, header, limit) =>
        Effect.gen(function*() {
          const name = `${++posts}`
          const cancel = (isAbandoned: () => boolean) =>
            Effect.sync(() => {
              if (!isAbandoned()) return
              for (const message of messages) if (message._tag === "Request") conversation.cancel(message.id)
            })
          const stream = new EventStream.EventStream({
            maxMessageBytes,
            keepAlive,
            name,
            primes: (conversation.protocolVersion() ?? "") >= firstPriming,
            // the caller has some time to come back
            left: (isAbandoned) => Effect.sync(() => fork(Effect.delay(cancel(isAbandoned), resumeTimeout)))
          })
          let waiting = messages.length
          const done = (): void => {
            if (--waiting === 0) stream.end()
          }
          const arrival = { output: stream, principal, header, done }
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
      endStreams
    }
  })
