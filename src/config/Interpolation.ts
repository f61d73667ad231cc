/**
 * Variables in the texts of a configuration. When a file is read, each host's spelling becomes one canonical template,
 * which is resolved at each connect. Both are read in one pass that takes linear time for any text.
 */
import * as Either from "effect/Either"

/** How a host writes variables. An absent field means that the host does not know that spelling: the text is literal. */
export interface Syntax {
  /** `${NAME}` and `${NAME:-default}`: a variable of the environment. */
  readonly bare?: boolean | undefined
  /** `$NAME`. */
  readonly dollar?: boolean | undefined
  /** `${env:NAME}`, and `${env:NAME:-default}`. */
  readonly env?: boolean | undefined
  /** `${input:id}`. */
  readonly input?: boolean | undefined
  /** `${secret:id}`, `${file:path}`, `${cmd:line}`, `${var:name}`, and `$${` for a literal `${`. */
  readonly canonical?: boolean | undefined
  /** `{env:NAME}` and `{file:path}` without a dollar. */
  readonly braces?: boolean | undefined
  /** `${file:path}` alone. */
  readonly file?: boolean | undefined
  /** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. */
  readonly mustache?: boolean | undefined
  /** `{{NAME}}` as a variable of the environment. */
  readonly handlebars?: boolean | undefined
  /** `$env:NAME` as the whole value. */
  readonly powershell?: boolean | undefined
  /** `$(line)`, and the shell's `${NAME:+word}` and `${NAME:?word}` (kept as they are: unresolvable). */
  readonly command?: boolean | undefined
  /** `!line` as the whole value, in env and headers. */
  readonly bang?: boolean | undefined
  /** `${env:NAME | value:default}`, as SEP-2633 has it; other schemes stay and cannot be resolved. */
  readonly pipes?: boolean | undefined
  /** Variables for folders: `["CLAUDE_PLUGIN_ROOT", "pluginRoot"]` turns `${CLAUDE_PLUGIN_ROOT}` into `${var:pluginRoot}`. */
  readonly places?: ReadonlyMap<string, Place> | undefined
  /** A prefix that means an input: `user_config.` turns `${user_config.key}` into `${input:key}`. */
  readonly inputPrefix?: string | undefined
}

const places = [
  "projectDir",
  "configDir",
  "userHome",
  "pluginRoot",
  "pluginData",
  "workspaceFolder",
  "workspaceFolderBasename",
  "pathSeparator"
] as const

/** The names of `${var:…}`. */
export type Place = typeof places[number]

/** The syntax of native files, in which every canonical template is written. */
export const native: Syntax = {
  bare: true,
  env: true,
  input: true,
  canonical: true,
  pipes: true,
  places: new Map(places.map((place) => [place, place]))
}

/** A reference of a template. */
export interface Reference {
  readonly kind: "env" | "input" | "secret" | "file" | "var" | "cmd" | "unknown"
  /** The name, id, path or line, without the default. For `unknown`, all that is between the braces. */
  readonly name: string
  readonly fallback: string | undefined
}

/** A literal text, or the content of a `${…}`. */
type Token = { readonly literal: string } | { readonly content: string }

interface Match {
  readonly end: number
  /** Absent: the text up to `end` stays literal, so that nothing nested in it is read. */
  readonly token?: Token | undefined
}

/** A matcher for one spelling, made for a text: returns the match that begins at an offset. */
type Spelling = (text: string) => (at: number) => Match | undefined

/** Finds the first `end` from an offset on. Offsets only grow, so each part of the text is searched once. */
const finder = (text: string, end: string) => {
  let found = -1
  return (from: number): number | undefined => {
    if (found !== Infinity && found < from) {
      const next = text.indexOf(end, from)
      found = next === -1 ? Infinity : next
    }
    return found === Infinity ? undefined : found
  }
}

