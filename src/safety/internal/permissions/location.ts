/**
 * Patterns for paths and addresses, in the two ways of reading them: narrowly where something is let through, broadly
 * where something is held back.
 *
 * @internal
 */
import { wildcard } from "../../../internal/wildcard.ts"

/** What is longer is let through by nothing and held back by everything that could mean it. */
const maxLength = 65_536

/** Who writes a path in one of these ways may mean another than the one it looks like. */
// oxlint-disable-next-line no-control-regex -- exactly these are looked for
const unplain = /[\\%\u0000-\u001f\u007f-\u009f]|(?:^|\/)\.{1,2}(?:\/|$)|(?<!:)\/\//

// oxlint-disable-next-line no-control-regex -- exactly these are looked for
const control = /[\u0000-\u001f\u007f-\u009f]/

/** `*` within one part, `**` for any number of parts, at least one. */
const segments = (pattern: string): (text: string) => boolean => {
  const parts = pattern.split("/").map((part) => part === "**" ? undefined : wildcard(part.replace(/\*{2,}/g, "*")))
  return (text) => {
    const texts = text.split("/")
    if (texts.length > 1_024) return false
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

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A path or address without detours. */
const straight = (text: string): string => {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ""
  const rest = text.slice(scheme.length)
  const out: Array<string> = []
  for (const part of rest.split("/")) {
    if (part === "..") {
      if (out.length > 1 || (out.length === 1 && out[0] !== "")) out.pop()
    } else if (part !== "." && (part !== "" || out.length === 0)) out.push(part)
  }
  return `${scheme.toLowerCase()}${out.join("/")}${rest.endsWith("/") && out.length > 1 ? "/" : ""}`
}

/** All that somebody may mean who writes this. */
const readings = (text: string): ReadonlyArray<string> => {
  const all = new Set([text])
  const slashed = text.replaceAll("\\", "/")
  for (
    const one of [slashed, decoded(slashed).replaceAll("\\", "/"), decoded(decoded(slashed)).replaceAll("\\", "/")]
  ) {
    all.add(straight(one.trim()))
  }
  for (const one of all) if (one.startsWith("file://")) all.add(one.slice("file://".length))
  return [...all]
}

/**
 * Whether a text is what the pattern means.
 *
 * @internal
 */
export const matcher = (pattern: string, narrow: boolean): (text: string) => boolean => {
  if (!narrow) {
    const fits = wildcard(pattern.replace(/\*{2,}/g, "*"))
    return (text) => text.length > maxLength || fits(text) || readings(text).some(fits)
  }
  if (!pattern.includes("/")) {
    const fits = wildcard(pattern.replace(/\*{2,}/g, "*"))
    return (text) => text.length <= maxLength && !control.test(text) && fits(text)
  }
  const fits = segments(pattern)
  return (text) => text.length <= maxLength && !unplain.test(text) && fits(text)
}
