/** @internal */
import * as Duration from "effect/Duration"
import * as StderrReader from "../../internal/stderrReader.ts"
import * as UntrustedText from "../../UntrustedText.ts"

/** @internal */
export const excerpt = UntrustedText.excerpt

/** @internal */
export const named = (server: string, text: string): string => `${UntrustedText.excerpt(server, 128)}: ${text}`

/** @internal */
export const quote = (text: string): string => `"${UntrustedText.excerpt(text, 256)}"`

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
