/** @internal */
import * as Duration from "effect/Duration"
import * as UntrustedText from "../../UntrustedText.ts"

/** @internal */
export const excerpt = UntrustedText.excerpt

/** @internal */
export const named = (server: string, text: string): string => `${UntrustedText.excerpt(server, 128)}: ${text}`

/** @internal */
export const quote = (text: string): string => `"${UntrustedText.excerpt(text, 256)}"`

/** @internal */
export const tail = (stderr: string | undefined): string => {
  const text = stderr?.trimEnd() ?? ""
  return text === "" ? "" : `; the end of its stderr: ${UntrustedText.escape(text.slice(-512))}`
}

/** @internal */
export const after = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined ? "" : `, try again in ${Duration.format(retryAfter)}`