const between = (open: string, close: string, read: (content: string) => Token | undefined): Spelling => (text) => {
  const closing = finder(text, close)
  return (at) => {
    if (!text.startsWith(open, at)) return undefined
    const from = at + open.length
    const end = closing(from)
    return end === undefined ? undefined : { end: end + close.length, token: read(text.slice(from, end)) }
  }
}

/** `$(…)` with balanced parentheses. After an unclosed `$(` the rest of the text is not searched again. */
const shellCommand: Spelling = (text) => {
  let isUnclosed = false
  return (at) => {
    if (isUnclosed || !text.startsWith("$(", at)) return undefined
    let depth = 0
    for (let end = at + 1; end < text.length; end++) {
      if (text[end] === "(") depth++
      else if (text[end] === ")" && --depth === 0) {
        const token = line(text.slice(at + 2, end).trim())
        return token && { end: end + 1, token }
      }
    }
    isUnclosed = true
    return undefined
  }
}

const dollarName: Spelling = (text) => {
  const pattern = /\$([A-Za-z_][A-Za-z0-9_]*)/y
  return (at) => {
    pattern.lastIndex = at
    const [all, name] = pattern.exec(text) ?? []
    return all === undefined ? undefined : { end: at + all.length, token: { content: `env:${name}` } }
  }
}

