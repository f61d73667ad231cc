/**
 * All that somebody may mean who writes a path or an address: servers and systems differ in what they take for the same.
 *
 * @internal
 */

import { caseFolded, replaceUnsafe } from "../../../text/unicode.ts"

/** What is written so is read by everybody in the same way. */
const plain = /^(?!home\/|users\/|root\/)[a-z0-9_-][a-z0-9_\-*]*(?:[./][a-z0-9_\-*]+)*$/

const absolute = /^\/(?!home\/|users\/|root(?:\/|$)|var\/root(?:\/|$))[a-z0-9_\-*]+(?:[./][a-z0-9_\-*]+)*$/

const escapes = /(?:%[0-9a-f]{2})+/gi

/** As lenient servers do it: what is no escape stays as it is. */
const decoded = (text: string): string =>
  text.replace(escapes, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return run.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    }
  })

const scheme = /^[a-z][a-z0-9+.-]*:\/\//

/** A path or address without detours, and whether it leads out of where it begins. */
const straight = (text: string): readonly [text: string, isOut: boolean] => {
  const before = scheme.exec(text)?.[0] ?? ""
  const rest = text.slice(before.length)
  // of an address the host stays, and of a path from the root the root
  const first = before !== "" || rest.startsWith("/") ? 1 : 0
  const out: Array<string> = []
  let isOut = false
  for (const part of rest.split("/")) {
    if (part === "..") {
      if (out.length > first) isOut = out.pop() === "~" || isOut
      else isOut ||= first === 0
    } else if (part !== "." && (part !== "" || out.length === 0)) out.push(part)
  }
  // of the root itself nothing else is left
  return [`${before}${out.length === 1 && out[0] === "" ? "/" : out.join("/")}`, isOut]
}

/** The same machine by its older address, where the newer one only carries it. */
const mapped = (host: string): ReadonlyArray<string> => {
  const [, high, low] = /^\[(?:::|::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? []
  if (high === undefined || low === undefined) return []
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [`${first >> 8}.${first & 255}.${second >> 8}.${second & 255}`]
}

/** As it would be asked for, which takes other spellings of hosts with it; with its port and without. */
const addresses = (text: string): ReadonlyArray<string> => {
  if (!/^[a-z][a-z0-9+.-]+:/.test(text) || !URL.canParse(text)) return []
  const { hostname, pathname, port, protocol, search } = new URL(text)
  if (hostname === "") return [`${protocol}//${pathname}${search}`]
  const host = hostname.replace(/\.$/, "")
  const names = [host, ...mapped(host)]
  const hosts = port === "" ? names : names.flatMap((name) => [name, `${name}:${port}`])
  return hosts.map((one) => `${protocol}//${one}${pathname}${search}`)
}

/** Somebody's home, by a sign for it or as systems place it. */
const sign = /^(?:~(?!~)[^/]*|\$home|\$\{home\}|%userprofile%|(?:%homedrive%)?%homepath%|\$env:userprofile)(?=\/|$)/
const place = /^(?:\/home\/[^/]+|\/users\/[^/]+|\/root|\/var\/root|[a-z]:\/users\/[^/]+)(?=\/|$)/

/** Windows takes these for the same: a path of a device, one behind the root, dots and spaces at the end of a part. */
const ofWindows = (text: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  const drive = /^\/+(?:[?.]\/)?(?=[a-z]:\/)/.exec(text)
  if (drive !== null) all.push(text.slice(drive[0].length))
  const stream = text.indexOf("::$")
  if (stream > 0) all.push(text.slice(0, stream))
  if (/[. ](?:\/|$)/.test(text)) {
    all.push(text.split("/").map((part) => part.slice(0, lengthWithout(part))).join("/"))
  }
  return all
}

/** Not by a pattern, which would look at each of many dots anew. */
const lengthWithout = (part: string): number => {
  let end = part.length
  while (end > 0 && (part[end - 1] === "." || part[end - 1] === " ")) end--
  return end
}

const marks = /\p{M}{31}/u

/**
 * Whether a letter has more marks than letters have: to put them in order takes longer than anybody has.
 *
 * @internal
 */
export const isCluttered = (text: string): boolean => marks.test(text)

/**
 * One way to write what is written alike but for its letters.
 *
 * @internal
 */
export const folded = (text: string): string => caseFolded(isCluttered(text) ? text : text.normalize("NFKC"))

/** Who can be read in more ways means to be read in one that nobody finds. */
const most = 64

/**
 * The readings of a text, each without detours. Of a home `~` is the reading where the text has a sign for it, and `~~`
 * where it has a place, so that one user's is not taken for another's. There are none where there are too many.
 *
 * @internal
 */
export const readings = (written: string): ReadonlyArray<string> | undefined => {
  const lower = written.toLowerCase()
  if (plain.test(lower) || absolute.test(lower)) return [lower]
  if (isCluttered(written)) return undefined
  const text = folded(written)
  const all = new Set([text])
  for (const one of all) {
    if (all.size > most) return undefined
    const slashed = one.replaceAll("\\", "/").trim()
    const [way, isOut] = straight(slashed)
    all.add(way)
    // whoever leads out of where the server is may lead to the root
    if (isOut) all.add(`/${way}`)
    all.add(decoded(slashed))
    all.add(replaceUnsafe(slashed, () => ""))
    all.add(slashed.replace(/\s+/g, " "))
    // for whoever is written in C it ends here
    const end = slashed.indexOf("\0")
    if (end > 0) all.add(slashed.slice(0, end))
    for (const other of ofWindows(way)) all.add(other)
    for (const other of addresses(slashed)) all.add(other)
    if (way.startsWith("file://")) all.add(way.slice("file://".length))
    if (sign.test(way)) all.add(way.replace(sign, "~"))
    if (place.test(way)) all.add(way.replace(place, "~~"))
  }
  return Array.from(all)
}
