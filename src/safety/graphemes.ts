/** Places where a text may be cut without splitting what a reader takes for one character. */

/** Made with the first text, because it takes 8 ms. */
let segmenter: Intl.Segmenter | undefined
const graphemes = (): Intl.Segmenter => segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" })

/** UTF-16 units around a place that are looked at; a longer character is cut between its code points. */
const around = 128

/** Two of these always have a border between them; `\r\n` is not among them. */
const isSimple = (code: number): boolean => code >= 0x20 && code < 0x7f

/** The place, or the one before it if it is within a surrogate pair. */
const pairStart = (text: string, at: number): number => (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at

/** The borders on both sides of a place; twice the same if it is a border. */
const bordersAt = (text: string, at: number): readonly [before: number, after: number] => {
  if (at <= 0) return [0, 0]
  if (at >= text.length) return [text.length, text.length]
  if (isSimple(text.charCodeAt(at)) && isSimple(text.charCodeAt(at - 1))) return [at, at]
  const from = pairStart(text, Math.max(0, at - around))
  const to = pairStart(text, Math.min(text.length, at + around))
  const grapheme = graphemes().segment(text.slice(from, to)).containing(at - from)!
  const before = from + grapheme.index
  const after = before + grapheme.segment.length
  if (before === at) return [at, at]
  // the character is longer than the part that was looked at
  if ((before === from && from > 0) || (after === to && to < text.length)) {
    const start = pairStart(text, at)
    return [start, start === at ? at : at + 1]
  }
  return [before, after]
}

/** The last place up to this one where a text may end. */
export const endBefore = (text: string, at: number): number => bordersAt(text, at)[0]

/** The first place from this one on where a text may begin. */
export const beginAfter = (text: string, at: number): number => bordersAt(text, at)[1]
