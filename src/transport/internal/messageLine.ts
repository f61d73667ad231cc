/** @internal */
import * as MessageId from "../../internal/messageId.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as JsonRpc from "../JsonRpc.ts"
import { isObject } from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"

/** @internal */
export interface Handlers {
  readonly message: (message: JsonRpc.Incoming) => void
  readonly diagnostic: (diagnostic: Transport.Diagnostic) => void
  /** An answer whose id can be read and whose JSON cannot. */
  readonly broken: (id: JsonRpc.Id, line: string) => void
}

const excerptLength = 256
const edge = 512
/** How much, and how often, a line with something before its message is tried. */
const recoverLength = 1024 * 1024
const recoverTries = 8

const noise = (detail: string): Transport.Diagnostic => ({ kind: "noise", detail })

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Also a RangeError of a value that is nested too deeply.
    return undefined
  }
}

const deliver = (value: unknown, line: string, on: Handlers): void => {
  if (isObject(value)) on.message(value)
  else on.diagnostic(noise(UntrustedText.excerpt(line, excerptLength)))
}

const recovered = (line: string): JsonRpc.Incoming | undefined => {
  if (line.length > recoverLength || !line.endsWith("}")) return undefined
  let at = line.indexOf("{", 1)
  for (let tries = 0; at !== -1 && tries < recoverTries; tries++) {
    const value = parse(line.slice(at))
    if (isObject(value) && Object.hasOwn(value, "jsonrpc")) return value
    at = line.indexOf("{", at + 1)
  }
  return undefined
}

/**
 * Reads one line of a server's output and never throws: a message, a batch of them, a message with something before it
 * on the line, or noise.
 *
 * @internal
 */
export const read = (raw: string, on: Handlers): void => {
  const first = raw.charCodeAt(0)
  // "{" and "[" begin every line of a well-behaved server; only the others pay for `trim`, which drops a BOM as well.
  const line = first === 0x7b || first === 0x5b ? raw : raw.trim()
  if (line === "") return
  const value = line[0] === "{" || line[0] === "[" ? parse(line) : undefined
  if (value !== undefined) {
    if (!Array.isArray(value)) deliver(value, line, on)
    else if (value.length === 0) on.diagnostic(noise("[]"))
    else for (const item of value) deliver(item, line, on)
    return
  }
  const id = line[0] === "{" ? MessageId.ofAnswer(line.slice(0, edge), line.slice(-edge)) : undefined
  if (id !== undefined) {
    on.broken(id, line)
    return
  }
  const message = recovered(line.trimEnd())
  on.diagnostic({
    kind: message === undefined ? "noise" : "lenient",
    detail: UntrustedText.excerpt(line, excerptLength)
  })
  if (message !== undefined) on.message(message)
}
