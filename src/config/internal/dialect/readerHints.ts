/**
 * Which key somebody meant who wrote another one.
 *
 * @internal
 */
import { isOneEdit } from "../../../text/nearest.ts"
import type * as Table from "./dialects/table.ts"

/** Without what people get wrong first: capitals, and what joins words. */
const bare = (key: string): string => key.toLowerCase().replaceAll(/[-_.]/g, "")

/**
 * The keys of a host, prepared for that.
 *
 * @internal
 */
export interface Hints {
  readonly instead: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

/** @internal */
export const make = (fields: Table.Fields): Hints => {
  const current = Object.entries(fields).filter(([, { deprecated, foreign, is }]) =>
    deprecated !== true && foreign !== true && is !== "unknown" && is !== "ignored" && is !== "refused"
  )
  return {
    instead: new Map(
      Object.entries(fields).flatMap(([key, { instead }]) => instead === undefined ? [] : [[key, instead]])
    ),
    keys: new Map(current.map(([key]) => [bare(key), key]))
  }
}

/** Longer than any key that there is. */
const longest = 64

/** @internal */
export const meant = ({ instead, keys }: Hints, written: string): string | undefined => {
  if (written.length > longest) return undefined
  const known = instead.get(written)
  if (known !== undefined) return known
  const word = bare(written)
  const same = keys.get(word)
  if (same !== undefined) return same
  // a short word is near to too many others
  if (word.length < 4) return undefined
  for (const [bareKey, key] of keys) {
    if (isOneEdit(word, bareKey) || (word.length > 6 && bareKey.startsWith(word))) return key
  }
  return undefined
}
