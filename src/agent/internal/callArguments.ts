/**
 * What a model gives as arguments, in any of the ways that APIs hand it on.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as JsonRpc from "../../transport/JsonRpc.ts"

const parse = Schema.decodeUnknownEither(Schema.parseJson())

const isObject = (value: unknown): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`

/**
 * The arguments as an object, or what is wrong with them.
 *
 * @internal
 */
export const read = (given: unknown, maxLength: number): Either.Either<JsonRpc.JsonObject, string> => {
  if (given === undefined || given === null) return Either.right({})
  if (isObject(given)) return Either.right(given)
  if (typeof given !== "string") return Either.left(`they are ${kindOf(given)} and not a JSON object`)
  if (given.length > maxLength) {
    return Either.left(`they have ${given.length} characters, and ${maxLength} are the most`)
  }
  if (given.trim() === "") return Either.right({})
  const value = parse(given)
  if (Either.isLeft(value)) {
    return Either.left("they are no valid JSON; write one JSON object, and nothing before or behind")
  }
  if (value.right === null) return Either.right({})
  return isObject(value.right)
    ? Either.right(value.right)
    : Either.left(`they are ${kindOf(value.right)} and not a JSON object`)
}
