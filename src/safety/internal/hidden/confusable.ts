/**
 * Letters of other scripts that look like those of ASCII.
 *
 * @internal
 */

const pairs: ReadonlyArray<readonly [ascii: string, lookAlikes: string]> = [
  ["a", "\u0430\u0251\u03b1\u1d00\u0410\u0391\u13aa"],
  ["b", "\u0184\u0432\u0412\u0392\u0253\u0299\u042c\u044c\u13cf"],
  ["c", "\u0441\u03f2\u0421\u1d04\u217d\u13df\u0188"],
  ["d", "\u0501\u217e\u1d05\u0257\u13a0"],
  ["e", "\u0435\u0415\u0395\u1d07\u212e\u0454\u03b5\u0404\u13ac\u025b\u04bd"],
  ["f", "\u0493\ua730\u0192\u03dd\u0584"],
  ["g", "\u0581\u0261\u0262\u0123\u13c0"],
  ["h", "\u04bb\u029c\u041d\u043d\u0397\u0570\u13bb\u04a2"],
  ["i", "\u0456\u0131\u03b9\u0406\u0399\u026a\u0269\u04cf\u13a5\ua647"],
  ["j", "\u0458\u0408\u1d0a\u03f3\u13ab"],
  ["k", "\u043a\u041a\u039a\u03ba\u1d0b\u13e6"],
  ["l", "\u04c0\u217c\u029f\u0196\u13de\u01c0"],
  ["m", "\u043c\u041c\u039c\u1d0d\u217f\u13b7"],
  ["n", "\u0578\u057c\u03b7\u0274\u039d\u0438\u0418\u03c0"],
  ["o", "\u043e\u041e\u039f\u03bf\u1d0f\u0585\u0555\u03c3\u0c66\u0d20"],
  ["p", "\u0440\u0420\u03a1\u03c1\u1d18\u13e2"],
  ["q", "\u051b\u0566\u024b"],
  ["r", "\u0433\u0280\u0403\u1d26\u13a1"],
  ["s", "\u0455\u0405\ua731\u13da\u0282\u054f"],
  ["t", "\u0442\u0422\u03a4\u03c4\u1d1b\u13a2"],
  ["u", "\u057d\u03c5\u1d1c\u054d\u028b"],
  ["v", "\u0475\u03bd\u0474\u1d20\u13d9"],
  ["w", "\u051d\u0461\u1d21\u051c\u13b3\u03c9"],
  ["x", "\u0445\u0425\u03a7\u03c7\u217a"],
  ["y", "\u0443\u0423\u04af\u03a5\u028f\u04ae\u0263\u03b3"],
  ["z", "\u0396\u1d22\u13c3\u0290"]
]

const table: ReadonlyMap<number, string> = new Map(
  pairs.flatMap(([ascii, lookAlikes]) => [...lookAlikes].map((char) => [char.codePointAt(0)!, ascii] as const))
)

/** The letter of ASCII that this one can be taken for. @internal */
export const asciiOf = (point: number): string | undefined => table.get(point)

/** A word in ASCII, as a reader sees it; nothing where a letter looks like none of ASCII. @internal */
export const skeleton = (word: string): string | undefined => {
  let ascii = ""
  for (const char of word) {
    const point = char.codePointAt(0)!
    const letter = point < 0x80 ? char : table.get(point)
    if (letter === undefined) return undefined
    ascii += letter
  }
  return ascii
}

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
const isForeignLetter = (code: number): boolean =>
  (code >= 0x370 && code <= 0x58f) || (code >= 0x13a0 && code <= 0x13f5)

/**
 * Where words begin that mix letters of ASCII with Cyrillic, Greek, Armenian or Cherokee ones that look the same. Two
 * letters are a formula; a word has more.
 *
 * @internal
 */
export const mixedWords = (text: string): ReadonlyArray<number> => {
  if (!/[\u0370-\u058f\u13a0-\u13f5]/.test(text)) return []
  const found: Array<number> = []
  for (let at = 0; at < text.length; at++) {
    let ascii = 0
    let foreign = 0
    let alike = true
    const from = at
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isAsciiLetter(code)) ascii += 1
      else if (isForeignLetter(code)) {
        foreign += 1
        alike &&= table.has(code)
      } else break
    }
    if (ascii > 0 && foreign > 0 && alike && ascii + foreign > 3 && found.length < 256) found.push(from)
  }
  return found
}
