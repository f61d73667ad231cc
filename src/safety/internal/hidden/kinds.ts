/**
 * What a code point is that a reader does not see.
 *
 * @internal
 */

/** @internal */
export type Kind =
  | "tags"
  | "bidi"
  | "mark"
  | "zero-width"
  | "operator"
  | "filler"
  | "blank"
  | "soft-hyphen"
  | "joiner"
  | "variation"
  | "annotation"
  | "control"
  | "private-use"
  | "noncharacter"
  | "surrogate"

/**
 * Texts without any of these are clean as they are. Everything beyond U+FFFF is looked at one by one.
 *
 * @internal
 */
export const suspicious =
  // oxlint-disable-next-line no-misleading-character-class -- each of these is meant by itself
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u0300-\u036f\u0483-\u0489\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u2800\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]/

/** @internal */
export const kindOf = (point: number): Kind | undefined => {
  if (point < 0x300) {
    if (point === 0xad) return "soft-hyphen"
    if (point === 0x09 || point === 0x0a || point === 0x0d) return undefined
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) ? "control" : undefined
  }
  if (point >= 0x10000) return astralKindOf(point)
  switch (point) {
    case 0x34f:
      return "joiner"
    case 0x61c:
    case 0x200e:
    case 0x200f:
      return "mark"
    case 0x115f:
    case 0x1160:
    case 0x17b4:
    case 0x17b5:
    case 0x3164:
    case 0xffa0:
      return "filler"
    case 0x180e:
      return "joiner"
    case 0x200b:
    case 0x200c:
    case 0x200d:
    case 0x2060:
    case 0xfeff:
      return "zero-width"
    case 0x2800:
      return "blank"
    case 0xfffe:
    case 0xffff:
      return "noncharacter"
  }
  if (point >= 0x202a && point <= 0x202e) return "bidi"
  if (point >= 0x2061 && point <= 0x2065) return "operator"
  if (point >= 0x2066 && point <= 0x2069) return "bidi"
  if (point >= 0x206a && point <= 0x206f) return "operator"
  if ((point >= 0xfe00 && point <= 0xfe0f) || (point >= 0x180b && point <= 0x180f)) return "variation"
  if (point >= 0xd800 && point <= 0xdfff) return "surrogate"
  if (point >= 0xe000 && point <= 0xf8ff) return "private-use"
  if (point >= 0xfdd0 && point <= 0xfdef) return "noncharacter"
  return point >= 0xfff0 && point <= 0xfffb ? "annotation" : undefined
}

const astralKindOf = (point: number): Kind | undefined => {
  if ((point & 0xfffe) === 0xfffe) return "noncharacter"
  if (point < 0x1bca0) return undefined
  if (point <= 0x1bca3) return "operator"
  if (point >= 0x1d173 && point <= 0x1d17a) return "operator"
  if (point < 0xe0000) return undefined
  if (point <= 0xe007f) return "tags"
  if (point >= 0xe0100 && point <= 0xe01ef) return "variation"
  if (point <= 0xe0fff) return "filler"
  return point >= 0xf0000 ? "private-use" : undefined
}
