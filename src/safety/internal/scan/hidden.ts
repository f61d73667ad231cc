/**
 * What invisible characters say.
 *
 * @internal
 */
import { type Kind, kindOf } from "../../../text/unicode.ts"
import * as Decoding from "../hidden/decoding.ts"
import type { Reading } from "./folding.ts"

/** Fewer of them in a row are what a script or a picture needs. */
const leastVariations = 4
const leastZeroWidth = 16

// oxlint-disable-next-line no-misleading-character-class -- each of these is meant by itself
const any = /[\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff\u180b-\u180e]|\udb40/

const still = (text: string | undefined, at: number, obfuscation: string): ReadonlyArray<Reading> =>
  text === undefined ? [] : [{ text, origins: new Int32Array(text.length).fill(at), obfuscation }]

/** @internal */
export const of = (text: string): ReadonlyArray<Reading> => {
  if (!any.test(text)) return []
  const found: Array<Reading> = []
  const tags: Array<number> = []
  const places: Array<number> = []
  let points: Array<number> = []
  let kind: Kind | undefined
  let from = 0
  const close = (): void => {
    if (kind === "variation" && points.length >= leastVariations) {
      found.push(...still(Decoding.decodeVariations(points), from, "variation-selectors"))
    } else if ((kind === "zero-width" || kind === "operator") && points.length >= leastZeroWidth) {
      found.push(...still(Decoding.decodeZeroWidth(points), from, "zero-width"))
    }
    points = []
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const point = code >= 0xd800 && code <= 0xdbff ? text.codePointAt(at)! : code
    const next = point < 0x180b ? undefined : kindOf(point)
    if (next !== kind) {
      close()
      kind = next
      from = at
    }
    if (next === "tags") {
      if (point >= 0xe0020 && point < 0xe007f) {
        tags.push(point)
        places.push(at)
      }
    } else if (next !== undefined) points.push(point)
    if (point > 0xffff) at += 1
  }
  close()
  if (tags.length > 3) {
    found.push({
      text: tags.map((point) => String.fromCharCode(point - 0xe0000)).join(""),
      origins: Int32Array.from(places),
      obfuscation: "tags"
    })
  }
  return found
}
