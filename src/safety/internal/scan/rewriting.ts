/**
 * Another reading of the places of a text that can be read in another way, with what is around them.
 *
 * @internal
 */
import type { Reading } from "./folding.ts"
import { originOf } from "./folding.ts"

/** @internal */
export interface Replacement {
  readonly from: number
  readonly to: number
  readonly by: string
}

/** What is around a place and may belong to the same sentence. */
const around = 240

/** A blank line, so that nothing is read across what was left out. */
const gap = "\n\n"

/** @internal */
export const rewrite = (
  reading: Reading,
  replacements: ReadonlyArray<Replacement>,
  obfuscation: string
): Reading | undefined => {
  if (replacements.length === 0) return undefined
  const parts: Array<string> = []
  let origins = new Int32Array(1024)
  let length = 0
  const put = (text: string, at: number, still: boolean): void => {
    parts.push(text)
    if (length + text.length > origins.length) {
      const larger = new Int32Array((length + text.length) * 2)
      larger.set(origins)
      origins = larger
    }
    for (let unit = 0; unit < text.length; unit++) origins[length++] = originOf(reading, still ? at : at + unit)
  }
  let done = 0
  replacements.forEach(({ by, from, to }, index) => {
    const start = Math.max(done, from - around)
    if (start > done && index > 0) put(gap, start, true)
    put(reading.text.slice(start, from), start, false)
    put(by, from, true)
    const next = replacements[index + 1]
    done = Math.min(next?.from ?? reading.text.length, to + around)
    put(reading.text.slice(to, done), to, false)
  })
  return { text: parts.join(""), origins: origins.subarray(0, length), obfuscation: reading.obfuscation ?? obfuscation }
}
