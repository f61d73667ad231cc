/**
 * The JSON-RPC 2.0 envelope, as plain data.
 *
 * @since 0.1.0
 */

import type { Json, JsonObject } from "../json/Json.ts"

export { isObject, type Json, type JsonObject } from "../json/Json.ts"

/**
 * The id of a request.
 *
 * @since 0.1.0
 * @category models
 */
export type Id = string | number

/**
 * A request in either direction.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: Id
  readonly method: string
  readonly params?: JsonObject | undefined
}

/**
 * A notification in either direction.
 *
 * @since 0.1.0
 * @category models
 */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: JsonObject | undefined
}

/**
 * A successful answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Success {
  readonly jsonrpc: "2.0"
  readonly id: Id
  readonly result: JsonObject
}

/**
 * A failed answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly jsonrpc: "2.0"
  readonly id: Id | null
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json | undefined }
}

/**
 * Whatever goes out over a transport.
 *
 * @since 0.1.0
 * @category models
 */
export type Message = Request | Notification | Success | Failure

/**
 * An object received, before anybody has looked at its shape.
 *
 * @since 0.1.0
 * @category models
 */
export type Incoming = { readonly [key: string]: unknown }

/**
 * Whether an outgoing message is a request, and so is owed an answer.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message
