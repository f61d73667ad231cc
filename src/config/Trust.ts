/**
 * Which servers of a workspace may be started: those whose very words a person of this machine has agreed to.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as Expansion from "./Expansion.ts"
import * as Consent from "./internal/trust/consent.ts"
import * as internal from "./internal/trust/trust.ts"
import type * as Provenance from "./Provenance.ts"
import type * as Sealed from "./Sealed.ts"
import * as TrustStore from "./TrustStore.ts"

/**
 * A server that wants to be trusted. The consent of a person is shown `entry`, which is what will be started: never the
 * text of a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Candidate {
  /** The real path of the workspace. */
  readonly root: string
  readonly server: string
  /** Over every field of the entry as it was parsed, known or not, in any order of keys; with provider and workspace. */
  readonly fingerprint: string
  readonly entry: ConfigEntry.ConfigEntry
  readonly provenance: Provenance.Provenance
  /** The variables of the environment that it asks for. */
  readonly variables: ReadonlyArray<string>
  /** The questions of its file that it asks: an answer that nobody gives is the default. */
  readonly inputs?: Expansion.Expansion["inputs"] | undefined
  readonly hazards: ReadonlyArray<ConfigEntry.EntryWarning & { readonly detail: string }>
}

/**
 * @since 0.1.0
 * @category models
 */
export type Verdict =
  | { readonly _tag: "Approved"; readonly grants: ReadonlyArray<string> }
  | { readonly _tag: "Pending"; readonly why: Why }

/**
 * Why somebody has to be asked: nobody was yet, or about other words, or what was kept of the answer was tampered with.
 *
 * @since 0.1.0
 * @category models
 */
export type Why = "new" | "changed" | "tampered"

/**
 * @since 0.1.0
 * @category models
 */
export interface Pending extends Candidate {
  readonly why: Why
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ApproveOptions {
  /**
   * The variables of the environment that it may read; default: those it asks for whose names do not look like
   * credentials.
   */
  readonly variables?: ReadonlyArray<string> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Fingerprints (`sha256:…`) that are approved without a person, for where nobody can be asked. Nothing else does that:
   * that there is no terminal, that this is CI, or that everything else was answered with yes.
   */
  readonly approved: ReadonlyArray<string>
  /** The key that decisions are signed with, for example from a keyring (default: a random one, beside the decisions). */
  readonly key: Sealed.Key | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { approved: [], key: undefined }

/**
 * @since 0.1.0
 * @category tags
 */
export class Trust extends Context.Tag("effect-mcp-runtime/config/Trust")<Trust, {
  /** The verdicts over all servers of a workspace that want to be trusted, in their order; the others are forgotten. */
  readonly review: (candidates: ReadonlyArray<Candidate>) => Effect.Effect<ReadonlyArray<Verdict>>
  /** Those of the last review that wait for somebody. */
  readonly pending: Effect.Effect<ReadonlyArray<Pending>>
  /**
   * By fingerprint, or by name. What is approved is what was reviewed last, not what is in the file now. Whoever has shown
   * a candidate to a person names its fingerprint, so that nothing else is approved that has its name by then.
   */
  readonly approve: (
    server: string,
    options?: ApproveOptions
  ) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** By fingerprint or name, of the last review. */
  readonly revoke: (server: string) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** An element for every approval and revocation from now on, and for those of other processes where the store tells. */
  readonly changes: Stream.Stream<void>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<Trust["Type"], never, McpEvent.McpEvents | Scope.Scope | TrustStore.TrustStore> =>
  internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<Trust, never, McpEvent.McpEvents | TrustStore.TrustStore> => Layer.scoped(Trust, make(options))

/**
 * Decisions hold for this process only, and nobody is told of them but the stream of changes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: Partial<Options>): Layer.Layer<Trust> =>
  Layer.provide(layer(options), Layer.merge(TrustStore.layerMemory, McpEvent.layerNone))

/**
 * Everything is trusted, for an application that has asked in a way of its own. What a server may read of the
 * environment is what `variables` says (default: what it asks for and does not look like a credential).
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAll = (options?: {
  readonly variables?: ((candidate: Candidate) => ReadonlyArray<string>) | undefined
}): Layer.Layer<Trust> => {
  const variables = options?.variables ?? internal.harmless
  return Layer.succeed(Trust, {
    review: (candidates) =>
      Effect.succeed(candidates.map((candidate) => ({ _tag: "Approved", grants: variables(candidate) }))),
    pending: Effect.succeed([]),
    approve: () => Effect.void,
    revoke: () => Effect.void,
    changes: Stream.never
  })
}

/**
 * One line of what a person is shown before agreeing. The text is safe to print, has every character of what it tells
 * of, and no secrets; where a line is a `warning`, it should stand out.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConsentLine {
  readonly label: string
  readonly text: string
  readonly level: "plain" | "warning"
}

/**
 * What a person has to see before agreeing to a server: what is started or reached, word by word, where that comes from,
 * what it may read, and what is hazardous about it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const consent: (candidate: Candidate) => ReadonlyArray<ConsentLine> = Consent.lines
