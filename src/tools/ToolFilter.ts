/** Which tools of a server are offered at all: by their own names, with `*` for any text and `?` for one character. */
import { wildcard } from "../text/wildcard.ts"

/** Whether a tool of this name is offered. */
export type ToolFilter = (tool: string) => boolean

export interface Options {
  /** What is offered: everything if it is undefined, nothing if it is empty. */
  readonly enabledTools?: ReadonlyArray<string> | undefined
  /** What is not offered, even if it is enabled. */
  readonly disabledTools?: ReadonlyArray<string> | undefined
}

const anyOf = (patterns: ReadonlyArray<string>): ToolFilter => {
  const literals = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)))
  const globs = patterns.filter((pattern) => !literals.has(pattern)).map((pattern) => wildcard(pattern, "?"))
  return (tool) => literals.has(tool) || globs.some((fits) => fits(tool))
}

/** Compiles a filter. Patterns fit whole names, case is significant, and only `*` and `?` are special. */
export const make = ({ disabledTools, enabledTools }: Options): ToolFilter => {
  if (enabledTools === undefined && disabledTools === undefined) return () => true
  const enabled = enabledTools === undefined ? () => true : anyOf(enabledTools)
  const disabled = anyOf(disabledTools ?? [])
  return (tool) => !disabled(tool) && enabled(tool)
}
