/**
 * Reading what crossed the memory as JSON, and the refusals that cross it.
 *
 * @internal
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as JsonRpc from "../../transport/JsonRpc.ts"

/**
 * An answer that is an error.
 *
 * @since 0.1.0
 * @category errors
 */
export class Refused extends Data.TaggedError("Refused")<{
  readonly code: number
  readonly message: string
  readonly data?: JsonRpc.Json | undefined
}> {}

/** @internal */
export const objectOf = (value: unknown): JsonRpc.JsonObject =>
  // the cast: everything here was JSON a moment ago
  JsonRpc.isObject(value) ? value as JsonRpc.JsonObject : {}

const decodeJson = Schema.decodeUnknownEither(Schema.parseJson())
const encodeJson = Schema.encodeSync(Schema.parseJson())

/** @internal */
export const parseObject = (text: unknown): JsonRpc.JsonObject =>
  objectOf(Either.getOrElse(decodeJson(text), () => undefined))

/** @internal */
export const print = (value: JsonRpc.JsonObject): string => encodeJson(value)
