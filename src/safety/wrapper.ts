/** The text that the guard adds to a server's: tags that nothing in it can close or imitate, and notes on gaps. */
import { folded, hasTags } from "../text/folded.ts"
import * as HiddenText from "./HiddenText.ts"
import type { Source } from "./OutputGuard.ts"

const name = "mcp_tool_output"

/** Between the letters of the name, because a model reads it with gaps too. */
const gap = "[ _.]{0,2}"

// each match begins with its own `<`, so each character belongs to one match only
const lookAlike = new RegExp(`<[ _./]*${Array.from(name.replaceAll("_", "")).join(gap)}`, "g")

/** Letters and signs that look alike only at a glance; the others are letters (`?`) and signs (`.`). */
const sloppy: ReadonlyMap<string, string> = new Map([
  ["i", "l"],
  ["1", "l"],
  ["0", "o"],
  ["\u0446", "u"],
  ["\\", "/"],
  ["-", "_"],
  ["\n", " "]
])

const atAGlance = (char: string): string =>
  sloppy.get(char) ?? (/[\p{L}\p{N}]/u.test(char) ? "?" : ".").repeat(char.length)

const disarmedIn = (text: string, readTags: boolean): string => {
  const { starts, text: plain } = folded(text, readTags)
  let result = ""
  let from = 0
  for (const { 0: match, index } of plain.replaceAll(/[^a-hj-z<_/ ]/gu, atAGlance).matchAll(lookAlike)) {
    result += `${text.slice(from, starts[index]!)}[${match.includes("/") ? "/" : ""}mcp-tool-output`
    from = starts[index + match.length]!
  }
  return from === 0 ? text : result + text.slice(from)
}

/** The text with look-alikes of the wrapper's tags written as something else, visibly. */
export const disarmed = (text: string): string => {
  const once = disarmedIn(text, false)
  return hasTags(once) ? disarmedIn(once, true) : once
}

/** The text without hidden characters, look-alike tags, and carriage returns that overwrite a line. */
export const shown = (
  text: string
): { readonly text: string; readonly findings: ReadonlyArray<HiddenText.Finding> } => {
  const clean = HiddenText.clean(text, "result")
  return { text: disarmed(clean.text.replaceAll(/\r(?!\n)/g, "\\r")), findings: clean.findings }
}

const maxName = 128

/** A name as it may stand in an attribute. */
export const safeName = (name: string): string => name.slice(0, maxName).replaceAll(/[^a-zA-Z0-9._-]/g, "_") || "_"

/** Names the source. The end repeats the nonce, which nothing in the text can know. */
export const wrapped = (body: string, { kind, server, tool }: Source, nonce: string): string => {
  const what = kind === undefined || kind === "tool" ? "" : ` kind="${kind}"`
  return [
    `<${name} server="${safeName(server)}" tool="${safeName(tool)}" trust="untrusted" id="${nonce}"${what}>`,
    body,
    `<!-- end of ${nonce} --></${name}>`
  ].join("\n")
}

/** The part of a text that is left out. */
export interface Gap {
  readonly chars: number
  readonly tokens: number
  readonly offset: number
  readonly spilled: string | undefined
}

const readingWith = (tool: string | undefined): string => tool === undefined ? "" : `, readable with ${tool}`

export const gapNotice = ({ chars, offset, spilled, tokens }: Gap, tool: string | undefined): string => {
  const kept = spilled === undefined
    ? "The full text was not stored."
    : `The full text is stored as ${spilled}${readingWith(tool)}; the omitted part begins at offset ${offset}.`
  return `[... ${chars} characters, about ${tokens} tokens, are omitted here. ${kept} ...]`
}

export const pageNotice = (handle: string, next: number, tool: string | undefined): string =>
  `[... ${handle} continues at offset ${next}${readingWith(tool)}. ...]`
