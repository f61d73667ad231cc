/** The end of a server's stderr, printed below an error whose message has the most telling line already. */

const isFrame = (line: string): boolean => /^\s*at .+[:(]\d/.test(line)

const most = 12

/** The last lines. */
export const lines = (stderr: string | undefined): ReadonlyArray<string> => {
  const text = stderr?.trimEnd() ?? ""
  return text === "" ? [] : text.split(/\r?\n/).slice(-most)
}

/** The last lines without stack frames, where there is more than one. */
export const below = (stderr: string | undefined): ReadonlyArray<string> => {
  const kept = lines(stderr).filter((line) => !isFrame(line))
  return kept.length < 2 ? [] : ["The end of its stderr:", ...kept.map((line) => `  | ${line}`)]
}
