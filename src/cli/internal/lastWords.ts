/**
 * What a server said on its standard error before it ended. The doctor shows all of it; others have room for what says
 * most, and none for where in somebody else's program that was.
 *
 * @internal
 */
import * as UntrustedText from "../../UntrustedText.ts"

interface Said {
  readonly message: string
  readonly stderrTail?: string | undefined
}

/** An error has them at the end of its message, in one line, which nobody can read on a screen. */
const introduction = "; the end of its stderr: "

/**
 * What an error says without them.
 *
 * @internal
 */
export const without = (message: string): string => message.split(introduction, 1)[0]!

const isFrame = (line: string): boolean => /^\s*at .+[:(]\d/.test(line)

const most = 12

/**
 * The last of them, line by line.
 *
 * @internal
 */
export const lines = (stderr: string | undefined): ReadonlyArray<string> => {
  const text = stderr?.trimEnd() ?? ""
  return text === "" ? [] : text.split(/\r?\n/).slice(-most)
}

/** How programs of most languages begin the line that says why they end. */
const named = /^(?:[\w.$]*(?:Error|Exception)\b|(?:fatal|panic|error)\b)/i

const longest = 200

/**
 * What an error says, with the line of them that says most.
 *
 * @internal
 */
export const inOneLine = ({ message, stderrTail }: Said): string => {
  const said = lines(stderrTail).filter((line) => line.trim() !== "" && !isFrame(line))
  const line = said.findLast((one) => named.test(one)) ?? said.at(-1)
  return line === undefined
    ? message
    : `${without(message)}; its last words: ${UntrustedText.excerpt(line.trim(), longest)}`
}

/**
 * All of them but where that was, to stand below an error.
 *
 * @internal
 */
export const below = (stderr: string | undefined): ReadonlyArray<string> => {
  const said = lines(stderr).filter((line) => !isFrame(line))
  return said.length === 0 ? [] : ["Its last words:", ...said.map((line) => `  | ${line}`)]
}
