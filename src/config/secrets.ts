/**
 * The secrets of a resolved configuration: values of references to secret sources, and values with the name of a
 * credential. The transports register headers when they send them.
 */
import * as Redacted from "effect/Redacted"
import { isCredential } from "../text/credentialName.ts"
import { isHarmless } from "./environmentVariables.ts"
import * as Interpolation from "./Interpolation.ts"
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
const isSecret = ({ kind, name }: Interpolation.Reference, value: string): boolean => {
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

/** The values of a template's references, as far as the literal text between them separates them. */
const valuesOf = (template: string, text: string): ReadonlyArray<readonly [Interpolation.Reference, string]> => {
  const parts = Interpolation.parse(template)
  const values: Array<readonly [Interpolation.Reference, string]> = []
  let at = 0
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") {
      if (!text.startsWith(part, at)) return values
      at += part.length
      continue
    }
    const next = parts[index + 1]
    const literal = typeof next === "string" ? next : undefined
    const end = index === parts.length - 1 || literal === undefined
      ? text.length
      : index + 1 === parts.length - 1
      ? text.endsWith(literal) ? text.length - literal.length : -1
      : text.indexOf(literal, at)
    if (end < at) return values
    values.push([part, text.slice(at, end)])
    at = end
  }
  return values
}

/** The secrets of `plain`, the configuration `config` with the values of its variables. */
export const of = (
  config: ServerConfig.ServerConfig,
  plain: ServerConfig.ServerConfig
): ReadonlyArray<Redacted.Redacted> => {
  const found = new Set<string>()
  const isTemplate = config.expansion !== undefined
  const add = (value: string | undefined): void => {
    if (value !== undefined && value !== "") found.add(value)
  }

  const resolved = (template: string | undefined, text: string): void => {
    if (!isTemplate || template === undefined) return
    for (const [reference, value] of valuesOf(template, text)) if (isSecret(reference, value)) add(value)
  }

  const variables = (
    written: ReadonlyMap<string, Redacted.Redacted> | undefined,
    used: ReadonlyMap<string, Redacted.Redacted> | undefined
  ): void => {
    for (const [name, secret] of used ?? []) {
      const value = Redacted.value(secret)
      const template = written?.get(name)
      const isFromFile = template === undefined && isTelling(value) && !isHarmless(name)
      if (isCredential(name) || isFromFile) add(value)
      if (template !== undefined) resolved(Redacted.value(template), value)
    }
  }

  const args = (written: ReadonlyArray<string> | undefined, used: ReadonlyArray<string> | undefined): void => {
    for (const [index, text] of (used ?? []).entries()) {
      resolved(written?.[index], text)
      const named = flag.exec(text) ?? assignment.exec(text)
      const before = flag.exec(used?.[index - 1] ?? "")
      if (named !== null && isCredential(named[1]!)) add(text.slice(named[0].length))
      else if (before?.[0] === used?.[index - 1] && before !== null && isCredential(before[1]!)) add(text)
    }
  }

  const address = (written: string | undefined, used: string): void => {
    resolved(written, used)
    if (!URL.canParse(used)) return
    const { password, searchParams, username } = new URL(used)
    for (const part of [username, password]) add(part)
    for (const [name, value] of searchParams) if (isCredential(name)) add(value)
  }

  switch (plain.transport) {
    case "stdio":
    case "docker":
      // errors name the program and its folder
      if (config.transport === "stdio" && plain.transport === "stdio") {
        resolved(config.command, plain.command)
        resolved(config.cwd, plain.cwd ?? "")
      }
      variables("env" in config ? config.env : undefined, plain.env)
      args("args" in config ? config.args : undefined, plain.args)
      break
    default: {
      const written = "url" in config ? config : undefined
      address(written?.url, plain.url)
      for (const [name, secret] of plain.headers ?? []) {
        const template = written?.headers?.get(name)
        if (template !== undefined) resolved(Redacted.value(template), Redacted.value(secret))
      }
      args(written?.headersCommand, plain.headersCommand)
      if (plain.oauth !== undefined && plain.oauth !== false && plain.oauth.clientSecret !== undefined) {
        add(Redacted.value(plain.oauth.clientSecret))
      }
    }
  }
  return Array.from(found, (value) => Redacted.make(value))
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
