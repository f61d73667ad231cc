/** A field of a document that is `null` where there is no value. */
import * as Schema from "effect/Schema"

export const orNull = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.transform(Schema.NullOr(schema), Schema.NullishOr(Schema.typeSchema(schema)), {
    strict: true,
    decode: (value) => value,
    encode: (value) => value ?? null
  })
