/** Names that look like other names. An unusual name such as `ünïcode` is not one, because its dots are visible. */
import { lookAlikes } from "./asciiLookAlikes.ts"
import { isAscii, shaped } from "./unicode.ts"

/** Scripts that UAX #31 recommends for identifiers. Only East Asian scripts may be mixed. */
const scripts = [
  ...("Arab Armn Beng Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Knda Khmr Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt"
    .split(" ").map((script) => [script])),
  ["Latn", "Hani", "Hira", "Kana"],
  ["Latn", "Hani", "Bopo"],
  ["Latn", "Hani", "Hang"]
]

const classOf = (scripts: ReadonlyArray<string>): string => scripts.map((script) => `\\p{scx=${script}}`).join("")

const isLetter = /[a-z]/

/** The characters of the table that are identical to an ASCII letter or sign. */
const same = (letters: boolean): string =>
  lookAlikes.flatMap(([ascii, same]) => isLetter.test(ascii) === letters ? [same] : []).join("")

// strings instead of literals, because the patterns take milliseconds and almost all names are ASCII
const make = () => {
  const unseen = new RegExp(
    "[\\p{Bidi_Control}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffc]",
    "u"
  )
  /** Joiners that shape letters or emoji, and emoji selectors, are visible. */
  const joining = new RegExp(
    [
      `(?<=${shaped().source})[\\u200c\\u200d](?=${shaped().source})`,
      "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
      "(?<=(?!\\p{Emoji_Presentation})\\p{Extended_Pictographic})\\ufe0f",
      "(?<=\\p{Emoji_Presentation})\\ufe0e",
      "(?<=[#0-9])\\ufe0f(?=\\u20e3)"
    ].join("|"),
    "gu"
  )
  /** "Highly restrictive" in UTS #39, because other scripts have letters that look the same. */
  const together = scripts.map((scripts) => new RegExp(`^[${classOf(["Zyyy", "Zinh", ...scripts])}]*$`, "u"))
  const eastern = `[${classOf(["Hani", "Hira", "Kana", "Hang"])}]`
  /** Letters that are only a stroke or a ring, without a neighbor that shows that they are letters. */
  const strokes = `(?<!${eastern})[\\u1173\\u1175\\u3007\\u30ce\\u30fb\\u30fc\\u4e00\\u4e28\\u4e3f](?!${eastern})`
  /** A dot on a letter that has one, a repeated mark, marks that hide the letter, or a mark without a letter. */
  const marks = "\\p{Soft_Dotted}\\u0307|(\\p{Mn})\\1|\\p{Mn}{5}|^\\p{M}"
  /** Phonetic, tone and unit signs that look like ASCII and are not used in names. */
  const notation =
    "[\\u0184\\u0185\\u01a6-\\u01a8\\u01bc\\u01bd\\u0251\\u0261\\u0262\\u026a\\u0274\\u0280\\u028f\\u0299\\u029c" +
    "\\u029f\\u1d00-\\u1d2b\\u212e\\ua730\\ua731\\ua78f\\uab30-\\uab64\\u{1f150}-\\u{1f169}\\u{1f170}-\\u{1f189}]"
  const misread = new RegExp(`[${same(false)}]|${strokes}|${marks}|${notation}`, "u")
  const latinLooking = new RegExp(`^[${same(true)}]+$`)
  const others = new RegExp("\\P{L}", "gu")

  return (name: string): string | undefined => {
    if (unseen.test(name.replace(joining, ""))) return "it has invisible characters"
    if (name.normalize("NFKC") !== name) return "it has characters that are compatibility forms of others"
    if (!together.some((scripts) => scripts.test(name))) {
      return "it mixes letters of different scripts"
    }
    // all scripts share accents, signs and digits
    if (latinLooking.test(name.normalize("NFD").replaceAll(others, ""))) {
      return "all its letters look like Latin letters but are not"
    }
    return misread.test(name) ? "it has characters that look like others" : undefined
  }
}

let foreign: ReturnType<typeof make> | undefined

/** Why a name could be mistaken for another; `undefined` if it cannot. */
export const lookAlike = (name: string): string | undefined => {
  if (name.includes("*")) return "it has a *, which matches any characters in rules"
  if (/^ | {2}| $/.test(name)) return "it has invisible blanks"
  return isAscii(name) ? undefined : (foreign ??= make())(name)
}
