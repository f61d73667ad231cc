/**
 * What the templates of one server may be resolved with. A configuration that has it is made of templates; one without
 * it, as code writes them, is made of plain texts.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Scope from "./Scope.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const Expansion = Schema.Struct({
  origin: Scope.Origin,
  /** The variables that this very entry was allowed to read, by name. */
  grants: Schema.Array(Schema.String),
  /** The values of `${var:…}`. */
  places: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** Where relative paths begin. */
  directory: Schema.String,
  /** Where files may be read from, if the origin has no right to read others. */
  root: Schema.optional(Schema.String),
  /** Variables of the entry that `${env:…}` is read from before the environment, where the host has such a rule. */
  own: Schema.optional(
    Schema.ReadonlyMapFromSelf({ key: Schema.String, value: Schema.RedactedFromSelf(Schema.String) })
  ),
  /** `${env:…}` is read from these variables only, whatever the environment has. */
  onlyOwn: Schema.optional(Schema.Boolean),
  /** What policies know the entry by. */
  fingerprint: Schema.optional(Schema.String),
  /** What the file says of its `${input:…}`: their defaults. */
  inputs: Schema.optional(Schema.Array(Schema.Struct({
    id: Schema.String,
    description: Schema.optional(Schema.String),
    secret: Schema.optional(Schema.Boolean),
    default: Schema.optional(Schema.String),
    choices: Schema.optional(Schema.Array(Schema.String))
  })))
})

/**
 * @since 0.1.0
 * @category models
 */
export type Expansion = typeof Expansion.Type
