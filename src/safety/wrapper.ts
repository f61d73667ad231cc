/** The tags around a server's text for a model, which nothing in the text can close or imitate. */
import * as HiddenText from "./HiddenText.ts"
import { skeleton } from "./internal/skeleton.ts"
import type { Source } from "./OutputGuard.ts"

const name = "mcp_tool_output"

/** Between the letters of the name, because a model reads it with gaps too. */
const gap = "[ _.]{0,2}"

// each match begins with its own `<`, so each character belongs to one match only
const lookAlike = new RegExp(`<[ _./]*${Array.from(name.replaceAll("_", "")).join(gap)}`, "g")

const disarmedIn = (text: string, tags: boolean): string => {
  const { ends, starts, text: bones } = skeleton(text, tags)
  let result = ""
  let from = 0
  for (const { 0: match, index } of bones.matchAll(lookAlike)) {
    result += `${text.slice(from, starts[index]!)}[${match.includes("/") ? "/" : ""}mcp-tool-output`
    from = ends[index + match.length - 1]!
  }
  return from === 0 ? text : result + text.slice(from)
}

/** The text with look-alikes of the wrapper's tags written as something else, visibly. */
export const disarmed = (text: string): string => {
  const once = disarmedIn(text, false)
  return /[\u{e0020}-\u{e007e}]/u.test(once) ? disarmedIn(once, true) : once
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
