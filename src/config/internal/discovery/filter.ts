/**
 * What the options of a discovery say about single servers.
 *
 * @internal
 */
import type * as ConfigDiscovery from "../../ConfigDiscovery.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Scope from "../../Scope.ts"
import * as Family from "./family.ts"
import type { Read } from "./reading.ts"

/**
 * Disabling is stronger, because it can do no harm.
 *
 * @internal
 */
export const isEnabled = (
  { off, on }: Switches,
  { enabled, name }: Pick<ConfigEntry.ConfigEntry, "name" | "enabled">
): boolean => !off.has(name) && (enabled || on.has(name))

/** @internal */
export interface Switches {
  readonly off: ReadonlySet<string>
  readonly on: ReadonlySet<string>
}

/**
 * The lists of names in options and files: every file may switch off, those of the workspace may not switch on.
 *
 * @internal
 */
export const switches = (
  { disable, enable }: Pick<ConfigDiscovery.Options, "disable" | "enable">,
  reads: ReadonlyArray<Read>
): Switches => ({
  off: new Set([...disable, ...reads.flatMap(({ decoded }) => decoded.switches?.off ?? [])]),
  on: new Set([
    ...enable,
    ...reads.flatMap(({ decoded, source }) => Scope.rights(source.origin).start ? decoded.switches?.on ?? [] : [])
  ])
})

/** @internal */
export const isHidden = ({ hide }: Pick<ConfigDiscovery.Options, "hide">, found: ConfigDiscovery.Found): boolean =>
  hide.names?.includes(found.name) === true ||
  hide.providers?.some((host) => Family.isOf(found.provenance.provider, host)) === true ||
  hide.where?.(found) === true
