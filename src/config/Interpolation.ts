/**
 * Variables in the texts of a configuration. When a file is read, each host's spelling becomes one canonical template,
 * which is resolved at each connect. Both are read in one pass that takes linear time for any text.
 */
import * as Either from "effect/Either"

/** The spelling of variables of a host. An absent field means that the host does not know that spelling: the text is literal. */
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
  readonly builtins?: ReadonlyMap<string, Builtin> | undefined
  /** A prefix that means an input: `user_config.` turns `${user_config.key}` into `${input:key}`. */
  readonly inputPrefix?: string | undefined
}

const builtins = [
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
export type Builtin = typeof builtins[number]

/** The syntax of native files, in which every canonical template is written. */
export const native: Syntax = {
  bare: true,
  env: true,
  input: true,
  canonical: true,
  pipes: true,
  builtins: new Map(builtins.map((place) => [place, place]))
}

/** A reference of a template. */
export interface Reference {
  readonly kind: "env" | "input" | "secret" | "file" | "var" | "cmd" | "unknown"
  /** The name, id, path or line, without the default. For `unknown`, all that is between the braces. */
  readonly name: string
  readonly fallback: string | undefined
}

/** A literal text, or a reference to a value. */
type Part = string | Reference

/** A spelling that begins at an offset. Without a `part`, the text up to `end` stays literal, and nothing in it is read. */
interface Match {
  readonly end: number
  readonly part: Part | undefined
}

/** A matcher for one spelling, made for a text. */
type Spelling = (text: string) => (at: number) => Match | undefined

/** Takes linear time, because each match is left behind, and nothing is searched where no `close` follows. */
const between = (open: string, close: string, read: (content: string) => Part | undefined): Spelling => (text) => {
  const last = text.lastIndexOf(close)
  return (at) => {
    const from = at + open.length
    if (from > last || !text.startsWith(open, at)) return undefined
    const end = text.indexOf(close, from)
    return { end: end + close.length, part: read(text.slice(from, end)) }
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
        const part = line(text.slice(at + 2, end).trim())
        return part && { end: end + 1, part }
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
    const [all = "", name] = pattern.exec(text) ?? []
    return name === undefined ? undefined : { end: at + all.length, part: env(name) }
  }
}

/** The parts of a text. With `escapes`, a run of dollars before a brace stands for half of them. */
const scan = (text: string, spellings: ReadonlyArray<Spelling>, opening: "$" | "${", escapes: boolean) => {
  const readers = spellings.map((spelling) => spelling(text))
  const openings = opening === "$" ? /\$/g : /[${]/g
  const parts: Array<Part> = []
  let hasLookAlike = false
  let from = 0
  /** Takes the text up to `end` as it is, then a part, and goes on at `next`. */
  const take = (end: number, next: number, part: Part = ""): void => {
    for (const more of [text.slice(from, end), part]) {
      const last = parts.at(-1)
      if (typeof more === "string" && typeof last === "string") parts[parts.length - 1] = last + more
      else if (more !== "") parts.push(more)
    }
    from = openings.lastIndex = next
  }
  for (let found = openings.exec(text); found !== null; found = openings.exec(text)) {
    let at = found.index
    if (escapes && text[at] === "$") {
      let brace = at
      while (text[brace] === "$") brace++
      const half = "$".repeat((brace - at) >> 1)
      if (text[brace] === "{" && (brace - at) % 2 === 0) {
        take(at, brace + 1, `${half}{`)
        continue
      }
      if (text[brace] === "{") take(at, brace - 1, half)
      at = brace - 1
    }
    openings.lastIndex = at + 1
    let match: Match | undefined
    for (let reader = 0; match === undefined && reader < readers.length; reader++) match = readers[reader]!(at)
    if (match === undefined) continue
    const { end, part } = match
    if (part === undefined) openings.lastIndex = end
    else take(at, end, part)
    hasLookAlike ||= part === undefined
      ? text[at] === "$"
      : typeof part !== "string" && `${part.name}${part.fallback}`.includes("${")
  }
  take(text.length, text.length)
  return { parts, hasLookAlike }
}

const kinds = ["env", "input", "secret", "file", "var", "cmd"] as const

type Kind = typeof kinds[number]

const kindOf = (content: string): Kind | undefined => kinds.find((kind) => content.startsWith(`${kind}:`))

const env = (name: string): Reference => ({ kind: "env", name, fallback: undefined })

const variable = /^[^\s${}|]+$/
const names: { readonly [K in Kind]: RegExp } = {
  env: variable,
  var: variable,
  input: /^[^\s${}|](?:[^${}|]*[^\s${}|])?$/,
  secret: /^[^\s${}|](?:[^${}|]*[^\s${}|])?$/,
  file: /^(?!\s*$)(?:[^$}]|\$(?!\{))*$/,
  cmd: /^(?!\s*$)(?:[^$}]|\$(?!\{))*$/
}

/** A reference from the text behind its kind, if it can stand between braces. */
const referenceOf = (kind: Kind, body: string): Reference | undefined => {
  const split = kind === "file" || kind === "cmd" ? -1 : body.indexOf(":-")
  const name = split === -1 ? body : body.slice(0, split)
  return names[kind].test(name) && !body.includes("}")
    ? { kind, name, fallback: split === -1 ? undefined : body.slice(split + 2) }
    : undefined
}

/** The reference of a canonical content; `undefined` where the text stays literal. */
const reference = (content: string): Reference | undefined => {
  const kind = kindOf(content)
  const known = kind && referenceOf(kind, content.slice(kind.length + 1))
  if (known !== undefined || kind === "file" || kind === "cmd") return known
  return content.trim() === "" || /[${]/.test(content)
    ? undefined
    : { kind: "unknown", name: content, fallback: undefined }
}

const canonicalBraces = [between("${", "}", reference)]

/** The literal text and the references of a template, in order. */
export const parse = (template: string): ReadonlyArray<Part> => scan(template, canonicalBraces, "$", true).parts

export const references = (template: string): ReadonlyArray<Reference> =>
  parse(template).filter((part) => typeof part !== "string")

/** The text of a template without references; nothing for one that has any. */
export const plainText = (template: string): string | undefined => {
  const parts = parse(template)
  return parts.every((part) => typeof part === "string") ? parts.join("") : undefined
}

/** The names of the environment variables that a template asks for. */
export const variables = (template: string): ReadonlyArray<string> => [
  ...new Set(references(template).flatMap(({ kind, name }) => kind === "env" ? [name] : []))
]

/** The name of a reference in errors: `TOKEN`, `input:pat`, `cmd:cat x`. */
export const nameOf = ({ kind, name }: Reference): string =>
  kind === "env" || kind === "unknown" ? name : `${kind}:${name}`

/** A reference as it is written in a template. */
export const written = ({ fallback, kind, name }: Reference): string =>
  `\${${kind === "unknown" ? "" : `${kind}:`}${name}${fallback === undefined ? "" : `:-${fallback}`}}`

/** A literal text within a template: the dollars before a brace, or before a reference that follows, are doubled. */
const escape = (text: string, isBeforeReference: boolean): string =>
  text.replaceAll(/\$+\{?/g, (run, at: number) => {
    if (run.endsWith("{")) return run.slice(0, -1) + run
    return isBeforeReference && at + run.length === text.length ? run + run : run
  })

/** A template that expands to the text itself. */
export const literal = (text: string): string => escape(text, false)

/** A line to run. One that cannot stand between braces must not become a literal text: it cannot be resolved. */
const line = (text: string): Reference | undefined =>
  text === ""
    ? undefined
    : referenceOf("cmd", text) ??
      { kind: "unknown", name: `unsupported:${text.replace(/[${}|]/g, "?")}`, fallback: undefined }

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const key = /^[A-Za-z0-9_.-]+$/
const scheme = /^[A-Za-z_][A-Za-z0-9+._-]*:/
const shellOperator = /^[A-Za-z_][A-Za-z0-9_]*:[+?]/

/** `env:NAME | value:default`; longer chains cannot be resolved. */
const piped = (text: string): Part | undefined => {
  const [first = "", second, ...more] = text.split("|").map((alternative) => alternative.trim())
  if (first.startsWith("value:") && second === undefined) return first.slice("value:".length)
  const kind = kindOf(first)
  const isKnown = kind === "env" || kind === "input" || kind === "secret"
  return !isKnown || second?.startsWith("value:") !== true || more.length > 0
    ? undefined
    : referenceOf(kind, `${first.slice(kind.length + 1)}:-${second.slice("value:".length)}`)
}

/** The content of `${…}`, by the spellings that a host has for it. */
const dollarBraces = ({ bare, canonical, command, env, file, input, inputPrefix, pipes, builtins }: Syntax) => {
  const known: { readonly [K in Kind]: boolean | undefined } = {
    env,
    input,
    secret: canonical,
    var: canonical,
    file: canonical === true || file,
    cmd: canonical
  }
  return (text: string): Part | undefined => {
    const split = text.indexOf(":-")
    const head = (split === -1 ? text : text.slice(0, split)).trim()
    const rest = split === -1 ? "" : text.slice(split)
    const place = builtins?.get(head)
    if (place !== undefined) return referenceOf("var", place + rest)
    if (inputPrefix !== undefined && head.startsWith(inputPrefix)) {
      return referenceOf("input", head.slice(inputPrefix.length) + rest)
    }
    const kind = kindOf(head)
    const isLine = kind === "file" || kind === "cmd"
    const isPiped = !isLine && pipes === true && (head.includes("|") || head.startsWith("value:"))
    const part = isPiped ? piped(head + rest) : undefined
    if (part !== undefined) return part
    if (kind !== undefined && !isPiped) {
      const body = (isLine ? text.trim() : head).slice(kind.length + 1).trim()
      return known[kind] === true ? referenceOf(kind, isLine ? body : body + rest) : undefined
    }
    if (bare === true && identifier.test(head)) return referenceOf("env", head + rest)
    const stays = (command === true && shellOperator.test(text)) ||
      ((pipes === true || canonical === true) && scheme.test(text))
    const unknown = stays ? reference(text) : undefined
    return unknown?.kind === "unknown" ? unknown : undefined
  }
}

const github = (text: string): Reference | undefined => {
  const [, kind, name = ""] = /^(secret|input)s\.(.*)$/.exec(text.trim()) ?? []
  return (kind === "secret" || kind === "input") && key.test(name) ? { kind, name, fallback: undefined } : undefined
}

const name = (text: string): Reference | undefined => identifier.test(text) ? env(text) : undefined

/** The spellings of a syntax; the first that begins at a place counts. */
const spellingsOf = (syntax: Syntax): ReadonlyArray<Spelling> => [
  ...(syntax.mustache === true ? [between("${{", "}}", github)] : []),
  between("${", "}", dollarBraces(syntax)),
  ...(syntax.command === true ? [shellCommand] : []),
  ...(syntax.dollar === true ? [dollarName] : []),
  ...(syntax.handlebars === true ? [between("{{", "}}", (text) => name(text.trim()))] : []),
  ...(syntax.braces === true
    ? (["env", "file"] as const).map((kind) => between(`{${kind}:`, "}", (text) => referenceOf(kind, text.trim())))
    : [])
]

/** The reference that a text is as a whole: a variable or a command line. */
const whole = ({ bang, powershell }: Syntax, text: string): Reference | undefined =>
  bang === true && text.startsWith("!")
    ? line(text.slice(1).trim())
    : powershell === true && text.startsWith("$env:")
    ? name(text.slice("$env:".length))
    : undefined

/** A host's text in the canonical spelling. */
export interface Canonical {
  readonly template: string
  /** `looks-like-variable`: it has the shape of a variable, but not one of this host. */
  readonly warnings: ReadonlyArray<"looks-like-variable" | "command-substitution">
}

/** A host's text as a canonical template. */
export const canonical = (syntax: Syntax, text: string): Canonical => {
  const all = whole(syntax, text)
  const hasBraces = syntax.braces === true || syntax.handlebars === true
  const { hasLookAlike, parts } = all !== undefined
    ? { parts: [all], hasLookAlike: false }
    : scan(text, spellingsOf(syntax), hasBraces ? "${" : "$", syntax.canonical === true)
  const runs = parts.some((part) =>
    typeof part !== "string" && (part.kind === "cmd" || part.name.startsWith("unsupported:"))
  )
  return {
    template: parts.map((part, at) => typeof part === "string" ? escape(part, at < parts.length - 1) : written(part))
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
