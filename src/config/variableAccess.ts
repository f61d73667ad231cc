/** The variables that an entry may read: by the rights of its origin, the field that asks, and the grants of a person. */
import * as Either from "effect/Either"
import { isCredential } from "../text/credentialName.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Dialect from "./Dialect.ts"
import { isHarmless } from "./environmentVariables.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Scope from "./Scope.ts"

/** The field of a template. Fields that are sent to a server, or that decide which program runs, may ask for less. */
export type Field = "command" | "cwd" | "argument" | "url" | "header"

/** The rights of an entry, and the values that its references can have. */
export interface Asking {
  readonly origin: Scope.Origin
  /** The variables that the entry was allowed to read. */
  readonly grants: ReadonlyArray<string>
  /** The literal variables of the entry itself, which it may always read. */
  readonly entryVariables: ReadonlyMap<string, string>
  /** Of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The values of `${var:…}`. */
  readonly builtins: Readonly<Record<string, string>>
  /** The answers to `${input:…}`, `${secret:…}`, `${file:…}` and `${cmd:…}`, under `input:id` and so on. */
  readonly answers: ReadonlyMap<string, string | undefined>
  /** The `${input:…}` whose answers are hidden while they are typed. */
  readonly hidden: ReadonlySet<string>
}

/** The reason for a template without a value. */
export interface Failure {
  readonly kind: "variable-unset" | "variable-forbidden" | "input-required"
  readonly reference: Interpolation.Reference
}

/** An address with more variables than this is taken to have all of them in its host. */
const mostInAddress = 64

/**
 * The variables within the host of an address, which is looked up in public and shown in errors. The address is parsed
 * with a marker for each variable; where it cannot be parsed, each may be in the host. It is parsed again with those of
 * the host empty, because `https://${HOST}/${TOKEN}` with an empty HOST has the TOKEN as its host.
 */
const inHost = (template: string): ReadonlySet<string> => {
  const asked = Interpolation.references(template).map(Interpolation.nameOf)
  const found = new Set<string>()
  while (asked.length <= mostInAddress) {
    let at = 0
    const marked = Interpolation.fill(template, (reference) => {
      const marker = `zq${at++}qz`
      return Either.right(found.has(Interpolation.nameOf(reference)) ? "" : marker)
    })
    const address = Either.getOrElse(marked, () => "")
    if (!URL.canParse(address) && found.size > 0) return found
    // the scheme decides how the rest is read
    if (!URL.canParse(address) || /zq\d+qz/.test(new URL(address).protocol)) break
    const { host, password, username } = new URL(address)
    const shown = [username, password, host].join(" ")
    const more = asked.filter((_, index) => shown.includes(`zq${index}qz`))
    if (more.length === 0) return found
    for (const name of more) found.add(name)
  }
  return new Set(asked)
}

/**
 * Decides which references may be read in this field. An origin with the right to the environment reads all of it; others
 * read their own literal variables, granted ones, and harmless ones where nothing is sent. A host name, a command and a
 * folder never hold a credential, because they are shown.
 */
const permits = ({ builtins, entryVariables, grants, hidden, origin }: Asking, field: Field, template: string) => {
  const rights = Scope.rights(origin)
  const isShown = field === "command" || field === "cwd"
  const isSent = field === "url" || field === "header"
  const hosts = field === "url" ? inHost(template) : new Set<string>()
  return (reference: Interpolation.Reference): boolean => {
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
        return !isShown && !hosts.has(Interpolation.nameOf(reference))
      case "env":
        if (rights.environment || Object.hasOwn(builtins, name)) return true
        if (field === "command") return false
        if (entryVariables.has(name)) return true
        if (isCredential(name) && (isShown || hosts.has(name))) return false
        return grants.includes(name) || (!isSent && isHarmless(name))
    }
  }
}

/** The environment variable that answers an input or a secret: `MCP_INPUT_API_KEY`. */
export const answeredBy = ({ kind, name }: Interpolation.Reference): string | undefined =>
  kind === "input" || kind === "secret"
    ? `MCP_${kind.toUpperCase()}_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`
    : undefined

/** The next step for a person where a reference has no value. */
export const nextStep = ({ kind, reference }: Failure, host: string | undefined): string => {
  const name = UntrustedText.quote(Interpolation.nameOf(reference))
  const from = UntrustedText.quote(answeredBy(reference) ?? Interpolation.nameOf(reference))
  if (kind === "variable-forbidden") {
    return `${from} may not be read here: grant it when the server is approved, or move the server to a user file`
  }
  if (kind === "input-required") {
    const what = `${reference.kind} ${UntrustedText.quote(reference.name)}`
    return `unanswered ${what}: set ${from} before this program starts, or give it a default`
  }
  if (reference.kind !== "env") return `${name} has no value here: write the value instead`
  const row = host === undefined ? Dialect.native : Dialect.find(host)
  const written = row?.variables?.syntax.bare === true ? ` (${UntrustedText.excerpt(`\${${reference.name}:-…}`)})` : ""
  return `${name} is not set: set it before this program starts, or give it a default${written}`
}

/** The value of a variable. One that is set to an empty text is set. */
export const valueIn = (record: Readonly<Record<string, string | undefined>>, name: string): string | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

const valueOf = (
  { answers, builtins, entryVariables, environment }: Asking,
  { kind, name }: Interpolation.Reference
) => {
  // some hosts write built-in variables like those of the environment, which have no such names
  if (kind === "env") return entryVariables.get(name) ?? valueIn(builtins, name) ?? valueIn(environment, name)
  return kind === "var" ? valueIn(builtins, name) : kind === "unknown" ? undefined : answers.get(`${kind}:${name}`)
}

/** The value of a reference in this field; a default counts for an unset variable, and not for a forbidden one. */
export const answer = (asking: Asking, field: Field, template: string) => {
  const isPermitted = permits(asking, field, template)
  return (reference: Interpolation.Reference): Either.Either<string, Failure> => {
    if (!isPermitted(reference)) return Either.left({ kind: "variable-forbidden", reference })
    const isAsked = reference.kind === "input" || reference.kind === "secret"
    return Either.fromNullable(
      valueOf(asking, reference) ?? reference.fallback,
      () => ({ kind: isAsked ? "input-required" : "variable-unset", reference })
    )
  }
}

/** The value of a template in this field. */
export const resolve = (asking: Asking, field: Field, template: string): Either.Either<string, Failure> =>
  Interpolation.fill(template, answer(asking, field, template))
