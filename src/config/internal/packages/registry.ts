/**
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Registry from "../../Registry.ts"
import { isText, list, scalar, table, tables } from "../dialect/values.ts"
import * as packages from "./packages.ts"

type Table = ConfigDocument.Table
type Value = ConfigDocument.Value

/** Documents before September 2025 wrote the same fields with underscores. */
const get = (from: Table, key: string): Value | undefined =>
  from.get(key) ?? from.get(key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const text = (from: Table, key: string): string | undefined => scalar(get(from, key))

interface Fault {
  readonly kind: ConfigIssue.EntryFault
  readonly at: string
}

const isFault = (value: object): value is Fault => "kind" in value

/** What one option asks a person for. */
class Questions {
  readonly inputs = new Map<string, Registry.Input>()
  readonly optional: Array<Registry.Optional> = []

  /** The template of an input: its value, its default, or a question; nothing if it can be left out. */
  template(input: Table, id: string, at: string): ConfigEntry.Template | undefined {
    const value = text(input, "value")
    if (value !== undefined) return this.filled(value, table(input.get("variables")), get(input, "isSecret") === true)
    const fallback = text(input, "default")
    if (fallback !== undefined) return Interpolation.literal(fallback)
    if (get(input, "isRequired") === true && isId(id)) return this.asked(id, input, false)
    this.optional.push({ at, description: text(input, "description"), secret: get(input, "isSecret") === true })
    return undefined
  }

  /** A text in which `{name}` stands for a variable, if there is one of that name. */
  filled(value: string, variables: Table, secret: boolean): ConfigEntry.Template {
    let template = ""
    let end = 0
    for (const match of value.matchAll(/\{([^{}]*)\}/g)) {
      const id = match[1]!
      if (!variables.has(id) || !isId(id)) continue
      const variable = table(variables.get(id))
      const fixed = text(variable, "value")
      template += Interpolation.literal(value.slice(end, match.index))
      template += fixed === undefined ? this.asked(id, variable, secret) : Interpolation.literal(fixed)
      end = match.index + match[0].length
    }
    return template + Interpolation.literal(value.slice(end))
  }

  private asked(id: string, input: Table, secret: boolean): ConfigEntry.Template {
    const fallback = text(input, "default")
    const choices = get(input, "choices")
    this.inputs.set(id, {
      id,
      description: text(input, "description"),
      secret: secret || get(input, "isSecret") === true,
      default: fallback,
      choices: choices === undefined ? undefined : list(choices).filter(isText)
    })
    // a default with braces or variables of its own would end the template too early: it is in the inputs anyway
    return fallback === undefined || /[${}\\]/.test(fallback) ? `\${input:${id}}` : `\${input:${id}:-${fallback}}`
  }
}

const isId = (id: string): boolean => /^\w[\w.-]*$/.test(id)

const argument = (questions: Questions, input: Table, at: string, place: number): ReadonlyArray<string> => {
  const name = text(input, "name")
  if (input.get("type") !== "named" || name === undefined) {
    const value = questions.template(input, text(input, "valueHint") ?? `argument-${place + 1}`, at)
    return value === undefined ? [] : [value]
  }
  const isSwitch = ["value", "default", "isRequired", "valueHint", "format", "choices", "placeholder"].every((key) =>
    get(input, key) === undefined
  )
  if (isSwitch) return [Interpolation.literal(name)]
  const value = questions.template(input, name.replaceAll(/^-+|=$/g, ""), at)
  if (value === undefined) return []
  return name.endsWith("=") ? [Interpolation.literal(name) + value] : [Interpolation.literal(name), value]
}

const args = (questions: Questions, inputs: Value | undefined, at: string): ReadonlyArray<string> =>
  tables(inputs).flatMap((input, place) => argument(questions, input, `${at}.${place}`, place))

const named = (questions: Questions, inputs: Value | undefined, at: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const input of tables(inputs)) {
    const name = text(input, "name") ?? ""
    const value = questions.template(input, name, `${at}.${name}`)
    if (value !== undefined) found.set(name, value)
  }
  return found
}

