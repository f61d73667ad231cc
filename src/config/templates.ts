/** The texts of a configuration that may be templates. */
import * as Redacted from "effect/Redacted"
import * as Fields from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import { Login } from "./Login.ts"
import { login } from "./loginFields.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as Access from "./variableAccess.ts"

/** One text of a configuration that may be a template. */
export interface Site {
  /** `command`, `args.0`, `env.TOKEN`. */
  readonly at: string
  readonly field: Access.Field
  readonly template: string
}

/** Gives the text that takes the place of a template; `undefined`: the text is left out. */
export type Replace = (site: Site) => string | undefined

const mapValue = (value: unknown, at: string, field: Access.Field, replace: Replace): unknown => {
  if (typeof value === "string") return replace({ at, field, template: value })
  if (FieldSchema.isSecret(value)) {
    const text = replace({ at, field, template: Redacted.value(value) })
    return text === undefined ? undefined : Redacted.make(text)
  }
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      mapValue(item, `${at}.${index}`, index > 0 && field === "command" ? "argument" : field, replace)
    )
  }
  if (!(value instanceof Map)) return value
  const mapped = Array.from(value, ([name, item]) => [name, mapValue(item, `${at}.${name}`, field, replace)] as const)
  return new Map(mapped.filter(([, item]) => item !== undefined))
}

const mapFields = (table: FieldSchema.Rows, from: object, at: string, replace: Replace): object =>
  Object.fromEntries(
    Object.entries(from).flatMap(([key, value]) => {
      const row = Object.hasOwn(table, key) ? table[key] : undefined
      const mapped = row === undefined
        ? value
        : row.template !== undefined
        ? mapValue(value, `${at}${key}`, row.template, replace)
        : row.schema === Login && typeof value === "object" && value !== null
        ? mapFields(login, value, `${at}${key}.`, replace)
        : value
      return mapped === undefined ? [] : [[key, mapped]]
    })
  )

/** A configuration with other texts in place of its templates. */
export const mapTexts = (config: Pick<ServerConfig.ServerConfig, "transport">, replace: Replace): object =>
  mapFields(Fields.tables[config.transport], config, "", replace)

/** The texts of a configuration that may be templates. */
export const texts = (config: Pick<ServerConfig.ServerConfig, "transport">): ReadonlyArray<Site> => {
  const sites: Array<Site> = []
  mapTexts(config, (site) => {
    sites.push(site)
    return site.template
  })
  return sites
}
