/**
 * What the parser of a format hands over, and how it gives up.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"

/** @internal */
export interface Parsed {
  /** Absent if there is nothing but space and comments. */
  readonly root: ConfigDocument.Value | undefined
  readonly warnings: ReadonlyArray<ConfigDocument.DocumentIssue>
  readonly line: (pointer: ConfigDocument.Pointer) => number | undefined
}

/** @internal */
export type Parse = (text: string, limits: ConfigDocument.Limits, format: ConfigDocument.Format) => Parsed

/**
 * Thrown by a parser, and caught where the parser is called. The detail is ours: it quotes nothing of the file, because
 * what is next to a fault may be a secret.
 *
 * @internal
 */
export class DocumentFault extends Error {
  readonly kind: ConfigIssue.FileFault
  readonly detail: string
  readonly line: number | undefined
  constructor(kind: ConfigIssue.FileFault, detail: string, line?: number) {
    super(detail)
    this.kind = kind
    this.detail = detail
    this.line = line
  }
}

/** A name of a table or field is a few words; a longer one is an attack on whoever shows or compares it. */
const maxName = 8192

/** What is longer is no number that anybody wrote, and takes longer than linear time to read. */
const maxDigits = 1000

const loneSurrogates = /\p{Surrogate}/gu

/**
 * A text that can be written as UTF-8: escapes can spell halves of characters, which can not.
 *
 * @internal
 */
export const wellFormed = (text: string): string => text.replace(loneSurrogates, "\ufffd")

/** @internal */
export const name = (text: string, line: () => number): string => {
  if (text.length > maxName) throw new DocumentFault("syntax", `a name of more than ${maxName} characters`, line())
  return text
}

/**
 * A number as it is written, in decimal digits: exact, or not at all, if it is an integer.
 *
 * @internal
 */
export const number = (text: string, line: () => number): number | bigint => {
  if (text.length > maxDigits) throw new DocumentFault("syntax", `a number of more than ${maxDigits} digits`, line())
  const value = Number(text)
  return !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(text) ? BigInt(text) : value
}

/** A carriage return alone ends a line too. */
const lineEnd = /\r\n?|\n/g

/**
 * The lines of a text: of an offset, from 1.
 *
 * @internal
 */
export const lines = (text: string): (offset: number) => number => {
  let starts: Array<number> | undefined
  return (offset) => {
    if (starts === undefined) {
      starts = [0]
      const end = new RegExp(lineEnd)
      while (end.test(text)) starts.push(end.lastIndex)
    }
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
