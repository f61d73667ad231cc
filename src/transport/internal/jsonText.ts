/** @internal */
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as Transport from "../Transport.ts"

/**
 * The value of a JSON text, or `undefined`: for what is broken, and for what is nested too deeply to be read.
 *
 * @internal
 */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @internal */
export const noise = (text: string): Transport.Diagnostic => ({
  kind: "noise",
  detail: UntrustedText.excerpt(text, 256)
})

/**
 * Hands over the message, or the messages of a batch, that a parsed text holds; tells apart what is neither.
 *
 * @internal
 */
export const each = (
  value: unknown,
  text: string,
  onMessage: (message: JsonRpc.Incoming) => void,
  onNoise: (diagnostic: Transport.Diagnostic) => void
): void => {
  for (const item of Array.isArray(value) ? value : [value]) {
    if (JsonRpc.isObject(item)) onMessage(item)
    else onNoise(noise(text))
  }
}

/**
 * The members of a JSON-RPC error, if a value is one.
 *
 * @internal
 */
export const failure = (value: unknown): { id: unknown; code: number; message: string; data: unknown } | undefined => {
  if (!JsonRpc.isObject(value) || !Object.hasOwn(value, "error")) return undefined
  const error = value["error"]
  if (!JsonRpc.isObject(error) || typeof error["code"] !== "number") return undefined
  const id = Object.hasOwn(value, "id") ? value["id"] : undefined
  const message = typeof error["message"] === "string" ? error["message"] : ""
  return { id, code: error["code"], message, data: error["data"] }
}
