/**
 * The JSON-RPC 2.0 envelope, as plain data.
 *
 * @since 0.1.0
 */

/**
 * Any JSON value.
 *
 * @since 0.1.0
 * @category models
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/**
 * A JSON object; keys may come from a server, so read them with `Object.hasOwn` or a literal.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

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
 * Whether a value is a JSON object and not an array.
 *
 * @since 0.1.0
 * @category guards
 */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Whether an outgoing message is a request, and so is owed an answer.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message
