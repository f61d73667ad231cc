/**
 * What of a name that is not of ASCII alone can be taken for something else.
 *
 * @internal
 */
import { belongTogether } from "./scripts.ts"

// texts and no literals, because these are read when the module is, names or no names
const make = () => {
  /** What shows nothing, or turns around what follows it. */
  const unseen = new RegExp(
    "[\\p{Bidi_Control}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffc]",
    "u"
  )

  const shaped =
    "Arabic Bengali Devanagari Gujarati Gurmukhi Kannada Khmer Malayalam Myanmar Oriya Sinhala Tamil Telugu"
      .split(" ").map((script) => `\\p{scx=${script}}`).join("")

  /** What does show, if there is one: joiners where they shape letters or emojis, and what makes an emoji of a sign. */
  const joining = new RegExp(
    [
      `(?<=[${shaped}])[\\u200c\\u200d](?=[${shaped}])`,
      "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
      "(?<=(?!\\p{Emoji_Presentation})\\p{Extended_Pictographic})\\ufe0f",
      "(?<=\\p{Emoji_Presentation})\\ufe0e",
      "(?<=[#0-9])\\ufe0f(?=\\u20e3)"
    ].join("|"),
    "gu"
  )

  /** Signs that look like `-`, `/`, `\`, `*`, `:`, `_`, `|`, `!` or a dot, and have no other form. */
  const signs = new RegExp(
    "[\\u01c0\\u01c3\\u02cd\\u02d0\\u02d7\\u02f8\\u2010\\u2012\\u2013\\u2027\\u2043\\u2044\\u204e\\u2212\\u2215-\\u2217" +
      "\\u2223\\u2236\\u2571\\u2572\\u29f5\\u29f8\\u29f9\\ua789]",
    "u"
  )

  const eastern = "[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Hangul}]"

  /** Letters that are a stroke or a ring, where nothing beside them says that they are letters. */
  const strokes = new RegExp(
    `(?<!${eastern})[\\u1173\\u1175\\u3007\\u30ce\\u30fb\\u30fc\\u4e00\\u4e28\\u4e3f](?!${eastern})`,
    "u"
  )

  /** A dot above a letter that has one, the same mark twice, so many that they hide what is there, or one on nothing. */
  const marks = new RegExp("\\p{Soft_Dotted}\\u0307|(\\p{Mn})\\1|\\p{Mn}{5}|^\\p{M}", "u")

  /** Signs for sounds, tones and measures that have the shape of one of ASCII, and that nobody writes names with. */
  const notation = new RegExp(
    "[\\u0184\\u0185\\u01a6-\\u01a8\\u01bc\\u01bd\\u0251\\u0261\\u0262\\u026a\\u0274\\u0280\\u028f\\u0299\\u029c\\u029f" +
      "\\u1d00-\\u1d2b\\u212e\\ua730\\ua731\\ua78f\\uab30-\\uab64\\u{1f150}-\\u{1f169}\\u{1f170}-\\u{1f189}]",
    "u"
  )

  /** Letters of other scripts that look like letters of ASCII, which they may be taken for where there are no others. */
  const likeLatin = [
    // Cyrillic
    "\u0430\u0410\u0412\u0441\u0421\u0501\u0435\u0415\u050c\u04bb\u041d\u0456\u0406\u0458\u0408\u043a\u041a\u04cf\u04c0" +
    "\u041c\u043e\u041e\u0440\u0420\u051b\u051a\u0455\u0405\u0422\u0475\u0474\u051d\u051c\u0445\u0425\u0443\u0423" +
    "\u04af\u04ae",
    // Greek
    "\u03b1\u0391\u0392\u0395\u0396\u0397\u03b3\u03b9\u0399\u03ba\u039a\u039c\u03bd\u039d\u03bf\u039f\u03c1\u03a1\u03c3" +
    "\u03f3\u037f\u03a4\u03c5\u03a5\u03c7\u03a7",
    // Armenian
    "\u0570\u0578\u0585\u0555\u057d\u054d\u054f\u0581\u0566\u0575\u056c\u053c"
  ].map((letters) => new RegExp(`^[${letters}]+$`))

  const others = new RegExp("\\P{L}", "gu")

  /** Without what stands above and below letters, and without signs and digits, which all scripts share. */
  const looksLatin = (name: string): boolean => {
    const letters = name.normalize("NFD").replaceAll(others, "")
    return likeLatin.some((alike) => alike.test(letters))
  }

  return (name: string): string | undefined => {
    if (unseen.test(name.replace(joining, ""))) return "it has characters that nobody sees"
    if (name.normalize("NFKC") !== name) return "it has characters that are another spelling of others"
    if (!belongTogether(name)) return "it has letters of scripts that are not written together"
    if (looksLatin(name)) return "all its letters look like Latin ones and are none"
    return signs.test(name) || strokes.test(name) || marks.test(name) || notation.test(name)
      ? "it has characters that look like others"
      : undefined
  }
}

let known: ReturnType<typeof make> | undefined

/** Made when the first such name comes, because these patterns take milliseconds. @internal */
export const foreign = (name: string): string | undefined => (known ??= make())(name)
