/** @internal */
import * as Redacted from "effect/Redacted"
import * as McpError from "../../McpError.ts"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const plain = /^[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?$/

/** @internal */
export const isName = (text: string): boolean => token.test(text)

/** @internal */
export const isValue = (text: string): boolean => value.test(text)

const framing: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/**
 * Why headers from a configuration cannot be sent: a broken name or value, or one that would change the framing. The
 * value is not told, because it may be a secret.
 *
 * @internal
 */
export const problem = (
  server: string,
  path: string,
  headers: ReadonlyMap<string, Redacted.Redacted>
): McpError.ConfigurationError | undefined => {
  for (const [name, secret] of headers) {
    const detail = !isName(name)
      ? "the name of the header is not a token"
      : framing.has(name.toLowerCase())
      ? "this header is set by the transport"
      : !isValue(Redacted.value(secret))
      ? "the value holds characters that a header cannot carry"
      : undefined
    if (detail !== undefined) return new McpError.ConfigurationError({ server, path: `${path}.${name}`, detail })
  }
  return undefined
}

/**
 * A text as a header value: as it is if that is safe, otherwise within the base64 sentinel of SEP-2243.
 *
 * @internal
 */
export const encode = (text: string): string =>
  plain.test(text) && !(text.startsWith("=?base64?") && text.endsWith("?="))
    ? text
    : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`
