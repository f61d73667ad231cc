import type * as Tool from "../Tool.ts"

const plain = /^[\w./:-]{1,128}$/

// Nothing that a reader cannot see, or that turns the order of what is read: control, format, surrogate and separator
// characters, the fillers that look like nothing, and the selectors that carry hidden text.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\p{Default_Ignorable_Code_Point}/u

const reserved: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** @internal */
export const maxNameLength = 128

/** @internal */
export const nameFault = (name: string): Tool.RejectedTool["reason"] | undefined => {
  if (reserved.has(name)) return "name-reserved"
  if (plain.test(name)) return undefined
  if (name.trim() === "") return "name-empty"
  if (name.length > maxNameLength) return "name-too-long"
  return invisible.test(name) ? "name-characters" : undefined
}
