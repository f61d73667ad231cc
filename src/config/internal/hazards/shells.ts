/**
 * @internal
 */
import type { Launched } from "../../launcher.ts"
import type { Hazard } from "./hazard.ts"
import { ofPackage } from "./packageRunners.ts"

const posix: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "csh", "tcsh", "nu"])
const powershell: ReadonlySet<string> = new Set(["powershell", "pwsh"])

/** Programs that run the text of an argument, with the options that say so. */
const interpreters: ReadonlyMap<string, RegExp> = new Map([
  ["node", /^(-e|--eval|-p|--print|-pe)(=|$)|^(-r|--require|--import|--loader|--experimental-loader)=(data|https?):/],
  ["bun", /^(-e|--eval|-p|--print)(=|$)/],
  ["python", /^-c/],
  ["python3", /^-c/],
  ["py", /^-c/],
  ["perl", /^-[a-z]*[eE]/],
  ["ruby", /^-[a-z]*e/],
  ["php", /^-r/],
  ["osascript", /^-e/]
])

const text = "It runs the text of an argument, so what it does is not what the program's name says."

/** Options of shells and interpreters whose value is the next word. */
const valued: ReadonlySet<string> = new Set([
  "-o",
  "+o",
  "-O",
  "+O",
  "--rcfile",
  "--init-file",
  "-r",
  "--require",
  "--import",
  "--loader",
  "-C",
  "--conditions",
  "-W",
  "-X",
  "-I"
])

/** The first word from here on that is such an option, before any that is none. */
const option = ({ from, words }: Launched, fits: (word: string) => boolean): number | undefined => {
  for (let at = from + 1; at < words.length; at++) {
    const word = words[at]!
    if (fits(word)) return at
    if (valued.has(word)) at += 1
    else if (!/^[-+/]/.test(word)) return undefined
  }
  return undefined
}

const isPowershellText = (word: string): boolean => {
  const given = word.toLowerCase().replace(/^(--?|\/)/, "")
  if (given === word.toLowerCase() || given === "") return false
  return "command".startsWith(given) || "encodedcommand".startsWith(given) || given === "ec" ||
    given === "commandwithargs"
}

/** The options of PowerShell that do not say what is run may have values, so all of them are looked through. */
const powershellText = ({ from, program, words }: Launched): number | undefined => {
  const at = words.findIndex((word, index) => index > from && isPowershellText(word))
  if (at !== -1) return at
  const first = words[from + 1]
  return program === "powershell" && first !== undefined && !/^[-/]/.test(first) ? from + 1 : undefined
}

const ofDeno = (line: Launched): ReadonlyArray<Hazard> => {
  const { from, words } = line
  if (words[from + 1] === "eval") return [{ kind: "remote-code", at: line.at(from + 1), detail: text }]
  const script = words.findIndex((word, at) => at > from && /^(https?|npm|jsr|data):/.test(word))
  if (script === -1) return []
  const spec = words[script]!
  return spec.startsWith("npm:") || spec.startsWith("jsr:")
    ? ofPackage(spec, line.at(script), "npm")
    : [{ kind: "remote-code", at: line.at(script), detail: "It runs code that is downloaded from an address." }]
}

/** @internal */
export const ofShell = (line: Launched): ReadonlyArray<Hazard> => {
  const { program } = line
  if (program === "deno") return ofDeno(line)
  const script = interpreters.get(program)
  const at = posix.has(program)
    ? option(line, (word) => /^-[a-z]*c/i.test(word) || word === "--command")
    : program === "cmd"
    ? option(line, (word) => /^\/.*[ckr]/i.test(word))
    : powershell.has(program)
    ? powershellText(line)
    : script === undefined
    ? undefined
    : option(line, (word) => script.test(word))
  return at === undefined ? [] : [{ kind: "remote-code", at: line.at(at), detail: text }]
}
