/** The fields of an HTTP message (RFC 9110): which names and values can be sent. */
import * as Encoding from "effect/Encoding"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const plain = /^[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?$/

export const isName = (text: string): boolean => token.test(text)
export const isValue = (text: string): boolean => value.test(text)

/** A text as a header value: as it is where that is safe, otherwise within the base64 sentinel of SEP-2243. */
export const encode = (text: string): string =>
  plain.test(text) && !(text.startsWith("=?base64?") && text.endsWith("?="))
    ? text
    : `=?base64?${Encoding.encodeBase64(text)}?=`