/** The tokens of a text. With `escapes`, a run of dollars before a brace stands for half of them. */
const scan = (
  text: string,
  spellings: ReadonlyArray<Spelling>,
  { braces, escapes }: { readonly escapes: boolean; readonly braces: boolean }
): { readonly tokens: ReadonlyArray<Token>; readonly hasLookAlike: boolean } => {
  const readers = spellings.map((spelling) => spelling(text))
  const opening = braces ? /[${]/g : /\$/g
  const tokens: Array<Token> = []
  let literal = ""
  let hasLookAlike = false
  let from = 0
  let at = 0
  const keep = (end: number, next: number, more = ""): void => {
    literal += text.slice(from, end) + more
    from = at = next
  }
  const read = (): void => {
    for (const reader of readers) {
      const match = reader(at)
      if (match === undefined) continue
      const { end, token } = match
      if (token === undefined) {
        hasLookAlike ||= text[at] === "$"
        at = end
      } else if ("literal" in token) keep(at, end, token.literal)
      else {
        keep(at, end)
        if (literal !== "") tokens.push({ literal })
        literal = ""
        tokens.push(token)
        hasLookAlike ||= token.content.includes("${")
      }
      return
    }
    at += 1
  }
  for (;;) {
    opening.lastIndex = at
    const next = opening.exec(text)?.index
    if (next === undefined) break
    at = next
    if (escapes && text[at] === "$") {
      let brace = at
      while (text[brace] === "$") brace++
      const dollars = brace - at
      if (text[brace] === "{") {
        keep(at, brace - 1, "$".repeat(dollars >> 1))
        if (dollars % 2 === 0) {
          keep(at, brace + 1, "{")
          continue
        }
      } else at = brace - 1
    }
    read()
  }
  keep(text.length, text.length)
  if (literal !== "") tokens.push({ literal })
  return { tokens, hasLookAlike }
}

const name = /^[^\s${}|](?:[^${}|]*[^\s${}|])?$/
const variable = /^[^\s${}|]+$/

const kinds = ["env", "input", "secret", "file", "var", "cmd"] as const

const kindOf = (content: string): typeof kinds[number] | undefined =>
  kinds.find((kind) => content.startsWith(`${kind}:`))

/** The reference of a canonical content; `undefined` where the text stays literal. */
const reference = (content: string): Reference | undefined => {
  const kind = kindOf(content)
  if (kind !== undefined) {
    const body = content.slice(kind.length + 1)
    if (kind === "file" || kind === "cmd") {
      return body.trim() === "" || body.includes("${") ? undefined : { kind, name: body, fallback: undefined }
    }
    const split = body.indexOf(":-")
    const head = split === -1 ? body : body.slice(0, split)
    const isName = (kind === "env" || kind === "var" ? variable : name).test(head)
    if (isName) return { kind, name: head, fallback: split === -1 ? undefined : body.slice(split + 2) }
  }
  const isText = content.trim() === "" || /[${]/.test(content)
  return isText ? undefined : { kind: "unknown", name: content, fallback: undefined }
}

const content = (text: string): Token | undefined => reference(text) === undefined ? undefined : { content: text }

const canonicalBraces = [between("${", "}", content)]

/** The literal text and the references of a template, in order. */
export const parse = (template: string): ReadonlyArray<string | Reference> =>
  scan(template, canonicalBraces, { escapes: true, braces: false }).tokens.map((token) =>
    "literal" in token ? token.literal : reference(token.content) ?? token.content
  )

export const references = (template: string): ReadonlyArray<Reference> =>
  parse(template).filter((part) => typeof part !== "string")

/** The names of the environment variables that a template asks for. */
export const variables = (template: string): ReadonlyArray<string> => [
  ...new Set(references(template).flatMap(({ kind, name }) => kind === "env" ? [name] : []))
]

/** The name of a reference in errors: `TOKEN`, `input:pat`, `cmd:cat x`. */
export const nameOf = ({ kind, name }: Reference): string =>
  kind === "env" || kind === "unknown" ? name : `${kind}:${name}`

/** A literal text within a template: the dollars before a brace, or before a reference that follows, are doubled. */
const escape = (text: string, isBeforeReference: boolean): string =>
  text.replaceAll(/\$+\{?/g, (run, at: number) => {
    if (run.endsWith("{")) return run.slice(0, -1) + run
    return isBeforeReference && at + run.length === text.length ? run + run : run
  })

/** A template that stands for the text itself. */
export const literal = (text: string): string => escape(text, false)

/** A content of this kind, if it is read as that between braces. */
const contentOf = (kind: Reference["kind"], body: string): Token | undefined => {
  const text = `${kind}:${body}`
  return !text.includes("}") && reference(text)?.kind === kind ? { content: text } : undefined
}

/** A line to run. One that cannot stand between braces must not become a literal text: it cannot be resolved. */
const line = (text: string): Token | undefined =>
  text === "" ? undefined : contentOf("cmd", text) ?? { content: `unsupported:${text.replace(/[${}|]/g, "?")}` }

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const key = /^[A-Za-z0-9_.-]+$/
const scheme = /^[A-Za-z_][A-Za-z0-9+._-]*:/
const shellOperator = /^[A-Za-z_][A-Za-z0-9_]*:[+?]/

/** `env:NAME | value:default`; longer chains cannot be resolved. */
const piped = (text: string): Token | undefined => {
  const [first = "", second, ...more] = text.split("|").map((alternative) => alternative.trim())
  if (first.startsWith("value:") && second === undefined) return { literal: first.slice("value:".length) }
  const kind = kindOf(first)
  const isKnown = kind === "env" || kind === "input" || kind === "secret"
  return !isKnown || second?.startsWith("value:") !== true || more.length > 0
    ? undefined
    : contentOf(kind, `${first.slice(kind.length + 1)}:-${second.slice("value:".length)}`)
}

/** The content of `${…}` in the canonical spelling. */
const dollarBraces = (syntax: Syntax) => (text: string): Token | undefined => {
  const split = text.indexOf(":-")
  const head = (split === -1 ? text : text.slice(0, split)).trim()
  const rest = split === -1 ? "" : text.slice(split)
  const place = syntax.places?.get(head)
  if (place !== undefined) return { content: `var:${place}${rest}` }
  const { bare, canonical, command, env, file, input, inputPrefix, pipes } = syntax
  if (inputPrefix !== undefined && head.startsWith(inputPrefix)) {
    return contentOf("input", head.slice(inputPrefix.length) + rest)
  }
  const kind = kindOf(head)
  if (kind === "file" || kind === "cmd") {
    const isKnown = canonical === true || (kind === "file" && file === true)
    return isKnown ? contentOf(kind, text.trim().slice(kind.length + 1).trim()) : undefined
  }
  if (pipes === true && (head.includes("|") || head.startsWith("value:"))) {
    const token = piped(head + rest)
    if (token !== undefined) return token
  } else if (kind !== undefined) {
    const isKnown = kind === "env" ? env : kind === "input" ? input : canonical
    return isKnown === true ? contentOf(kind, head.slice(kind.length + 1).trim() + rest) : undefined
  }
  if (bare === true && identifier.test(head)) return contentOf("env", head + rest)
  const stays = (command === true && shellOperator.test(text)) ||
    ((pipes === true || canonical === true) && scheme.test(text))
  return stays && reference(text)?.kind === "unknown" ? { content: text } : undefined
}

const github = (text: string): Token | undefined => {
  const [, kind, id = ""] = /^(secrets|inputs)\.(.*)$/.exec(text.trim()) ?? []
  return kind !== undefined && key.test(id) ? { content: `${kind.slice(0, -1)}:${id}` } : undefined
}

/** The spellings of a syntax; the first that begins at a place counts. */
const spellingsOf = (syntax: Syntax): ReadonlyArray<Spelling> => [
  ...(syntax.mustache === true ? [between("${{", "}}", github)] : []),
  between("${", "}", dollarBraces(syntax)),
  ...(syntax.command === true ? [shellCommand] : []),
  ...(syntax.dollar === true ? [dollarName] : []),
  ...(syntax.handlebars === true
    ? [between("{{", "}}", (text) => identifier.test(text.trim()) ? { content: `env:${text.trim()}` } : undefined)]
    : []),
  ...(syntax.braces === true
    ? [
      between("{env:", "}", (text) => contentOf("env", text.trim())),
      between("{file:", "}", (text) => contentOf("file", text.trim()))
    ]
    : [])
]

/** The token of a text that is, as a whole, a variable or a command line. */
const whole = ({ bang, powershell }: Syntax, text: string): Token | undefined => {
  if (bang === true && text.startsWith("!")) return line(text.slice(1).trim())
  const name = powershell === true && text.startsWith("$env:") ? text.slice("$env:".length) : ""
  return identifier.test(name) ? { content: `env:${name}` } : undefined
}

/** A host's text in the canonical spelling. */
export interface Canonical {
  readonly template: string
  /** `looks-like-variable`: it has the shape of a variable, but not one of this host. */
  readonly warnings: ReadonlyArray<"looks-like-variable" | "command-substitution">
}

/** A host's text as a canonical template. */
export const canonical = (syntax: Syntax, text: string): Canonical => {
  const all = whole(syntax, text)
  const { hasLookAlike, tokens } = all !== undefined
    ? { tokens: [all], hasLookAlike: false }
    : scan(text, spellingsOf(syntax), {
      escapes: syntax.canonical === true,
      braces: syntax.braces === true || syntax.handlebars === true
    })
  const runs = tokens.some((token) => "content" in token && /^(?:cmd|unsupported):/.test(token.content))
  return {
    template: tokens
      .map((token, at) => "content" in token ? `\${${token.content}}` : escape(token.literal, at < tokens.length - 1))
      .join(""),
    warnings: [
      ...(hasLookAlike ? ["looks-like-variable" as const] : []),
      ...(runs ? ["command-substitution" as const] : [])
    ]
  }
}

/** The text of a template with a value for each reference; the values are not looked at again. */
export const fill = <E>(
  template: string,
  valueOf: (reference: Reference) => Either.Either<string, E>
): Either.Either<string, E> => {
  let text = ""
  for (const part of parse(template)) {
    const value = typeof part === "string" ? Either.right(part) : valueOf(part)
    if (Either.isLeft(value)) return Either.left(value.left)
    text += value.right
  }
  return Either.right(text)
}
