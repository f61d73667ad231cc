/** Which values of a configuration are secrets, by where they come from and by the names that they have. */
import * as Redacted from "effect/Redacted"
import { isCredential } from "../text/credentialName.ts"
import { isHarmless } from "./environmentVariables.ts"
import type * as Interpolation from "./Interpolation.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/** A flag, and what may follow in the same argument. */
const flag = /^-{1,2}([A-Za-z][\w.-]{0,64})(?:=|$)/

/** `NAME=value` or `Name: value`, as programs take variables and headers. */
const assignment = /^([A-Za-z][\w.-]{0,64})(?:=|:\s?)/

/** False for single words, numbers, paths, URLs and hosts, which errors need to be understood. */
const isTelling = (value: string): boolean =>
  value.length >= 6 && !/^(?:[A-Za-z]?[a-z]{0,11}|[A-Z]{0,12}|[\d.,:]+)$/.test(value) &&
  !/^(?:[./~]|[A-Za-z]:[\\/])/.test(value) &&
  !/^[a-z]{1,16}:\/\//.test(value) &&
  !/^(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})*\.[a-z]{2,8})(?::\d{1,5})?$/.test(value)

/** True if the value of the reference must not appear in errors and logs. */
export const isSecret = ({ kind, name }: Interpolation.Reference, value: string): boolean => {
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

/** True if a variable of an `envFile` must not appear in errors and logs. */
export const isFromFile = (name: string, value: string): boolean =>
  isCredential(name) || (isTelling(value) && !isHarmless(name))

const ofVariables = (variables: ReadonlyMap<string, Redacted.Redacted> | undefined): ReadonlyArray<string> =>
  Array.from(variables ?? []).flatMap(([name, value]) => isCredential(name) ? [Redacted.value(value)] : [])

/** `--token abc`, `--token=abc`, `TOKEN=abc`, `Token: abc`. */
const ofWords = (words: ReadonlyArray<string> | undefined = []): ReadonlyArray<string> =>
  words.flatMap((word, index) => {
    const named = flag.exec(word) ?? assignment.exec(word)
    if (named !== null && isCredential(named[1]!)) return [word.slice(named[0].length)]
    const before = flag.exec(words[index - 1] ?? "")
    return before !== null && before[0] === words[index - 1] && isCredential(before[1]!) ? [word] : []
  })

const ofAddress = (address: string): ReadonlyArray<string> => {
  if (!URL.canParse(address)) return []
  const { password, searchParams, username } = new URL(address)
  return [username, password, ...Array.from(searchParams).flatMap(([name, value]) => isCredential(name) ? [value] : [])]
}

/** The values of a configuration without templates that have the names of credentials. Headers are registered when they are sent. */
export const named = (config: ServerConfig.ServerConfig): ReadonlyArray<string> => {
  if (config.transport === "stdio" || config.transport === "docker") {
    return [...ofVariables(config.env), ...ofWords(config.args)]
  }
  const clientSecret = config.oauth === false ? undefined : config.oauth?.clientSecret
  return [
    ...ofAddress(config.url),
    ...ofWords(config.headersCommand),
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
