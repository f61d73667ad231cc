/**
 * The parts of a server: how it is started or reached, and what goes with that.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Quirks from "../../quirks.ts"
import type * as Table from "./dialects/table.ts"
import * as Checks from "./readerChecks.ts"
import * as Login from "./readerLogin.ts"
import * as Tools from "./readerTools.ts"
import { all, one, say, some, type Use, type Uses, variableName } from "./readerUses.ts"
import * as Values from "./readerValues.ts"
import { isList, isTable } from "./values.ts"

/** While it is made, field by field: by the thousand, putting small objects together takes several times as long. */
type Made<Part> = { -readonly [Field in keyof Part]: Part[Field] }

/**
 * Whether an entry is switched on: where it contradicts itself it is not.
 *
 * @internal
 */
export const enabled = (to: Values.Reading, from: Uses): boolean => {
  const said = [
    ...all(to, from, "enabled").map(({ key, value }) => Values.flag(to, value, key)),
    ...all(to, from, "disabled").map(({ key, value }) => !Values.flag(to, value, key))
  ]
  const isOn = said.every((on) => on)
  if (!isOn && said.some((on) => on) && to.fault() === undefined) to.warn("conflicting-enabled")
  return isOn
}

const environments: ReadonlyArray<Table.Meaning> = ["env", "envNames", "envSecrets", "withoutEnv"]

const isRefused = ({ table }: Values.Reading, name: string): boolean =>
  table.refusesVariable !== undefined && Quirks.refusesVariable[table.refusesVariable](name)

const environment = (
  to: Values.Reading,
  from: Uses
): ReadonlyMap<string, ConfigEntry.Template | null> | undefined => {
  if (!some(from, environments)) return undefined
  const env = new Map<string, ConfigEntry.Template | null>()
  for (const { key, value } of all(to, from, "env")) {
    for (const [name, held] of Values.entries(to, value, key)) {
      const at = `${key}.${name}`
      if (held === null && to.table.nullEnv === true) {
        Checks.variable(to, name, "")
        env.set(name, null)
        continue
      }
      const text = Values.scalar(to, held, at)
      Checks.variable(to, name, text)
      if (text !== text.trim()) to.warn("whitespace", at)
      if (isRefused(to, name)) to.warn("env-dropped", at)
      else env.set(name, Values.template(to, text, "env", at))
    }
  }
  for (const meaning of ["envNames", "envSecrets"] as const) {
    for (const { key, value } of all(to, from, meaning)) {
      if (!isList(value)) to.fail("invalid-type", key)
      else {
        for (const [index, item] of value.entries()) {
          const at = `${key}.${index}`
          const name = variableName(to, isTable(item) ? item.get("name") ?? null : item, at)
          if (isRefused(to, name)) to.warn("env-dropped", at)
          else if (!env.has(name)) env.set(name, meaning === "envNames" ? `\${env:${name}}` : `\${secret:${name}}`)
        }
      }
    }
  }
  for (const { key, value } of all(to, from, "withoutEnv")) {
    for (const [index, name] of Values.texts(to, value, key).entries()) {
      Checks.variable(to, name, "")
      if (env.has(name)) to.warn("unused-field", `${key}.${index}`)
      else env.set(name, null)
    }
  }
  return env.size === 0 ? undefined : env
}

type Started = Pick<
  ConfigEntry.StdioEntry,
  "transport" | "command" | "args" | "env" | "envFile" | "inheritEnv" | "cwd"
>

/** @internal */
export const stdio = (to: Values.Reading, from: Uses): Started => {
  const command = one(to, from, "command")
  const [program, ...first] = command === undefined ? [""] : words(to, command)
  const args = all(to, from, "args").flatMap(({ key, value }) =>
    Values.texts(to, value, key).map((text, index) => argument(to, text, `${key}.${index}`))
  )
  const cwd = one(to, from, "cwd")
  const env = environment(to, from)
  const envFile = one(to, from, "envFile")
  const inherit = one(to, from, "inheritEnv")
  const made: Made<Started> = {
    transport: "stdio",
    command: program ?? "",
    args: first.length === 0 ? args : [...first, ...args]
  }
  if (env !== undefined) made.env = env
  if (envFile !== undefined) made.envFile = path(to, envFile, "envFile")
  if (cwd !== undefined) made.cwd = path(to, cwd, "cwd")
  if (inherit !== undefined) {
    made.inheritEnv = isList(inherit.value)
      ? Values.texts(to, inherit.value, inherit.key)
      : Values.flag(to, inherit.value, inherit.key)
  }
  return made
}

const argument = (to: Values.Reading, text: string, at: string): string => {
  Checks.argument(to, text, at)
  return Values.template(to, text, "args", at)
}

/** The program and what it is given, where a host writes both as one list. */
const words = (to: Values.Reading, { key, value }: Use): ReadonlyArray<string> => {
  if (!isList(value)) {
    const text = Values.text(to, value, key)
    Checks.command(to, text, key)
    return [Values.template(to, text, "command", key)]
  }
  const [program, ...rest] = value.map((item) => Values.text(to, item, key))
  Checks.command(to, program ?? "", key)
  return [
    Values.template(to, program ?? "", "command", key),
    ...rest.map((text, index) => argument(to, text, `${key}.${index + 1}`))
  ]
}

