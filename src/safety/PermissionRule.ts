/**
 * Rules on the tools, resources and prompts that may be used, and with which arguments: data, and the decision over it.
 */
import * as Either from "effect/Either"
import type { JsonObject } from "../json/Json.ts"
import { caseFolded } from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import { wildcard } from "../text/wildcard.ts"
import * as ToolName from "../tools/ToolName.ts"
import * as ArgumentRule from "./argumentRule.ts"
import * as ValuePattern from "./valuePattern.ts"

/** Of several rules that match, `deny` beats `ask`, and `ask` beats `allow`. */
export type Decision = "allow" | "ask" | "deny"

/** Where a rule comes from. A rule of a workspace may `ask` and `deny`, and never `allow`. */
export type Source = "code" | "managed" | "user" | "workspace"

/**
 * A rule as it is written. `tool` is one of
 *
 * - `server/tool`, `server.tool` or `mcp__server__tool`, in which `*` stands for any run of characters;
 * - `server/*`, or `mcp__server` for short: all tools of a server;
 * - `server/resource:URI` and `server/prompt:NAME`;
 * - `*` or `mcp__*`: everything, but in an `allow` only as `mcp__*`, and then every tool;
 *
 * each with patterns for arguments behind it: `fs/read(path=/repo/**, mode=text)`.
 *
 * An `allow` is read narrowly: its server has no `*`, it covers only calls all of whose arguments it names, its `*` stays
 * within one part of a path or of a host (`**` does not), and a path must be written plainly, without `..` or escapes. In
 * a pattern of several words, as of a command, `*` covers nothing that begins another command. The pattern `*` alone is
 * any value. An `ask` or `deny` is read broadly: in each way its text can be divided into a server and a name, for any
 * spelling of a path, address or value, at any depth of the arguments, with any other arguments. `~` is the home folder of
 * any user, and a folder is covered with what is below it. A `deny` ignores case in the names of servers, tools and
 * prompts.
 */
export interface Input {
  readonly decision: Decision
  readonly tool: string
  /** The exact name of the server, whatever characters it has: then `tool` is only the tool. */
  readonly server?: string | undefined
  /** Patterns by argument, `a.b` for one within another, as if they stood in parentheses. */
  readonly args?: Readonly<Record<string, string>> | undefined
  /** Default: `code`. */
  readonly source?: Source | undefined
}

/** What a caller wants to use. */
export interface Subject {
  readonly kind: "tool" | "resource" | "prompt"
  readonly server: string
  /** The server's own name of the tool or prompt, or the URI. */
  readonly name: string
  /** A rule that names arguments matches only where there are some. */
  readonly args?: JsonObject | undefined
}

export interface Rule {
  readonly decision: Decision
  /** As it was written, arguments included. */
  readonly text: string
  /** Whether it names its tools by a pattern, and so covers tools that a server adds later. */
  readonly isPattern: boolean
  readonly matches: (subject: Subject) => boolean
}

/** A rule that cannot be applied, and the reason. */
export interface Fault {
  readonly input: Input
  readonly detail: string
}

export interface RuleSet {
  /** Unreadable rules. Each is replaced by a rule that is at least as strict. */
  readonly faults: ReadonlyArray<Fault>
  /** The strictest rule that matches. */
  readonly decide: (subject: Subject) => Rule | undefined
  /** Whether every rule allows. */
  readonly onlyAllows: boolean
  /** Whether a rule that allows or asks can cover something of a server. */
  readonly admits: (server: string) => boolean
}

/** How the text of a rule is read, which depends on its decision. */
interface Reading {
  readonly isNarrow: boolean
  readonly folded: (text: string) => string
}

/** Only a `deny` ignores case, because a server may treat `Delete` and `delete` as the same tool, or offer both. */
const readings: Readonly<Record<Decision, Reading>> = {
  allow: { isNarrow: true, folded: (text) => text },
  ask: { isNarrow: false, folded: (text) => text },
  deny: { isNarrow: false, folded: caseFolded }
}

