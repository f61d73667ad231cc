/** The lines that a person sees before approving a server: everything that the approval covers, without secrets. */
import { isCredential, isCredentialParameter } from "../text/credentialName.ts"
import { codePoints, visiblyQuoted as quoted } from "../text/UntrustedText.ts"
import { tables } from "./fields.ts"
import type * as FieldSchema from "./fieldSchema.ts"
import * as Hazards from "./hazards.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Scope from "./Scope.ts"
import * as ServerEntry from "./serverEntry.ts"
import * as Templates from "./templates.ts"
import type * as Trust from "./Trust.ts"

/** Safe to print. A `warning` should stand out. */
export interface ConsentLine {
  readonly label: string
  readonly text: string
  readonly level: "plain" | "warning"
}

type Lines = ReadonlyArray<ConsentLine>

const bare = (text: string): string => quoted(text).slice(1, -1)

const plain = (label: string, text: string): ConsentLine => ({ label, text, level: "plain" })
const warning = (label: string, text: string): ConsentLine => ({ label, text, level: "warning" })

/** The literal text, or the template if it has references. */
const valueOf = (template: string): string => Interpolation.plainText(template) ?? template

const shown = (template: string): string => quoted(valueOf(template))

const looksSecret = (name: string, value: string): boolean => isCredential(name) || Hazards.hasSecret(value)

