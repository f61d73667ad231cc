/** The help of the program and of its commands. */
import type * as Command from "./Command.ts"
import { builtInOptions, sharedOptions } from "./commandLine.ts"
import * as ExitCode from "./ExitCode.ts"
import { least, wrapped } from "./layout.ts"
import type * as Screen from "./Screen.ts"

const strong = (text: string): Screen.Span => ({ text, style: "strong" })

/** The most columns of a line, because long lines are hard to read. */
const widest = 80
const left = 2

/** Two columns: terms and their descriptions. */
export const pairs = (
  rows: ReadonlyArray<readonly [string, string]>,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const width = Math.min(26, Math.max(...rows.map(([term]) => term.length)))
  const room = Math.max(least, Math.min(columns, widest) - left - width - 2)
  return rows.flatMap(([term, about]) => {
    const lines = wrapped(about, room)
    const rest = lines.slice(1).map((line) => " ".repeat(left + width + 2) + line)
    return term.length > width
      ? [[" ".repeat(left), strong(term)], ...lines.map((line) => " ".repeat(left + width + 2) + line)]
      : [[" ".repeat(left), strong(term), " ".repeat(width - term.length + 2), lines[0]!], ...rest]
  })
}

const term = ({ name, short, value }: Command.Option): string =>
  `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`

/** The description of an option, with its choices; also in docs/cli.md. */
export const aboutOf = ({ about, choices, repeated }: Command.Option): string => {
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(repeated === true ? ["repeatable"] : [])
  ]
  return notes.length === 0 ? about : `${about} (${notes.join("; ")})`
}

const options = (title: string, list: ReadonlyArray<Command.Option>, columns: number): ReadonlyArray<Screen.Line> =>
  list.length === 0 ? [] : ["", [strong(title)], ...pairs(list.map((one) => [term(one), aboutOf(one)]), columns)]

const argument = ({ name, repeated, required, unless }: Command.Argument): string => {
  const word = `${name.toUpperCase()}${repeated === true ? "…" : ""}`
  return required && unless === undefined ? word : `[${word}]`
}

export const usage = (command: Command.Loaded): string =>
  ["mcp-runtime", command.name, ...command.args.map(argument), "[options]"].join(" ")

const examples = (list: Command.Command["examples"], columns: number): ReadonlyArray<Screen.Line> =>
  list.length === 0 ? [] : [
    "",
    [strong("Examples")],
    ...list.flatMap(([line, about]): ReadonlyArray<Screen.Line> => [
      [" ".repeat(left), strong(`mcp-runtime ${line}`)],
      ...wrapped(about, columns - 6).map((one) => `      ${one}`)
    ])
  ]

export const ofCommand = (command: Command.Loaded, columns: number): ReadonlyArray<Screen.Line> => {
  const width = Math.min(columns, widest)
  return [
    ...wrapped(command.summary, width),
    "",
    [strong("Usage")],
    `  ${usage(command)}`,
    ...(command.description ?? []).flatMap((text) => ["", wrapped(text, width)].flat()),
    ...(command.args.length === 0
      ? []
      : ["", [strong("Arguments")], ...pairs(command.args.map((one) => [one.name.toUpperCase(), one.about]), width)]),
    ...options("Options", command.options, width),
    ...options("Global options", [...sharedOptions, builtInOptions[0]!], width),
    ...examples(command.examples, width)
  ]
}

export const ofProgram = (commands: ReadonlyArray<Command.Entry>, columns: number): ReadonlyArray<Screen.Line> => {
  const width = Math.min(columns, widest)
  return [
    ...wrapped("List, check and call the MCP servers that an application would use in this folder.", width),
    "",
    [strong("Usage")],
    "  mcp-runtime COMMAND [arguments] [options]",
    "",
    [strong("Commands")],
    ...pairs(commands.map(({ name, summary }) => [name, summary]), width),
    ...options("Global options", [...sharedOptions, ...builtInOptions], width),
    "",
    [strong("Exit codes")],
    ...pairs(ExitCode.meanings.map(([code, meaning]) => [String(code), meaning]), width),
    "",
    ...wrapped("Run `mcp-runtime COMMAND --help` for the options and examples of a command.", width)
  ]
}
