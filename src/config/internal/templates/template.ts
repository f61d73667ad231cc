/**
 * The canonical template: what is literal in it, what it asks for, and its value. Each text is read once from its
 * beginning to its end, whatever it holds.
 *
 * A run of dollars before a brace stands for half of them; what an odd one leaves over begins a reference. So `$${` is
 * the literal `${`, and every text can be written.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Interpolation from "../../Interpolation.ts"

type Part = string | Interpolation.Reference

const isLiteral = (text: string): boolean => text.includes("${")

/** A name of what is asked for; what is in it besides would be lost, or read as something else. */
const name = /^[^\s${}|](?:[^${}|]*[^\s${}|])?$/
const variable = /^[^\s${}|]+$/

/**
 * What the text between the braces asks for; `undefined` if that is nothing.
 *
 * @internal
 */
export const reference = (content: string): Interpolation.Reference | undefined => {
  const colon = content.indexOf(":")
  const kind = content.slice(0, Math.max(0, colon))
  const body = content.slice(colon + 1)
  switch (kind) {
    case "file":
    case "cmd":
      return body.trim() === "" || isLiteral(body) ? undefined : { kind, name: body, fallback: undefined }
    case "env":
    case "input":
    case "secret":
    case "var": {
      const split = body.indexOf(":-")
      const head = split === -1 ? body : body.slice(0, split)
      const fallback = split === -1 ? undefined : body.slice(split + 2)
      if ((kind === "env" || kind === "var" ? variable : name).test(head)) return { kind, name: head, fallback }
    }
  }
  return content.trim() === "" || /[${]/.test(content)
    ? undefined
    : { kind: "unknown", name: content, fallback: undefined }
}

/**
 * Where the first `}` from a place on is. The places asked for only grow, so that a text without one is searched once.
 *
 * @internal
 */
export const closings = (text: string, end = "}"): (from: number) => number | undefined => {
  let known = -1
  return (from) => {
    if (known !== Infinity && known < from) {
      const found = text.indexOf(end, from)
      known = found === -1 ? Infinity : found
    }
    return known === Infinity ? undefined : known
  }
}

/** @internal */
export const parse = (template: string): ReadonlyArray<Part> => {
  if (!isLiteral(template)) return template === "" ? [] : [template]
  const parts: Array<Part> = []
  const closing = closings(template)
  let text = ""
  let at = 0
  for (let open = template.indexOf("${"); open !== -1; open = template.indexOf("${", at)) {
    let first = open
    while (first > at && template[first - 1] === "$") first--
    const dollars = open - first + 1
    text += template.slice(at, first) + "$".repeat(dollars >> 1)
    at = open + 2
    if (dollars % 2 === 0) {
      text += "{"
      continue
    }
    const close = closing(at)
    if (close === undefined) {
      text += "${"
      continue
    }
    const content = template.slice(at, close)
    at = close + 1
    const asked = reference(content)
    if (asked === undefined) {
      // as a whole, so that what is nested in it is no reference either
      text += `\${${content}}`
      continue
    }
    if (text !== "") parts.push(text)
    text = ""
    parts.push(asked)
  }
  text += template.slice(at)
  if (text !== "") parts.push(text)
  return parts
}

/**
 * A text as a part of a template: read as it is, whatever is in it and whatever follows.
 *
 * @internal
 */
export const escape = (text: string, beforeReference: boolean): string => {
  const isLast = beforeReference && text.endsWith("$")
  // the same, and all that most texts need
  if (!isLast && !text.includes("$${")) return text.replaceAll("${", () => "$${")
  let written = ""
  let at = 0
  const double = (end: number): void => {
    let first = end
    while (first > at && text[first - 1] === "$") first--
    written += text.slice(at, end) + text.slice(first, end)
    at = end
  }
  for (let open = text.indexOf("${"); open !== -1; open = text.indexOf("${", at)) double(open + 1)
  if (isLast) double(text.length)
  return written + text.slice(at)
}

/** @internal */
export const literal = (text: string): string => escape(text, false)

/** @internal */
export const references = (template: string): ReadonlyArray<Interpolation.Reference> =>
  parse(template).filter((part) => typeof part !== "string")

/** @internal */
export const variables = (template: string): ReadonlyArray<string> => [
  ...new Set(references(template).flatMap(({ kind, name }) => kind === "env" ? [name] : []))
]

/**
 * How a reference is called in a failure.
 *
 * @internal
 */
export const nameOf = ({ kind, name }: Interpolation.Reference): string =>
  kind === "env" || kind === "unknown" ? name : `${kind}:${name}`

/**
 * Puts in what each reference gives, and looks at none of it again.
 *
 * @internal
 */
export const fill = <E>(
  template: string,
  give: (reference: Interpolation.Reference) => Either.Either<string, E>
): Either.Either<string, E> => {
  let text = ""
  for (const part of parse(template)) {
    if (typeof part === "string") {
      text += part
      continue
    }
    const given = give(part)
    if (Either.isLeft(given)) return Either.left(given.left)
    text += given.right
  }
  return Either.right(text)
}

/**
 * What a lookup makes of one reference.
 *
 * @internal
 */
export const answer = (
  lookup: Interpolation.Lookup,
  asked: Interpolation.Reference
): Either.Either<string, Interpolation.Failure> => {
  const found = lookup(asked)
  const failure = (kind: Interpolation.Failure["kind"]) => Either.left({ kind, variable: nameOf(asked) })
  if (found === "forbidden") return failure("variable-forbidden")
  if (found.value !== undefined && found.value !== "") return Either.right(found.value)
  if (asked.fallback !== undefined) return Either.right(asked.fallback)
  return failure(asked.kind === "input" || asked.kind === "secret" ? "input-required" : "variable-unset")
}

/** @internal */
export const resolve = (
  template: string,
  lookup: Interpolation.Lookup
): Either.Either<string, Interpolation.Failure> => fill(template, (asked) => answer(lookup, asked))
