// What a Markdown text shows: its blocks, the commands in those for a shell, and the output that follows one.

/** The commands of a block. One that ends with a backslash goes on in the next line; a comment alone is no command. */
const commandsOf = (code) => code.replaceAll(/\\\n\s*/g, "").split("\n").filter((line) => !/^\s*(#.*)?$/.test(line))

/** The name that a reader saves a block under: the comment `<!-- save: main.ts -->` or `<!-- file: mcp-client.json -->`. */
const fileOf = (before) => /<!-- (?:save|file): (\S+) -->\s*$/.exec(before)?.[1]

/**
 * All blocks, in order. A block of the language `text` that follows another, with nothing but empty lines between, shows
 * the output of its last command, or of the program that it is.
 */
export const blocks = (markdown) => {
  const found = Array.from(markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), (match) => ({
    language: match[1],
    code: match[2],
    from: match.index,
    to: match.index + match[0].length
  }))
  return found.map(({ code, from, language, to }, at) => {
    const next = found[at + 1]
    const isShown = next?.language === "text" && markdown.slice(to, next.from).trim() === ""
    const lines = language === "sh" ? commandsOf(code) : []
    const file = fileOf(markdown.slice(0, from))
    return {
      language,
      code,
      ...file === undefined ? {} : { file, output: isShown ? next.code : undefined },
      commands: lines.map((line, at) => ({
        line,
        output: isShown && at === lines.length - 1 ? next.code : undefined
      }))
    }
  })
}

/** Numbers differ from run to run, and how columns are padded with them. */
const steady = (line) => line.replaceAll(/\d+(\.\d+)?/g, "0").replaceAll(/\s+/g, " ").trim()

/**
 * The first documented line that the output lacks, in order; `undefined` if it has all. A line `…` matches any lines,
 * and a `…` at the end of a line matches its rest.
 */
export const missing = (shown, written) => {
  const lines = written.split("\n").map(steady)
  let at = 0
  for (const line of shown.split("\n").filter((one) => one.trim() !== "" && one.trim() !== "…")) {
    const wanted = steady(line)
    const fits = (one) => wanted.endsWith("…") ? one.startsWith(wanted.slice(0, -1).trim()) : one === wanted
    const found = lines.findIndex((one, index) => index >= at && fits(one))
    if (found === -1) return line
    at = found + 1
  }
  return undefined
}
