/** One session over HTTP: a conversation whose answers leave on many streams. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as HttpEndpoint from "../../HttpEndpoint.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Conversation from "../conversation.ts"
import type * as Envelope from "../envelope.ts"
import * as Channel from "./channel.ts"
import * as Responses from "./responses.ts"

/** @internal */
export interface Session {
  readonly conversation: Conversation.Conversation
  /** Answers what a request, or a batch of them, leads to. */
  readonly post: (
    envelopes: ReadonlyArray<Envelope.Envelope>,
    header: McpServer.Exchange["header"],
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<Responses.Response>
  /** The stream for what belongs to no request, or the rest of one that broke. */
  readonly get: (lastEventId: string | undefined) => Responses.Response
  /** Whether anybody is there, or anything is being done. */
  readonly isBusy: () => boolean
  /** Its streams end. */
  readonly close: () => void
}

/** The versions whose callers know what an event without data is. */
const firstPriming = "2025-11-25"

/** How many streams that have ended can still be read again. */
const mostEnded = 16

const always200 = (): number => 200

/** @internal */
export const make = (
  offer: McpServer.Offer,
  options: HttpEndpoint.Options,
  principal: string | undefined
): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { maxMessageBytes } = options
    const keepAlive = Duration.decode(options.keepAlive)
    const resumeTimeout = Duration.decode(options.resumeTimeout)
    const channels = new Map<string, Channel.Channel>()
    /** What is answered on a stream. */
    const requests = new WeakMap<Channel.Channel, ReadonlyArray<JsonRpc.Id>>()
    let names = 0
    let isClosed = false
    const run = yield* FiberSet.makeRuntime<never, void>()
    const isPriming = (): boolean => (conversation.caller()?.protocolVersion ?? "") >= firstPriming
    const channelNamed = (name: string, primes: boolean): Channel.Channel =>
      new Channel.Channel({ name, primes, maxMessageBytes, keepAlive })
    const standalone = channelNamed("0", false)
    channels.set("0", standalone)
    const conversation: Conversation.Conversation = yield* Conversation.make({
      offer,
      limits: options,
      link: "http",
      principal,
      outlet: standalone
    })

    const forget = (): void => {
      const ended = Array.from(channels).filter(([, channel]) => channel.isEnded && !channel.isAttached)
      for (const [name] of ended.slice(0, Math.max(0, ended.length - mostEnded))) channels.delete(name)
    }

    /** A broken connection is no cancellation; one that nobody comes back to is, however often it broke before. */
    const left = (channel: Channel.Channel): Effect.Effect<void> =>
      Effect.sync(() => {
        if (channel.isEnded) return
        const { reader } = channel
        run(Effect.delay(
          Effect.sync(() => {
            // who has come meanwhile has a time of its own
            if (channel.isEnded || channel.reader !== reader) return
            for (const id of requests.get(channel) ?? []) conversation.cancel(id)
          }),
          resumeTimeout
        ))
      })

    const post: Session["post"] = (envelopes, header, headers) =>
      Effect.gen(function*() {
        const ids = envelopes.flatMap((one) => one._tag === "Request" ? [one.id] : [])
        const isAnswered = ids.length > 0 || envelopes.some(({ _tag }) => _tag === "Invalid")
        const channel = channelNamed(`${++names}`, isPriming())
        requests.set(channel, ids)
        let waiting = envelopes.length
        const done = (): void => {
          if (--waiting === 0) channel.end()
        }
        yield* Effect.forEach(envelopes, (one) => conversation.receive(one, channel, header, done), { discard: true })
        if (!isAnswered) return Responses.empty(202)
        return yield* Responses.reply(channel, {
          headers,
          status: always200,
          none: () => isClosed ? Responses.sessionNotFound : undefined,
          left: left(channel),
          streaming: () => {
            channels.set(channel.name ?? "", channel)
            forget()
          }
        })
      })

    return {
      conversation,
      post,
      get: (lastEventId) => {
        const last = lastEventId === undefined ? undefined : Channel.parseId(lastEventId)
        const channel = last === undefined ? undefined : channels.get(last.name)
        // what is not known any more is gone, and what comes next is not
        return Responses.events(
          last === undefined || channel === undefined
            ? standalone.stream()
            : channel.stream(left(channel), last.number)
        )
      },
      isBusy: () => conversation.inFlight() > 0 || Array.from(channels.values()).some(({ isAttached }) => isAttached),
      close: () => {
        isClosed = true
        for (const channel of channels.values()) channel.end()
      }
    }
  })
