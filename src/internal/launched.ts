/**
 * @internal
 */

/**
 * A command line word by word, and what its words are called in an entry.
 *
 * @internal
 */
export interface Line {
  readonly words: ReadonlyArray<string>
  readonly at: (word: number) => string
}

/**
 * What is started in the end.
 *
 * @internal
 */
export interface Launched extends Line {
  /** The name of the program: without its folder and without what Windows adds. */
  readonly program: string
  /** Where its name is; its arguments come after it. */
  readonly from: number
}

const name = (word: string): string =>
  word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).toLowerCase().replace(
    /\.(exe|cmd|bat|com|ps1)$/,
    ""
  )

/** Programs that start another one, with those of their options that take a value. */
const wrappers: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["env", ["-u", "--unset", "-C", "--chdir"]],
  ["sudo", ["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "--chdir"]],
  ["doas", ["-u", "-C"]],
  ["nohup", []],
  ["setsid", []],
  ["time", ["-f", "-o"]],
  ["nice", ["-n", "--adjustment"]],
  ["stdbuf", ["-i", "-o", "-e"]],
  ["wsl", ["-d", "--distribution", "-u", "--user", "--cd"]],
  ["cmd", []],
  ["command", []],
  ["exec", ["-a"]],
  ["corepack", []]
])

const afterOptions = ({ words }: Line, from: number, valued: ReadonlyArray<string>, cmd: boolean): number => {
  let at = from
  while (at < words.length) {
    const word = words[at]!
    if (word === "--") return at + 1
    if (valued.includes(word)) at += 2
    else if (word.startsWith("-") || (cmd && word.startsWith("/")) || /^\w+=/.test(word)) at += 1
    else return at
  }
  return at
}

/**
 * Looks through programs that only start another one (`env A=b npx …`, `cmd /c npx …`): the programs on the way, the
 * last one at the end.
 *
 * @internal
 */
export const launched = (line: Line): ReadonlyArray<Launched> => {
  const way: Array<Launched> = []
  let from = 0
  while (from < line.words.length) {
    const program = name(line.words[from]!)
    way.push({ ...line, program, from })
    const valued = wrappers.get(program)
    if (valued === undefined) break
    from = afterOptions(line, from + 1, valued, program === "cmd")
  }
  return way
}

/**
 * One argument: its option, if it is one, and the value of that, wherever it is written.
 *
 * @internal
 */
export interface Argument {
  /** `--name` or `-n`; undefined for a word that is no option. */
  readonly option: string | undefined
  readonly value: string | undefined
  /** The word that has the value, or the option if it has none. */
  readonly word: number
}

/**
 * The arguments from a word on, up to the first that `stop` says is the last; an option that is not a switch takes the
 * word after it.
 *
 * @internal
 */
export const argumentsOf = (
  { words }: Line,
  from: number,
  isSwitch: (option: string) => boolean
): ReadonlyArray<Argument> => {
  const all: Array<Argument> = []
  let at = from
  let plain = false
  while (at < words.length) {
    const word = words[at]!
    if (plain || word === "-" || !word.startsWith("-")) all.push({ option: undefined, value: word, word: at })
    else if (word === "--") plain = true
    else {
      const equals = word.indexOf("=")
      if (equals !== -1) all.push({ option: word.slice(0, equals), value: word.slice(equals + 1), word: at })
      else if (isSwitch(word) || at + 1 >= words.length) all.push({ option: word, value: undefined, word: at })
      else {
        at += 1
        all.push({ option: word, value: words[at]!, word: at })
      }
    }
    at += 1
  }
  return all
}
