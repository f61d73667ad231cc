/** The values of a configuration that are secrets, by their sources and their names. */
import * as Redacted from "effect/Redacted"
import { isCredential } from "../text/credentialName.ts"
import { isHarmless } from "./environmentVariables.ts"
import type * as Interpolation from "./Interpolation.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/** An option without its value. */
const option = /^-{1,2}([A-Za-z][\w.-]{0,95})$/

/** `NAME=value` or `Name: value`, as programs take variables and headers, or an option with its value. */
const assignment = /^(?:--env=|-e(?=[A-Z_]))?-{0,2}(\w[\w.-]{0,95})(?:=|:\s?)/

/** False for single words, numbers, paths, URLs and hosts, which errors need to be understood. */
const isTelling = (value: string): boolean =>
  value.length >= 6 && !/^(?:[A-Za-z]?[a-z]{0,11}|[A-Z]{0,12}|[\d.,:]+)$/.test(value) &&
  !/^(?:[./~]|[A-Za-z]:[\\/])/.test(value) &&
  !/^[a-z]{1,16}:\/\//.test(value) &&
  !/^(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})*\.[a-z]{2,8})(?::\d{1,5})?$/.test(value)

/** True if the value of a reference, or of a variable of an `envFile`, must not appear in errors and logs. */
export const isSecret = ({ kind, name }: Pick<Interpolation.Reference, "kind" | "name">, value: string): boolean => {
  switch (kind) {
    case "input":
    case "secret":
    case "file":
    case "cmd":
      return true
    case "env":
      return isCredential(name) || (!isHarmless(name) && isTelling(value))
    default:
      return false
  }
}

const ofVariables = (variables: ReadonlyMap<string, Redacted.Redacted> | undefined): ReadonlyArray<string> =>
  Array.from(variables ?? []).flatMap(([name, value]) => isCredential(name) ? [Redacted.value(value)] : [])

/** The words with the names of credentials, and their values: `--token abc`, `--token=abc`, `TOKEN=abc`, `Token: abc`. */
export const inWords = (words: ReadonlyArray<string>) =>
  words.flatMap((word, at) => {
    const [start = "", name = ""] = assignment.exec(word) ?? []
    if (isCredential(name)) return [{ at, value: word.slice(start.length) }]
    return isCredential(option.exec(words[at - 1] ?? "")?.[1] ?? "") ? [{ at, value: word }] : []
  })

const valuesIn = (words: ReadonlyArray<string> = []) => inWords(words).map(({ value }) => value)

const ofAddress = (address: string): ReadonlyArray<string> => {
  if (!URL.canParse(address)) return []
  const { password, searchParams, username } = new URL(address)
  return [username, password, ...Array.from(searchParams).flatMap(([name, value]) => isCredential(name) ? [value] : [])]
}

/** The values of a configuration without templates that have the names of credentials. Headers are registered when they are sent. */
export const named = (config: ServerConfig.ServerConfig): ReadonlyArray<string> => {
  if (config.transport === "stdio" || config.transport === "docker") {
    return [...ofVariables(config.env), ...valuesIn(config.args)]
  }
  const clientSecret = config.oauth ? config.oauth.clientSecret : undefined
  return [
    ...ofAddress(config.url),
    ...valuesIn(config.headersCommand),
    ...(clientSecret === undefined ? [] : [Redacted.value(clientSecret)])
  ]
}

/** Headers whose values are no secrets; errors quote them. */
const harmless: ReadonlySet<string> = new Set(
  ("accept accept-encoding accept-language baggage cache-control content-type mcp-protocol-version " +
    "origin referer traceparent tracestate user-agent").split(" ")
)

const scheme = /^[A-Za-z][\w-]{1,20}\s+/

/** The credential after the name of its scheme with the password in it, or the whole value and the cookies in it. */
const credentialsIn = (header: string): ReadonlyArray<string> => {
  const named = scheme.exec(header)
  if (named === null) return header.split(/;\s*/).flatMap((pair) => [pair, pair.slice(pair.indexOf("=") + 1)])
  const credential = header.slice(named[0].length)
  if (!/^basic\s/i.test(header)) return [credential]
  const pair = Buffer.from(credential, "base64").toString("utf8")
  return [credential, pair, pair.slice(pair.indexOf(":") + 1)]
}

/** Shorter values of headers with unknown names are `1`, `true` and `eu-west`. */
const shortest = 8

/** The secrets in a header that is sent to a server. */
export const ofHeader = (name: string, header: Redacted.Redacted): ReadonlyArray<Redacted.Redacted> => {
  if (harmless.has(name.toLowerCase())) return []
  return credentialsIn(Redacted.value(header))
    .filter((value) => value.length >= (isCredential(name) ? 1 : shortest))
    .map((value) => Redacted.make(value))
}
