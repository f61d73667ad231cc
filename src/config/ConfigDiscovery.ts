/**
 * Finds the servers that a person already has: where each comes from, what is wrong with the rest, and which of them
 * may be started.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Provenance from "./Provenance.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"
import type * as Trust from "./Trust.ts"

/**
 * What may be done with a server that was found.
 *
 * - `Ready`: it may be started.
 * - `Disabled`: it is switched off, by its entry or by the options.
 * - `Denied`: a policy says no.
 * - `Untrusted`: somebody has to agree first.
 * - `Invalid`: its entry cannot be used; the issues say why.
 *
 * @since 0.1.0
 * @category models
 */
export type State =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Disabled" }
  | { readonly _tag: "Denied"; readonly decision: Exclude<ServerPolicy.Decision, "allowed"> }
  | { readonly _tag: "Untrusted"; readonly why: Trust.Why }
  | { readonly _tag: "Invalid"; readonly kind: ConfigIssue.EntryFault }

/**
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly name: string
  readonly state: State
  /** Absent if it is invalid. */
  readonly entry: ConfigEntry.ConfigEntry | undefined
  /** What a runtime takes; absent if it is invalid. It is blocked in it what is blocked here. */
  readonly config: ServerConfig.ServerConfig | undefined
  readonly provenance: Provenance.Provenance
  readonly shadows: ReadonlyArray<Provenance.Provenance>
  readonly sources: ReadonlyArray<Provenance.Provenance>
  /** The name of another server that it does not differ from. */
  readonly sameAs: string | undefined
  readonly fingerprint: string
}

/**
 * A file that was looked at, and there.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileFound {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string
  readonly servers: number
  /** Its last good content is used, because what is there now cannot be. */
  readonly stale: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Discovery {
  readonly servers: ReadonlyArray<Found>
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  readonly files: ReadonlyArray<FileFound>
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  /** What `McpRuntime.reload` takes. */
  readonly configs: ReadonlyArray<ServerConfig.ServerConfig>
}

/**
 * What differs between two discoveries, by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Diff {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ConfigDiscovery extends Context.Tag("effect-mcp-runtime/config/ConfigDiscovery")<ConfigDiscovery, {
  /** Reads everything now. Starts nothing, opens no socket, runs no program, and reads no variable but those that say where files are. */
  readonly discover: Effect.Effect<Discovery>
  /** A new discovery whenever a file, an approval or a policy has changed anything, with what it changed. */
  readonly changes: Stream.Stream<{ readonly discovery: Discovery; readonly diff: Diff }>
}>() {}
