/** @internal */
import * as LineFramer from "../../internal/lineFramer.ts"
import * as MessageId from "../../internal/messageId.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as Transport from "../Transport.ts"
import * as MessageLine from "./messageLine.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly maxMessageBytes: number
  /** Told when a line has become so long that its end is not waited for any more. */
  readonly endless: (bytes: number) => void
  /** Told to hold back, and to go on. */
  readonly pause: () => void
  readonly resume: () => void
}

/** @internal */
export interface MessageReader {
  readonly push: (chunk: Buffer) => void
  /** Nothing more will come; `done` is called once everything was delivered. */
  readonly finish: (done: () => void) => void
  /** Delivers what was pushed so far and what comes. */
  readonly start: (sink: Transport.Sink) => void
  /** Delivers everything that was pushed, without regard for others. */
  readonly flush: () => void
  /** Delivers nothing more. */
  readonly stop: () => void
  /** Grows with all that comes and with all that is delivered. */
  readonly progress: () => number
}

/** Lines that are read before others get their turn: at worst (all of them broken) about 5 ms. */
const linesPerTurn = 512
/** Libuv reads on, without a turn for others, as long as its reads come back full. */
const fullRead = 64 * 1024
const endlessFactor = 16
const endlessFloor = 16 * 1024 * 1024

/**
 * From the bytes of stdout to messages, in order, without a turn of the event loop for each and without keeping it from
 * others when a server writes without pause.
 *
 * @internal
 */
export const make = (options: Options): MessageReader => {
  const { server, maxMessageBytes: limit } = options
  const framer = LineFramer.make(limit)
  const endlessAfter = Math.max(endlessFloor, endlessFactor * limit)
  let sink: Transport.Sink | undefined
  let lines = 0
  let progress = 0
  let waiting = false
  let stopped = false
  let oversizeTold = false
  let finished: (() => void) | undefined

  const oversize = (frame: LineFramer.Oversize): void => {
    const id = oversizeTold ? undefined : MessageId.ofAnswer(frame.head, frame.tail ?? "")
    if (id !== undefined) {
      oversizeTold = true
      sink!.failed(id, new McpError.MessageTooLarge({ server, limit, direction: "received" }))
    }
    if (frame.tail === undefined) return
    if (!oversizeTold) {
      const detail = `${frame.bytes} bytes: ${UntrustedText.excerpt(frame.head, 256)}`
      sink!.diagnostic({ kind: "oversize", detail })
    }
    oversizeTold = false
  }

  const noise = (line: string): void => {
    on.diagnostic({ kind: "noise", detail: UntrustedText.excerpt(line, 256) })
  }

  const handlers = (to: Transport.Sink): MessageLine.Handlers => ({
    message: to.message,
    diagnostic: to.diagnostic,
    broken: (id, line) => {
      to.failed(
        id,
        new McpError.ProtocolViolation({
          server,
          what: "an answer that is not valid JSON",
          excerpt: UntrustedText.excerpt(line, 256),
          outcome: "unknown",
          phase: "ready"
        })
      )
    }
  })
  let on: MessageLine.Handlers

  const settle = (): void => {
    if (finished === undefined) return
    const done = finished
    finished = undefined
    const rest = framer.rest()
    // A line that was cut off by the end is no broken answer: the end itself says what became of the request.
    if (rest !== "") MessageLine.read(rest, { ...on, broken: (_, line) => noise(line) })
    done()
  }

  const deliver = (most: number): void => {
    while (!stopped) {
      if (lines >= most) {
        waiting = true
        options.pause()
        setImmediate(nextTurn)
        return
      }
      const frame = framer.next()
      if (frame === undefined) {
        if (framer.pending() > endlessAfter) {
          stopped = true
          options.endless(framer.pending())
          return
        }
        settle()
        return
      }
      lines++
      progress++
      if (typeof frame === "string") MessageLine.read(frame, on)
      else oversize(frame)
    }
  }

  const nextTurn = (): void => {
    if (!waiting) return
    waiting = false
    lines = 0
    deliver(linesPerTurn)
    if (!waiting && !stopped) options.resume()
  }

  return {
    push: (chunk) => {
      if (stopped) return
      progress++
      framer.push(chunk)
      if (sink === undefined || waiting) return
      deliver(linesPerTurn)
      if (chunk.length < fullRead) lines = 0
    },
    finish: (done) => {
      finished = done
      if (stopped) done()
      else if (sink !== undefined && !waiting) deliver(linesPerTurn)
    },
    start: (to) => {
      sink = to
      on = handlers(to)
      waiting = true
      // Not at once: whoever starts has not yet returned from doing so.
      setImmediate(nextTurn)
    },
    flush: () => {
      waiting = false
      if (sink !== undefined) deliver(Infinity)
    },
    stop: () => {
      stopped = true
    },
    progress: () => progress
  }
}
