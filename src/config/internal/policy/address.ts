/**
 * @internal
 */
import { wildcard } from "../../../text/wildcard.ts"

const ports: ReadonlyMap<string, string> = new Map([["http", "80"], ["ws", "80"], ["https", "443"], ["wss", "443"]])

/** Letters need no escape, so with and without one they are the same; of all others the escape stays. */
const unescaped = (text: string): string =>
  text.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase()
  })

/**
 * An address in the one form in which addresses are compared.
 *
 * @internal
 */
export interface Address {
  readonly scheme: string
  readonly hostname: string
  readonly port: string
  /** Whether the port is what the scheme means without one. */
  readonly usual: boolean
  readonly path: string
  readonly query: string
}

/** @internal */
export const address = (text: string): Address | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const scheme = url.protocol.slice(0, -1)
  const usual = ports.get(scheme)
  return {
    scheme,
    hostname: withoutDot(url.hostname),
    port: url.port === "" ? usual ?? "" : url.port,
    usual: url.port === "",
    path: unescaped(url.pathname),
    query: unescaped(url.search)
  }
}

const withoutDot = (host: string): string => host.replace(/(?<!\.)\.+$/, "")

/** Labels in other scripts are compared as they are sent. */
const ascii = (label: string): string =>
  /^[\u0021-\u007e]*$/.test(label) || !URL.canParse(`http://${label}`) ? label : new URL(`http://${label}`).hostname

const hostPattern = (host: string): string => withoutDot(host.toLowerCase().split(".").map(ascii).join("."))

const pathPattern = (path: string): string => {
  if (!URL.canParse(`http://host${path}`)) return path
  const { pathname, search } = new URL(`http://host${path}`)
  return unescaped(pathname + search)
}

const parts = /^(?:([^:/?#]*):\/\/)?([^/?#]*)(.*)$/s

/**
 * A pattern of addresses, made ready: scheme, host and path are compared each for itself, so that a `*` for a host does
 * not reach into a path. Whoever denies is given the benefit of the doubt: a rule without a port, a path or a query is
 * about all of them. Whoever allows is taken at their word.
 *
 * @internal
 */
export const addressPattern = (
  pattern: string,
  side: "allow" | "deny"
): (text: string, address: Address | undefined) => boolean => {
  const literally = wildcard(pattern)
  if (pattern === "*") return () => true
  const [, scheme, authority = "", rest = ""] = parts.exec(pattern) ?? []
  const port = /:(\d+|\*)$/.exec(authority)
  const fitsScheme = wildcard(scheme?.toLowerCase() ?? "*")
  const fitsHost = wildcard(
    port === null ? hostPattern(authority) : hostPattern(authority.slice(0, port.index)) + port[0]
  )
  const fitsPath = wildcard(rest === "" ? (side === "deny" ? "*" : "/") : pathPattern(rest))
  const host = ({ hostname, port: own, usual }: Address): boolean =>
    port !== null || (side === "allow" && !usual) ? fitsHost(`${hostname}:${own}`) : fitsHost(hostname)
  return (text, of) => {
    // a template, which is looked at again when it is resolved
    if (of === undefined) return literally(text)
    if (side === "deny" && scheme === undefined && literally(text)) return true
    return fitsScheme(of.scheme) && host(of) &&
      (fitsPath(of.path + of.query) || (side === "deny" && fitsPath(of.path)))
  }
}

/**
 * Whether a text is a pattern that an address can fit.
 *
 * @internal
 */
export const isAddressPattern = (pattern: string): boolean => {
  if (pattern === "*") return true
  const [, scheme, authority = ""] = parts.exec(pattern) ?? []
  if (scheme === undefined || authority === "" || /\s/.test(pattern)) return false
  return (scheme.includes("*") || ports.has(scheme.toLowerCase())) &&
    URL.canParse(`http://${authority.replace(/:\*$/, "").replaceAll("*", "x")}`)
}
