/**
 * Many files as one list of servers: who owns a name, and whom that shadows. Pure, and the same whatever the order in
 * which the files were read.
 *
 * @since 0.1.0
 */
import type * as ConfigEntry from "./ConfigEntry.ts"
import * as internal from "./internal/merging/merge.ts"
import type * as Provenance from "./Provenance.ts"
import type * as Scope from "./Scope.ts"

/**
 * What one file says, and how strong it is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Layer {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string | undefined
  /** Among the files of one scope the lower number wins: the order of the providers, then of their files. */
  readonly rank: number
  /** How many folders above the current one it lies: the nearer wins. */
  readonly distance: number
  /** Whether its entries are laid over weaker ones of the same provider field by field (OpenCode, Kilo). */
  readonly deep: boolean
  /** Whether it is all there is: no other file counts, not even if it is empty. */
  readonly exclusive: boolean
  readonly items: ReadonlyArray<LayerItem>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface LayerItem {
  readonly item: ConfigEntry.Item
  readonly provenance: Provenance.Provenance
}

/**
 * One name and what became of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Merged {
  readonly name: string
  /** Who owns the name. An invalid or disabled entry owns it too. */
  readonly item: ConfigEntry.Item
  readonly provenance: Provenance.Provenance
  /** The entries of the same name that do not count, the strongest first. */
  readonly shadows: ReadonlyArray<Provenance.Provenance>
  /** The entries it is made of, the weakest first, where that is more than one. */
  readonly sources: ReadonlyArray<Provenance.Provenance>
  /** Fields of a weaker layer that did not follow a changed address or command: `headers`, `oauth`, `env`. */
  readonly dropped: ReadonlyArray<string>
  /** The name of the stronger server that differs in nothing but its name. Said, and never acted on here. */
  readonly sameAs: string | undefined
}

/**
 * By name, in the order of their first appearance from the strongest layer down.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge: (layers: ReadonlyArray<Layer>) => ReadonlyArray<Merged> = internal.merge
