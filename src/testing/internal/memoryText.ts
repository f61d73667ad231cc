/**
 * How a text from a peer in memory becomes a message.
 *
 * @internal
 */
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"

const utf8 = new TextEncoder()

/** @internal */
export const exceeds = (text: string, bytes: number): boolean =>
  text.length > bytes || (3 * text.length > bytes && utf8.encode(text).length > bytes)

/** @internal */
export const deliver = (server: string, limits: Limits.Limits, text: string, sink: Transport.Sink): void => {
  const value = parse(text)
  if (exceeds(text, limits.maxMessageBytes)) {
    sink.diagnostic({ kind: "oversize", detail: `a message of more than ${limits.maxMessageBytes} bytes` })
    const id = JsonRpc.isObject(value) && !("method" in value) ? value["id"] : undefined
    if (typeof id === "string" || typeof id === "number") {
      sink.failed(
        id,
        new McpError.MessageTooLarge({ server, limit: limits.maxMessageBytes, direction: "received" })
      )
    }
    return
  }
  if (JsonRpc.isObject(value)) return sink.message(value)
  const batch: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  if (batch.length > 0 && batch.every(JsonRpc.isObject)) return batch.forEach((message) => sink.message(message))
  sink.diagnostic({ kind: "noise", detail: UntrustedText.excerpt(text, 256) })
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
