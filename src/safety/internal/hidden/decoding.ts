/**
 * What runs of invisible characters say, where they say something.
 *
 * @internal
 */

const printable = (bytes: ReadonlyArray<number>): string | undefined => {
  if (bytes.length < 2) return undefined
  const text = new TextDecoder().decode(new Uint8Array(bytes))
  let readable = 0
  for (const char of text) {
    if (char >= " " && char !== "\u007f" && char !== "\ufffd") readable += 1
  }
  return readable * 5 >= [...text].length * 4 ? text : undefined
}

/** Tag characters are ASCII, moved out of sight. @internal */
export const decodeTags = (points: ReadonlyArray<number>): string | undefined => {
  const ascii = points.map((point) => point - 0xe0000).filter((code) => code >= 0x20 && code < 0x7f)
  return ascii.length === 0 ? undefined : String.fromCharCode(...ascii.slice(0, 4096))
}

/** Each of the 256 variation selectors stands for a byte. @internal */
export const decodeVariations = (points: ReadonlyArray<number>): string | undefined => {
  const bytes: Array<number> = []
  for (const point of points.slice(0, 4096)) {
    if (point >= 0xfe00 && point <= 0xfe0f) bytes.push(point - 0xfe00)
    else if (point >= 0xe0100) bytes.push(point - 0xe0100 + 16)
  }
  return printable(bytes)
}

/** Two zero-width characters in turn stand for bits, eight to a byte, and the one that comes first is nought. @internal */
export const decodeZeroWidth = (points: ReadonlyArray<number>): string | undefined => {
  const kinds = [...new Set(points)]
  if (points.length < 16 || kinds.length !== 2) return undefined
  for (const zero of kinds) {
    const bytes: Array<number> = []
    for (let at = 0; at + 8 <= Math.min(points.length, 32_768); at += 8) {
      let byte = 0
      for (let bit = 0; bit < 8; bit++) byte = byte * 2 + (points[at + bit] === zero ? 0 : 1)
      bytes.push(byte)
    }
    const text = printable(bytes)
    if (text !== undefined) return text
  }
  return undefined
}
