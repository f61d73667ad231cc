const star = 0x2a
const any = 0x3f

const width = (point: number): number => point > 0xffff ? 2 : 1

/**
 * Whether a pattern of `*` (any text), `?` (one character) and characters that stand for themselves fits the whole of a
 * text. Goes back to the last `*` only, because what an earlier one takes more cannot help: so it takes at most the
 * length of the text times that of the longest stretch between two stars.
 *
 * @internal
 */
export const globMatches = (pattern: string, text: string): boolean => {
  let at = 0
  let next = 0
  let afterStar = -1
  let taken = 0
  while (at < text.length) {
    const wanted = pattern.codePointAt(next)
    const point = text.codePointAt(at)!
    if (wanted === star) {
      next += 1
      afterStar = next
      taken = at
    } else if (wanted === any || wanted === point) {
      next += width(wanted)
      at += width(point)
    } else if (afterStar !== -1) {
      taken += width(text.codePointAt(taken)!)
      at = taken
      next = afterStar
    } else return false
  }
  while (pattern.charCodeAt(next) === star) next += 1
  return next === pattern.length
}

/** @internal */
export const isGlob = (pattern: string): boolean => pattern.includes("*") || pattern.includes("?")
