/** JSON-RPC 2.0: the envelope as plain data, and the messages in texts that a server sent. */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Transport from "./Transport.ts"

export { isObject, type Json, type JsonObject }

/** The id of a request. */
export type Id = string | number

export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: Id
  readonly method: string
  readonly params?: JsonObject | undefined
}

export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: JsonObject | undefined
}

export interface Success {
  readonly jsonrpc: "2.0"
  readonly id: Id
  readonly result: JsonObject
}

export interface Failure {
  readonly jsonrpc: "2.0"
  readonly id: Id | null
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json | undefined }
}

/** An outgoing message. */
export type Message = Request | Notification | Success | Failure

/** A received object of which nothing is checked yet. */
export type Incoming = { readonly [key: string]: unknown }

/** True for a message that is owed an answer. */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message

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

export type Handlers = Pick<Transport.Sink, "message" | "diagnostic">

/** Hands over the message, or the messages of a batch, in a parsed text. */
export const each = (value: unknown, text: string, on: Handlers): void => {
  for (const item of Array.isArray(value) && value.length > 0 ? value : [value]) {
    if (isObject(item)) on.message(item)
    else on.diagnostic(noise(text))
  }
}

/** The members of a JSON-RPC error; `undefined` if the value is no such error. */
export const failure = (value: unknown): { id: unknown; code: number; message: string; data: unknown } | undefined => {
  if (!isObject(value) || !Object.hasOwn(value, "error")) return undefined
  const error = value["error"]
  if (!isObject(error) || typeof error["code"] !== "number") return undefined
  const id = Object.hasOwn(value, "id") ? value["id"] : undefined
  const message = typeof error["message"] === "string" ? error["message"] : ""
  return { id, code: error["code"], message, data: error["data"] }
}
