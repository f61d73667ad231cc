/** A text as it was before it was escaped, with the way back, so that one reader serves each escaping. */

/** A secret in a text. */
export interface Span {
  readonly at: number
  readonly end: number
}

interface View {
  readonly text: string
  /** The place in the original text. */
  readonly source: (at: number) => number
}

/** JSON and programs, addresses, HTML, and colours of a terminal, which become one character that ends a word. */
const escapes =
  /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,5})\}|x([0-9a-f]{2})|([nrt"'`\\/]))|%([0-7][0-9a-f])|((?:%[c-f][0-9a-f])(?:%[89ab][0-9a-f]){1,3})|&(?:#(\d{1,5})|#x([0-9a-f]{1,4})|(quot|apos|amp|lt|gt));|\u001b\[[0-9;]{0,16}m/gi

const named: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  quot: "\"",
  apos: "'",
  amp: "&",
  lt: "<",
  gt: ">"
}

const unescaped = (outer: View): View | undefined => {
  if (!/[\\%&\u001b]/.test(outer.text)) return undefined
  let text = ""
  let last = 0
  /** The end of each escape in the new text, and how much longer the old text is up to there. */
  const ends: Array<number> = []
  const shifts: Array<number> = []
  for (const found of outer.text.matchAll(escapes)) {
    const [whole, unicode, point, code, char, percent, utf8, decimal, hex, entity] = found
    const digits = unicode ?? point ?? code ?? percent ?? hex
    const plain = digits !== undefined
      ? String.fromCodePoint(Number.parseInt(digits, 16))
      : decimal !== undefined
      ? String.fromCharCode(Number(decimal))
      : utf8 !== undefined
      ? Buffer.from(utf8.replaceAll("%", ""), "hex").toString()
      : named[char ?? entity?.toLowerCase() ?? ""] ?? char ?? "\u001b"
    text += outer.text.slice(last, found.index) + plain
    last = found.index + whole.length
    ends.push(text.length)
    shifts.push(last - text.length)
  }
  if (last === 0) return undefined
  const source = (at: number): number => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! <= at) low = middle + 1
      else high = middle
    }
    return outer.source(at + (shifts[low - 1] ?? 0))
  }
  return { text: text + outer.text.slice(last), source }
}

/** The text without its escapes. */
export const plain = (text: string): string => unescaped({ text, source: (at) => at })?.text ?? text

/** JSON in JSON in JSON. */
const deepest = 3

/** Scans the text and what it was before each escaping. */
export const scanned = (text: string, scan: (text: string) => ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const spans = [...scan(text)]
  let view = unescaped({ text, source: (at) => at })
  for (let depth = 0; depth < deepest && view !== undefined; depth++) {
    const { source, text } = view
    for (const { at, end } of scan(text)) spans.push({ at: source(at), end: source(end) })
    view = unescaped(view)
  }
  return spans
}

/** In order, with those that overlap as one. */
export const merged = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const apart: Array<Span> = []
  for (const span of spans.toSorted((a, b) => a.at - b.at || b.end - a.end)) {
    const last = apart.at(-1)
    if (last === undefined || span.at >= last.end) apart.push(span)
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end }
  }
  return apart
}
