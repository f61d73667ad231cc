/** @internal */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as StderrReader from "../../internal/stderrReader.ts"
import * as UntrustedText from "../../UntrustedText.ts"

/** @internal */
export const excerpt = UntrustedText.excerpt

/** @internal */
export const named = (server: string, text: string): string => `${UntrustedText.excerpt(server, 128)}: ${text}`

/** @internal */
export const quote = (text: string): string => `"${UntrustedText.excerpt(text, 256)}"`

/**
 * The variables of a configuration that had no value when the request was refused: the likely cause of the refusal.
 *
 * @internal
 */
export const UnsetVariables = Schema.Array(Schema.Struct({
  name: Schema.String,
  /** The field: `headers.Authorization`. */
  at: Schema.String,
  /** That it is not set, and what to do about it. */
  detail: Schema.String
}))

/** @internal */
export const Unset = Schema.optional(UnsetVariables)

/**
 * What happened, after the unset variables that explain it.
 *
 * @internal
 */
export const because = (unset: typeof UnsetVariables.Type | undefined, text: string): string =>
  [...(unset ?? []).slice(0, 3).map(({ detail }) => detail), text].join("; ")

const longestLine = 200

/**
 * The message of an error of a process: the party that its stderr blames, what happened, and the line that says why.
 *
 * @internal
 */
export const blamed = (server: string, what: string, stderr: string | undefined): string => {
  const { fault, line } = StderrReader.read(stderr)
  const party = fault === undefined ? "" : `${UntrustedText.excerpt(StderrReader.sentence(fault), longestLine)}; `
  const words = line === undefined ? "" : `; its last words: ${UntrustedText.excerpt(line, longestLine)}`
  return named(server, `${party}${what}${words}`)
}

/** @internal */
export const after = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined ? "" : `, try again in ${Duration.format(retryAfter)}`