const path = (to: Values.Reading, { key, value }: Use, part: "envFile" | "cwd"): string => {
  const text = Values.text(to, value, key)
  if (to.fault() === undefined) Checks.path(to, text, key)
  return Values.template(to, text, part, key)
}

/**
 * The key that an address is taken from.
 *
 * @internal
 */
export const firstUrl = (to: Values.Reading, from: Uses): Use | undefined => {
  const found = from.get("url") ?? []
  if (found.length < 2 || to.table.urlsInOrder !== true) return found[0]
  const order = Object.keys(to.table.fields ?? {})
  const rank = ({ key }: Use): number => order.includes(key) ? order.indexOf(key) : order.length
  return found.toSorted((a, b) => rank(a) - rank(b))[0]
}

type Reached = Pick<ConfigEntry.RemoteEntry, "transport" | "url" | "headers" | "headersCommand" | "env" | "oauth">

/** @internal */
export const remote = (to: Values.Reading, from: Uses, said: Exclude<Table.Transport, "stdio">): Reached => {
  const use = firstUrl(to, from)
  let url = ""
  let transport: Table.Transport = said
  if (use !== undefined) {
    say(to, use)
    const text = Values.text(to, use.value, use.key)
    for (const other of from.get("url") ?? []) {
      if (other === use || other.value === text) continue
      if (to.table.urlsInOrder === true) to.warn("unused-field", other.key)
      else to.fail("ambiguous-url")
    }
    if (to.fault() === undefined) {
      url = Values.template(to, text, "url", use.key)
      transport = Checks.address(to, url, use.key, said)
    }
  }
  const headers = Login.headers(to, from)
  const headersCommand = Login.headersCommand(to, from)
  const env = environment(to, from)
  const oauth = Login.oauth(to, from)
  const made: Made<Reached> = { transport: transport === "stdio" ? said : transport, url }
  if (headers !== undefined) made.headers = headers
  if (headersCommand !== undefined) made.headersCommand = headersCommand
  if (env !== undefined) made.env = env
  if (oauth !== undefined) made.oauth = oauth
  return made
}

const protocols: ReadonlyMap<string, NonNullable<ConfigEntry.ConfigEntry["protocol"]>> = new Map([
  ["auto", "auto"],
  ["legacy", "session"],
  ["session", "session"],
  ["stateless", "stateless"],
  ["2026-07-28", "stateless"]
])

type Common = Omit<ConfigEntry.RemoteEntry, "name" | "enabled" | "extra" | "transport" | "url">

/**
 * What every transport has.
 *
 * @internal
 */
export const common = (to: Values.Reading, from: Uses): Common => {
  const made: Made<Common> = {}
  const timeouts = times(to, from)
  const tools = Tools.tools(to, from)
  for (const meaning of ["required", "lazy"] as const) {
    const use = one(to, from, meaning)
    if (use !== undefined) made[meaning] = Values.flag(to, use.value, use.key)
  }
  for (const meaning of ["title", "description"] as const) {
    const use = one(to, from, meaning)
    if (use !== undefined) made[meaning] = Values.scalar(to, use.value, use.key)
  }
  const protocol = one(to, from, "protocol")
  const era = protocol && protocols.get(Values.text(to, protocol.value, protocol.key))
  if (protocol !== undefined && era === undefined) to.fail("invalid-value", protocol.key)
  if (era !== undefined) made.protocol = era
  if (timeouts !== undefined) made.timeouts = timeouts
  if (tools !== undefined) made.tools = tools
  return made
}

const waits: ReadonlyArray<Table.Meaning> = ["startupTimeout", "requestTimeout", "timeouts"]

const times = (to: Values.Reading, from: Uses): ConfigEntry.ConfigEntry["timeouts"] => {
  if (!some(from, waits)) return undefined
  let startupMs: number | undefined
  let requestMs: number | undefined
  // of two words for the same time the first that is one counts
  for (const { field, key, value } of all(to, from, "startupTimeout")) {
    if (startupMs === undefined) startupMs = Values.time(to, value, key, field)
    else to.warn("unused-field", key)
  }
  for (const { field, key, value } of all(to, from, "requestTimeout")) {
    if (requestMs === undefined) requestMs = Values.time(to, value, key, field)
    else to.warn("unused-field", key)
  }
  for (const { field, key, value } of all(to, from, "timeouts")) {
    if (!isTable(value)) requestMs ??= Values.time(to, value, key, field)
    else {
      const [startup, request] = [value.get("startup"), value.get("request")]
      if (startup !== undefined) startupMs ??= Values.time(to, startup, `${key}.startup`, field)
      if (request !== undefined) requestMs ??= Values.time(to, request, `${key}.request`, field)
    }
  }
  if (startupMs === undefined && requestMs === undefined) return undefined
  return {
    ...(startupMs === undefined ? undefined : { startupMs }),
    ...(requestMs === undefined ? undefined : { requestMs })
  }
}
