/**
 * Hides secrets in what is told: in errors, logs, spans, events and on terminals. What a server and an application tell
 * each other is left as it is.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as internal from "./internal/redaction/redaction.ts"

/**
 * Something in a text that is a secret, or looks like one. `id` says by what it was found: `known`, the vendor of a
 * token, or its surroundings (`named`, `address`, `private-key`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly id: string
  readonly at: number
  readonly length: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Redactor {
  /** Hides known values first, then what has the format of a secret. The same text object where nothing is found. */
  readonly text: (text: string) => string
  /** Hides known values only, for what a person decides by: nobody can hide anything there by giving it the format of one. */
  readonly known: (text: string) => string
  /** Deep, and of the same shape; what a telling key holds (`authorization`, `token`, `password`) is hidden as well. */
  readonly json: (value: unknown) => unknown
  readonly headers: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
  /** Without its user and password, and without the values of its query that are secrets by their names. */
  readonly url: (url: string) => string
  /** Hidden from now on until the scope closes, also as what usually encodes it has written it. */
  readonly know: (secret: Redacted.Redacted) => Effect.Effect<void, never, Scope.Scope>
  /** The same at once, for those who learn of a secret while they send it; returns how to let go of it. */
  readonly unsafeKnow: (secret: Redacted.Redacted) => () => void
  /** Where `text` would hide something, and why. */
  readonly found: (text: string) => ReadonlyArray<Found>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Whether what looks like a secret is hidden, beside what is known to be one. */
  readonly formats: boolean
  /** Keys, headers and parameters that hold secrets although their names do not say so, in any case. */
  readonly sensitive: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { formats: true, sensitive: [] }

/**
 * It knows nothing at first.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Redactor => internal.make({ ...defaults, ...options })

/**
 * The redaction of an application. It is on without a Layer, because a secret that was told cannot be taken back, and
 * what is told comes from everywhere; one for the whole process then, so that a secret of one runtime is none of
 * another's log. A Layer of your own belongs below everything that connects and logs: `NodeMcpRuntime.using`.
 *
 * @since 0.1.0
 * @category references
 */
export class Redaction extends Context.Reference<Redaction>()("effect-mcp-runtime/safety/Redaction", {
  defaultValue: (): Redactor => make()
}) {}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Redaction> =>
  Layer.effect(Redaction, Effect.sync(() => make(options)))

/**
 * Everything is told as it is.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Redaction> = Layer.succeed(Redaction, internal.none)
