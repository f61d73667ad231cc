/**
 * What a person is shown before agreeing to a server, line by line.
 *
 * @internal
 */
import { codePoints, visiblyQuoted as quoted } from "../../../text/UntrustedText.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Hazards from "../../hazards.ts"
import * as Interpolation from "../../Interpolation.ts"
import * as Provenance from "../../Provenance.ts"
import type * as Trust from "../../Trust.ts"

type Line = Trust.ConsentLine

const plain = (label: string, text: string): Line => ({ label, text, level: "plain" })
const warning = (label: string, text: string): Line => ({ label, text, level: "warning" })

/** The literal value, or its template if it contains variables. */
const valueOf = (template: ConfigEntry.Template): string => {
  const parts = Interpolation.parse(template)
  const literal = parts.filter((part) => typeof part === "string")
  return literal.length === parts.length ? literal.join("") : template
}

const shown = (template: ConfigEntry.Template): string => quoted(valueOf(template))

const asked = (template: ConfigEntry.Template): string => {
  const names = Interpolation.parse(template).flatMap((part) =>
    typeof part === "string" ? [] : [quoted(`${part.kind}:${part.name}`)]
  )
  return names.length === 0 ? "" : ` with ${names.join(", ")}`
}

const looksSecret = (name: string, value: string): boolean =>
  Interpolation.isCredential(name) ||
  Hazards.hasSecret(value)

const hidden = (template: ConfigEntry.Template): string => `(hidden, ${template.length} characters)${asked(template)}`

/** What is put into a line or an address is a part of that, and no secret, whatever it is called. */
const putIn = (entry: ConfigEntry.ConfigEntry): ReadonlySet<string> =>
  new Set(
    (entry.transport === "stdio"
      ? [entry.command, ...entry.args, entry.cwd ?? "", entry.envFile ?? ""]
      : [entry.url, ...(entry.headersCommand ?? [])]).flatMap(Interpolation.variables)
  )

/** The fields of an entry that have a line of their own at the top. */
type Above = ReadonlySet<string>

const variables = (entry: ConfigEntry.ConfigEntry, above: Above): ReadonlyArray<Line> => {
  const seen = putIn(entry)
  return Array.from(entry.env ?? []).filter(([name]) => !above.has(`env.${name}`)).map(([name, value]) => {
    if (value === null) return plain("variable", `${quoted(name)} is taken away`)
    const isHidden = !seen.has(name) && looksSecret(name, value)
    return plain("variable", `${quoted(name)} = ${isHidden ? hidden(value) : shown(value)}`)
  })
}

