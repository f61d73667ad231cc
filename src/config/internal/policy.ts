/**
 * @internal
 */
import type * as ConfigDocument from "../ConfigDocument.ts"
import type * as ConfigEntry from "../ConfigEntry.ts"
import type * as Scope from "../Scope.ts"
import type * as ServerConfig from "../ServerConfig.ts"
import type * as ServerPolicy from "../ServerPolicy.ts"

/** @internal */
export const decide = (_: ReadonlyArray<ServerPolicy.Policy>, __: ServerPolicy.Subject): ServerPolicy.Decision =>
  "allowed"
/** @internal */
export const subject = (config: ServerConfig.ServerConfig, fingerprint?: string): ServerPolicy.Subject => ({
  name: config.name,
  argv: undefined,
  url: undefined,
  fingerprint
})
/** @internal */
export const fromDocument = (
  _root: ConfigDocument.Table,
  _from: { readonly provider: string; readonly scope: Scope.Scope; readonly origin: Scope.Origin }
): {
  readonly policy: ServerPolicy.Policy | undefined
  readonly invalid: ReadonlyArray<{ readonly at: string; readonly detail: string }>
} => ({ policy: undefined, invalid: [] })
/** @internal */
export const hazards = (
  _: ConfigEntry.ConfigEntry
): ReadonlyArray<ConfigEntry.EntryWarning & { readonly detail: string }> => []
