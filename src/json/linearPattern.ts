/**
 * The patterns of a schema on an engine whose time is linear in the text. Imported on demand, when the first schema with
 * a pattern is used.
 */
import { RE2JS } from "re2js"

// ECMAScript and RE2 read these differently, and no rewriting is worth it.
const different = /\\[kcAzZQECaGh]|\\u[dD][89a-fA-F]|\[:|\[\^?\]/

const space = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"

// `\s` and `.` match other characters in ECMAScript than in RE2.
const translate = (pattern: string): string | undefined => {
  let text = ""
  let inClass = false
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    if (char === "\\") {
      const escaped = pattern[++i] ?? ""
      if (escaped === "s") text += inClass ? space : `[${space}]`
      else if (escaped !== "S") text += char + escaped
      else if (inClass) {
        if (!text.endsWith(`[${space}`) || pattern[i + 1] !== "]") return undefined
        text = `${text.slice(0, -space.length)}\\x{0}-\\x{10ffff}`
      } else text += `[^${space}]`
    } else if (char === "." && !inClass) {
      text += "[^\\n\\r\\x{2028}\\x{2029}]"
    } else {
      if (char === "[") inClass = true
      else if (char === "]") inClass = false
      text += char
    }
  }
  return text
}

/** Tests whether a text contains a match; `undefined` for a pattern that the engine does not have or that is too large. */
export const compile = (pattern: string): ((text: string) => boolean) | undefined => {
  if (pattern.length > 1000 || different.test(pattern)) return undefined
  const translated = translate(pattern)
  if (translated === undefined) return undefined
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(translated))
    return (text) => compiled.test(text)
  } catch {
    return undefined
  }
}
