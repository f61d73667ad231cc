/**
 * Patterns for paths, addresses and other texts, in the two ways of reading them: narrowly where something is let
 * through, broadly where something is held back.
 *
 * @internal
 */
import { wildcard } from "../../../text/wildcard.ts"
import { folded, isCluttered, readings } from "./readings.ts"

type Fits = (text: string) => boolean

/** What is longer is let through by nothing and held back by everything that could mean it. */
const maxLength = 65_536

/** Who writes a path in one of these ways may mean another than the one it looks like. A file has no host in its address. */
// oxlint-disable-next-line no-control-regex -- exactly these are looked for
const unplain = /[\\%\u0000-\u001f\u007f-\u009f]|(?:^|\/)[.\s]+(?:\/|$)|(?<!:|^file:\/)\/\//

/** With these a shell begins another command, or puts what one says into another. */
const operators = /[;&|<>()`$]/g

const operatorsOf = (text: string): number => text.match(operators)?.length ?? 0

/** In front of a path these end the name of a host, whatever follows. */
const endsHost = /[?#@]/

const collapsed = (pattern: string): string => pattern.replace(/\*{2,}/g, "*")

/** Where the host of an address stands, or the first part of a path. */
const hostOf = (parts: ReadonlyArray<string>): number => parts[0]?.endsWith(":") === true && parts[1] === "" ? 2 : 0

/** `*` within one part, `**` for any number of parts, at least one. */
const segments = (pattern: string): Fits => {
  const written = pattern.split("/")
  const parts = written.map((part) => part === "**" ? undefined : wildcard(collapsed(part)))
  return (text) => {
    const texts = text.split("/")
    if (texts.length > 1_024) return false
    const host = hostOf(texts)
    if (texts[host] !== written[host] && endsHost.test(texts[host] ?? "")) return false
    // which beginnings of the pattern fit what has been read so far
    let fits = new Uint8Array(parts.length + 1)
    fits[0] = 1
    for (const one of texts) {
      const next = new Uint8Array(parts.length + 1)
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at]
        if (part === undefined) {
          if (fits[at] === 1 || fits[at + 1] === 1) next[at + 1] = 1
        } else if (fits[at] === 1 && part(one)) next[at + 1] = 1
      }
      fits = next
    }
    return fits[parts.length] === 1
  }
}

/** What some servers take for the same must be let through as well. */
const steadily = (fits: Fits): Fits => (text) => {
  if (text.length > maxLength || unplain.test(text) || isCluttered(text) || !fits(text)) return false
  const other = text.normalize("NFKC")
  return other === text || (!unplain.test(other) && fits(other))
}

/** Of several words, which may be a command, `*` is more words of the same and never another command. */
const asOneCommand = (pattern: string, fits: Fits): Fits => {
  if (!/\s/.test(pattern)) return fits
  const written = operatorsOf(pattern)
  return (text) => fits(text) && operatorsOf(text) === written
}

const narrow = (pattern: string): Fits => {
  if (isAnything(pattern)) return () => true
  if (!pattern.includes("*")) return (text) => text === pattern
  if (pattern.includes("\\")) {
    // a path of Windows, of which every separator must be written as in the pattern
    const fits = steadily(segments(pattern.replaceAll("\\", "/")))
    return (text) => !pattern.includes("/") && !text.includes("/") && fits(text.replaceAll("\\", "/"))
  }
  const fits = pattern.includes("/") || !pattern.includes("**") ? segments(pattern) : wildcard(collapsed(pattern))
  return steadily(asOneCommand(pattern, fits))
}

/** Each part between slashes of its own, so that `**` can stand for no part at all. */
const parted = (text: string): string => `/${text.replaceAll("/", "//")}/`

/** `**` for any parts or none, and `*` for anything; what is below a folder is the folder, too. */
const below = (pattern: string): Fits => {
  const parts = pattern.split("/")
  const whole = parts.map((part, at) => {
    const isOpen = part === "*" && at > 0 && at === parts.length - 1
    return isOpen || part === "**" ? "*" : `/${part}/`
  })
  return wildcard(collapsed(whole.join("")))
}

const home = /^~(?=\/|$)/
const homePlace = /^~~(?=\/|$)/

const broad = (pattern: string): Fits => {
  const own = folded(pattern)
  const forms = new Set<string>()
  for (const one of readings(pattern) ?? [own]) {
    // nothing that is left of a pattern without its detours holds back everything
    if (one !== own && isAnything(one.replaceAll("/", ""))) continue
    if (homePlace.test(one)) {
      // one user's, which is meant by a sign as well
      forms.add(one.slice(1))
      continue
    }
    forms.add(one)
    if (home.test(one)) forms.add(`~${one}`)
  }
  const all = Array.from(forms, below)
  return (text) => {
    if (text.length > maxLength) return true
    const meant = readings(text)
    return meant === undefined || meant.some((one) => {
      const inParts = parted(one)
      return all.some((fits) => fits(inParts))
    })
  }
}

/**
 * Whether a pattern is nothing but `*`.
 *
 * @internal
 */
export const isAnything = (pattern: string): boolean => /^\*+$/.test(pattern)

/**
 * Whether a text is what the pattern means.
 *
 * @internal
 */
export const matcher = (pattern: string, isNarrow: boolean): Fits => isNarrow ? narrow(pattern) : broad(pattern)
