/**
 * What an entry may say of itself, by who could have written it: what it has no right to is taken away, and said.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Variables from "../../environmentVariables.ts"
import * as Scope from "../../Scope.ts"

/** The words with which a host approves less than it would without them. */
const stricter: ReadonlySet<string> = new Set(["prompt", "ask", "deny", "never"])

const withoutApprovals = (
  tools: ConfigEntry.Tools,
  ignored: (at: string) => void
): ConfigEntry.Tools | undefined => {
  const { approval, autoApprove, ...rest } = tools
  if (autoApprove !== undefined) ignored("tools.autoApprove")
  const kept = new Map(Array.from(approval ?? []).filter(([, mode]) => stricter.has(mode)))
  if (kept.size !== (approval?.size ?? 0)) ignored("tools.approval")
  const tools_ = { ...rest, ...(kept.size === 0 ? {} : { approval: kept }) }
  return Object.keys(tools_).length === 0 ? undefined : tools_
}

/**
 * The entry with what its origin may say, and warnings about the rest.
 *
 * @internal
 */
export const withRights = (
  entry: ConfigEntry.ConfigEntry,
  origin: Scope.Origin
): { readonly entry: ConfigEntry.ConfigEntry; readonly warnings: ReadonlyArray<ConfigEntry.EntryWarning> } => {
  const rights = Scope.rights(origin)
  const warnings: Array<ConfigEntry.EntryWarning> = []
  let left = entry
  if (!rights.approveTools && left.tools !== undefined) {
    const { tools, ...others } = left
    const kept = withoutApprovals(tools, (at) => warnings.push({ kind: "ignored-in-project", at }))
    left = kept === undefined ? others : { ...others, tools: kept }
  }
  if (!rights.loaderVariables && left.env !== undefined) {
    const { env, ...others } = left
    const kept = new Map(Array.from(env).filter(([name, value]) => value === null || !Variables.isHostile(name)))
    for (const name of env.keys()) if (!kept.has(name)) warnings.push({ kind: "env-dropped", at: `env.${name}` })
    left = kept.size === 0 ? others : { ...others, env: kept }
  }
  if (!rights.environment && left.transport === "stdio" && left.inheritEnv !== undefined && left.inheritEnv !== false) {
    const { inheritEnv: _, ...others } = left
    warnings.push({ kind: "ignored-in-project", at: "inheritEnv" })
    left = others
  }
  return { entry: left, warnings }
}
