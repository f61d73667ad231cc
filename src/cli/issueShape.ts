/** Shows issues of configuration files. */
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as ConfigIssue from "../config/ConfigIssue.ts"
import { counted } from "./layout.ts"
import { orNull } from "./orNull.ts"
import type * as Screen from "./Screen.ts"

export const Issue = Schema.Struct({
  severity: Schema.Literal("error", "warning"),
  /** The kind, for programs. */
  kind: Schema.String,
  path: orNull(Schema.String),
  line: orNull(Schema.Number),
  /** From 1; TOML has none. */
  column: orNull(Schema.Number),
  server: orNull(Schema.String),
  /** The field within the entry, or the key within the file. */
  at: orNull(Schema.String),
  provider: Schema.String,
  scope: Schema.String,
  message: Schema.String
})

/** The issues of one server. */
export const ofServer = (
  { name, provenance }: ConfigDiscovery.Found,
  issues: ReadonlyArray<ConfigIssue.ConfigIssue>
): ReadonlyArray<ConfigIssue.ConfigIssue> =>
  issues.filter(({ path, server }) => server === name && path === provenance.path)

/** File, line and column if known, and field. */
export const place = ({ at, column, line, path, provider }: ConfigIssue.ConfigIssue): string =>
  [path ?? provider, line ?? [], column ?? []].flat().join(":") + (at === undefined ? "" : ` (${at})`)

/** The place on a separate line, so that terminals and editors recognize it, and the message below. */
export const lines = (issues: ReadonlyArray<ConfigIssue.ConfigIssue>): ReadonlyArray<Screen.Line> =>
  issues.flatMap((issue): ReadonlyArray<Screen.Line> => [
    `  ${place(issue)}`,
    [
      "    ",
      { text: issue.severity, style: issue.severity === "error" ? "bad" : "warning" },
      `: ${issue.message}`
    ]
  ])

/** `2 errors, 1 warning`, or an empty text. */
export const count = (issues: ReadonlyArray<ConfigIssue.ConfigIssue>): string => {
  const errors = issues.filter(({ severity }) => severity === "error").length
  const warnings = issues.length - errors
  return [
    ...(errors === 0 ? [] : [counted(errors, "error")]),
    ...(warnings === 0 ? [] : [counted(warnings, "warning")])
  ].join(", ")
}
