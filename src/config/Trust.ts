/**
 * Which servers of a workspace may be started: those whose very words a person of this machine has agreed to.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as McpError from "../McpError.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as Provenance from "./Provenance.ts"

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
 * @category tags
 */
export class Trust extends Context.Tag("effect-mcp-runtime/config/Trust")<Trust, {
  /** The verdicts over all servers of a workspace that want to be trusted, in their order; the others are forgotten. */
  readonly review: (candidates: ReadonlyArray<Candidate>) => Effect.Effect<ReadonlyArray<Verdict>>
  /** Those of the last review that wait for somebody. */
  readonly pending: Effect.Effect<ReadonlyArray<Pending>>
  /** By the name of a pending server or by its fingerprint. What is approved is what was reviewed, not what is there now. */
  readonly approve: (
    server: string,
    options?: ApproveOptions
  ) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** By name, of the last review. */
  readonly revoke: (server: string) => Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
  /** An element for every approval and revocation from now on. */
  readonly changes: Stream.Stream<void>
}>() {}
