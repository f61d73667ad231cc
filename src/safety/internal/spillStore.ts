import type * as Effect from "effect/Effect"
import type { Source } from "../OutputGuard.ts"
import type { Handle } from "../Spill.ts"

/**
 * A part of a text that is kept, and whose words it is.
 *
 * @internal
 */
export interface Part {
  readonly source: Source
  readonly text: string
}

/** @internal */
export type Kept =
  | { readonly _tag: "Found"; readonly part: Part }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Broken" }

/**
 * Where texts are kept. `write` says whether there was room.
 *
 * @internal
 */
export interface Store<E> {
  readonly write: (handle: Handle, text: string, source: Source) => Effect.Effect<boolean, E>
  readonly read: (handle: Handle, from: number, length: number) => Effect.Effect<Kept, E>
  readonly sweep: Effect.Effect<void, E>
}
