/**
 * What a bare word of YAML stands for by the core schema of version 1.2: nothing, true or false, a number, or itself.
 *
 * @internal
 */
import { number } from "./parsed.ts"

const words: ReadonlyMap<string, null | boolean | number> = new Map<string, null | boolean | number>([
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Infinity] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, -Infinity] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const)
])

const numbers = /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[Ee][-+]?\d+)?|0x[0-9A-Fa-f]+|0o[0-7]+)$/

/** @internal */
export const meant = (word: string, line: () => number): null | boolean | number | bigint | string => {
  const known = words.get(word)
  if (known !== undefined) return known
  return numbers.test(word) ? number(word, line) : word
}