type Covers = (subject: Subject) => boolean

/** One server and name that a rule's text can mean. */
interface Target {
  /** The key of the subjects that it can cover, see `keysOf`. */
  readonly key: string
  readonly covers: Covers
  /** Whether it can cover something of a server. */
  readonly concerns: (server: string) => boolean
}

interface Parsed extends Rule {
  readonly targets: ReadonlyArray<Target>
}

/** Keys ignore case because a `deny` does. */
const keyOf = (...parts: ReadonlyArray<string>): string => caseFolded(parts.join("\0"))

const styles = ["double", "single"] as const

/** The keys of the targets that can cover a subject: its name, its server, any server, and its names for models. */
const keysOf = ({ kind, name, server }: Subject): ReadonlyArray<string> => [
  keyOf(server, kind, name),
  keyOf(server),
  "",
  ...(kind === "tool" ? styles.map((style) => keyOf("", ToolName.qualify(server, name, style))) : [])
]

/** A pattern of names, in which `**` is the same as `*`, because a name has no parts. */
const names = ({ folded }: Reading, pattern: string): (name: string) => boolean => {
  const fits = wildcard(folded(pattern).replace(/\*{2,}/g, "*"))
  return (name) => fits(folded(name))
}

/** The kind and the pattern of `resource:URI` and `prompt:NAME`. */
const marked = /^(resource|prompt):(.+)$/s

const nameMatcher = (reading: Reading, pattern: string): Covers => {
  const { isNarrow } = reading
  // an `allow` covers tools only, because resources and prompts reach the model without a call
  if (ValuePattern.isAnything(pattern)) return ({ kind }) => !isNarrow || kind === "tool"
  const isTool = names(reading, pattern)
  const [, kind, rest = ""] = marked.exec(pattern) ?? []
  if (kind === undefined) return (subject) => subject.kind === "tool" && isTool(subject.name)
  const isOther = kind === "resource" ? ValuePattern.matcher(rest, isNarrow) : names(reading, rest)
  return (subject) =>
    subject.kind === kind ? isOther(subject.name) : !isNarrow && subject.kind === "tool" && isTool(subject.name)
}

const nameKey = (server: string, name: string): string => {
  const isExact = !name.includes("*") && !marked.test(name)
  return isExact ? keyOf(server, "tool", name) : keyOf(server)
}

/** With `isExact`, a `*` in the name of the server is itself. */
const target = (reading: Reading, server: string, name: string, isExact = false): Target => {
  const folded = reading.folded(server)
  const isServer = isExact ? (text: string) => reading.folded(text) === folded : names(reading, server)
  const isName = nameMatcher(reading, name)
  return {
    key: server.includes("*") && !isExact ? "" : nameKey(server, name),
    covers: (subject) => isServer(subject.server) && isName(subject),
    concerns: isServer
  }
}

/** Tools by their names for models. */
const publishedTarget = (reading: Reading, text: string): Target => {
  const isName = names(reading, text)
  // a name with a hash can be of any server
  const identity = ToolName.parse(text)
  return {
    key: text.includes("*") ? "" : keyOf("", text),
    concerns: identity === undefined ? () => true : names(reading, identity.server),
    covers: ({ kind, name, server }) =>
      kind === "tool" && styles.some((style) => isName(ToolName.qualify(server, name, style)))
  }
}

type Division = readonly [server: string, name: string]

