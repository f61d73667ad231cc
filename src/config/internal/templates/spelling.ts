/**
 * Every host's way to write variables, turned into the canonical one.
 *
 * @internal
 */
import type * as Interpolation from "../../Interpolation.ts"
import * as Template from "./template.ts"

type Warning = Interpolation.Canonical["warnings"][number]

const place = (word: Interpolation.Place): readonly [string, Interpolation.Place] => [word, word]

/** @internal */
export const native: Interpolation.Syntax = {
  bare: true,
  env: true,
  input: true,
  canonical: true,
  pipes: true,
  places: new Map([
    place("projectDir"),
    place("configDir"),
    place("userHome"),
    place("pluginRoot"),
    place("pluginData"),
    place("workspaceFolder"),
    place("workspaceFolderBasename"),
    place("pathSeparator")
  ])
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const key = /^[A-Za-z0-9_.-]+$/
const scheme = /^[A-Za-z_][A-Za-z0-9+._-]*:/
const shellOperator = /^[A-Za-z_][A-Za-z0-9_]*:[+?]/

/** As it will stand between the braces; not at all, if it would be read as something else there. */
const written = (kind: Interpolation.Reference["kind"], body: string): string | undefined => {
  const content = `${kind}:${body}`
  return !content.includes("}") && Template.reference(content)?.kind === kind ? content : undefined
}

/** A line that cannot stand between braces is still one that somebody wanted to be run: it must not become a text. */
const line = (text: string): string | undefined =>
  text === "" ? undefined : written("cmd", text) ?? `unsupported:${text.replace(/[${}|]/g, "?")}`

const split = (content: string): readonly [head: string, rest: string] => {
  const at = content.indexOf(":-")
  return at === -1 ? [content.trim(), ""] : [content.slice(0, at).trim(), content.slice(at)]
}

/** `env:NAME | value:default`; longer chains stay, and cannot be resolved. */
const piped = (content: string): string | { readonly literal: string } | undefined => {
  const alternatives = content.split("|").map((text) => text.trim())
  const [first = "", second] = alternatives
  if (first.startsWith("value:") && second === undefined) return { literal: first.slice("value:".length) }
  const kind = /^(env|input|secret):/.exec(first)?.[1]
  const isChain = alternatives.length > 2 || (second !== undefined && !second.startsWith("value:"))
  if (kind === undefined || second === undefined || isChain) return undefined
  return written(
    kind as "env" | "input" | "secret",
    `${first.slice(kind.length + 1)}:-${second.slice("value:".length)}`
  )
}

/** What stands between the braces of `${…}`: the canonical content, a literal text, or nothing that this host knows. */
const spelled = (
  syntax: Interpolation.Syntax,
  content: string
): string | { readonly literal: string } | undefined => {
  const [head, rest] = split(content)
  const known = syntax.places?.get(head)
  if (known !== undefined) return `var:${known}${rest}`
  const prefix = syntax.inputPrefix
  if (prefix !== undefined && head.startsWith(prefix)) return written("input", head.slice(prefix.length) + rest)
  const kind = /^(env|input|secret|file|var|cmd):/.exec(head)?.[1] as Interpolation.Reference["kind"] | undefined
  if (kind === "file" || kind === "cmd") {
    const isKnown = syntax.canonical === true || (kind === "file" && syntax.file === true)
    return isKnown ? written(kind, content.trim().slice(kind.length + 1).trim()) : undefined
  }
  if (syntax.pipes === true && (head.includes("|") || head.startsWith("value:"))) {
    const found = piped(head + rest)
    if (found !== undefined) return found
  } else if (kind !== undefined) {
    const isKnown = kind === "env"
      ? syntax.env === true
      : kind === "input"
      ? syntax.input === true
      : syntax.canonical === true
    return isKnown ? written(kind, head.slice(kind.length + 1).trim() + rest) : undefined
  }
  if (syntax.bare === true && identifier.test(head)) return written("env", head + rest)
  const stays = (syntax.command === true && shellOperator.test(content)) ||
    ((syntax.pipes === true || syntax.canonical === true) && scheme.test(content))
  return stays && Template.reference(content)?.kind === "unknown" ? content : undefined
}

/** Where the parenthesis that is open at `from` is closed. */
const parenthesis = (text: string, from: number): number | undefined => {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === "(") depth++
    else if (char === ")" && --depth === 0) return at
  }
  return undefined
}

/** A text that is a variable, or a line to be run, as a whole. */
const whole = (syntax: Interpolation.Syntax, text: string): string | undefined => {
  if (syntax.bang === true && text.startsWith("!")) return line(text.slice(1).trim())
  if (syntax.powershell !== true || !text.startsWith("$env:")) return undefined
  const name = text.slice("$env:".length)
  return identifier.test(name) ? `env:${name}` : undefined
}

