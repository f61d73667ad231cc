import { wildcard } from "./wildcard.ts"

const expression = /\{[^{}]*\}/
const operator = /\{[+#./;?&]/

/** Longer templates match nothing. */
const longest = 2048

/**
 * Whether a URI can come from a template (RFC 6570), as far as that can be told without its variables. Variables stand for
 * anything without a slash, unless an operator says otherwise. A template that does not even name a scheme fits nothing:
 * it would claim what others have.
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

/** The text without percent-encoding, or as it is if its encoding is invalid. */
export const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
