import { wildcard } from "./wildcard.ts"

const expression = /\{[^{}]*\}/
const operator = /\{[+#./;?&]/

/** Longer templates match nothing. */
const longest = 2048

/**
 * True if a URI may be an expansion of a template (RFC 6570). Variables match any text without a slash, unless an operator
 * says otherwise. A template without a scheme matches nothing, because it would match resources of other servers.
 */
export const matcher = (template: string): (uri: string) => boolean => {
  const literals = template.split(expression)
  const isNone = template.length > longest || !literals[0]!.includes(":") || literals.some((one) => one.includes("*"))
  if (isNone) return () => false
  const fits = wildcard(literals.join("*"))
  if (operator.test(template)) return fits
  const segments = template.split("/").map((segment) => wildcard(segment.split(expression).join("*")))
  return (uri) => {
    const parts = uri.split("/")
    return parts.length === segments.length && fits(uri) && segments.every((segment, at) => segment(parts[at]!))
  }
}

/** Decodes percent-encoding; a text with invalid encoding is unchanged. */
export const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
