/**
 * From bytes to messages, one per line: framing in linear time and bounded memory, and a reader that makes the best of
 * lines that hold more or less than one message.
 */
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as ByteRing from "../byteRing.ts"
import * as Failure from "../failure.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"

// Framing

/** A line over the limit, reported when it passes the limit, without a `tail`, and again when it has ended. */
export interface Oversize {
  readonly head: string
  readonly tail: string | undefined
  readonly bytes: number
}

const lineFeed = 10
/** The ends of a message between which its members are told apart without parsing it. */
const edge = 512
/** The end of a line over the limit that is searched for messages, if the limit allows messages so long. */
const tailBytes = 1024 * 1024
/** The longest string of V8: a longer line could not be decoded. */
const longest = 0x1fffffe8

/**
 * Cuts a stream of bytes into lines. Only new bytes are searched; a line that spans chunks is gathered in one buffer that
 * doubles, so a line that drips in costs its bytes and not an object per chunk.
 */
export const makeFramer = (maxLineBytes: number) => {
  const limit = Math.min(maxLineBytes, longest)
  let held = Buffer.alloc(0)
  let size = 0
  let skipped: { readonly head: string; readonly tail: ByteRing.ByteRing } | undefined

  const hold = (bytes: Buffer, at: number): void => {
    const needed = at + bytes.length
    if (needed > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(limit, Math.max(1024, 2 * needed))))
      held.copy(grown, 0, 0, at)
      held = grown
    }
    bytes.copy(held, at)
  }

  /** Adds to the line under way, and a report to the frames if it passes the limit with these bytes. */
  const extend = (bytes: Buffer, frames: Array<string | Oversize>): void => {
    const before = size
    size += bytes.length
    if (skipped !== undefined) return skipped.tail.push(bytes)
    if (size <= limit) return hold(bytes, before)
    const tail = ByteRing.make(Math.min(tailBytes, limit))
    tail.push(held.subarray(0, before))
    tail.push(bytes)
    const head = Buffer.concat([held.subarray(0, Math.min(before, edge)), bytes.subarray(0, edge)])
    skipped = { head: head.toString("utf8", 0, edge), tail }
    held = Buffer.alloc(0)
    frames.push({ head: skipped.head, tail: undefined, bytes: size })
  }

  const finish = (): string | Oversize => {
    const line = skipped === undefined
      ? held.toString("utf8", 0, size)
      : { head: skipped.head, tail: skipped.tail.tail(), bytes: size }
    held = Buffer.alloc(0)
    size = 0
    skipped = undefined
    return line
  }

  return {
    /** The lines that end with this chunk, without their line feeds, and the reports of lines over the limit. */
    push: (chunk: Buffer): ReadonlyArray<string | Oversize> => {
      const frames: Array<string | Oversize> = []
      let from = 0
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
        if (size === 0 && at - from <= limit) frames.push(chunk.toString("utf8", from, at))
        else {
          extend(chunk.subarray(from, at), frames)
          frames.push(finish())
        }
        from = at + 1
      }
      if (from < chunk.length) extend(chunk.subarray(from), frames)
      return frames
    },
    /** The bytes behind the last line feed. */
    rest: finish,
    /** The number of bytes of the line under way. */
    pending: (): number => size
  }
}

// The id of a message that is not parsed

const scalar = String.raw`"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null`
const firstMember = new RegExp(String.raw`[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*(${scalar})(?=\s*[,}])`, "gy")
const lastMember = new RegExp(String.raw`[,{]\s*("(?:[^"\\]|\\.)*")\s*:\s*(${scalar})\s*$`)

/** The plain members before the first nested one and after the last, which is where programs write an id. */
const membersOf = (head: string, tail: string): ReadonlyMap<unknown, unknown> => {
  const members = new Map<unknown, unknown>()
  for (const [, name, value] of head.trimStart().startsWith("{") ? head.matchAll(firstMember) : []) {
    members.set(JsonRpc.parse(name!), JsonRpc.parse(value!))
  }
  let end = tail.trimEnd()
  if (end.endsWith("}")) {
    end = end.slice(0, -1)
    for (let match = lastMember.exec(end); match !== null; match = lastMember.exec(end)) {
      members.set(JsonRpc.parse(match[1]!), JsonRpc.parse(match[2]!))
      end = end.slice(0, match.index)
    }
  }
  return members
}

