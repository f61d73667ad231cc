import type { Source } from "../OutputGuard.ts"
import { skeleton } from "./skeleton.ts"

const name = "mcp_tool_output"

/** Between the letters of the name, since a model reads it with gaps too. */
const gap = "[ _.]{0,2}"

// One `<` ends what can belong to the one before, so each character is looked at by one of them only.
const lookAlike = new RegExp(`<[ _./]*${Array.from(name.replaceAll("_", "")).join(gap)}`, "g")

const hasTags = /[\u{e0020}-\u{e007e}]/u

const disarmedIn = (text: string, tags: boolean): string => {
  const { ends, starts, text: bones } = skeleton(text, tags)
  let result = ""
  let from = 0
  for (const { 0: match, index } of bones.matchAll(lookAlike)) {
    const closes = match.includes("/")
    result += `${text.slice(from, starts[index]!)}[${closes ? "/" : ""}mcp-tool-output`
    from = ends[index + match.length - 1]!
  }
  return from === 0 ? text : result + text.slice(from)
}

/**
 * Writes what could be taken for a tag of the wrapper as something that cannot, for everybody to see. The same text if
 * there is nothing of the kind.
 *
 * @internal
 */
export const disarmed = (text: string): string => {
  const once = disarmedIn(text, false)
  return hasTags.test(once) ? disarmedIn(once, true) : once
}

const longestName = 128

/**
 * A name as it may stand in the wrapper.
 *
 * @internal
 */
export const safeName = (name: string): string => name.slice(0, longestName).replaceAll(/[^a-zA-Z0-9._-]/g, "_") || "_"

/**
 * Says where the text comes from and where it ends. The end carries the nonce, which nothing in the text can know.
 *
 * @internal
 */
export const wrapped = (body: string, { kind, server, tool }: Source, nonce: string): string => {
  const what = kind === undefined || kind === "tool" ? "" : ` kind="${kind}"`
  return [
    `<${name} server="${safeName(server)}" tool="${safeName(tool)}" trust="untrusted" id="${nonce}"${what}>`,
    body,
    `<!-- end of ${nonce} --></${name}>`
  ].join("\n")
}
