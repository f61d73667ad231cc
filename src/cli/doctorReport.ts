/** What the doctor found, as a document and as lines. */
import * as Schema from "effect/Schema"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as ExitCode from "./ExitCode.ts"
import * as LastWords from "./lastWords.ts"
import type * as Screen from "./Screen.ts"
import { indented } from "./wrapped.ts"

export const Problem = Schema.Struct({
  step: Schema.String,
  /** An error makes a server ill; a warning is only worth a look. */
  level: Schema.Literal("error", "warning"),
  /** In a few words. */
  cause: Schema.String,
  /** The error in its own words, or what exactly was found. */
  message: Schema.String,
  hint: Schema.NullOr(Schema.String),
  /** The tag of the error, if it is one. */
  tag: Schema.NullOr(Schema.String)
})

export type Problem = typeof Problem.Type

export const Server = Schema.Struct({
  name: Schema.String,
  transport: Schema.NullOr(Schema.String),
  health: Schema.Literal("well", "ill", "disabled"),
  protocolVersion: Schema.NullOr(Schema.String),
  era: Schema.NullOr(Schema.String),
  tools: Schema.NullOr(Schema.Number),
  steps: Schema.Array(Schema.Struct({
    step: Schema.String,
    outcome: Schema.Literal("ok", "failed"),
    milliseconds: Schema.Number
  })),
  problems: Schema.Array(Problem),
  /** The end of what it wrote on its standard error, if something is wrong with it. */
  stderr: Schema.NullOr(Schema.String),
  exitCode: Schema.Literal(0, 1, 2, 3, 4, 5, 70, 130)
})

export type Server = typeof Server.Type

/** The document of `doctor --json`. */
export const Report = Schema.Struct({
  servers: Schema.Array(Server),
  /** What is wrong with files. */
  files: Schema.Array(Schema.Struct({ place: Schema.String, message: Schema.String })),
  /** Sockets of this program that are open although everything is closed. */
  socketsLeft: Schema.Number,
  exitCode: Schema.Number
})

export type Report = typeof Report.Type

/** The worst first: what is not there at all is worse than what may not be used. */
const gravest: ReadonlyArray<ExitCode.ExitCode> = [
  ExitCode.connection,
  ExitCode.config,
  ExitCode.permission,
  ExitCode.usage,
  ExitCode.tool
]

const rank = (code: ExitCode.ExitCode): number => {
  const at = gravest.indexOf(code)
  return at < 0 ? gravest.length : at
}

/** The graver of two exit codes. */
export const worse = (one: ExitCode.ExitCode, other: ExitCode.ExitCode): ExitCode.ExitCode =>
  rank(other) < rank(one) ? other : one

const stepOf = ({ milliseconds, outcome, step }: Server["steps"][number]): string =>
  `${step} ${outcome === "failed" ? "failed after " : ""}${milliseconds} ms`

const problemLines = (
  { cause, hint, level, message, step }: Problem,
  columns: number
): ReadonlyArray<Screen.Line> => {
  const where = ` (${step})`
  const title = level === "error" ? "  fault  " : "  warning  "
  const [first = "", ...more] = indented(title.length, cause + where, columns)
  // the step has a style of its own where it is in the same line
  const isWhole = more.length === 0
  return [
    [
      { text: title, style: level === "error" ? "bad" : "warning" },
      { text: isWhole ? cause : first.trimStart(), style: "strong" },
      { text: isWhole ? where : "", style: "weak" }
    ],
    ...more,
    ...indented(9, UntrustedText.excerpt(message, 600), columns),
    ...(hint === null ? [] : indented(9, hint, columns))
  ]
}

export const lines = (server: Server, columns: number): ReadonlyArray<Screen.Line> => {
  const { era, health, name, problems, protocolVersion, stderr, steps, tools, transport } = server
  const facts = [
    ...(transport === null ? [] : [transport]),
    ...(protocolVersion === null ? [] : [`protocol ${protocolVersion} (${era} era)`]),
    ...(tools === null ? [] : [`${tools} tool${tools === 1 ? "" : "s"}`])
  ]
  return [
    [
      { text: name, style: "strong" },
      "  ",
      { text: health, style: health === "well" ? "good" : health === "ill" ? "bad" : "weak" },
      { text: facts.length === 0 ? "" : `  ${facts.join(", ")}`, style: "weak" }
    ],
    ...(steps.length === 0 ? [] : indented(2, steps.map(stepOf).join(", "), columns)).map((text): Screen.Line => [
      { text, style: "weak" }
    ]),
    ...problems.flatMap((problem) => problemLines(problem, columns)),
    ...(stderr === null
      ? []
      : ["  the end of its stderr", ...LastWords.lines(stderr).map((line) => `    | ${line}`)])
  ]
}
