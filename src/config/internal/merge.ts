/**
 * @internal
 */
import type * as Merge from "../Merge.ts"

/** @internal */
export const merge = (_: ReadonlyArray<Merge.Layer>): ReadonlyArray<Merge.Merged> => []
