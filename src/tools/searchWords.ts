/** Texts as the terms by which a query finds a tool: lower case, without accents, stemmed. */
import data from "./searchWords.json" with { type: "json" }

/** The rest of a longer run of letters is not read: it is data and not a word. */
const longestRun = 40

const runs = /[\p{L}\p{M}\p{N}]+/gu
const accents = /[\u0300-\u036f]/g
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
const parts = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+/g

/** Words of every question. */
const fillers: ReadonlySet<string> = new Set(data.fillers.flatMap((row) => row.split(" ")))

const synonymWeight = 0.4

/** The words of a run: a name in camel case is its parts too, and a script without spaces is read in pairs. */
const wordsOfRun = (run: string): ReadonlyArray<string> => {
  const whole = run.slice(0, longestRun).toLowerCase()
  if (fillers.has(whole)) return []
  if (/^[a-z]+$/.test(run)) return [whole]
  if (unspaced.test(whole)) {
    const points = Array.from(whole.normalize("NFC"))
    return points.length < 3 ? [points.join("")] : points.slice(1).map((point, at) => points[at]! + point)
  }
  const found = run.slice(0, longestRun).match(parts) ?? []
  if (found.length < 2) return [whole]
  return [whole, ...found.map((part) => part.toLowerCase()).filter((part) => /^\D./.test(part) && !fillers.has(part))]
}

const runsOf = (text: string): ReadonlyArray<string> => text.normalize("NFKD").replace(accents, "").match(runs) ?? []

/** The words of a text that say something. */
export const words = (text: string): ReadonlyArray<string> => runsOf(text).flatMap(wordsOfRun)

const singular = (word: string): string => {
  if (!word.endsWith("s") || /(ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`
  return word.slice(0, /(ss|sh|ch|x|z)es$/.test(word) ? -2 : -1)
}

/** What forms of an English word have in common: `creat` for `creates`, `creating`, `creator` and `creation`. */
export const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  let base = singular(word)
  for (const { cut, ending, least } of data.endings) {
    if (!base.endsWith(ending) || base.length < cut + least || base.endsWith("eed")) continue
    const rest = base.slice(0, -cut)
    if (!/[aeiouy]/.test(rest)) continue
    // `running` is of `run`, and `telling` of `tell`
    base = /([^aeioulsz])\1$/.test(rest) ? rest.slice(0, -1) : rest
    break
  }
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base
}

const stemsOf = (row: string): ReadonlyArray<string> => row.split(" ").map(stem)

const standsFor = new Map(Object.entries(data.abbreviations).map(([word, row]) => [stem(word), stemsOf(row)]))

const meanings = new Map<string, Set<string>>()
for (const row of data.synonyms.map(stemsOf)) {
  for (const term of row) meanings.set(term, new Set([...meanings.get(term) ?? [], ...row]))
}

/** The terms of a word: its stem, what it abbreviates, and what it negates (`track` for `untracked`). */
const termsOf = (word: string): ReadonlyArray<string> => {
  const term = stem(word)
  const denied = word.length > 6 && word.startsWith("un") ? [stem(word.slice(2))] : []
  return [term, ...standsFor.get(term) ?? [], ...denied]
}

/** The terms of runs that were met lately, because tools repeat their words. */
const lately = new Map<string, ReadonlyArray<string>>()
const mostLately = 8_192

const termsOfRun = (run: string): ReadonlyArray<string> => {
  const known = lately.get(run)
  if (known !== undefined) return known
  if (lately.size === mostLately) lately.clear()
  const terms = wordsOfRun(run).flatMap(termsOf)
  lately.set(run, terms)
  return terms
}

/** The terms of a text in the order in which they occur, each once and about `most` of them, with blanks between them. */
export const termsIn = (text: string, most = Infinity): string => {
  const found = new Set<string>()
  for (const run of runsOf(text)) {
    if (found.size >= most) break
    for (const term of termsOfRun(run)) found.add(term)
  }
  return Array.from(found).join(" ")
}

/** The terms of a name, and those of its neighbouring words run together: `readfile` for `read_file`. */
export const nameTermsIn = (name: string): string => {
  const all = runsOf(name)
  const joined = all.slice(1).map((run, at) => stem(`${all[at]}${run}`.toLowerCase()))
  return Array.from(new Set([...all.flatMap(termsOfRun), ...joined])).join(" ")
}

/** A term that a query looks for. */
export interface Wanted {
  readonly weight: number
  /** Which word of the query it stands for. */
  readonly word: number
  readonly kind: "word" | "joined" | "synonym"
}

/** The terms that the words of a query look for. */
export const wantedBy = (queryWords: ReadonlyArray<string>): ReadonlyMap<string, Wanted> => {
  const wanted = new Map<string, Wanted>()
  const want = (terms: Iterable<string>, weight: number, word: number, kind: Wanted["kind"]): void => {
    for (const term of terms) {
      if ((wanted.get(term)?.weight ?? 0) < weight) wanted.set(term, { weight, word, kind })
    }
  }
  for (const [at, word] of queryWords.entries()) {
    const next = queryWords[at + 1]
    want(termsOf(word), 1, at, "word")
    // `screen shot` for `screenshot`
    if (next !== undefined) want([stem(word + next)], 1, at, "joined")
    want(meanings.get(stem(word)) ?? [], synonymWeight, at, "synonym")
  }
  return wanted
}
