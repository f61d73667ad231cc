/** Policies: lists of the servers that may be used, by name, command or address. */
import { caseFolded } from "../text/unicode.ts"
import { wildcard } from "../text/wildcard.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import * as ServerEntry from "./serverEntry.ts"

/**
 * One rule. A name is only what a file calls a server, so in a list that also has rules on commands or addresses, names
 * allow no server of that kind; with `requireIdentity` they allow none at all.
 *
 * - `Name`: the name, with `*` for any characters.
 * - `Command`: the whole command line, word by word.
 * - `CommandLine`: the words joined by spaces, with `*`.
 * - `Program`: the first word alone, whatever its arguments.
 * - `Url`: the address, with `*`; both sides are normalised first.
 * - `Fingerprint`: exactly this entry.
 */
export type Matcher =
  | { readonly _tag: "Name" | "CommandLine" | "Program" | "Url" | "Fingerprint"; readonly pattern: string }
  | { readonly _tag: "Command"; readonly argv: ReadonlyArray<string> }

export interface Rule {
  readonly action: "allow" | "deny"
  readonly matcher: Matcher
}

export interface Policy {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  /** Empty: everything that is not denied. A server must be in the list of each policy that has one. */
  readonly allow: ReadonlyArray<Matcher>
  readonly deny: ReadonlyArray<Matcher>
  /** Rules of which the first that matches decides (Amp), after `deny`. */
  readonly ordered: ReadonlyArray<Rule>
  /** Only the `allow` lists of managed policies count. */
  readonly managedOnly: boolean
  /** Rules on names allow nothing. */
  readonly requireIdentity?: boolean | undefined
  /** The identity of each name (Codex); a name that is not in it is not allowed. */
  readonly identities: ReadonlyMap<string, Matcher> | undefined
  /** The policy, or its whole `allow` list, could not be read, so nothing is allowed. Never set for a workspace. */
  readonly broken: boolean
}

/** `denied` by a rule, or `not-allowed` because a list names other servers. */
export type Decision = "allowed" | "denied" | "not-allowed"

/** The parts of a server that rules match. Decided on again before a connect, when all templates are resolved. */
export interface Subject {
  readonly name: string
  readonly argv: ReadonlyArray<string> | undefined
  readonly url: string | undefined
  readonly fingerprint: string | undefined
  /** The host whose file it is in: the `allow` lists of other hosts, unless managed, are not about it. */
  readonly provider?: string | undefined
}

const ports: ReadonlyMap<string, string> = new Map([["http", "80"], ["ws", "80"], ["https", "443"], ["wss", "443"]])

/** Letters need no escape; every other escape stays, in upper case. */
const unescaped = (text: string): string =>
  text.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase()
  })

const withoutDot = (host: string): string => host.replace(/(?<!\.)\.+$/, "")

/** An address in the form in which addresses are compared. */
const addressOf = (text: string) => {
  if (!URL.canParse(text)) return undefined
  const { hostname, pathname, port, protocol, search } = new URL(text)
  const scheme = protocol.slice(0, -1)
  return {
    scheme,
    host: withoutDot(hostname),
    port: port === "" ? ports.get(scheme) ?? "" : port,
    hasUsualPort: port === "",
    path: unescaped(pathname),
    query: unescaped(search)
  }
}

type Address = ReturnType<typeof addressOf>

