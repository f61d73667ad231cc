/**
 * A caller at the other end of two pipes: one fiber reads, one looks at what was read, one writes. Between them are bounded
 * queues, so that whoever is slow slows down whoever feeds it, and nobody else.
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as RuntimeLog from "../../runtimeLog.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Lines from "../../transport/stdio/lines.ts"
import type * as McpServer from "../McpServer.ts"
import type * as StdioLink from "../StdioLink.ts"
import * as Conversation from "./conversation.ts"
import * as Envelope from "./envelope.ts"
import * as Exchange from "./exchange.ts"
import * as Outlet from "./outlet.ts"
import * as Running from "./running.ts"
import * as Signal from "./signal.ts"
import * as Stateless from "./stateless.ts"

/** @internal */
export interface Options {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: StdioLink.StdioLink["Type"]
}

/** A line as it was read, or notice of one that was too long. */
type Line = { readonly text: string } | { readonly tooLong: Lines.Oversize }

const end = Symbol("end")

/** What leaves at once. */
const writeTogether = 64

const noHeader = (): undefined => undefined

/** Lines, of which so many bytes may wait. */
const reading = (
  { limits, link }: Options,
  inbox: Queue.Enqueue<Line | typeof end>,
  held: { bytes: number },
  room: Signal.Signal
): Effect.Effect<void> => {
  const framer = Lines.makeFramer(limits.maxMessageBytes)
  const budget = 2 * limits.maxMessageBytes
  let unended: Lines.Oversize | undefined
  const take = (frame: string | Lines.Oversize): Effect.Effect<void> => {
    if (typeof frame !== "string") {
      // Reported once, when the line has ended.
      unended = frame.tail === undefined ? frame : undefined
      return unended === undefined ? Effect.asVoid(Queue.offer(inbox, { tooLong: frame })) : Effect.void
    }
    if (frame.trim() === "") return Effect.void
    held.bytes += frame.length
    return Effect.asVoid(Queue.offer(inbox, { text: frame }))
  }
  return Stream.runForEach(link.input, (chunk) => {
    const frames = framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    return Effect.zipRight(room.until(() => held.bytes <= budget), Effect.forEach(frames, take, { discard: true }))
  }).pipe(
    Effect.zipRight(Effect.suspend(() => {
      if (unended !== undefined) return Effect.asVoid(Queue.offer(inbox, { tooLong: unended }))
      const rest = framer.rest()
      return rest.trim() === "" ? Effect.void : Effect.asVoid(Queue.offer(inbox, { text: rest }))
    })),
    Effect.catchAllCause((cause) => RuntimeLog.error("Reading from the caller failed", cause)),
    // and not if it was interrupted: nobody may be there any more who makes room
    Effect.zipRight(Queue.offer(inbox, end))
  )
}

const writing = (
  { limits, link }: Options,
  outbox: Queue.Dequeue<JsonRpc.Message | typeof end>
): Effect.Effect<void> => {
  const turn: Effect.Effect<void> = Effect.flatMap(Queue.takeBetween(outbox, 1, writeTogether), (taken) => {
    const messages = Chunk.toReadonlyArray(taken)
    let text = ""
    let isLast = false
    for (const message of messages) {
      if (message === end) {
        isLast = true
        break
      }
      const line = Outlet.encode(message, limits.maxMessageBytes)
      if (line !== undefined) text += `${line}\n`
    }
    const written = text === "" ? Effect.succeed(true) : link.write(text)
    return Effect.flatMap(written, (isRead) => isLast || !isRead ? Effect.void : turn)
  })
  return turn
}

/**
 * Serves until there is no more to read, all that was asked is answered or given up, and all answers are written; or until
 * nobody reads them any more.
 */
export const serve = (options: Options): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { limits, offer } = options
    const inbox = yield* Queue.bounded<Line | typeof end>(limits.queue)
    const outbox = yield* Queue.bounded<JsonRpc.Message | typeof end>(limits.queue)
    const outlet: Outlet.Outlet = {
      send: (message) => Effect.asVoid(Queue.offer(outbox, message)),
      hint: (message) => {
        outbox.unsafeOffer(message)
      }
    }
    const session = yield* Conversation.make({ offer, limits, link: "stdio", principal: undefined, outlet })
    const stateless = yield* Stateless.make({ offer, limits, link: "stdio" })
    const running = yield* Running.make(limits.maxRequests)

    const begin = ({ id, method, params }: Envelope.Envelope & { readonly _tag: "Request" }): Effect.Effect<void> => {
      const request: Stateless.Request = { id, method, params, outlet, principal: undefined, header: noHeader }
      const begun = running.begin(
        id,
        Effect.flatMap(
          stateless.answer(request),
          (ended) => ended === undefined ? Effect.void : outlet.send(Exchange.answerOf(id, ended))
        )
      )
      return begun === "begun" ? Effect.void : outlet.send(Envelope.failure(id, Running.refusals[begun]))
    }

    const take = (envelope: Envelope.Envelope): Effect.Effect<void> => {
      if (envelope._tag === "Request" && Stateless.isForEra(envelope)) return begin(envelope)
      if (envelope._tag === "Notification" && envelope.method === "notifications/cancelled") {
        const { requestId } = envelope.params
        if (typeof requestId === "string" || typeof requestId === "number") running.cancel(requestId)
      }
      return session.receive(envelope, outlet, noHeader)
    }

    const held = { bytes: 0 }
    const room = Signal.make()
    const processing: Effect.Effect<void> = Effect.flatMap(Queue.take(inbox), (line) => {
      if (line === end) return Effect.void
      if ("tooLong" in line) {
        const { head, tail } = line.tooLong
        return Effect.zipRight(
          take(Envelope.tooLarge(limits.maxMessageBytes, Lines.idOf("request", head, tail ?? ""))),
          processing
        )
      }
      held.bytes -= line.text.length
      room.raise()
      const parsed = Envelope.parse(line.text)
      const batch = "_tag" in parsed ? [parsed] : Envelope.batch(parsed, session.protocolVersion(), limits.maxRequests)
      return Effect.zipRight(Effect.forEach(batch, take, { discard: true }), processing)
    })

    const limit = Duration.decode(limits.drainTimeout)
    const reader = yield* Effect.forkScoped(reading(options, inbox, held, room))
    const processor = yield* Effect.forkScoped(processing)
    const writer = yield* Effect.forkScoped(writing(options, outbox))
    // a caller that writes no more may not read either: nothing waits for it for ever then
    const processed = Effect.raceFirst(
      Fiber.join(processor),
      Effect.zipRight(Fiber.await(reader), Effect.sleep(limit))
    )
    const drained = Effect.suspend(() => {
      stateless.end()
      return Effect.zip(session.drain, running.drain(limit), { concurrent: true })
    })
    const written = Effect.zipRight(Queue.offer(outbox, end), Fiber.await(writer))
    const done = processed.pipe(
      Effect.zipRight(Fiber.interruptFork(processor)),
      Effect.zipRight(drained),
      Effect.zipRight(BoundedWait.within(limit)(written))
    )
    // when nobody reads any more, nothing that is still being done is for anybody
    yield* Effect.raceFirst(done, Fiber.join(writer)).pipe(
      Effect.tapErrorCause((cause) =>
        Cause.isInterrupted(cause) ? Effect.void : RuntimeLog.error("The link failed", cause)
      ),
      Effect.ensuring(Effect.zipRight(Fiber.interruptFork(reader), Fiber.interruptFork(processor)))
    )
  })