/** The id of a request or of a response of which only the beginning and the end are at hand. */
export const idOf = (kind: "request" | "response", head: string, tail: string): JsonRpc.Id | undefined => {
  const members = membersOf(head.slice(0, edge), tail.slice(-edge))
  const id = members.get("id")
  // A request has an id as well, but it has a method, and answers nothing.
  if (members.get("jsonrpc") !== "2.0" || members.has("method") !== (kind === "request")) return undefined
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

// Messages

const messageStart = /\{\s*"(?:jsonrpc|id|method|params|result|error)"\s*:/g
/** False starts, within strings, cost a search to the end of the line each. */
const maxFalseStarts = 16

/** The end of the JSON object that begins here, if its braces are balanced. */
const endOfObject = (text: string, from: number): number | undefined => {
  let depth = 0
  let inString = false
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (inString && char === "\\") at++
    else if (char === "\"") inString = !inString
    else if (!inString && char === "{") depth++
    else if (!inString && char === "}" && --depth === 0) return at + 1
  }
  return undefined
}

/** The messages at the end of a line that is not one JSON value, one directly behind the other. */
const messagesAtEnd = (line: string): ReadonlyArray<JsonRpc.Incoming> => {
  let messages: Array<JsonRpc.Incoming> = []
  let end = 0
  let falseStarts = 0
  messageStart.lastIndex = 0
  for (let match = messageStart.exec(line); match !== null; match = messageStart.exec(line)) {
    const next = endOfObject(line, match.index)
    if (next === undefined) {
      if (++falseStarts > maxFalseStarts) return []
      continue
    }
    const value = JsonRpc.parse(line.slice(match.index, next))
    if (line.slice(end, match.index).trim() !== "") messages = []
    if (JsonRpc.isObject(value) && Object.hasOwn(value, "jsonrpc")) messages.push(value)
    else messages = []
    end = next
    messageStart.lastIndex = next
  }
  // An object that something follows is a part of another value, or of a log line.
  return line.slice(end).trim() === "" ? messages : []
}

const excerpt = (line: string): string => UntrustedText.excerpt(line, 256)

export type LineReader = ReturnType<typeof makeReader>

export interface Options {
  readonly server: string
  readonly maxMessageBytes: number
  readonly sink: Pick<Transport.Sink, "message" | "failed" | "diagnostic">
  /** Called when a line goes on so far over the limit that its end is not waited for. */
  readonly onEndless: () => void
}

const endlessFactor = 16
const endlessFloor = 16 * 1024 * 1024

/** Reads the output of a server and never throws: messages and batches, and diagnostics of everything else. */
export const makeReader = ({ maxMessageBytes, onEndless, server, sink }: Options) => {
  const framer = makeFramer(maxMessageBytes)
  const endlessAfter = Math.max(endlessFloor, endlessFactor * maxMessageBytes)
  let refused: JsonRpc.Id | undefined

  const refuse = (id: JsonRpc.Id | undefined): void => {
    if (id === undefined || refused !== undefined) return
    refused = id
    sink.failed(id, Failure.tooLarge(server, maxMessageBytes, "received"))
  }

  /** A line over the limit costs only its own message, not those that follow on it. */
  const skip = ({ bytes, head, tail }: Oversize): void => {
    if (tail === undefined) return refuse(idOf("response", head, ""))
    const messages = messagesAtEnd(tail)
    if (messages.length === 0) refuse(idOf("response", head, tail))
    if (refused === undefined) sink.diagnostic({ kind: "oversize", detail: `${bytes} bytes: ${excerpt(head)}` })
    refused = undefined
    for (const message of messages) sink.message(message)
  }

  const read = (raw: string, isComplete: boolean): void => {
    const first = raw[0]
    // Only lines that begin with something else pay for `trim`, which also drops a byte order mark.
    const line = first === "{" || first === "[" ? raw : raw.trim()
    if (line === "") return
    const value = line[0] === "{" || line[0] === "[" ? JsonRpc.parse(line) : undefined
    if (value !== undefined) {
      return JsonRpc.each(value, line, sink)
    }
    const messages = messagesAtEnd(line.slice(-tailBytes))
    const id = idOf("response", line, messages.length > 0 ? "" : line)
    // A line that the end of the output cuts off is no broken answer: the end itself decides about the request.
    if (id !== undefined && isComplete && !messages.some((message) => message["id"] === id)) {
      sink.failed(id, Failure.violation(server, "an answer that is not valid JSON", line))
    } else sink.diagnostic({ kind: messages.length > 0 ? "lenient" : "noise", detail: excerpt(line) })
    for (const message of messages) sink.message(message)
  }

  return {
    push: (chunk: Buffer): void => {
      for (const frame of framer.push(chunk)) {
        if (typeof frame === "string") read(frame, true)
        else skip(frame)
      }
      if (framer.pending() > endlessAfter) onEndless()
    },
    /** Reads what is left behind the last line feed, unless it is over the limit. */
    end: (): void => {
      const rest = framer.rest()
      if (typeof rest === "string") read(rest, false)
    }
  }
}
