/**
 * What may be done with an address that a server has chosen: fetched, or shown in a browser. Pure; names are looked up and
 * their addresses checked again when they are dialled.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as AddressKind from "./internal/addressKind.ts"
import * as HostName from "./internal/hostName.ts"

/**
 * Why not.
 *
 * @since 0.1.0
 * @category models
 */
export type Fault =
  | "malformed"
  | "scheme"
  | "userinfo"
  | "not-https"
  | "private-address"
  | "private-name"
  | "too-long"
  | "characters"

/**
 * @since 0.1.0
 * @category models
 */
export interface Rules {
  /** Whether this machine may be reached, and without TLS: only where the person has configured a server on it. */
  readonly loopback: boolean
  /** Hosts that may be private, by name, because the person has said so (`auth.internal.example`, `*.corp.example`). */
  readonly privateHosts: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category models
 */
export type Verdict = Either.Either<URL, Fault>

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Rules = { loopback: false, privateHosts: [] }

/**
 * The longest address that is looked at: what RFC 9110 wants everybody to understand.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxLength = 8000

/** Blanks and what is not seen: the parser would take some of it out, and a person would not see the rest. */
const hiding = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Stricter than the parser, for which a name may have dollars and backticks in it. */
const name = /^[\w-]+(?:\.[\w-]+)*$/

const parse = (url: string | URL): Verdict => {
  const text = typeof url === "string" ? url : url.href
  if (text.length > maxLength) return Either.left("too-long")
  if (hiding.test(text)) return Either.left("characters")
  if (!URL.canParse(text)) return Either.left("malformed")
  const parsed = new URL(text)
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return Either.left("scheme")
  if (parsed.username !== "" || parsed.password !== "") return Either.left("userinfo")
  parsed.hostname = HostName.withoutFinalDot(parsed.hostname)
  if (!name.test(parsed.hostname) && AddressKind.ofHost(parsed.hostname) === undefined) return Either.left("malformed")
  return parsed.href.length > maxLength ? Either.left("too-long") : Either.right(parsed)
}

const isLoopback = (host: string): boolean => AddressKind.ofHost(host) === "loopback" || HostName.isLoopback(host)

const hostFault = (host: string, rules: Rules): Fault | undefined => {
  const kind = AddressKind.ofHost(host)
  if (kind !== undefined) return reaches(host, kind, rules) ? undefined : "private-address"
  if (rules.loopback && HostName.isLoopback(host)) return undefined
  return HostName.isPrivate(host) && !HostName.isAmong(host, rules.privateHosts) ? "private-name" : undefined
}

/** Whether a host may be at an address of this kind. Nothing makes up for one where no authorization server is. */
const reaches = (host: string, kind: AddressKind.AddressKind, rules: Rules): boolean => {
  switch (kind) {
    case "public":
      // what is trusted as this machine must not be another one
      return !HostName.isLoopback(host)
    case "loopback":
      return (rules.loopback && isLoopback(host)) || HostName.isAmong(host, rules.privateHosts)
    case "private":
      return HostName.isAmong(host, rules.privateHosts)
    case "special":
      return false
  }
}

/**
 * Whether an address may be fetched because a server said so: by https from a public host, or from what the rules allow.
 * The URL that is given back has its host written in the one way that has no other.
 *
 * @since 0.1.0
 * @category guards
 */
export const fetchable = (url: string | URL, rules: Rules = defaults): Verdict =>
  Either.flatMap(parse(url), (parsed): Verdict => {
    const fault = hostFault(parsed.hostname, rules)
    if (fault !== undefined) return Either.left(fault)
    const clear = parsed.protocol === "http:" && !(rules.loopback && isLoopback(parsed.hostname))
    return clear ? Either.left("not-https") : Either.right(parsed)
  })

/**
 * Whether a connection may go to an address that the system found for a host that is fetchable.
 *
 * @since 0.1.0
 * @category guards
 */
export const dialable = (host: string, address: string, rules: Rules = defaults): boolean => {
  const kind = AddressKind.ofAddress(address)
  return kind !== undefined && reaches(HostName.withoutFinalDot(host), kind, rules)
}

/**
 * Whether an IP address, as the system's lookup gives it, is one that anybody can reach.
 *
 * @since 0.1.0
 * @category guards
 */
export const isPublic = (address: string): boolean => AddressKind.ofAddress(address) === "public"

/** What some shell would act on, and the URL parser leaves as it is. */
const acted = /[$`()'"<>{}|^\\]/g

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

const quoted = (part: string): string => part.replaceAll(/%(?![\da-f]{2})/gi, "%25").replaceAll(acted, percent)

/**
 * Whether an address may be shown in a browser: https, or http on this machine. The URL that is given back means the same
 * and has nothing that a shell acts on but `&` and `;`; hand on no other.
 *
 * @since 0.1.0
 * @category guards
 */
export const openable = (url: string | URL): Verdict =>
  Either.flatMap(parse(url), (parsed): Verdict => {
    if (parsed.protocol === "http:" && !isLoopback(parsed.hostname)) return Either.left("not-https")
    parsed.pathname = quoted(parsed.pathname)
    parsed.search = quoted(parsed.search)
    parsed.hash = quoted(parsed.hash)
    return parsed.href.length > maxLength ? Either.left("too-long") : Either.right(parsed)
  })

/**
 * One text for all the ways of writing a server's URL, without a fragment and without credentials. A slash at the end of
 * the path makes another one. What is no URL is its own identity.
 *
 * @since 0.1.0
 * @category combinators
 */
export const identity = (url: string | URL): string => {
  if (typeof url === "string" && !URL.canParse(url)) return url
  const { hostname, pathname, port, protocol, search } = new URL(url)
  return `${protocol}//${HostName.withoutFinalDot(hostname)}${port === "" ? "" : `:${port}`}${pathname}${search}`
}
