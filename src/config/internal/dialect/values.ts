/**
 * The parts of a document, by their kinds.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"

type Value = ConfigDocument.Value | undefined

/** @internal */
export const isTable = (value: Value): value is ConfigDocument.Table => value instanceof Map

/** @internal */
export const isList = (value: Value): value is ReadonlyArray<ConfigDocument.Value> => Array.isArray(value)

/** @internal */
export const isText = (value: Value): value is string => typeof value === "string"

/** @internal */
export const table = (value: Value): ConfigDocument.Table => isTable(value) ? value : new Map()

/** @internal */
export const list = (value: Value): ReadonlyArray<ConfigDocument.Value> => isList(value) ? value : []

/** @internal */
export const tables = (value: Value): ReadonlyArray<ConfigDocument.Table> => list(value).filter(isTable)

/** A text, or a number or truth value as one. @internal */
export const scalar = (value: Value): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? String(value)
    : undefined

/** A table without the keys that have nothing, which is how YAML is written where a field is left empty. @internal */
export const withoutNulls = (value: ConfigDocument.Table): ConfigDocument.Table =>
  new Map(Array.from(value).filter(([, part]) => part !== null))
