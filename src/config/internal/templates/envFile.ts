/**
 * Files of `NAME=value` lines: comments, quotes and a leading `export` are understood, and nothing is put in.
 *
 * @internal
 */

const line = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/

const escapes: ReadonlyMap<string, string> = new Map([["n", "\n"], ["r", "\r"], ["t", "\t"]])

const quoted = (text: string): string | undefined => {
  const quote = text[0]
  if (quote !== "\"" && quote !== "'") return undefined
  let value = ""
  for (let at = 1; at < text.length; at++) {
    const char = text[at]!
    if (char === quote) return value
    const next = text[at + 1]
    if (quote === "\"" && char === "\\" && next !== undefined) {
      value += escapes.get(next) ?? (next === "\"" || next === "\\" ? next : `\\${next}`)
      at++
    } else value += char
  }
  return undefined
}

/** A `#` after a space begins a comment. */
const plain = (text: string): string => {
  const comment = text.search(/(?:^|[ \t])#/)
  return (comment === -1 ? text : text.slice(0, comment)).trim()
}

/**
 * The variables of a file; a line that says none is passed over, as all readers of such files do.
 *
 * @internal
 */
export const parse = (text: string): ReadonlyMap<string, string> => {
  const variables = new Map<string, string>()
  for (const raw of text.replace(/^\ufeff/, "").split(/\r\n|[\r\n]/)) {
    const said = raw.trim()
    const [all, name] = line.exec(said) ?? []
    if (all === undefined || name === undefined) continue
    const rest = said.slice(all.length)
    variables.set(name, quoted(rest) ?? plain(rest))
  }
  return variables
}
