import type * as Tool from "../Tool.ts"

// Nothing else, because a name is what a person agrees to and what rules speak of: letters of other scripts look like
// these, and all other signs mean something in rules, shells, prompts or markup.
const plain = /^[\w./@][\w./:@+-]*(?: [\w./:@+-]+)*$/

const foreign = /[^\w./:@+ -]/u

const reserved: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

const maxLength = 128

/** @internal */
export interface NameFault {
  readonly reason: Tool.RejectedTool["reason"]
  readonly detail: string
}

/** By its number, since it may look like one that is allowed. */
const numbered = (char: string): string => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`

const unplain = (name: string): string => {
  const found = foreign.exec(name)
  return found === null
    ? "a name begins with a letter, a digit or one of _ . / @, and blanks are single and within it"
    : `a name has only letters of ASCII, digits, blanks and _ - . / : @ +, not ${numbered(found[0])}`
}

/** @internal */
export const nameFault = (name: string): NameFault | undefined => {
  if (reserved.has(name)) return { reason: "name-reserved", detail: "a name that objects have" }
  if (name.trim() === "") return { reason: "name-empty", detail: "a name is needed" }
  if (name.length > maxLength) return { reason: "name-too-long", detail: `a name has at most ${maxLength} characters` }
  return plain.test(name) ? undefined : { reason: "name-characters", detail: unplain(name) }
}