const serverCharacters = /^[^\s/()[\]{}"'`\\,;=<>|?!&\u0000-\u001f\u007f-\u{10ffff}]+$/u
const toolCharacters = /^[^\s()[\]{}"'`\\,;=<>|?!&\u0000-\u001f\u007f-\u{10ffff}]+$/u

const badCharacters = "it contains characters that are not allowed in the name of a server or a tool"

/** A text divided at each of its separators in turn. */
const divisions = (text: string, separator: RegExp): ReadonlyArray<Division> =>
  Array.from(text.matchAll(separator), ({ 0: { length }, index }): Division => [
    text.slice(0, index),
    text.slice(index + length)
  ]).filter(([server, name]) => server !== "" && name !== "")

/** The ways to divide a text into a server and a name; an `allow` must have exactly one. */
const divided = (text: string, isNarrow: boolean): Either.Either<ReadonlyArray<Division>, string> => {
  const isQualified = text.startsWith("mcp__")
  const rest = isQualified ? text.slice("mcp__".length) : text
  const [mark] = divisions(
    rest,
    isQualified ? /(?:__|[./])(?=(?:resource|prompt):.)/g : /[./](?=(?:resource|prompt):.)/g
  )
  if (mark !== undefined) return serverCharacters.test(mark[0]) ? Either.right([mark]) : Either.left(badCharacters)
  if (!toolCharacters.test(text)) return Either.left(badCharacters)
  if (isQualified) {
    const at = rest.indexOf("__")
    if (at === 0 || (at !== -1 && at + 2 === rest.length)) {
      return Either.left("it needs a server and a tool: `mcp__server__tool`")
    }
    if (!isNarrow) return Either.right([[rest, "*"], ...divisions(rest, /__|[./]/g)])
    if (at !== -1) return Either.right([[rest.slice(0, at), rest.slice(at + 2)]])
    return rest.includes("/") ? Either.left(badCharacters) : Either.right([[rest, "*"]])
  }
  // a tool may have slashes in its name, and a server may not
  const slash = divisions(text, /\//g)
  const all = slash.length > 0 ? slash.slice(0, 1) : divisions(text, /\./g)
  if (all.length === 0) return Either.left("it must name a server and a tool: write `server/tool`")
  return isNarrow && all.length > 1
    ? Either.left("it is ambiguous, because it has several dots: write `server/tool`")
    : Either.right(all)
}

const targetsOf = (reading: Reading, text: string): Either.Either<ReadonlyArray<Target>, string> => {
  const { isNarrow } = reading
  if (ValuePattern.isAnything(text)) return Either.right([target(reading, "*", "*")])
  const isPublished = /^mcp_[^./]+$/.test(text) && toolCharacters.test(text) && !(isNarrow && text.includes("*"))
  const published = isPublished ? [publishedTarget(reading, text)] : []
  if (isPublished && !text.startsWith("mcp__")) return Either.right(published)
  return Either.map(divided(text, isNarrow), (all) => {
    // a name for models that ends in a hash cannot be read back
    const isHashed = isPublished && isNarrow && all.some(([, name]) => name !== "*") &&
      ToolName.parse(text) === undefined
    return isHashed ? published : [...published, ...all.map(([server, name]) => target(reading, server, name))]
  })
}

/** The name, and the text in parentheses behind it. A URI may have parentheses of its own. */
const parts = (text: string): readonly [name: string, args: string | undefined] => {
  const open = text.indexOf("(")
  return open <= 0 || !text.endsWith(")") || /(?:^|[./]|__)resource:/.test(text.slice(0, open))
    ? [text, undefined]
    : [text.slice(0, open).trim(), text.slice(open + 1, -1)]
}

/** A rule as it is written in one line: `fs/read(path=/etc/**)`. */
export const format = ({ args, server, tool }: Input): string => {
  const name = server === undefined ? tool : `${server}/${tool}`
  const written = Object.entries(args ?? {}).map(([name, pattern]) => `${name}=${pattern}`)
  return UntrustedText.excerpt(written.length === 0 ? name : `${name}(${written.join(", ")})`, 512)
}

const maxLength = 4_096

export const parse = (input: Input): Either.Either<Parsed, Fault> => {
  const { decision, server, source = "code" } = input
  const reading = readings[decision]
  const { isNarrow } = reading
  const fault = (detail: string) => Either.left({ input, detail })
  if (isNarrow && source === "workspace") return fault("a workspace rule can only restrict: it cannot allow")
  if (input.tool.length > maxLength) return fault(`it is longer than ${maxLength} characters`)
  const [name, written] = parts(input.tool.trim())
  const targets = server === undefined
    ? targetsOf(reading, name)
    : marked.test(name) || toolCharacters.test(name)
    ? Either.right([target(reading, server, name, true)])
    : Either.left(badCharacters)
  if (Either.isLeft(targets)) return fault(targets.left)
  if (isNarrow && targets.right.some(({ key }) => key === "") && !/^mcp__\*+$/.test(name)) {
    return fault("an `allow` needs the name of one server, without `*`; `mcp__*` allows every tool of all servers")
  }
  const args = ArgumentRule.compile(written, input.args, isNarrow)
  if (Either.isLeft(args)) return fault(args.left)
  const fits = args.right
  if (fits !== undefined && /(?:^|[./]|__)resource:/.test(name)) return fault("a resource has no arguments")
  return Either.right({
    decision,
    text: format(input),
    isPattern: name.includes("*") || targets.right.every(({ key }) => !key.includes("\0")),
    targets: targets.right,
    matches: (subject) =>
      targets.right.some(({ covers }) => covers(subject)) &&
      (fits === undefined || (subject.kind !== "resource" && fits(subject.args)))
  })
}

const strictness: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** The rule in place of an unreadable one: at least as strict, and of a workspace no more than a question. */
const instead = ({ decision, source, tool }: Input): ReadonlyArray<Parsed> => {
  if (decision === "allow") return []
  const replaced = parse({ decision: source === "workspace" ? "ask" : decision, tool: "*", source })
  return Either.isRight(replaced) ? [{ ...replaced.right, text: `${tool.slice(0, 512)} (unreadable)` }] : []
}

/** Unreadable rules lose nothing: a `deny` of everything stands for a `deny`, and nothing for an `allow`. */
export const compile = (inputs: Iterable<Input>): RuleSet => {
  const rules: Array<Parsed> = []
  const faults: Array<Fault> = []
  for (const input of inputs) {
    const rule = parse(input)
    if (Either.isRight(rule)) rules.push(rule.right)
    else {
      faults.push(rule.left)
      rules.push(...instead(input))
    }
  }
  const byKey = new Map<string, Array<Parsed>>()
  for (const rule of rules) {
    for (const key of new Set(rule.targets.map(({ key }) => key))) {
      const all = byKey.get(key) ?? []
      all.push(rule)
      byKey.set(key, all)
    }
  }
  return {
    faults,
    onlyAllows: rules.every(({ decision }) => decision === "allow"),
    admits: (server) =>
      rules.some(({ decision, targets }) => decision !== "deny" && targets.some(({ concerns }) => concerns(server))),
    decide: (subject) => {
      let found: Rule | undefined = undefined
      for (const key of byKey.size === 0 ? [] : keysOf(subject)) {
        for (const rule of byKey.get(key) ?? []) {
          if (found !== undefined && strictness[rule.decision] <= strictness[found.decision]) continue
          if (!rule.matches(subject)) continue
          if (rule.decision === "deny") return rule
          found = rule
        }
      }
      return found
    }
  }
}

/** The limits of a rule in a message, which must survive being copied into a shell or a file. */
const copyable = /^[!#-[\]-~]{1,256}$/

/** The narrowest `allow` rule that permits this whatever its arguments; `undefined` if its name cannot be in a rule. */
export const allowing = ({ kind, name, server }: Subject): string | undefined => {
  const written = kind === "tool"
    ? [`${server}/${name}`, ToolName.qualify(server, name, "double")]
    : [`${server}/${kind}:${name}`]
  return written.find((tool) => {
    if (!copyable.test(tool) || tool.includes("*")) return false
    const rule = parse({ decision: "allow", tool })
    return Either.isRight(rule) && rule.right.matches({ kind, name, server })
  })
}
