/**
 * What a configuration asks for beside its templates, cut down to what its origin may have.
 *
 * @internal
 */
import * as Redacted from "effect/Redacted"
import * as Variables from "../../environmentVariables.ts"
import type * as Expansion from "../../Expansion.ts"
import type * as Resolution from "../../Resolution.ts"
import * as Scope from "../../Scope.ts"
import type * as ServerConfig from "../../ServerConfig.ts"

/** @internal */
export interface Narrowed {
  readonly config: ServerConfig.ServerConfig
  readonly warnings: ReadonlyArray<Resolution.Warning>
}

/** The variable that holds a token is one like any other: it is asked for as such. */
const withBearer = (config: ServerConfig.ServerConfig): ServerConfig.ServerConfig => {
  if (!("bearerTokenEnvVar" in config) || config.bearerTokenEnvVar === undefined) return config
  const { bearerTokenEnvVar, ...rest } = config
  const others = Array.from(config.headers ?? []).filter(([name]) => name.toLowerCase() !== "authorization")
  const bearer = Redacted.make(`Bearer \${env:${bearerTokenEnvVar}}`)
  return { ...rest, headers: new Map([...others, ["authorization", bearer]]) }
}

/** @internal */
export const make = (given: ServerConfig.ServerConfig, { grants, origin }: Expansion.Expansion): Narrowed => {
  const config = withBearer(given)
  if (Scope.rights(origin).environment || !("inheritEnv" in config) || config.inheritEnv === undefined) {
    return { config, warnings: [] }
  }
  const asked = config.inheritEnv
  const inheritEnv = typeof asked === "boolean"
    ? false
    : asked.filter((name) => grants.includes(name) || Variables.isHarmless(name))
  const isLess = asked === true || (typeof asked !== "boolean" && asked.length > (inheritEnv || []).length)
  return {
    config: { ...config, inheritEnv },
    warnings: isLess ? [{ kind: "ignored-in-project", at: "inheritEnv", variable: undefined }] : []
  }
}
