/**
 * The state of judging one value by one schema, and what the keywords share.
 *
 * @internal
 */
import * as JsonRpc from "../../../transport/JsonRpc.ts"

/**
 * The value cannot be judged: the schema says something that is not supported or the work is over its bound. It is
 * thrown by keywords and never leaves `OutputSchema`.
 *
 * @internal
 */
export class Unchecked extends Error {}

/** @internal */
export interface Path {
  readonly parent: Path | undefined
  readonly key: string | number
}

/**
 * What of an object or an array the keywords have looked at, for `unevaluatedProperties` and `unevaluatedItems`.
 *
 * @internal
 */
export interface Seen {
  readonly properties: Set<string>
  readonly indexes: Set<number>
  /** All items below this index. */
  items: number
}

/** @internal */
export interface Evaluation {
  readonly root: unknown
  readonly refsAlone: boolean
  readonly track: boolean
  readonly matches: (pattern: string, text: string) => boolean
  readonly evaluate: (schema: unknown, value: unknown, path: Path | undefined, seen: Seen | undefined) => boolean
  /** What is left of the work that this value may cost. */
  steps: number
  depth: number
  fault: { readonly path: Path | undefined; readonly detail: string } | undefined
}

/** @internal */
export interface Keyword {
  (
    on: Evaluation,
    operand: unknown,
    value: unknown,
    schema: { readonly [key: string]: unknown },
    path: Path | undefined,
    seen: Seen | undefined
  ): boolean
}

/** @internal */
export const emptySeen = (): Seen => ({ properties: new Set(), indexes: new Set(), items: 0 })

/** @internal */
export const mergeSeen = (into: Seen, from: Seen): void => {
  for (const key of from.properties) into.properties.add(key)
  for (const index of from.indexes) into.indexes.add(index)
  into.items = Math.max(into.items, from.items)
}

/** @internal */
export const spend = (on: Evaluation, steps: number): void => {
  on.steps -= steps
  if (on.steps < 0) throw new Unchecked("judging the value by it takes too long")
}

/** @internal */
export const fail = (on: Evaluation, path: Path | undefined, detail: string): false => {
  on.fault = { path, detail }
  return false
}

/** @internal */
export const malformed = (keyword: string): Unchecked => new Unchecked(`its "${keyword}" is malformed`)

/** @internal */
export const asNumber = (operand: unknown, keyword: string): number => {
  if (typeof operand !== "number") throw malformed(keyword)
  return operand
}

/** @internal */
export const asArray = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  if (!Array.isArray(operand)) throw malformed(keyword)
  return operand
}

/** @internal */
export const asSchemas = (operand: unknown, keyword: string): ReadonlyArray<unknown> => {
  const schemas = asArray(operand, keyword)
  if (schemas.length === 0) throw malformed(keyword)
  return schemas
}

/** @internal */
export const asObject = (operand: unknown, keyword: string): { readonly [key: string]: unknown } => {
  if (!JsonRpc.isObject(operand)) throw malformed(keyword)
  return operand
}
