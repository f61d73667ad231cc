/**
 * YAML taken apart by `js-yaml` into a flat row of events, with what is too much or too deep refused.
 *
 * @internal
 */
import { type Event, parseEvents, YAMLException } from "js-yaml"
import { DocumentFault } from "./parsed.ts"

/** The parser tells how much there is when it is through, so that what can begin something is counted before. */
const maxMarks = 200_000
const marks = /[,:[{]|[-?]\s/g

/** More than the nodes that can begin at one place of the text. */
const further = 8

const indentation = "a line that is not indented like those around it"
const endless = "a text without its end"
const control = "a control character"
const colon = "a name without a colon on its line"

/** What the parser says, as far as it is known that it says nothing else: the words are for people only. */
const faults: ReadonlyMap<string, string> = new Map([
  ["tab characters must not be used in indentation", "a tab where a line begins: indent with spaces"],
  ["bad indentation of a mapping entry", indentation],
  ["bad indentation of a sequence entry", indentation],
  ["deficient indentation", indentation],
  ["expected ':' after a mapping key", colon],
  ["can not read a block mapping entry; a multiline key may not be an implicit key", colon],
  [
    "a whitespace character is expected after the key-value separator within a block mapping",
    "a colon without a space"
  ],
  ["missed comma between flow collection entries", "a comma or the end of a list or table is missing"],
  ["unexpected end of the stream within a flow collection", "a list or table without its end"],
  ["unexpected end of the stream within a single quoted scalar", endless],
  ["unexpected end of the stream within a double quoted scalar", endless],
  ["unexpected end of the document within a single quoted scalar", endless],
  ["unexpected end of the document within a double quoted scalar", endless],
  ["unknown escape sequence", "a backslash in double quotes begins an escape: write paths in single quotes"],
  ["expected valid JSON character", control],
  ["the stream contains non-printable characters", control],
  ["end of the stream or a document separator is expected", "something that belongs to nothing before it"]
])

const checkMarks = (text: string, lineAt: (offset: number) => number): void => {
  let count = 0
  for (const { index } of text.matchAll(marks)) {
    if (++count > maxMarks) throw new DocumentFault("too-many-entries", `more than ${maxMarks} marks`, lineAt(index))
  }
}

const attempt = (text: string, maxDepth: number): ReadonlyArray<Event> | YAMLException => {
  try {
    return parseEvents(text, { maxDepth })
  } catch (error) {
    if (error instanceof YAMLException) return error
    throw error
  }
}

/** @internal */
export const read = (
  text: string,
  maxDepth: number,
  lineAt: (offset: number) => number
): ReadonlyArray<Event> => {
  checkMarks(text, lineAt)
  // what a collection holds is a level for the parser too
  const events = attempt(text, maxDepth + 1)
  if (!(events instanceof YAMLException)) return events
  const at = events.mark?.position ?? 0
  // that it is too deep is said in words alone, but then it goes on if it may go deeper
  const deeper = attempt(text, maxDepth + 1 + further)
  if (!(deeper instanceof YAMLException) || deeper.mark?.position !== at) {
    throw new DocumentFault("nesting-too-deep", `more than ${maxDepth} levels`, lineAt(at))
  }
  throw new DocumentFault("syntax", faults.get(events.reason) ?? "no YAML", lineAt(at))
}
