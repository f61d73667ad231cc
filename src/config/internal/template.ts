/**
 * @internal
 */
import * as Either from "effect/Either"
import type * as Interpolation from "../Interpolation.ts"

/** @internal */
export const native: Interpolation.Syntax = {}
/** @internal */
export const canonical = (_: Interpolation.Syntax, text: string): Interpolation.Canonical => ({
  template: text,
  warnings: []
})
/** @internal */
export const parse = (template: string): ReadonlyArray<string | Interpolation.Reference> => [template]
/** @internal */
export const literal = (text: string): string => text
/** @internal */
export const variables = (_: string): ReadonlyArray<string> => []
/** @internal */
export const resolve = (template: string, _: Interpolation.Lookup): Either.Either<string, Interpolation.Failure> =>
  Either.right(template)
/** @internal */
export const isCredential = (_: string): boolean => true
/** @internal */
export const isHarmless = (_: string): boolean => false
