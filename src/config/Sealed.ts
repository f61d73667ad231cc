/**
 * Records in a trust store that nobody without the key can write: each is signed, with what it is and whose.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as internal from "./internal/trust/sealed.ts"
import type * as TrustStore from "./TrustStore.ts"

/**
 * What brings a key that is not kept beside the records.
 *
 * @since 0.1.0
 * @category models
 */
export type Key = Effect.Effect<Redacted.Redacted, { readonly message: string }>

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<A, I extends object> {
  readonly store: TrustStore.TrustStore["Type"]
  /** The key to sign with (default: a random one, kept in the store and made when something is first written). */
  readonly key: Key | undefined
  /** What the records are: one of another kind is none, whoever has signed it. */
  readonly kind: string
  /** The fields, of which none is called `version`, `nonce` or `mac`. */
  readonly schema: Schema.Schema<A, I>
}

/**
 * What there is in a place: nothing, a record, or something that was not written with this key.
 *
 * @since 0.1.0
 * @category models
 */
export type Found<A> =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Broken" }
  | { readonly _tag: "Record"; readonly record: A; readonly mac: string }

/**
 * The store, or whatever brings the key, does not do what it is asked for; `detail` says why to a person.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unusable {
  readonly _tag: "Unusable"
  readonly detail: string
}

/**
 * The records of one kind. A place is named by some words, which the name under which it is kept does not tell. No
 * operation waits for longer than some seconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sealed<A> {
  /** The key that there is: none is made for what is only looked at. */
  readonly key: Effect.Effect<Redacted.Redacted | undefined, Unusable>
  /** The name in the store of a place. */
  readonly nameOf: (place: ReadonlyArray<string>) => string
  /** `key` is for whoever looks at many places, and wants to read the key once. */
  readonly get: (
    place: ReadonlyArray<string>,
    key?: Effect.Effect<Redacted.Redacted | undefined, Unusable>
  ) => Effect.Effect<Found<A>, Unusable>
  /** Two records are never the same, not even of the same thing. What is broken is put aside, for whoever wants to know. */
  readonly set: (place: ReadonlyArray<string>, record: A) => Effect.Effect<void, Unusable>
  readonly remove: (place: ReadonlyArray<string>) => Effect.Effect<void, Unusable>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: <A, I extends object>(options: Options<A, I>) => Sealed<A> = internal.make
