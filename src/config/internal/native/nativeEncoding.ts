/**
 * @internal
 */
import * as Duration from "effect/Duration"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as Dialect from "../../Dialect.ts"
import * as Limits from "../../Limits.ts"
import type * as NativeConfig from "../../NativeConfig.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { remote, stdio } from "./nativeShape.ts"
import { json, toml } from "./nativeText.ts"

type Value = ConfigDocument.Value
type Fields = ReadonlyArray<readonly [key: string, value: Value | undefined]>

const table = (fields: Fields): ConfigDocument.Table => {
  const filled = new Map<string, Value>()
  for (const [key, value] of fields) if (value !== undefined) filled.set(key, value)
  return filled
}

/** As there is no word for "as long as it takes", it is the longest time that anything takes. */
const millis = (time: number | undefined): number | undefined =>
  time === 0 ? Duration.toMillis(Limits.defaults.toolTimeout) : time

const oauth = (login: ConfigEntry.RemoteEntry["oauth"]): Value | undefined =>
  login === undefined || login === false ? login : table(Object.entries(login))

/** A variable that is taken away, and not given. */
const isTaken = ([, value]: readonly [string, string | null]): boolean => value === null

const env = (variables: ConfigEntry.ConfigEntry["env"]): Fields => {
  if (variables === undefined) return []
  const given = new Map(Array.from(variables).filter((variable) => !isTaken(variable)))
  const taken = Array.from(variables).filter(isTaken).map(([name]) => name)
  return [
    ["env", given.size === 0 ? undefined : given],
    ["withoutEnv", taken.length === 0 ? undefined : taken]
  ]
}

const target = (entry: ConfigEntry.ConfigEntry): Fields =>
  entry.transport === "stdio"
    ? [
      ["command", entry.command],
      ["args", entry.args.length === 0 ? undefined : entry.args],
      ...env(entry.env),
      ["envFile", entry.envFile],
      ["inheritEnv", entry.inheritEnv],
      ["cwd", entry.cwd]
    ]
    : [
      ["type", entry.transport],
      ["url", entry.url],
      ["headers", entry.headers],
      ["headersCommand", entry.headersCommand],
      ...env(entry.env),
      ["oauth", oauth(entry.oauth)]
    ]

/** What stands beside them under one of these names would be read as ours. */
const own: ReadonlySet<string> = new Set([
  ...Object.keys(stdio.fields),
  ...Object.keys(remote.from.fields),
  "serverUrl"
])

const server = (entry: ConfigEntry.ConfigEntry): ConfigDocument.Table =>
  table([
    ...target(entry),
    ["enabled", entry.enabled ? undefined : false],
    ["required", entry.required],
    ["lazy", entry.lazy],
    ["title", entry.title],
    ["description", entry.description],
    ["protocol", entry.protocol],
    ["startupTimeoutMs", millis(entry.timeouts?.startupMs)],
    ["requestTimeoutMs", millis(entry.timeouts?.requestMs)],
    ["enabledTools", entry.tools?.allow],
    ["disabledTools", entry.tools?.deny],
    ["autoApprove", entry.tools?.autoApprove],
    ...Array.from(entry.extra ?? []).filter(([key]) => isExtra(key))
  ])

const isExtra = (key: string): boolean => key === "source" || key === "sandbox" || !own.has(key)

const input = ({ choices, default: fallback, description, id, secret }: Dialect.Input): ConfigDocument.Table =>
  table([
    ["id", id],
    ["description", description],
    ["secret", secret],
    ["default", fallback],
    ["choices", choices]
  ])

const rule = (matcher: ServerPolicy.Matcher): ConfigDocument.Table => {
  switch (matcher._tag) {
    case "Name":
      return table([["name", matcher.pattern]])
    case "Command":
      return table([["command", matcher.argv]])
    case "CommandLine":
      return table([["commandLine", matcher.pattern]])
    case "Program":
      return table([["program", matcher.pattern]])
    case "Url":
      return table([["url", matcher.pattern]])
    case "Fingerprint":
      return table([["fingerprint", matcher.pattern]])
  }
}

const policy = (of: NonNullable<NativeConfig.Content["policy"]>): ConfigDocument.Table =>
  table([
    ["allow", of.allow.length === 0 ? undefined : of.allow.map(rule)],
    ["deny", of.deny.length === 0 ? undefined : of.deny.map(rule)],
    ["managedOnly", of.managedOnly],
    ["requireIdentity", of.requireIdentity],
    ["exclusive", of.exclusive],
    ["providers", of.providers]
  ])

/** @internal */
export const encode = (content: NativeConfig.Content, format: "json" | "toml"): string => {
  const document = table([
    ["mcpServers", new Map(content.entries.map((entry) => [entry.name, server(entry)]))],
    ["inputs", content.inputs?.map(input)],
    ["imports", content.imports],
    ["policy", content.policy && policy(content.policy)]
  ])
  return format === "json" ? json(document) : toml(document)
}