/** Hides the user of an address, which ends at the last `@` of the authority. A variable could be the host, so it is shown. */
const withoutUser = (address: string): string =>
  address.replace(
    /^([a-z\d+.-]*:[/\\]*)[^\s/\\?#]*@/i,
    (user, scheme: string) => user.includes("${") ? user : `${scheme}(hidden)@`
  )

/**
 * The start of each address within a text, up to the end of its host. As in `new URL`, http needs no slashes. The scheme is
 * bounded, because the search would otherwise be quadratic in a long word.
 */
const hosts = /(?:(?:https?|wss?):[/\\]*|[a-z][a-z\d+.-]{0,31}:\/\/)[^ /\\?#]+/gi

/**
 * The length of a secret, the references in its template, such as the files that it is read from, and the hosts of its
 * addresses, because they decide where data goes.
 */
const hidden = (template: string): string => {
  const names = Interpolation.parse(template).flatMap((part) =>
    typeof part === "string" ? [] : [quoted(`${part.kind}:${part.name}`)]
  )
  const addresses = (template.match(hosts) ?? []).map((address) => quoted(withoutUser(address)))
  return [
    `(hidden, ${template.length} characters)`,
    ...(names.length === 0 ? [] : [`with ${names.join(", ")}`]),
    ...(addresses.length === 0 ? [] : [`to ${addresses.join(", ")}`])
  ].join(" ")
}

/**
 * An address without its user and without the parameters that are credentials. Parameters begin after the first `?` or
 * `#`, as in `new URL`, so that no part of the host is taken for one.
 */
const address = (url: string): string => {
  const isEarlier = Interpolation.references(url).some(({ fallback = "", name }) => /[?&#]/.test(name + fallback))
  const query = url.search(/[?#]/)
  if (query === -1 || isEarlier) return quoted(withoutUser(url))
  const parameters = url.slice(query).split(/(?=[?&#])/).map((pair) => {
    const equals = pair.indexOf("=")
    return equals > 0 && isCredentialParameter(pair.slice(1, equals)) ? `${pair.slice(0, equals + 1)}(hidden)` : pair
  })
  return quoted([withoutUser(url.slice(0, query)), ...parameters].join(""))
}

/** The variables whose values are addresses. In any other, text before an `@` can be a folder or an option. */
const holdsAddress = /PROXY|UR[IL]|INDEX|REGISTR|HOST|SERVER|MIRROR|LINKS/i

/**
 * The value of a variable that decides which program runs. Of a credential in it one word is hidden, because another path
 * or option can follow.
 */
const overriding = (variable: string, value: string): string =>
  quoted(
    (holdsAddress.test(variable) ? withoutUser(value) : value).replace(
      /([?&#])([^\s?&#=:;,/\\]*)=[^\s?&#$:;,/\\]+/g,
      (pair, mark: string, name: string) => isCredentialParameter(name) ? `${mark}${name}=(hidden)` : pair
    )
  )

/** The fields that have a line at the top, because they decide which program runs or which hosts it talks to. */
type Above = ReadonlySet<string>

const isOverride = ({ kind }: Trust.Candidate["hazards"][number]): boolean => kind === "launch-override"

const overrides = (entry: ServerEntry.Entry, hazards: Trust.Candidate["hazards"]): Lines =>
  hazards.filter(isOverride).map(({ at = "", detail }) => {
    const name = at.startsWith("env.") ? at.slice("env.".length) : ""
    const value = ServerEntry.variables(entry).get(name)
    if (value === null) return warning("variable", `${quoted(name)} is removed. ${detail}`)
    if (value !== undefined) {
      const text = isCredential(name) ? hidden(value) : overriding(name, valueOf(value))
      return warning("variable", `${quoted(name)} = ${text}. ${detail}`)
    }
    return at === "cwd" && entry.transport === "stdio" && entry.cwd !== undefined
      ? warning("folder", `${shown(entry.cwd)}. ${detail}`)
      : warning("variable", `${quoted(at)}: ${detail}`)
  })

const kindOf = ({ transport }: ServerEntry.Entry) => transport === "stdio" ? transport : "streamable-http"

const variables = (entry: ServerEntry.Entry, above: Above): Lines => {
  const all = Array.from(ServerEntry.variables(entry))
  const templates = Templates.texts({ ...entry, transport: kindOf(entry) })
    .filter(({ at }) => !/^(headers|env)\.|^oauth\.clientSecret$/.test(at)).map(({ template }) => template)
  const values = all.flatMap(([name, value]) =>
    value === null || (looksSecret(name, value) && !above.has(`env.${name}`)) ? [] : [value]
  )
  // a value that becomes part of a command line, an address or another variable is shown, whatever its name is
  const visible = new Set([...templates, ...values].flatMap(Interpolation.variables))
  return all.filter(([name]) => !above.has(`env.${name}`)).map(([name, value]) => {
    if (value === null) return plain("variable", `${quoted(name)} is removed`)
    const isHidden = !visible.has(name) && looksSecret(name, value)
    return plain("variable", `${quoted(name)} = ${isHidden ? hidden(value) : shown(value)}`)
  })
}

/** A line for each value below a field. */
const leaves = (label: string, value: unknown, path: string): Lines => {
  if (value === undefined) return []
  if (value instanceof Map) return leaves(label, Object.fromEntries(value), path)
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, each]) => leaves(label, each, path === "" ? key : `${path}.${key}`))
  }
  const text = (each: unknown) => typeof each === "string" ? quoted(each) : String(each)
  if (path === "clientSecret") return [plain(label, `${path} = ${hidden(String(value))}`)]
  const all = Array.isArray(value) ? value : [value]
  return [plain(label, `${bare(path)} = ${all.length === 0 ? "none" : all.map(text).join(", ")}`)]
}

/** The lines of a field with a label, which says what is started or reached, and with what. */
const labelled = (key: string, label: string, value: unknown, entry: ServerEntry.Entry): Lines => {
  if (key === "url") return [plain(label, address(String(value))), plain("transport", entry.transport)]
  if (key === "inheritEnv" && value === true) return [warning(label, "all variables, including every secret")]
  if (typeof value === "string") {
    const which = key === "envFile" ? ", except those that decide which program runs" : ""
    return [plain(label, shown(value) + which)]
  }
  if (value instanceof Map) {
    return Array.from(value, ([name, text]) => plain(label, `${quoted(name)} = ${hidden(text)}`))
  }
  if (!Array.isArray(value)) return value === undefined || value === false ? [] : leaves(label, value, "")
  if (key === "inheritEnv") return [plain(label, value.map(quoted).join(", "))]
  const first = key === "args" ? 1 : 0
  return value.map((word, at) => plain(at + first === 0 ? label : `argument ${at + first}`, shown(word)))
}

/** The fields in the order of their table: those with a label, then those that say how the server is used. */
const fields = (entry: ServerEntry.Entry, above: Above) => {
  const rows = Object.entries<FieldSchema.Row>(tables[kindOf(entry)])
  const values = new Map<string, unknown>(Object.entries(entry))
  return {
    target: rows.flatMap(([key, { label }]) => {
      // a remote server has variables only for its templates
      const before = key === "env" || key === "oauth" ? variables(entry, above) : []
      return label === undefined || above.has(key) || key === "env" || key === "withoutEnv"
        ? before
        : [...before, ...labelled(key, label, values.get(key), entry)]
    }),
    settings: rows.flatMap(([key, { label }]) =>
      key === "enabled" || label !== undefined ? [] : leaves("setting", values.get(key), key)
    )
  }
}

/** A label of a host that stands for letters of any script, as in `https://xn--bcher-kva.example`. */
const punycode = /(?<=[/.@])xn--[a-z\d-]+/gi

/** Letters that look like others, where they could stand for another name, program, package or host. */
const disguises = (what: string, text: string): Lines => {
  const labels = (text.match(hosts) ?? []).flatMap((host) => host.match(punycode) ?? [])
  const letters = [...codePoints(text), ...labels.map((label) => `the punycode ${quoted(label)}`)]
  return letters.length === 0
    ? []
    : [warning("letters", `${what} contains ${letters.join(" ")}, which can look like other letters`)]
}

/** The same for what is started or reached, with the values of the entry filled in. Of variables only addresses count. */
const disguisesIn = ({ entry, inputs }: Shown): Lines => {
  const fill = Hazards.filling(entry, inputs)
  const sites = Templates.texts({ ...entry, transport: kindOf(entry) })
  return sites.flatMap(({ at, template }) => {
    const text = fill(template)
    if (/^headers\.|^oauth\.clientSecret$/.test(at) || (at.startsWith("env.") && !text.includes("://"))) return []
    return disguises(at === "command" ? "the program" : at === "url" ? "the address" : quoted(at), text)
  })
}

const environment = (names: ReadonlyArray<string>): Lines =>
  names.map((name) =>
    isCredential(name)
      ? warning("asks for", `${quoted(name)}, which it does not get unless you allow it`)
      : plain("asks for", quoted(name))
  )

/** The default of an input is shown, because it is the value when there is no answer. */
const inputs = (all: Trust.Candidate["inputs"] = []): Lines =>
  all.map(({ default: answer, id }) =>
    plain("asks you", `${quoted(id)}${answer === undefined ? "" : `, default ${quoted(answer)}`}`)
  )

/** The parts of a candidate that have lines. An entry that is in no file yet has neither provenance nor workspace. */
export type Shown =
  & Omit<Trust.Candidate, "provenance" | "root" | "fingerprint">
  & Partial<Pick<Trust.Candidate, "provenance" | "root" | "fingerprint">>

export const lines = (candidate: Shown): Lines => {
  const { entry, hazards, provenance, root, server } = candidate
  const above: Above = new Set(hazards.filter(isOverride).map(({ at = "" }) => at))
  const { settings, target } = fields(entry, above)
  return [
    ...overrides(entry, hazards),
    plain("server", quoted(server)),
    ...(provenance === undefined ? [] : [plain("from", quoted(Scope.format(provenance)))]),
    ...(root === undefined ? [] : [plain("workspace", quoted(root))]),
    ...target,
    ...environment(candidate.variables),
    ...inputs(candidate.inputs),
    ...settings,
    ...Array.from(candidate.extra?.keys() ?? [], (key) => plain("unknown field", quoted(key))),
    ...disguises("the name", server),
    ...disguisesIn(candidate),
    ...hazards.filter((hazard) => !isOverride(hazard)).map(({ at, detail, kind }) =>
      warning(kind, `${at === undefined ? "" : `${quoted(at)}: `}${bare(detail)}`)
    )
  ]
}
