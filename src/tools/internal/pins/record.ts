/**
 * Pins as they are kept: one record for each name of a server, with what each of its configurations has offered.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Tool from "../../Tool.ts"
import { written } from "./fingerprinting.ts"

const Kept = Schema.Struct({
  tool: Schema.String,
  approved: Schema.Array(Schema.String),
  bare: Schema.Array(Schema.String),
  /** What it was when it was last agreed to; not there if all of them are too long, or if there is a secret in it. */
  definition: Schema.optional(Schema.String)
})

/** @internal */
export const Pins = Schema.Struct({
  /** Something that nobody can believe was here: of no configuration anything is new. */
  doubted: Schema.Boolean,
  /** The last used comes last. */
  configurations: Schema.Array(Schema.Struct({ fingerprint: Schema.String, tools: Schema.Array(Kept) }))
})

/** @internal */
export type Pins = typeof Pins.Type

/** @internal */
export const empty: Pins = { doubted: false, configurations: [] }

/**
 * What was agreed to of a tool, by fingerprint, and without annotations.
 *
 * @internal
 */
export interface Pin {
  readonly approved: ReadonlyArray<string>
  readonly bare: ReadonlyArray<string>
  /** As text, where it comes from the store. */
  readonly definition: Tool.Tool["raw"] | string | undefined
}

/** Of a name that stands for many servers in turn, the last used are kept. */
const maxConfigurations = 16

/** A tool that goes back and forth between more is asked about again. */
const maxApproved = 16

/** Characters of all definitions. */
const maxDefinitions = 2 * 1024 * 1024

/** @internal */
export const added = (list: ReadonlyArray<string>, fingerprint: string): ReadonlyArray<string> =>
  list.includes(fingerprint) ? list : [...list, fingerprint].slice(-maxApproved)

/** @internal */
export const pinsOf = (record: Pins, fingerprint: string): Map<string, Pin> | undefined => {
  const found = record.configurations.find((one) => one.fingerprint === fingerprint)
  return found &&
    new Map(found.tools.map(({ approved, bare, definition, tool }) => [tool, { approved, bare, definition }]))
}

/**
 * The record with these pins of one configuration, which is the last used.
 *
 * @param holdsSecret - whether a definition must not be written down
 * @internal
 */
export const withPins = (
  record: Pins,
  fingerprint: string,
  pins: ReadonlyMap<string, Pin>,
  holdsSecret: (definition: string) => boolean
): Pins => {
  let left = maxDefinitions
  const fitting = (definition: Pin["definition"]): string | undefined => {
    if (definition === undefined || left <= 0) return undefined
    const text = typeof definition === "object" ? written(definition) : definition
    // what comes from the store had none when it was written, and is not looked through again
    if (text.length > left || (typeof definition === "object" && holdsSecret(text))) return undefined
    left -= text.length
    return text
  }
  const tools = Array.from(pins, ([tool, { approved, bare, definition }]) => ({
    tool,
    approved,
    bare,
    definition: fitting(definition)
  }))
  const others = record.configurations
    .filter((one) => one.fingerprint !== fingerprint)
    .slice(1 - maxConfigurations)
    .toReversed()
    .map(({ fingerprint, tools }) => ({
      fingerprint,
      tools: tools.map(({ approved, bare, definition, tool }) => ({
        tool,
        approved,
        bare,
        definition: fitting(definition)
      }))
    }))
  return { ...record, configurations: [...others.toReversed(), { fingerprint, tools }] }
}

const Definition = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeDefinition = Schema.decodeUnknownEither(Definition)

/**
 * What a tool was, if that is known.
 *
 * @internal
 */
export const definitionOf = ({ definition }: Pin): Tool.Tool["raw"] | undefined => {
  if (typeof definition !== "string") return definition
  const decoded = decodeDefinition(definition)
  return Either.isRight(decoded) ? decoded.right as Tool.Tool["raw"] : undefined // it was written from one
}
