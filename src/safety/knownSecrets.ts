/** Values that are known to be secret, each until its last holder releases it. */
import * as Unicode from "../text/unicode.ts"
import { plain, type Span } from "./textViews.ts"
import * as WordFinder from "./wordFinder.ts"

/** Shorter values occur in every text. */
const shortest = 4

/** Shorter values are hidden only where no word goes on around them, and are not looked for in other encodings. */
const shortestWithin = 8

/** The part of a value that is looked for, and the shortest part that gives it away where a text was cut. */
const shortestPart = 8

/** Shorter lines of a value occur in other texts. */
const shortestLine = 20

/** The base64 digits of a text that begins after `before` other bytes, without those that its neighbours decide too. */
const base64Within = (bytes: Buffer, before: number): string => {
  const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64").replace(/=+$/, "")
  return digits.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1)
}

/** The forms in which a value is looked for, where escapes are taken away, also those that are a part of the value. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const forms = new Set([secret, secret.replaceAll(" ", "+"), plain(secret)])
  if (secret.length >= shortestWithin) {
    const bytes = Buffer.from(secret)
    const digits = [bytes.toString("base64"), ...[0, 1, 2].map((before) => base64Within(bytes, before))]
    const hex = bytes.toString("hex")
    const encoded = [...digits, ...digits.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")), hex]
    for (const text of [...encoded, hex.toUpperCase()]) if (text.length >= shortestWithin) forms.add(text)
  }
  const lines = secret.split(/[\r\n]+/)
  if (lines.length > 1) { for (const line of lines) if (line.length >= shortestLine) forms.add(line) }
  return Array.from(forms).filter((form) => form.length >= shortest)
}

/** What can stand within a value that was written in pieces, beside a character that does not show. */
const gap = /(?:\\|=)?\r?\n[ \t>|#*]{0,64}|["'`][ \t]{0,8}[+.,&]?\s{0,64}["'`]/y

/** Precedes the note of how much of a text was left out. */
const cutMark = "…"

/**
 * The end of the form that begins at `at` with its character `from`, in one piece or more, or cut at the end of the text.
 */
const endOf = (text: string, at: number, form: string, from: number): number | undefined => {
  let next = at
  for (let index = from; index < form.length; index++) {
    if (text[next] !== form[index]) {
      if (next >= text.length || text[next] === cutMark) return next - at >= shortestPart ? next : undefined
      gap.lastIndex = next
      next += gap.exec(text)?.[0].length ?? (Unicode.isUnseen(text.charCodeAt(next)) ? 1 : 0)
      if (text[next] !== form[index]) return undefined
    }
    next++
  }
  return next
}

/**
 * Comparisons of one scan, and for each character of its text. After these, the first characters of a value are hidden
 * without a comparison of the rest, because a value that repeats itself could begin at each character.
 */
const work = { base: 1_000_000, perChar: 64 }

const isWord = (char: string | undefined): boolean => char !== undefined && /[\w-]/.test(char)

export const make = () => {
  const known = new Map<string, { holders: number; readonly forms: ReadonlyArray<string> }>()
  let search: { readonly forms: ReadonlyArray<string>; readonly finder: WordFinder.WordFinder } | undefined

  return {
    /** Returns the function that releases the value. */
    add: (secret: string): () => void => {
      if (secret.trim().length < shortest) return () => undefined
      const entry = known.get(secret) ?? { holders: 0, forms: formsOf(secret) }
      if (entry.holders++ === 0) {
        known.set(secret, entry)
        search = undefined
      }
      let isHeld = true
      return () => {
        if (isHeld && --entry.holders === 0) {
          known.delete(secret)
          search = undefined
        }
        isHeld = false
      }
    },
    scan: (text: string): ReadonlyArray<Span> => {
      if (known.size === 0) return []
      if (search === undefined) {
        const forms = Array.from(new Set(Array.from(known.values(), ({ forms }) => forms).flat()))
        search = { forms, finder: WordFinder.make(forms.map((form) => form.slice(0, shortestPart)), false) }
      }
      const { finder, forms } = search
      const spans: Array<Span> = []
      let left = work.base + work.perChar * text.length
      const found = (at: number, end: number | undefined): void => {
        if (end !== undefined) spans.push({ at, end })
      }
      finder(text, (at, index) => {
        const form = forms[index]!
        left -= form.length
        if (left < 0) {
          spans.push({ at: spans.at(-1)?.end === at ? spans.pop()!.at : at, end: at + shortestPart })
          return at + shortestPart
        }
        const end = endOf(text, at, form, 0)
        if (form.length >= shortestWithin || !isWord(text[at - 1]) && !isWord(text[end ?? at])) found(at, end)
        return undefined
      })
      // the beginning was cut off
      const head = text.slice(0, shortestPart)
      for (const form of head.length < shortestPart ? [] : forms) {
        for (let at = form.indexOf(head, 1); at > 0; at = form.indexOf(head, at + 1)) found(0, endOf(text, 0, form, at))
      }
      return spans
    }
  }
}
