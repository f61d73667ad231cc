/** @internal */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as StderrReader from "../../internal/stderrReader.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"

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
  /** The message for the unset variable, with the next step. */
  detail: Schema.String
}))

/** @internal */
export const Unset = Schema.optional(UnsetVariables)

/**
 * A message that begins with the unset variables, because they are the likely cause.
 *
 * @internal
 */
export const because = (unset: typeof UnsetVariables.Type | undefined, text: string): string =>
  [...(unset ?? []).slice(0, 3).map(({ detail }) => detail), text].join("; ")

const longestLine = 200

/**
 * The message of a process error: the party that stderr blames, the failure, and the line of stderr with the reason.
 *
 * @internal
 */
export const blamed = (server: string, what: string, stderr: string | undefined): string => {
  const { fault, line } = StderrReader.read(stderr)
  const party = fault === undefined ? "" : `${UntrustedText.excerpt(StderrReader.sentence(fault), longestLine)}; `
  const words = line === undefined ? "" : `; its stderr: ${UntrustedText.excerpt(line, longestLine)}`
  return named(server, `${party}${what}${words}`)
}

/** @internal */
export const after = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined ? "" : `, try again in ${Duration.format(retryAfter)}`
