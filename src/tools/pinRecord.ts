/** The pins of one server name: the record that is stored, within its bounds. */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Tool from "./Tool.ts"
import * as Definition from "./toolDefinition.ts"
import type { Why } from "./ToolPins.ts"

/** Approved definitions of one tool. */
const maxApproved = 16

/** Stored configurations of one name. */
const maxConfigurations = 16

/** Characters of all stored definitions of a name. */
const maxDefinitions = 2 * 1024 * 1024

const StoredPin = Schema.Struct({
  tool: Schema.String,
  approved: Schema.Array(Schema.String),
  bare: Schema.Array(Schema.String),
  /** Its server added it after its first list, and no person has approved a call yet. */
  isAdded: Schema.optional(Schema.Boolean),
  /** The definition approved last, unless there is no room for it, or it contains a secret. */
  definition: Schema.optional(Schema.String)
})

/** The pins of one name. */
export const Stored = Schema.Struct({
  /** An earlier record was broken: no tool of any configuration counts as new. */
  doubted: Schema.Boolean,
  /** The last used comes last. */
  configurations: Schema.Array(Schema.Struct({ fingerprint: Schema.String, tools: Schema.Array(StoredPin) }))
})

export type Stored = typeof Stored.Type

/** The approved definitions of a tool, by fingerprint with and without annotations. */
export interface Pin extends Omit<typeof StoredPin.Type, "tool" | "definition"> {
  /** As text, where it comes from the store. */
  readonly definition?: Tool.Tool["raw"] | string | undefined
}

export const added = (list: ReadonlyArray<string>, fingerprint: string): ReadonlyArray<string> =>
  list.includes(fingerprint) ? list : [...list, fingerprint].slice(-maxApproved)

export const pinOf = (tool: Tool.Tool, before?: Pin): Pin => {
  const { bare, whole } = Definition.fingerprints(tool)
  return { approved: added(before?.approved ?? [], whole), bare: added(before?.bare ?? [], bare), definition: tool.raw }
}

/** The record with these pins; definitions of the configurations used last take the room first. */
export const withPins = (
  record: Stored,
  fingerprint: string,
  pins: ReadonlyMap<string, Pin>,
  holdsSecret: (definition: string) => boolean
): Stored => {
  let room = maxDefinitions
  const fitting = (definition: Pin["definition"]): string | undefined => {
    if (definition === undefined || room <= 0) return undefined
    const isNew = typeof definition === "object"
    const text = isNew ? Definition.written(definition) : definition
    if (text.length > room || (isNew && holdsSecret(text))) return undefined
    room -= text.length
    return text
  }
  const others = record.configurations.filter((each) => each.fingerprint !== fingerprint).slice(1 - maxConfigurations)
  const now = { fingerprint, tools: Array.from(pins, ([tool, pin]) => ({ ...pin, tool })) }
  const configurations = [now, ...others.toReversed()].map(({ fingerprint, tools }) => ({
    fingerprint,
    tools: tools.map((pin) => ({ ...pin, definition: fitting(pin.definition) }))
  }))
  return { ...record, configurations: configurations.toReversed() }
}

const decodeDefinition = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

const definitionOf = ({ definition }: Pin): Tool.Tool["raw"] | undefined => {
  if (typeof definition !== "string") return definition
  const decoded = decodeDefinition(definition)
  return Either.isRight(decoded) ? decoded.right as Tool.Tool["raw"] : undefined // written from one
}

const withoutPrevious: { readonly [W in Why]: string } = {
  changed: "the previous definition is not stored",
  unreadable: "the stored pins of its server cannot be read",
  crowded: "its server has more tools than are pinned"
}

/** The difference from the pin; where there is no definition to compare with, the reason and the whole definition. */
export const differences = (tool: Tool.Tool, pin: Pin | undefined, why: Why): ReadonlyArray<Definition.Change> => {
  const before = pin && definitionOf(pin)
  return before !== undefined
    ? Definition.diff(before, tool.raw)
    : [{ path: "", before: withoutPrevious[why], after: "what follows" }, ...Definition.diff({}, tool.raw)]
}
