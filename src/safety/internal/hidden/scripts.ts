/**
 * In which company an invisible character has work to do.
 *
 * @internal
 */

const within = (ranges: ReadonlyArray<readonly [from: number, to: number]>) => (point: number): boolean =>
  ranges.some(([from, to]) => point >= from && point <= to)

/**
 * Arabic, Syriac, N'Ko, Indic, Tibetan, Myanmar, Khmer, Mongolian and their extensions: joiners shape their letters.
 *
 * @internal
 */
export const isShaped = within([
  [0x0600, 0x0fff],
  [0x1000, 0x109f],
  [0x1780, 0x18af],
  [0x1900, 0x1cff],
  [0xa800, 0xabff],
  [0xfb50, 0xfdff],
  [0xfe70, 0xfefc],
  [0x10a00, 0x10fff],
  [0x11000, 0x11fff],
  [0x1e900, 0x1e95f]
])

/**
 * Scripts written without spaces, in which a zero-width space marks where a line may break.
 *
 * @internal
 */
export const isUnspaced = within([
  [0x0e00, 0x0eff],
  [0x0f00, 0x0fff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x1950, 0x19ff],
  [0x3040, 0x30ff],
  [0x3400, 0x9fff]
])

/** @internal */
export const isRightToLeft = within([
  [0x0590, 0x08ff],
  [0xfb1d, 0xfdff],
  [0xfe70, 0xfefc],
  [0x10800, 0x10fff],
  [0x1e800, 0x1efff]
])

/** @internal */
export const isHan = within([[0x3400, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x3ffff]])

/** @internal */
export const isHangul = within([[0x1100, 0x11ff], [0xa960, 0xa97f], [0xac00, 0xd7ff]])

/** @internal */
export const isMongolian = within([[0x1800, 0x18af]])

const pictographic = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\ufe0f|\u20e3)$/u

/** A picture, or what may follow one in its sequence. @internal */
export const isPictographic = (point: number): boolean => point > 0xa8 && pictographic.test(String.fromCodePoint(point))

const emoji = /^\p{Emoji}$/u

/** What a variation selector 15 or 16 may follow: digits for keycaps among it. @internal */
export const isEmoji = (point: number): boolean => emoji.test(String.fromCodePoint(point))

const letter = /^[\p{L}\p{N}]$/u

/** @internal */
export const isLetter = (point: number): boolean => point !== -1 && letter.test(String.fromCodePoint(point))

const mark = /^\p{M}$/u

/** @internal */
export const isMark = (point: number): boolean => point >= 0x300 && mark.test(String.fromCodePoint(point))
