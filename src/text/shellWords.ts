/** Command lines as words, and words as parts of a command line. */

/** A word, and whether it begins in quotes. */
interface Word {
  readonly text: string
  readonly quoted: boolean
}

/** How a line is read. */
export interface Rules {
  /** The blanks that end a word. */
  readonly blank: RegExp
  /** Whether a quote begins here, after what the word has so far. */
  readonly opens: (word: string) => boolean
  /** Whether a backslash before this character escapes it. */
  readonly escapes: (next: string, isQuoted: boolean) => boolean
}

/** As a POSIX shell reads a line, but without expansions: `'…'` is literal, and a backslash escapes any character. */
export const shell: Rules = { blank: /[ \t]/, opens: () => true, escapes: () => true }

/** As a person types prose: an apostrophe within a word is literal, and a backslash escapes only quotes, blanks and itself. */
export const prose: Rules = {
  blank: /\s/,
  opens: (word) => word === "" || word.endsWith("="),
  escapes: (next, isQuoted) => /["'\\]/.test(next) || (!isQuoted && /\s/.test(next))
}

const literal: Rules = { ...shell, escapes: () => false }

/** The words of a line, and the quote that is not closed. */
export const split = (
  line: string,
  { blank, escapes, opens }: Rules
): { readonly words: ReadonlyArray<Word>; readonly unclosed: string | undefined } => {
  const words: Array<Word> = []
  let text: string | undefined
  let quoted = false
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    const next = line[at + 1]
    if (char === "\\" && quote !== "'" && next !== undefined && escapes(next, quote !== undefined)) {
      text = (text ?? "") + next
      at += 1
    } else if (char === quote) quote = undefined
    else if (quote === undefined && (char === "'" || char === "\"") && opens(text ?? "")) {
      quoted ||= text === undefined
      quote = char
      text ??= ""
    } else if (quote === undefined && blank.test(char)) {
      if (text !== undefined) words.push({ text, quoted })
      text = undefined
      quoted = false
    } else text = (text ?? "") + char
  }
  if (text !== undefined) words.push({ text, quoted })
  return { words, unclosed: quote }
}

/* oxlint-disable no-control-regex -- NUL ends a text for other programs */
/** The quoted parts of a line in which a shell expands nothing. */
const inert = { posix: /'[^'\0]*'|"[^"$`\\\0]*"/g, windows: /'[^'\0]*'|"[^"$`\0]*"/g }
const special = { posix: /[|&;<>()$`*?[\]{}#!\n\r\0"'\\]/, windows: /[|&;<>()$`*?[\]{}#!\n\r\0"']/ }
/* oxlint-enable no-control-regex */

/**
 * The program and the arguments of a line that needs no shell; `undefined` for one that does: pipes, substitutions,
 * globs, unclosed quotes. A leading `~` becomes the home folder.
 */
export const withoutShell = (
  line: string,
  { home, isWindows }: { readonly home: string | undefined; readonly isWindows: boolean }
): readonly [string, ...ReadonlyArray<string>] | undefined => {
  const system = isWindows ? "windows" : "posix"
  if (special[system].test(line.replaceAll(inert[system], ""))) return undefined
  const words: Array<string> = []
  for (const { quoted, text } of split(line, literal).words) {
    if (quoted || !text.startsWith("~")) words.push(text)
    else if (home === undefined || !/^~(?:[/\\]|$)/.test(text)) return undefined
    else words.push(home + text.slice(1))
  }
  const [command, ...args] = words
  return command === undefined || command === "" ? undefined : [command, ...args]
}

/** A text as one word of a POSIX shell, in quotes only where it needs them. */
export const quote = (text: string): string =>
  text === "" || /[\s"'`$&|;<>()*?[\]{}!#~\\^]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text
