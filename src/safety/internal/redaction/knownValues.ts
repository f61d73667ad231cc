/**
 * Secrets that are known: each for as long as somebody holds it.
 *
 * @internal
 */
import * as Encodings from "./encodings.ts"
import * as Finder from "./finder.ts"
import type { Span } from "./spans.ts"

/** What is shorter stands in every text. */
const shortest = 4

/** What is shorter is hidden only where it stands alone. */
const shortestWithin = 8

/** How much of a secret gives it away where a text was cut. */
const shortestPart = 8

/** @internal */
export interface KnownValues {
  /** Returns how to let go. */
  readonly add: (secret: string) => () => void
  readonly scan: (text: string) => ReadonlyArray<Span>
}

interface Known {
  holders: number
  readonly texts: ReadonlyArray<string>
}

interface Search {
  readonly finder: Finder.Finder
  readonly texts: ReadonlyArray<string>
  /** The texts that a cut can have left a part of. */
  readonly long: ReadonlyArray<string>
  readonly longest: number
}

const isWord = (char: string | undefined): boolean => char !== undefined && /[\w-]/.test(char)

const standsAlone = (text: string, at: number, end: number): boolean => !isWord(text[at - 1]) && !isWord(text[end])

/** The place of the last part of a secret with which a text begins, where its beginning was cut off. */
const cutBefore = (text: string, { long, longest }: Search): Span | undefined => {
  const head = text.slice(0, longest)
  const part = head.slice(0, shortestPart)
  if (part.length < shortestPart) return undefined
  let end = 0
  for (const secret of long) {
    for (let at = secret.indexOf(part, 1); at > 0; at = secret.indexOf(part, at + 1)) {
      const rest = secret.slice(at)
      if (rest.length > end && head.startsWith(rest)) end = rest.length
    }
  }
  return end === 0 ? undefined : { id: "known", at: 0, end }
}

/** The place of the first part of a secret with which a text ends at `end`, where the rest was cut off. */
const cutAfter = (text: string, end: number, { long, longest }: Search): Span | undefined => {
  const from = Math.max(0, end - longest)
  const tail = text.slice(from, end)
  let begin = tail.length
  for (const secret of long) {
    const part = secret.slice(0, shortestPart)
    for (let at = tail.indexOf(part); at >= 0 && at < begin; at = tail.indexOf(part, at + 1)) {
      if (secret.startsWith(tail.slice(at))) begin = at
    }
  }
  return begin === tail.length ? undefined : { id: "known", at: from + begin, end }
}

/** Where texts are cut: at their ends, and before what says how much was left out. */
const cutMark = "…"

/** @internal */
export const make = (): KnownValues => {
  const known = new Map<string, Known>()
  let search: Search | undefined

  const searching = (): Search => {
    if (search !== undefined) return search
    const texts = Array.from(new Set(Array.from(known.values(), (one) => one.texts).flat()))
    const long = texts.filter((text) => text.length > shortestPart)
    search = {
      finder: Finder.make(texts, false),
      texts,
      long,
      longest: Math.max(0, ...long.map((text) => text.length))
    }
    return search
  }

  const release = (secret: string): void => {
    const one = known.get(secret)
    if (one === undefined || --one.holders > 0) return
    known.delete(secret)
    search = undefined
  }

  return {
    add: (secret) => {
      if (secret.trim().length < shortest) return () => undefined
      const one = known.get(secret)
      if (one === undefined) {
        known.set(secret, { holders: 1, texts: Encodings.of(secret) })
        search = undefined
      } else {
        one.holders++
      }
      let isHeld = true
      return () => {
        if (isHeld) release(secret)
        isHeld = false
      }
    },
    scan: (text) => {
      if (known.size === 0) return []
      const spans: Array<Span> = []
      const now = searching()
      now.finder.each(text, (at, index) => {
        const end = at + now.texts[index]!.length
        if (end - at < shortestWithin && !standsAlone(text, at, end)) return undefined
        spans.push({ id: "known", at, end })
        return end
      })
      const cuts = [cutBefore(text, now), cutAfter(text, text.length, now)]
      for (let at = text.indexOf(cutMark); at >= 0 && cuts.length < 64; at = text.indexOf(cutMark, at + 1)) {
        cuts.push(cutAfter(text, at, now))
      }
      for (const cut of cuts) if (cut !== undefined) spans.push(cut)
      return spans
    }
  }
}
