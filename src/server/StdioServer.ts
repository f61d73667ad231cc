/** Serves the parent process over stdin and stdout, in either era. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Lines from "../transport/stdio/lines.ts"
import * as Conversation from "./conversation.ts"
import type * as Exchange from "./exchange.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

/** The input and output of a stdio server. `NodeStdioLink.layer` uses those of the process. */
export class StdioLink extends Context.Tag("effect-mcp-runtime/server/StdioServer/StdioLink")<StdioLink, {
  /** The bytes from the caller, until it closes its end. */
  readonly input: Stream.Stream<Uint8Array>
  /** Succeeds with `true` when the text was accepted, and with `false` if the caller no longer reads. */
  readonly write: (text: string) => Effect.Effect<boolean>
}>() {}

export class StdioServer extends Context.Tag("effect-mcp-runtime/server/StdioServer")<StdioServer, {
  /** Succeeds when the caller has disconnected and its requests have ended. */
  readonly ended: Effect.Effect<void>
}>() {}

/** Input chunks that are read ahead, so that the end of the input is noticed while messages are handled. */
const readAhead = 64

/** The size of one write, unless a single message is longer. */
const writeLength = 64 * 1024

/** Writes messages until the outbox ends or the caller no longer reads. */
const writing = (
  outbox: Mailbox.ReadonlyMailbox<JsonRpc.Message>,
  { write }: StdioLink["Type"],
  { maxMessageBytes }: McpServer.Limits
): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let isLast = false; !isLast;) {
      const [messages, isDone] = yield* outbox.takeAll
      isLast = isDone
      let text = ""
      for (const message of messages) {
        const line = Messages.write(message, maxMessageBytes)
        if (line !== undefined) text += `${line}\n`
        if (text.length < writeLength) continue
        if (!(yield* write(text))) return
        text = ""
      }
      if (text !== "" && !(yield* write(text))) return
    }
  }).pipe(Effect.catchAllCause((cause) => RuntimeLog.error("Writing to the caller failed", cause)))

/** The lines of the input. A line over the limit is emitted once, when it has ended. */
const linesOf = <E, R>(
  input: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number
): Stream.Stream<string | Lines.Oversize, E, R> =>
  Stream.suspend(() => {
    const framer = Lines.makeFramer(maxBytes)
    return input.pipe(
      Stream.mapConcat(({ buffer, byteLength, byteOffset }) =>
        framer.push(Buffer.from(buffer, byteOffset, byteLength))
      ),
      Stream.concat(Stream.sync(framer.rest)),
      Stream.filter((line) => typeof line === "string" || line.tail !== undefined)
    )
  })

/**
 * Serves until the caller ends its output and has all responses, or until it stops reading. With `NodeStdioLink`, other
 * output to stdout goes to stderr.
 */
export const serve = (
  offer: McpServer.Offer,
  options?: Partial<McpServer.Limits>
): Effect.Effect<void, never, StdioLink> =>
  Effect.scoped(Effect.gen(function*() {
    const limits: McpServer.Limits = { ...McpServer.defaults, ...options }
    const { maxMessageBytes, maxRequests, queue } = limits
    const drainTimeout = Duration.decode(limits.drainTimeout)
    const link = yield* StdioLink
    const outbox = yield* Mailbox.make<JsonRpc.Message>(queue)
    const output: Exchange.Output = {
      send: (message) => Effect.asVoid(outbox.offer(message)),
      offer: (message) => {
        outbox.unsafeOffer(message)
      }
    }
    const arrival: Exchange.Arrival = { output, principal: undefined, header: () => undefined, done: constVoid }
    const conversation = yield* Conversation.make({ offer, limits, link: "stdio", output })

    const messagesOf = (line: string | Lines.Oversize): ReadonlyArray<Messages.Received> => {
      if (typeof line !== "string") {
        return [Messages.tooLarge(maxMessageBytes, Lines.idOf("request", line.head, line.tail ?? ""))]
      }
      return line.trim() === "" ? [] : Messages.read(line, conversation.protocolVersion(), maxRequests)
    }
    const inputEnded = yield* Deferred.make<void>()
    const input = link.input.pipe(
      Stream.ensuring(Deferred.succeed(inputEnded, undefined)),
      Stream.buffer({ capacity: readAhead })
    )
    const reader = yield* linesOf(input, maxMessageBytes).pipe(
      Stream.runForEach((line) =>
        Effect.forEach(messagesOf(line), (message) => conversation.receive(message, arrival), { discard: true })
      ),
      Effect.catchAllCause((cause) => RuntimeLog.error("Reading from the caller failed", cause)),
      Effect.forkScoped
    )
    const writer = yield* Effect.forkScoped(writing(outbox, link, limits))
    // bounded, because a caller that has closed its input may not read either, which blocks the reader
    const read = Effect.raceFirst(
      Fiber.join(reader),
      Effect.zipRight(Deferred.await(inputEnded), Effect.sleep(drainTimeout))
    )
    const served = read.pipe(
      Effect.zipRight(Fiber.interrupt(reader)),
      Effect.zipRight(conversation.drain),
      Effect.zipRight(outbox.end),
      Effect.zipRight(BoundedWait.within(drainTimeout)(Fiber.join(writer)))
    )
    // the writer ends first if the caller no longer reads; requests in flight are then interrupted
    yield* Effect.raceFirst(served, Fiber.join(writer))
  }))

/** Serves until the scope of the layer closes. */
export const layer = <E, R>(
  offer: Effect.Effect<McpServer.Offer, E, R>,
  options?: Partial<McpServer.Limits>
): Layer.Layer<StdioServer, E, Exclude<R, Scope.Scope> | StdioLink> =>
  Layer.scoped(
    StdioServer,
    Effect.flatMap(offer, (offer) =>
      Effect.map(
        Effect.forkScoped(serve(offer, options)),
        (fiber) => ({ ended: Effect.asVoid(Fiber.await(fiber)) })
      ))
  )
