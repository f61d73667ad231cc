/**
 * Names that a person can take for another one. What is merely unusual is none of them: `ünïcode` shows its dots.
 *
 * @internal
 */
import { foreign } from "./foreign.ts"

/**
 * Why a name could be taken for another, if it could.
 *
 * @internal
 */
export const lookAlike = (name: string): string | undefined => {
  if (name.includes("*")) return "it has a *, which stands for any characters in rules"
  if (/^ | {2}| $/.test(name)) return "it has blanks that nobody sees"
  // eslint-disable-next-line no-control-regex
  return /^[\u0000-\u007f]*$/.test(name) ? undefined : foreign(name)
}