const isOf = (domain: string, address: string): boolean => {
  const host = /^https:\/\/([^/:?#@]+)\/?$/.exec(address)?.[1]?.toLowerCase()
  return host === domain || host?.endsWith(`.${domain}`) === true
}

const launch = (questions: Questions, from: Table): Table | Fault => {
  const kind = packages.kinds.get(text(from, "registryType") ?? "")
  // a bundle has to be fetched and unpacked first; `Bundle` reads what is in it
  if (kind === undefined) return { kind: "unsupported-field", at: "registryType" }
  const transport = table(from.get("transport")).get("type") ?? "stdio"
  // it would have to be started and then reached at an address, which is two servers in one
  if (transport !== "stdio") return { kind: "unsupported-field", at: "transport" }
  const identifier = text(from, "identifier")
  if (identifier === undefined || !kind.identifier.test(identifier)) return { kind: "invalid-value", at: "identifier" }
  const version = text(from, "version")
  if (version !== undefined && !/^\w[\w.+-]*$/.test(version)) return { kind: "invalid-value", at: "version" }
  const base = text(from, "registryBaseUrl")
  if (base !== undefined && !isOf(kind.domain, base) && !identifier.startsWith(`${base.replace(/^https:\/\//, "")}/`)) {
    return { kind: "unsupported-field", at: "registryBaseUrl" }
  }
  const [usual, build] = [...kind.runtimes][0]!
  const hint = text(from, "runtimeHint")
  const runtime = hint === undefined ? build : kind.runtimes.get(hint)
  if (runtime === undefined) return { kind: "unsupported-field", at: "runtimeHint" }
  const before = args(questions, get(from, "runtimeArguments"), "runtimeArguments")
  const after = args(questions, get(from, "packageArguments"), "packageArguments")
  const env = named(questions, get(from, "environmentVariables"), "env")
  const words = runtime({ runtime: before, identifier, version, args: after, env: [...env.keys()] })
  return new Map<string, Value>([["type", "stdio"], ["command", hint ?? usual], ["args", words], ["env", env]])
}

const remote = (questions: Questions, from: Table): Table =>
  new Map<string, Value>([
    ["type", from.get("type") ?? null],
    ["url", questions.filled(text(from, "url") ?? "", table(from.get("variables")), false)],
    ["headers", named(questions, from.get("headers"), "headers")]
  ])

/** What the native format makes of a server that is written down like this. @internal */
export const item = (
  name: string,
  entry: Table,
  about: { readonly pointer: ConfigDocument.Pointer; readonly raw: Value; readonly origin: "home" | "plugin" }
): ConfigEntry.Item => {
  const { origin, pointer, raw } = about
  const scope = origin === "home" ? "user" : "plugin"
  const decoded = Dialect.find("native")?.decode(new Map([["mcpServers", new Map([[name, entry]])]]), {
    scope,
    origin,
    path: undefined
  })
  const found = decoded?.items[0] ?? { _tag: "Invalid", name, kind: "missing-transport", pointer, raw }
  return { ...found, pointer, raw }
}

const option = (
  name: string,
  source: string,
  raw: Table,
  pointer: ConfigDocument.Pointer,
  read: (questions: Questions, from: Table) => Table | Fault
): Registry.Option => {
  const questions = new Questions()
  const entry = read(questions, raw)
  return {
    name,
    source,
    item: isFault(entry)
      ? { _tag: "Invalid", name, kind: entry.kind, at: entry.at, pointer, raw }
      : item(name, entry, { pointer, raw, origin: "home" }),
    inputs: [...questions.inputs.values()],
    secrets: [...questions.inputs.values()].filter(({ secret }) => secret).map(({ id }) => id),
    optional: questions.optional
  }
}

/** @internal */
export const options = (document: Table): ReadonlyArray<Registry.Option> => {
  // the registry's own answers have the document beside what the registry says of it
  const server = document.has("server") ? table(document.get("server")) : document
  const full = text(server, "name") ?? ""
  const name = full.slice(full.lastIndexOf("/") + 1)
  return [
    ...tables(server.get("packages")).map((from, at) =>
      option(name, text(from, "registryType") ?? "", from, ["packages", at], launch)
    ),
    ...tables(server.get("remotes")).map((from, at) =>
      option(name, text(from, "type") ?? "", from, ["remotes", at], remote)
    )
  ]
}
