/** JSON-RPC messages in texts that a server sent. */
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"

/** The value of a JSON text; `undefined` if it is broken or nested too deeply. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const noise = (text: string): Transport.Diagnostic => ({
  kind: "noise",
  detail: UntrustedText.excerpt(text, 256)
})

export interface Handlers {
  readonly message: (message: JsonRpc.Incoming) => void
  readonly diagnostic: (diagnostic: Transport.Diagnostic) => void
}

/** Hands over the message, or the messages of a batch, in a parsed text. */
export const each = (value: unknown, text: string, on: Handlers): void => {
  for (const item of Array.isArray(value) ? value : [value]) {
    if (JsonRpc.isObject(item)) on.message(item)
    else on.diagnostic(noise(text))
  }
}

/** The members of a JSON-RPC error; `undefined` if the value is no such error. */
export const failure = (value: unknown): { id: unknown; code: number; message: string; data: unknown } | undefined => {
  if (!JsonRpc.isObject(value) || !Object.hasOwn(value, "error")) return undefined
  const error = value["error"]
  if (!JsonRpc.isObject(error) || typeof error["code"] !== "number") return undefined
  const id = Object.hasOwn(value, "id") ? value["id"] : undefined
  const message = typeof error["message"] === "string" ? error["message"] : ""
  return { id, code: error["code"], message, data: error["data"] }
}