/** @internal */
export const canonical = (syntax: Interpolation.Syntax, text: string): Interpolation.Canonical => {
  const warnings = new Set<Warning>()
  const all = whole(syntax, text)
  if (all !== undefined) {
    return { template: `\${${all}}`, warnings: all.startsWith("env:") ? [] : ["command-substitution"] }
  }
  const isBraced = syntax.braces === true || syntax.handlebars === true
  if (!text.includes("$") && !(isBraced && text.includes("{"))) return { template: text, warnings: [] }

  const isEscaped = syntax.canonical === true && text.includes("$${")
  if (!text.includes("}") && syntax.dollar !== true && syntax.command !== true && !isEscaped) {
    return { template: Template.escape(text, false), warnings: [] }
  }

  const braces = Template.closings(text)
  const doubles = Template.closings(text, "}}")
  let unclosed = false
  let template = ""
  /** Literal text that is not written yet, and where the rest of it begins. */
  let pending = ""
  let from = 0
  let at = 0

  /** What is before `end` is literal; the text goes on at `next`. */
  const keep = (end: number, next: number, literal = ""): void => {
    pending += text.slice(from, end) + literal
    from = at = next
  }
  const refer = (end: number, next: number, content: string): void => {
    keep(end, next)
    template += `${Template.escape(pending, true)}\${${content}}`
    pending = ""
    if (/^(?:cmd|unsupported):/.test(content)) warnings.add("command-substitution")
    if (content.includes("${")) warnings.add("looks-like-variable")
  }
  /** Literal as a whole, so that what is nested in it is no variable, and is not read again. */
  const pass = (next: number): void => {
    at = next
  }
  const puzzle = (next: number): void => {
    warnings.add("looks-like-variable")
    pass(next)
  }

  /** `${`, of which the dollar is at `start`. */
  const dollarBrace = (start: number): void => {
    if (syntax.mustache === true && text[start + 2] === "{") {
      const end = doubles(start + 3)
      if (end !== undefined) {
        const [, kind, name = ""] = /^(secrets|inputs)\.(.*)$/.exec(text.slice(start + 3, end).trim()) ?? []
        return kind !== undefined && key.test(name)
          ? refer(start, end + 2, `${kind === "secrets" ? "secret" : "input"}:${name}`)
          : puzzle(end + 2)
      }
    }
    const end = braces(start + 2)
    if (end === undefined) {
      at = start + 2
      return
    }
    const found = spelled(syntax, text.slice(start + 2, end))
    if (found === undefined) return puzzle(end + 1)
    return typeof found === "string" ? refer(start, end + 1, found) : keep(start, end + 1, found.literal)
  }

  const dollars = (): void => {
    let after = at
    while (text[after] === "$") after++
    const last = after - 1
    const next = text[after]
    if (next === "{") {
      if (syntax.canonical !== true) return dollarBrace(last)
      const count = after - at
      keep(at, last, "$".repeat(count >> 1))
      return count % 2 === 1 ? dollarBrace(last) : keep(last, after + 1, "{")
    }
    if (next === "(" && syntax.command === true && !unclosed) {
      const end = parenthesis(text, after + 1)
      // the rest of such a text is searched once and not for each that follows
      unclosed = end === undefined
      const found = end === undefined ? undefined : line(text.slice(after + 1, end).trim())
      if (end !== undefined && found !== undefined) return refer(last, end + 1, found)
    }
    if (syntax.dollar === true && next !== undefined && /[A-Za-z_]/.test(next)) {
      let end = after + 1
      while (end < text.length && /[A-Za-z0-9_]/.test(text[end]!)) end++
      return refer(last, end, `env:${text.slice(after, end)}`)
    }
    at = after
  }

  const brace = (): void => {
    if (syntax.handlebars === true && text[at + 1] === "{") {
      const end = doubles(at + 2)
      if (end !== undefined) {
        const name = text.slice(at + 2, end).trim()
        return identifier.test(name) ? refer(at, end + 2, `env:${name}`) : pass(end + 2)
      }
    }
    if (syntax.braces === true && (text.startsWith("{env:", at) || text.startsWith("{file:", at))) {
      const end = braces(at + 1)
      if (end !== undefined) {
        const kind = text[at + 1] === "e" ? "env" : "file"
        const found = written(kind, text.slice(at + kind.length + 2, end).trim())
        return found === undefined ? pass(end + 1) : refer(at, end + 1, found)
      }
    }
    at++
  }

  const nextDollar = (from: number): number => {
    const found = text.indexOf("$", from)
    return found === -1 ? text.length : found
  }
  while (at < text.length) {
    const char = text[at]
    if (char === "$") dollars()
    else if (char === "{" && isBraced) brace()
    else if (isBraced) at++
    else at = nextDollar(at)
  }
  keep(text.length, text.length)
  return { template: template + Template.escape(pending, false), warnings: Array.from(warnings) }
}
