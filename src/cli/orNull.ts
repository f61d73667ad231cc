/** A field of a document that takes a value, `undefined` or no value at all, and writes the latter two as `null`. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

export const orNull = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.requiredToOptional(Schema.NullOr(schema), Schema.NullishOr(Schema.typeSchema(schema)), {
    decode: Option.some,
    encode: (value) => Option.getOrNull(value) ?? null
  })
