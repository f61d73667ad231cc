/** Where messages to a caller go, whatever carries them. */
import type * as Effect from "effect/Effect"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Envelope from "./envelope.ts"

/** @internal */
export interface Outlet {
  /** Waits for room. What nobody is there for any more is dropped. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void>
  /** For what may be lost: without room it is. */
  readonly hint: (message: JsonRpc.Message) => void
}

const stringify = (message: JsonRpc.Message): string | undefined => {
  try {
    return JSON.stringify(message)
  } catch {
    return undefined
  }
}

/**
 * A message as it is written. An answer that cannot be written is answered with why; anything else is left out then.
 */
export const encode = (message: JsonRpc.Message, limit: number): string | undefined => {
  const text = stringify(message)
  const fits = text !== undefined && (3 * text.length <= limit || Buffer.byteLength(text) <= limit)
  if (fits) return text
  if ("method" in message || message.id === null) return undefined
  const why = text === undefined ? "cannot be written as JSON" : `is larger than ${limit} bytes`
  return JSON.stringify(Envelope.failure(
    message.id,
    new McpServer.Refusal({ code: McpServer.codes.internal, message: `Internal error: the answer ${why}` })
  ))
}

/** @internal */
export const notification = (method: string, params: JsonRpc.JsonObject | undefined): JsonRpc.Notification =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }
