/**
 * What `assert.deepStrictEqual` takes for the same. Left to itself it walks through whatever can be iterated, and since
 * `Option` can be in a generator only to be yielded, a value and none at all are the same to it.
 */
import * as Option from "effect/Option"
import { chai } from "vitest"

const eql = (one: unknown, other: unknown): boolean => chai.util.eql(one, other, { comparator })

const comparator = (one: unknown, other: unknown): boolean | null => {
  if (!Option.isOption(one) && !Option.isOption(other)) return null
  return Option.isOption(one) && Option.isOption(other) && one._tag === other._tag &&
    eql(Option.getOrUndefined(one), Option.getOrUndefined(other))
}

/** Called once for each process. */
export const strict = (): void => {
  chai.config.deepEqual = eql
}
