/** The JSON-RPC 2.0 envelope, as plain data. */
import type { Json, JsonObject } from "../json/Json.ts"

export { isObject, type Json, type JsonObject } from "../json/Json.ts"

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
