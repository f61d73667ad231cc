/**
 * Rules for URLs that a server chose: which may be fetched, and which may be shown in a browser. Pure. The addresses of a
 * name are checked with `dialable` when they are dialled.
 */
import * as Either from "effect/Either"
import ipaddr from "ipaddr.js"
import * as Unicode from "../text/unicode.ts"

export type Fault =
  | "malformed"
  | "scheme"
  | "userinfo"
  | "not-https"
  | "private-address"
  | "private-name"
  | "too-long"
  | "characters"

export interface Rules {
  /** Whether this machine may be reached, also without TLS: only for a server on it that the user configured. */
  readonly loopback: boolean
  /** Hosts that may have private addresses, because the application named them: `auth.internal.example`, `*.corp.example`. */
  readonly privateHosts: ReadonlyArray<string>
}

export type Verdict = Either.Either<URL, Fault>

export const defaults: Rules = { loopback: false, privateHosts: [] }

/** The length that RFC 9110 asks every implementation to support. */
const maxLength = 8000

/** Where an address leads. No rule admits `special`, where no network has an authorization server. */
type Kind = "public" | "loopback" | "private" | "special"

const blocks = (cidrs: string) => cidrs.split(" ").map((cidr) => ipaddr.parseCIDR(cidr))

/** Special, although the library calls them unicast or private: metadata services of clouds, and reserved blocks. */
const special = blocks(
  "100.100.100.200/32 168.63.129.16/32 fd00:42::42/128 fd00:ec2::/32 fd20:ce::254/128 2001::/23 3fff::/20"
)

/** The prefix with which networks without IPv4 write IPv4 addresses. */
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")

/** Everything outside of it is unassigned, or another family in disguise, such as `::127.0.0.1`. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** The ranges of the library by their kind; the others are special. */
const kinds = new Map<string, Kind>([
  ...["unicast", "as112", "as112v6", "amt"].map((range) => [range, "public"] as const),
  ["loopback", "loopback"],
  ...["private", "carrierGradeNat", "benchmarking", "uniqueLocal"].map((range) => [range, "private"] as const)
])

const kindOf = (address: ipaddr.IPv4 | ipaddr.IPv6): Kind => {
  if (special.some(([block, bits]) => block.kind() === address.kind() && address.match(block, bits))) return "special"
  const kind = kinds.get(address.range()) ?? "special"
  if (address instanceof ipaddr.IPv4) return kind
  if (address.match(nat64)) {
    return kindOf(new ipaddr.IPv4(address.toByteArray().slice(12))) === "public" ? "public" : "special"
  }
  return kind === "public" && !address.match(globalUnicast) ? "special" : kind
}

const kindOfAddress = (address: string): Kind | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return kindOf(ipaddr.IPv4.parse(address))
  // an address with a zone belongs to one link
  return ipaddr.IPv6.isValid(address) && !address.includes("%") ? kindOf(ipaddr.IPv6.parse(address)) : undefined
}

/** The kind of a host as the URL parser writes it; `undefined` for a name. */
const kindOfHost = (host: string): Kind | undefined => kindOfAddress(host.replace(/^\[(.*)\]$/, "$1"))

/** Whether a host, as the URL parser writes it, is an address and no name. */
export const isAddress = (host: string): boolean => kindOfHost(host) !== undefined

/** Endings that the public name servers do not delegate, and that networks of companies, homes and clusters use. */
const privateEndings = "corp home home.arpa internal intranet lan local localdomain localhost private svc".split(" ")

/** Names under public endings at which clouds give credentials to their machines. */
const metadataNames: ReadonlySet<string> = new Set(
  "metadata.goog metadata.packet.net metadata.platformequinix.com metadata.tencentyun.com".split(" ")
)

const isUnder = (name: string, ending: string): boolean => name === ending || name.endsWith(`.${ending}`)

const isPrivateName = (name: string): boolean =>
  !name.includes(".") || metadataNames.has(name) || privateEndings.some((ending) => isUnder(name, ending))

const isLoopback = (host: string): boolean => kindOfHost(host) === "loopback" || isUnder(host, "localhost")

