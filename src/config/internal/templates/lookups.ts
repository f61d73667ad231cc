/**
 * Who may ask for what, and what it is.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Variables from "../../environmentVariables.ts"
import type * as Interpolation from "../../Interpolation.ts"
import * as Scope from "../../Scope.ts"
import * as Template from "./template.ts"
import * as VariableNames from "./variableNames.ts"

/** More than any honest address has. */
const most = 64

/**
 * What of an address is a part of the name of the host, which is looked up in public and shown in errors. What a text
 * means as an address only the parser of addresses knows; where it cannot tell, everything may be.
 */
const inHost = (template: string): ReadonlySet<string> => {
  const asked: Array<string> = []
  const marked = Template.fill(
    template,
    (reference) => Either.right(`zq${asked.push(Template.nameOf(reference)) - 1}qz`)
  )
  const address = Either.getOrElse(marked, () => "")
  if (asked.length > most || !URL.canParse(address)) return new Set(asked)
  const { host, password, protocol, username } = new URL(address)
  const shown = [protocol, username, password, host].join(" ")
  return new Set(asked.filter((_, index) => shown.includes(`zq${index}qz`)))
}

/**
 * Whether a reference may be asked at all, in this field of an entry of this origin.
 *
 * @internal
 */
export const permits = (
  { grants, hidden, origin, own, places }: Interpolation.Asking,
  field: Interpolation.Field,
  template: string
): (reference: Interpolation.Reference) => boolean => {
  const rights = Scope.rights(origin)
  const isShown = field === "command" || field === "cwd"
  const isSent = field === "url" || field === "header"
  const hosts = field === "url" ? inHost(template) : new Set<string>()
  return (reference) => {
    const { kind, name } = reference
    switch (kind) {
      case "var":
      case "unknown":
        return true
      case "file":
      case "cmd":
        return rights.substitute
      case "input":
        return !(isShown && hidden.has(name)) && (rights.substitute || field !== "command")
      case "secret":
        return !isShown && !hosts.has(Template.nameOf(reference))
      case "env":
        if (rights.environment || Object.hasOwn(places, name)) return true
        if (field === "command") return false
        if (own.has(name)) return true
        if (VariableNames.isCredential(name) && (isShown || hosts.has(name))) return false
        return grants.includes(name) || (!isSent && Variables.isHarmless(name))
    }
  }
}

/**
 * The environment variable that answers an input or a secret: `MCP_INPUT_API_KEY`.
 *
 * @internal
 */
export const answeredBy = ({ kind, name }: Interpolation.Reference): string | undefined =>
  kind === "input" || kind === "secret"
    ? `MCP_${kind.toUpperCase()}_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`
    : undefined

/** @internal */
export const ownValue = (record: Readonly<Record<string, string | undefined>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** @internal */
export const lookup = (
  asking: Interpolation.Asking,
  field: Interpolation.Field,
  template: string
): Interpolation.Lookup => {
  const isPermitted = permits(asking, field, template)
  const valueOf = (reference: Interpolation.Reference): string | undefined => {
    const { kind, name } = reference
    switch (kind) {
      case "env":
        // people write places as other hosts do, and no variable has such a name
        return asking.own.get(name) ?? ownValue(asking.places, name) ?? ownValue(asking.environment, name)
      case "var":
        return ownValue(asking.places, name)
      case "unknown":
        return undefined
      default:
        return asking.answers.get(Template.nameOf(reference))
    }
  }
  return (reference) => isPermitted(reference) ? { value: valueOf(reference) } : "forbidden"
}