const addressParts = /^(?:([^:/?#]*):\/\/)?([^/?#]*)(.*)$/s

/** Labels in other scripts are compared in their ASCII form. */
const hostPattern = (host: string): string => {
  const ascii = (label: string): string =>
    /^[\u0021-\u007e]*$/.test(label) || !URL.canParse(`http://${label}`) ? label : new URL(`http://${label}`).hostname
  return withoutDot(host.toLowerCase().split(".").map(ascii).join("."))
}

const pathPattern = (path: string): string => {
  if (!URL.canParse(`http://host${path}`)) return path
  const { pathname, search } = new URL(`http://host${path}`)
  return unescaped(pathname + search)
}

/**
 * Scheme, host and path are compared one by one, so that a `*` in the host does not reach into the path. A denial without
 * a port, path or query is about all of them; an allowance is taken literally.
 */
const addressPattern = (pattern: string, action: Rule["action"]): (text: string, address: Address) => boolean => {
  if (pattern === "*") return () => true
  const isDenied = action === "deny"
  const literally = wildcard(pattern)
  const [, scheme, authority = "", rest = ""] = addressParts.exec(pattern) ?? []
  const port = /:(\d+|\*)$/.exec(authority)
  const fitsScheme = wildcard(scheme?.toLowerCase() ?? "*")
  const fitsHost = wildcard(hostPattern(authority.slice(0, port?.index)) + (port?.[0] ?? ""))
  const fitsPath = wildcard(rest === "" ? (isDenied ? "*" : "/") : pathPattern(rest))
  return (text, address) => {
    // a template is no address, and is decided on again when it is resolved
    if (address === undefined) return literally(text)
    if (isDenied && scheme === undefined && literally(text)) return true
    const { hasUsualPort, host, path, query } = address
    const hasPort = port !== null || (!isDenied && !hasUsualPort)
    return fitsScheme(address.scheme) && fitsHost(hasPort ? `${host}:${address.port}` : host) &&
      (fitsPath(path + query) || (isDenied && fitsPath(path)))
  }
}

export const isAddressPattern = (pattern: string): boolean => {
  if (pattern === "*") return true
  const [, scheme, authority = ""] = addressParts.exec(pattern) ?? []
  if (scheme === undefined || authority === "" || /\s/.test(pattern)) return false
  return (scheme.includes("*") || ports.has(scheme.toLowerCase())) &&
    URL.canParse(`http://${authority.replace(/:\*$/, "").replaceAll("*", "x")}`)
}

interface Seen extends Subject {
  readonly line: string | undefined
  readonly address: Address
}

type Fits = (seen: Seen) => boolean

const digest = (fingerprint: string): string => fingerprint.replace(/^sha256:/, "")

const compiled = (matcher: Matcher, action: Rule["action"]): Fits => {
  switch (matcher._tag) {
    case "Name": {
      // a denial ignores case, like one of a tool
      const folded = action === "deny" ? caseFolded : (text: string) => text
      const fits = wildcard(folded(matcher.pattern))
      return ({ name }) => fits(folded(name))
    }
    case "Command": {
      const { argv } = matcher
      return (seen) => seen.argv?.length === argv.length && argv.every((word, at) => word === seen.argv?.[at])
    }
    case "CommandLine": {
      const fits = wildcard(matcher.pattern)
      return ({ line }) => line !== undefined && fits(line)
    }
    case "Program":
      return ({ argv }) => argv?.[0] === matcher.pattern
    case "Url": {
      const fits = addressPattern(matcher.pattern, action)
      return ({ address, url }) => url !== undefined && fits(url, address)
    }
    case "Fingerprint":
      return ({ fingerprint }) => fingerprint !== undefined && digest(fingerprint) === digest(matcher.pattern)
  }
}

/** Each rule is compiled once, because thousands of servers are held against it. */
const known: { readonly [A in Rule["action"]]: WeakMap<Matcher, Fits> } = { allow: new WeakMap(), deny: new WeakMap() }

const matches = (matcher: Matcher, action: Rule["action"], seen: Seen): boolean => {
  let fits = known[action].get(matcher)
  if (fits === undefined) known[action].set(matcher, fits = compiled(matcher, action))
  return fits(seen)
}

/** False for a rule that allows by name where an identity is required. */
const counts = ({ requireIdentity }: Policy, action: Rule["action"], { _tag }: Matcher): boolean =>
  requireIdentity !== true || action === "deny" || _tag !== "Name"

/** True for a rule about the command, or about the address, of a server that has one. */
const isAboutKind = (matcher: Matcher, { argv, url }: Seen): boolean =>
  matcher._tag === "Url" ? url !== undefined : !/^(Name|Fingerprint)$/.test(matcher._tag) && argv !== undefined

const isAdmitted = (policy: Policy, seen: Seen): boolean => {
  if (policy.allow.length === 0) return true
  const isByName = !policy.allow.some((matcher) => isAboutKind(matcher, seen))
  return policy.allow.some((matcher) =>
    (isByName || matcher._tag !== "Name") && counts(policy, "allow", matcher) && matches(matcher, "allow", seen)
  )
}

const isIdentified = (policy: Policy, seen: Seen): boolean => {
  if (policy.identities === undefined) return true
  const identity = policy.identities.get(seen.name)
  return identity !== undefined && counts(policy, "allow", identity) && matches(identity, "allow", seen)
}

/** A host's lists apply to the servers in its files, managed and native policies to all. `deny` lists apply to all. */
const concerns = (policy: Policy, { provider }: Subject): boolean =>
  policy.scope === "managed" || policy.origin === "code" || policy.provider === "native" || provider === undefined ||
  policy.provider === provider

const denies = (policy: Policy, seen: Seen): boolean =>
  policy.broken || policy.deny.some((matcher) => matches(matcher, "deny", seen)) ||
  (concerns(policy, seen) &&
    policy.ordered.find(({ action, matcher }) => counts(policy, action, matcher) && matches(matcher, action, seen))
        ?.action === "deny")

const isManaged = ({ origin, scope }: Policy): boolean => scope === "managed" && Scope.rights(origin).allow

/** A denial beats every allowance. `allow` lists only narrow, so a workspace may have one. */
export const decide = (policies: ReadonlyArray<Policy>, subject: Subject): Decision => {
  if (policies.length === 0) return "allowed"
  const { argv, url } = subject
  const seen = { ...subject, line: argv?.join(" "), address: url === undefined ? undefined : addressOf(url) }
  if (policies.some((policy) => denies(policy, seen))) return "denied"
  const managedOnly = policies.some((policy) => policy.managedOnly && isManaged(policy))
  return policies.every((policy) =>
      !concerns(policy, seen) || (managedOnly && !isManaged(policy)) ||
      (isAdmitted(policy, seen) && isIdentified(policy, seen))
    )
    ? "allowed"
    : "not-allowed"
}

/** True if `requireIdentity` alone keeps it from being allowed. */
export const isByNameAlone = (policies: ReadonlyArray<Policy>, subject: Subject): boolean =>
  policies.some(({ requireIdentity }) => requireIdentity === true) && decide(policies, subject) !== "allowed" &&
  decide(policies.map((policy) => ({ ...policy, requireIdentity: false })), subject) === "allowed"

const argvOf = (config: ServerConfig.ServerConfig): ReadonlyArray<string> | undefined => {
  if (config.transport === "stdio") return [config.command, ...(config.args ?? [])]
  return config.transport === "docker" ? [config.command, ...ServerEntry.gatewayArgs(config)] : undefined
}

export const subject = (config: ServerConfig.ServerConfig, fingerprint?: string): Subject => ({
  name: config.name,
  argv: argvOf(config),
  url: "url" in config ? config.url : undefined,
  fingerprint,
  provider: config.provenance?.provider
})