const withoutFinalDot = (name: string): string => name.endsWith(".") ? name.slice(0, -1) : name

/** As the URL parser writes it, because rules may be written in capitals or with letters of any alphabet. */
const canonicalHost = (written: string): string => {
  const host = /^[^[].*:.*:/.test(written) ? `[${written}]` : written
  return withoutFinalDot(URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`).hostname : host)
}

/** Whether a list names this host: itself, or with `*.` a name above it. */
const isAmong = (host: string, list: ReadonlyArray<string>): boolean =>
  list.some((written) =>
    written.startsWith("*.")
      ? host.endsWith(`.${canonicalHost(written.slice(2))}`)
      : host === canonicalHost(written)
  )

/** Stricter than the URL parser, which admits dollars and backticks in a name. */
const hostName = /^[\w-]+(?:\.[\w-]+)*$/

const parse = (url: string | URL): Verdict => {
  const text = typeof url === "string" ? url : url.href
  if (text.length > maxLength) return Either.left("too-long")
  // the URL parser removes some, and a person would not see the others
  if (Unicode.hasBlank(text)) return Either.left("characters")
  if (!URL.canParse(text)) return Either.left("malformed")
  const parsed = new URL(text)
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return Either.left("scheme")
  if (parsed.username !== "" || parsed.password !== "") return Either.left("userinfo")
  parsed.hostname = withoutFinalDot(parsed.hostname)
  if (!hostName.test(parsed.hostname) && kindOfHost(parsed.hostname) === undefined) return Either.left("malformed")
  return parsed.href.length > maxLength ? Either.left("too-long") : Either.right(parsed)
}

/** Whether a host may have an address of this kind. */
const admits = (host: string, kind: Kind, rules: Rules): boolean => {
  // a name that is trusted as this machine must not lead to another one
  if (kind === "public") return !isUnder(host, "localhost")
  if (kind === "loopback" && rules.loopback && isLoopback(host)) return true
  return kind !== "special" && isAmong(host, rules.privateHosts)
}

const faultOf = ({ hostname: host, protocol }: URL, rules: Rules): Fault | undefined => {
  const kind = kindOfHost(host)
  if (kind !== undefined && !admits(host, kind, rules)) return "private-address"
  if (rules.loopback && isLoopback(host)) return undefined
  if (kind === undefined && isPrivateName(host) && !isAmong(host, rules.privateHosts)) return "private-name"
  return protocol === "http:" ? "not-https" : undefined
}

/** Whether a URL may be fetched because a server named it: https at a public host, or what the rules admit. */
export const fetchable = (url: string | URL, rules: Rules = defaults): Verdict =>
  Either.flatMap(parse(url), (parsed): Verdict => {
    const fault = faultOf(parsed, rules)
    return fault === undefined ? Either.right(parsed) : Either.left(fault)
  })

/** Whether a connection may go to an address that the lookup gave for a host that is fetchable. */
export const dialable = (host: string, address: string, rules: Rules = defaults): boolean => {
  const kind = kindOfAddress(address)
  return kind !== undefined && admits(withoutFinalDot(host), kind, rules)
}

/** Characters that a shell may act on, and that the URL parser leaves as they are. */
const shellCharacters = /[$`()'"<>{}|^\\]/g

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

const quoted = (part: string): string =>
  part.replaceAll(/%(?![\da-f]{2})/gi, "%25").replaceAll(shellCharacters, percent)

/**
 * Whether a URL may be shown in a browser: https, or http on this machine. The resulting URL means the same, and contains
 * nothing that a shell acts on except `&` and `;`.
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
 * The same text for every way to write the URL of a server, without fragment and credentials. A final slash of the path makes
 * a difference. A text that is no URL is its own identity.
 */
export const identity = (url: string | URL): string => {
  if (typeof url === "string" && !URL.canParse(url)) return url
  const { hostname, pathname, port, protocol, search } = new URL(url)
  return `${protocol}//${withoutFinalDot(hostname)}${port === "" ? "" : `:${port}`}${pathname}${search}`
}
