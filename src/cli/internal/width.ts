/** Of East Asia and pictures: as wide as two letters. */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}])$/u

const none = /^(?:\p{Mn}|\p{Me})$/u

/** The usual case costs one look. */
const narrow = /^[\u0020-\u02ff\u2010-\u25ff]*$/

const ofChar = (char: string): number => none.test(char) ? 0 : wide.test(char) ? 2 : 1

/**
 * How many columns of a terminal a text takes that is escaped already.
 *
 * @internal
 */
export const width = (text: string): number =>
  narrow.test(text) ? text.length : Array.from(text).reduce((sum, char) => sum + ofChar(char), 0)

/**
 * As much of a text as so many columns hold, with an ellipsis in the place of the rest.
 *
 * @internal
 */
export const fitted = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  let room = columns - 1
  let end = 0
  for (const char of text) {
    room -= ofChar(char)
    if (room < 0) break
    end += char.length
  }
  return columns < 1 ? "" : `${text.slice(0, end)}…`
}

/** @internal */
export const padded = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)))