/** Without what is a secret in it: who asks, and what says so among its parameters. */
const address = (url: ConfigEntry.Template): string => {
  const [way, ...parameters] = url.split(/(?=[?&#])/)
  const named = parameters.map((pair) => {
    const equals = pair.indexOf("=")
    const name = pair.slice(1, equals)
    const isSecret = equals > 0 && (Interpolation.isCredential(name) || /^(key|sig|signature)$/i.test(name))
    return isSecret ? `${pair.slice(0, equals + 1)}(hidden)` : pair
  })
  return quoted([way!.replace(/^([a-z+]*:\/\/)[^/\\@]*@/i, "$1(hidden)@"), ...named].join(""))
}

const words = (label: string, each: ReadonlyArray<ConfigEntry.Template>): ReadonlyArray<Line> =>
  each.map((word, at) => plain(at === 0 ? label : `argument ${at}`, shown(word)))

const program = (entry: ConfigEntry.StdioEntry, above: Above): ReadonlyArray<Line> => [
  ...words("program", [entry.command, ...entry.args]),
  ...(entry.cwd === undefined || above.has("cwd") ? [] : [plain("folder", shown(entry.cwd))]),
  ...variables(entry, above),
  ...(entry.envFile === undefined ? [] : [
    plain("variables from", `${shown(entry.envFile)}, without those that decide which program runs`)
  ]),
  ...(entry.inheritEnv === true ? [warning("environment", "all of it, with every secret in it")] : []),
  ...(Array.isArray(entry.inheritEnv) ? [plain("environment", entry.inheritEnv.map(quoted).join(", "))] : [])
]

const remote = (entry: ConfigEntry.RemoteEntry, above: Above): ReadonlyArray<Line> => [
  plain("address", address(entry.url)),
  plain("transport", entry.transport),
  ...Array.from(entry.headers ?? [], ([name, value]) => plain("header", `${quoted(name)}${asked(value)}`)),
  ...words("program for headers", entry.headersCommand ?? []),
  ...variables(entry, above),
  ...(entry.oauth === undefined || entry.oauth === false ? [] : [
    plain("login", entry.oauth.clientId === undefined ? "OAuth" : `OAuth as ${shown(entry.oauth.clientId)}`)
  ])
]

const isOverride = ({ kind }: Trust.Candidate["hazards"][number]): boolean => kind === "launch-override"

/** Hides only the password in an address, because most overrides are addresses or paths and must be readable. */
const assigned = (name: string, value: ConfigEntry.Template | null): string => {
  if (value === null) return `${quoted(name)} is taken away`
  return `${quoted(name)} = ${Interpolation.isCredential(name) ? hidden(value) : address(valueOf(value))}`
}

/** The overrides: values outside the command line that decide which program runs or which hosts it talks to. */
const overrides = (entry: ConfigEntry.ConfigEntry, hazards: Trust.Candidate["hazards"]): ReadonlyArray<Line> =>
  hazards.filter(isOverride).map(({ at = "", detail }) => {
    const name = at.startsWith("env.") ? at.slice("env.".length) : undefined
    const value = name === undefined ? undefined : entry.env?.get(name)
    if (name !== undefined && value !== undefined) return warning("variable", `${assigned(name, value)}. ${detail}`)
    return at === "cwd" && entry.transport === "stdio" && entry.cwd !== undefined
      ? warning("folder", `${shown(entry.cwd)}. ${detail}`)
      : warning("variable", `${quoted(at)}: ${detail}`)
  })

/** Letters that look like others where it matters most who is meant. */
const disguises = (what: string, text: string): ReadonlyArray<Line> => {
  const letters = codePoints(text)
  return letters.length === 0
    ? []
    : [warning("letters", `${what} has ${letters.join(" ")}, which may look like others`)]
}

const environment = (names: ReadonlyArray<string>): ReadonlyArray<Line> =>
  names.map((name) =>
    Interpolation.isCredential(name)
      ? warning("asks for", `${quoted(name)}, which it does not get unless you say so`)
      : plain("asks for", quoted(name))
  )

/** What is not answered is what the file says, so that is agreed to. */
const questions = (inputs: Trust.Candidate["inputs"]): ReadonlyArray<Line> =>
  (inputs ?? []).map(({ default: answer, id }) =>
    plain("asks you", `${quoted(id)}${answer === undefined ? "" : `, and takes ${quoted(answer)} for no answer`}`)
  )

/** @internal */
export const lines = (
  { entry, hazards, inputs, provenance, root, server, variables: names }: Trust.Candidate
): ReadonlyArray<Line> => {
  const above: Above = new Set(hazards.filter(isOverride).map(({ at = "" }) => at))
  return [
    ...overrides(entry, hazards),
    plain("server", quoted(server)),
    plain("from", quoted(Provenance.format(provenance))),
    plain("workspace", quoted(root)),
    ...(entry.transport === "stdio" ? program(entry, above) : remote(entry, above)),
    ...environment(names),
    ...questions(inputs),
    ...Array.from(entry.extra?.keys() ?? [], (key) => plain("also says", quoted(key))),
    ...disguises("the name", server),
    ...disguises(
      entry.transport === "stdio" ? "the program" : "the address",
      "url" in entry ? entry.url : entry.command
    ),
    ...hazards.filter((hazard) => !isOverride(hazard)).map(({ at, detail, kind }) =>
      warning(kind, at === undefined ? quoted(detail).slice(1, -1) : `${quoted(at)}: ${quoted(detail).slice(1, -1)}`)
    )
  ]
}
