/**
 * Patterns for paths, addresses and other values of a rule. A rule that allows reads them narrowly, by the text as it is
 * written; a rule that holds back reads them broadly, by the text and by its normal form.
 */
import { caseFolded, replaceUnsafe } from "../text/unicode.ts"
import { wildcard } from "../text/wildcard.ts"

export type Fits = (text: string) => boolean

/** A longer text fits no narrow pattern and every broad one. */
const maxLength = 65_536

export const isAnything = (pattern: string): boolean => /^\*+$/.test(pattern)

const collapsed = (pattern: string): string => pattern.replace(/\*{2,}/g, "*")

/** More marks on a letter than writing systems use. Normalising them takes quadratic time. */
const isCluttered = (text: string): boolean => /\p{M}{31}/u.test(text)

export const folded = (text: string): string => caseFolded(isCluttered(text) ? text : text.normalize("NFKC"))

/**
 * Escapes, backslashes, control characters, dot segments and doubled slashes: a path with them may mean another path.
 */
// oxlint-disable-next-line no-control-regex -- they are looked for
const unplain = /[\\%\u0000-\u001f\u007f-\u009f]|(?:^|\/)[.\s]+(?:\/|$)|(?<!:|^file:\/)\/\//

/** With these a shell begins another command, or inserts the output of one. */
const operatorsOf = (text: string): number => text.match(/[;&|<>()`$]/g)?.length ?? 0

/** The index of the host of an address, or of the first part of a path. */
const hostOf = (parts: ReadonlyArray<string>): number => parts[0]?.endsWith(":") === true && parts[1] === "" ? 2 : 0

/** `*` within one part, `**` for one or more parts. */
const segments = (pattern: string): Fits => {
  const written = pattern.split("/")
  const parts = written.map((part) => part === "**" ? undefined : wildcard(collapsed(part)))
  return (text) => {
    const texts = text.split("/")
    if (texts.length > 1_024) return false
    const host = texts[hostOf(texts)] ?? ""
    // these end the name of a host, whatever follows
    if (host !== written[hostOf(texts)] && /[?#@]/.test(host)) return false
    // the prefixes of the pattern that fit the parts read so far
    let fits = [true, ...parts.map(() => false)]
    for (const each of texts) {
      fits = [
        false,
        ...parts.map((part, at) => part === undefined ? fits[at]! || fits[at + 1]! : fits[at]! && part(each))
      ]
    }
    return fits[parts.length]!
  }
}

/** Fits in the compatibility form too, because some servers take both for the same. */
const plainly = (fits: Fits): Fits => {
  const isPlain: Fits = (text) => !unplain.test(text) && fits(text)
  return (text) => text.length <= maxLength && !isCluttered(text) && isPlain(text) && isPlain(text.normalize("NFKC"))
}

const narrow = (pattern: string): Fits => {
  if (isAnything(pattern)) return () => true
  if (!pattern.includes("*")) return (text) => text === pattern
  if (pattern.includes("\\")) {
    // a path of Windows, in which every separator is written as in the pattern
    const fits = plainly(segments(pattern.replaceAll("\\", "/")))
    return (text) => !pattern.includes("/") && !text.includes("/") && fits(text.replaceAll("\\", "/"))
  }
  const fits = pattern.includes("/") || !pattern.includes("**") ? segments(pattern) : wildcard(collapsed(pattern))
  // in a pattern of several words, as of a command, `*` is more words and never another command
  return plainly(/\s/.test(pattern) ? (text) => fits(text) && operatorsOf(text) === operatorsOf(pattern) : fits)
}

/** Decodes escapes as lenient servers do: what is not an escape stays. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return run.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    }
  })

/** Escaped texts may be escaped again. Deeper ones have no normal form. */
const maxRounds = 8

const unescaped = (text: string): string | undefined => {
  for (let round = 0, before = text; round < maxRounds; round++) {
    const next = folded(decoded(before))
    if (next === before) return next
    before = next
  }
  return undefined
}

/** The IPv4 address that an IPv6 address only carries. */
const carried = (host: string): ReadonlyArray<string> => {
  const [, high, low] = /^\[(?:::|::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? []
  if (high === undefined || low === undefined) return []
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [`${first >> 8}.${first & 255}.${second >> 8}.${second & 255}`]
}

/** An address with its host as it is resolved, with the port and without, and without user and password. */
const addresses = (text: string): ReadonlyArray<string> => {
  if (!/^[a-z][a-z0-9+.-]+:/.test(text) || !URL.canParse(text)) return []
  const { hostname, pathname, port, protocol, search } = new URL(text)
  const path = folded(decoded(`${pathname}${search}`))
  if (protocol === "file:" && hostname === "") return [straight(`file://${path}`), ...paths(path)]
  const host = hostname.replace(/\.$/, "")
  const hosts = [host, ...carried(host)]
  const withPorts = port === "" ? [] : hosts.map((name) => `${name}:${port}`)
  return [...hosts, ...withPorts].map((name) => straight(`${protocol}//${name}${path}`))
}

/** Resolves `.` and `..`. A path that leaves the folder where it begins may lead to the root. */
const straight = (text: string): string => {
  const before = /^[a-z][a-z0-9+.-]*:\/\//.exec(text)?.[0] ?? ""
  const rest = text.slice(before.length)
  // the host of an address stays, and the root of an absolute path
  const first = before !== "" || rest.startsWith("/") ? 1 : 0
  const out: Array<string> = []
  let hasLeft = false
  for (const part of rest.split("/")) {
    if (part === "..") {
      if (out.length > first) hasLeft = out.pop() === "~" || hasLeft
      else hasLeft ||= first === 0
    } else if (part !== "." && (part !== "" || out.length === 0)) out.push(part)
  }
  return `${hasLeft ? "/" : ""}${before}${out.length === 1 && out[0] === "" ? "/" : out.join("/")}`
}

/** The end of the part without dots and spaces, which Windows ignores; found by a loop because it is linear. */
const trimmed = (part: string): string => {
  let end = part.length
  while (end > 0 && (part[end - 1] === "." || part[end - 1] === " ")) end--
  return end === 0 ? part.trim() : part.slice(0, end)
}

/** A home folder, by a sign for it or by its place. */
const sign = /^(?:~(?!~)[^/]*|\$home|\$\{home\}|%userprofile%|(?:%homedrive%)?%homepath%|\$env:userprofile)(?=\/|$)/
const place = /^(?:\/home\/[^/]+|\/users\/[^/]+|\/root|\/var\/root|[a-z]:\/users\/[^/]+)(?=\/|$)/

/**
 * A path without invisible characters, Windows' prefixes and streams, and detours. Of a home folder, `~` stands for a sign
 * and `~~` for a place in addition.
 */
const paths = (text: string): ReadonlyArray<string> => {
  const visible = replaceUnsafe(text.replace(/\s+/g, " "), () => "").trim()
  const [drive] = visible.replace(/^\/+(?:[?.]\/)?(?=[a-z]:\/)/, "").split("::$")
  const path = straight(drive!.split("/").map(trimmed).join("/"))
  return [
    path,
    ...(sign.test(path) ? [path.replace(sign, "~")] : []),
    ...(place.test(path) ? [path.replace(place, "~~")] : [])
  ]
}

/** The text, and its normal forms as a path and as an address; `undefined` if it has none. */
const forms = (written: string): ReadonlySet<string> | undefined => {
  if (isCluttered(written)) return undefined
  const text = folded(written)
  const plain = unescaped(text.replaceAll("\\", "/"))?.replaceAll("\\", "/").trim()
  if (plain === undefined) return undefined
  // programs in C read a text up to its first NUL
  const [first] = plain.split("\0")
  return new Set([text, ...addresses(plain), ...paths(plain), ...addresses(first!), ...paths(first!)])
}

/** `**` for any number of parts, and `*` for anything; a folder is covered with what is below it. */
const below = (pattern: string): Fits => {
  const parts = pattern.split("/")
  const whole = parts.map((part, at) => {
    const isOpen = part === "*" && at > 0 && at === parts.length - 1
    return isOpen || part === "**" ? "*" : `/${part}/`
  })
  return wildcard(collapsed(whole.join("")))
}

/** The forms of a pattern. A sign for a home folder means every user's; a place means one user's, or a sign. */
const patternForms = (pattern: string): ReadonlyArray<string> => {
  const text = folded(pattern)
  return Array.from(forms(pattern) ?? [text]).flatMap((form) => {
    // a pattern must not cover everything only because of what normalising removes
    if (form !== text && isAnything(form.replaceAll("/", ""))) return []
    if (/^~~(?=\/|$)/.test(form)) return [form.slice(1)]
    return /^~(?=\/|$)/.test(form) ? [form, `~${form}`] : [form]
  })
}

const broad = (pattern: string): Fits => {
  const all = Array.from(new Set(patternForms(pattern)), below)
  return (text) => {
    const texts = text.length > maxLength ? undefined : forms(text)
    // each part gets slashes of its own, so that `**` can stand for no part at all
    return texts === undefined ||
      Array.from(texts, (form) => `/${form.replaceAll("/", "//")}/`).some((form) => all.some((fits) => fits(form)))
  }
}

export const matcher = (pattern: string, isNarrow: boolean): Fits => isNarrow ? narrow(pattern) : broad(pattern)
