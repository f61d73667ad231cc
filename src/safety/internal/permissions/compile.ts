/**
 * From the text of a rule to what it covers.
 *
 * @internal
 */
import * as Either from "effect/Either"
import { caseFolded } from "../../../text/unicode.ts"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import { wildcard } from "../../../text/wildcard.ts"
import * as ToolName from "../../../tools/ToolName.ts"
import type * as PermissionRule from "../../PermissionRule.ts"
import * as Arguments from "./arguments.ts"
import * as Location from "./location.ts"

type Kind = PermissionRule.Subject["kind"]

/**
 * What a rule is found by: exact parts where it has them.
 *
 * @internal
 */
export interface Target {
  /** Every server, if there is none. */
  readonly server: string | undefined
  /** Every kind, if there is none. */
  readonly kind: Kind | undefined
  /** Not exact, if there is none. */
  readonly name: string | undefined
  /** The name as a model sees it, in which server and tool cannot be told apart. */
  readonly published?: string | undefined
  readonly covers: (subject: PermissionRule.Subject) => boolean
}

/** @internal */
export interface Compiled extends PermissionRule.Rule {
  readonly targets: ReadonlyArray<Target>
  /** Whether it says something of arguments. */
  readonly readsArguments: boolean
}

const maxLength = 4_096

type Parsed = Either.Either<ReadonlyArray<Target>, string>

/** How the names in a rule are read; it depends on the decision of the rule. */
interface Reading {
  readonly narrow: boolean
  readonly folded: (text: string) => string
}

const unfolded = (text: string): string => text

/** Only a `deny` ignores case, because a server may treat `Delete` and `delete` as the same tool, or offer both. */
const readingOf: Readonly<Record<PermissionRule.Decision, Reading>> = {
  allow: { narrow: true, folded: unfolded },
  ask: { narrow: false, folded: unfolded },
  deny: { narrow: false, folded: caseFolded }
}

/** A pattern of names, in which `**` is no more than `*`, because a name has no parts. */
const names = ({ folded }: Reading, pattern: string): (name: string) => boolean => {
  const fits = wildcard(folded(pattern).replace(/\*{2,}/g, "*"))
  return (name) => fits(folded(name))
}

const target = (
  reading: Reading,
  server: string,
  kind: Kind | undefined,
  name: string
): Target => {
  const isServer = names(reading, server)
  const isName = kind === "resource" ? Location.matcher(name, reading.narrow) : names(reading, name)
  return {
    server: server.includes("*") ? undefined : server,
    kind,
    name: name.includes("*") || kind === "resource" ? undefined : name,
    covers: (subject) =>
      (kind === undefined || subject.kind === kind) && isServer(subject.server) && isName(subject.name)
  }
}

/** All that a server has to offer, which for an `allow` is its tools: what it can do to the model by itself is not. */
const whole = (reading: Reading, server: string): Target =>
  target(reading, server, reading.narrow ? "tool" : undefined, "*")

const styles = ["double", "single"] as const

/** A name as models see it is that of one tool only, whatever it looks like. */
const published = ({ folded }: Reading, name: string): Target => ({
  server: undefined,
  kind: "tool",
  name: undefined,
  published: name,
  covers: ({ kind, name: tool, server }) =>
    kind === "tool" && styles.some((style) => folded(ToolName.qualify(server, tool, style)) === folded(name))
})

/** As a model sees names, for patterns over servers whose names cannot be written in them. */
const publishedLike = (reading: Reading, pattern: string): Target => {
  const isName = names(reading, pattern)
  const style = pattern.startsWith("mcp__") ? "double" : "single"
  return {
    server: undefined,
    kind: "tool",
    name: undefined,
    covers: ({ kind, name, server }) => kind === "tool" && isName(ToolName.qualify(server, name, style))
  }
}

const serverCharacters = /^[^\s/()[\]{}"'`\\,;=<>|?!&\u0000-\u001f\u007f-\u{10ffff}]+$/u

const toolCharacters = /^[^\s()[\]{}"'`\\,;=<>|?!&\u0000-\u001f\u007f-\u{10ffff}]+$/u

const qualified = (reading: Reading, text: string): Parsed => {
  const { narrow } = reading
  const rest = text.slice("mcp__".length)
  if (/^\*+$/.test(rest)) return Either.right([whole(reading, "*")])
  const marked = /^(.+?)(?:__|[./])(resource|prompt):(.+)$/s.exec(rest)
  if (!narrow && marked !== null && serverCharacters.test(marked[1]!)) {
    return Either.right([target(reading, marked[1]!, marked[2] === "prompt" ? "prompt" : "resource", marked[3]!)])
  }
  if (!toolCharacters.test(rest)) return Either.left(badCharacters)
  const identity = ToolName.parse(text)
  const at = rest.indexOf("__")
  // of names that end in a hash nothing can be read back, but they are compared as they are
  const exact = text.includes("*") ? [] : [published(reading, text)]
  if (at === -1) {
    // neither style of names has these, so that it is half of one and half of the other
    const other = narrow || !/[./]/.test(rest) ? undefined : separated(reading, rest)
    const like = narrow || exact.length > 0 ? [] : [publishedLike(reading, text)]
    if (narrow && rest.includes("/")) return Either.left(badCharacters)
    return Either.right([
      ...exact,
      whole(reading, rest),
      ...like,
      ...(other === undefined ? [] : Either.getOrElse(other, () => []))
    ])
  }
  const [server, tool] = [rest.slice(0, at), rest.slice(at + 2)]
  if (server === "" || tool === "") return Either.left("it needs a server and a tool: `mcp__server__tool`")
  if (/^\*+$/.test(tool)) {
    return Either.right([whole(reading, server), ...(narrow ? [] : [publishedLike(reading, text)])])
  }
  if (exact.length > 0 && identity === undefined) return Either.right(exact)
  const plain = target(reading, server, "tool", tool)
  return Either.right([...exact, plain, ...(narrow || exact.length > 0 ? [] : [publishedLike(reading, text)])])
}

const badCharacters = "there are characters in it that no server and no tool has in its name"

const marked = /[./](resource|prompt):/

/** What is written with one separator, of which a name may have more. */
const separated = (reading: Reading, text: string): Parsed => {
  const { narrow } = reading
  const mark = marked.exec(text)
  if (mark !== null) {
    const server = text.slice(0, mark.index)
    const name = text.slice(mark.index + mark[0].length)
    if (!serverCharacters.test(server) || name === "") return Either.left(badCharacters)
    const kind = mark[1] === "resource" ? "resource" as const : "prompt" as const
    return Either.right([target(reading, server, kind, name)])
  }
  if (!toolCharacters.test(text)) return Either.left(badCharacters)
  const slash = text.indexOf("/")
  const splits = slash > 0
    ? [slash]
    : Array.from(text.matchAll(/\./g), ({ index }) => index).filter((at) => at > 0 && at < text.length - 1)
  if (splits.length === 0) return Either.left("it does not say of which server: write `server/tool`")
  if (narrow && splits.length > 1) {
    return Either.left("it can be read in more than one way, because there are several dots: write `server/tool`")
  }
  const targets = splits.map((at): Target | undefined => {
    const [server, tool] = [text.slice(0, at), text.slice(at + 1)]
    if (tool === "") return undefined
    return /^\*+$/.test(tool) ? whole(reading, server) : target(reading, server, "tool", tool)
  }).filter((one) => one !== undefined)
  return targets.length === 0 ? Either.left("there is no tool in it: write `server/tool`") : Either.right(targets)
}

const targetsOf = (reading: Reading, text: string): Parsed => {
  const { narrow } = reading
  if (/^\*+$/.test(text)) return Either.right([whole(reading, "*")])
  if (text.startsWith("mcp__")) return qualified(reading, text)
  if (text.startsWith("mcp_") && !/[./]/.test(text) && toolCharacters.test(text)) {
    if (!text.includes("*")) return Either.right([published(reading, text)])
    // in the other style of names a server cannot be told from a tool, which is enough to hold something back
    if (!narrow) return Either.right([publishedLike(reading, text)])
  }
  return separated(reading, text)
}

const ofServer = (reading: Reading, server: string, text: string): Parsed => {
  const { folded, narrow } = reading
  const isServer = (subject: PermissionRule.Subject): boolean => folded(subject.server) === folded(server)
  const mark = /^(resource|prompt):(.+)$/s.exec(text)
  if (mark !== null) {
    const kind = mark[1] === "prompt" ? "prompt" as const : "resource" as const
    const isName = kind === "resource" ? Location.matcher(mark[2]!, narrow) : names(reading, mark[2]!)
    // a tool may be called so, too
    const isTool = narrow ? undefined : names(reading, text)
    const covers = (subject: PermissionRule.Subject) =>
      isServer(subject) &&
      ((subject.kind === kind && isName(subject.name)) || (subject.kind === "tool" && isTool?.(subject.name) === true))
    return Either.right([{ server, kind: undefined, name: undefined, covers }])
  }
  if (!toolCharacters.test(text)) return Either.left(badCharacters)
  const isTool = names(reading, text)
  const isWhole = /^\*+$/.test(text)
  const name = text.includes("*") ? undefined : text
  const covers = (subject: PermissionRule.Subject) =>
    isServer(subject) && (subject.kind === "tool" || (!narrow && isWhole)) && isTool(subject.name)
  return Either.right([{ server, kind: narrow || !isWhole ? "tool" : undefined, name, covers }])
}

/** The one pattern over all servers that an `allow` may have. */
const everything = /^mcp__\*+$/

const ofResource = /(?:^|[./]|__)resource:/

/** The name, and what stands in parentheses behind it. A URI may have parentheses of its own. */
const parts = (text: string): readonly [name: string, args: string | undefined] => {
  const open = text.indexOf("(")
  return open <= 0 || !text.endsWith(")") || ofResource.test(text.slice(0, open))
    ? [text, undefined]
    : [text.slice(0, open).trim(), text.slice(open + 1, -1)]
}

const textOf = ({ args, server, tool }: PermissionRule.Input): string => {
  const name = server === undefined ? tool : `${server}/${tool}`
  const written = Object.entries(args ?? {}).map(([name, pattern]) => `${name}=${pattern}`)
  return UntrustedText.excerpt(written.length === 0 ? name : `${name}(${written.join(", ")})`, 512)
}

/** The limits of a rule in a message, because it must survive being copied into a shell or a file. */
const copyable = /^[!#-[\]-~]{1,256}$/

/** @internal */
export const allowing = ({ kind, name, server }: PermissionRule.Subject): string | undefined => {
  // a name as models see it has no characters that a rule cannot have
  const written = kind === "tool"
    ? [`${server}/${name}`, ToolName.qualify(server, name, "double")]
    : [`${server}/${kind}:${name}`]
  return written.find((tool) => {
    if (!copyable.test(tool) || tool.includes("*")) return false
    const rule = parse({ decision: "allow", tool })
    return Either.isRight(rule) && !rule.right.readsArguments && rule.right.matches({ kind, name, server })
  })
}

/** @internal */
export const parse = (input: PermissionRule.Input): Either.Either<Compiled, PermissionRule.Fault> => {
  const { decision, source = "code", tool } = input
  const reading = readingOf[decision]
  const { narrow } = reading
  const fault = (detail: string) => Either.left({ input, detail })
  if (narrow && source === "workspace") return fault("what a workspace says may only narrow: it cannot allow")
  if (tool.length > maxLength) return fault(`it is longer than ${maxLength} characters`)
  const [name, written] = parts(tool.trim())
  const targets = input.server === undefined ? targetsOf(reading, name) : ofServer(reading, input.server, name)
  if (Either.isLeft(targets)) return fault(targets.left)
  const isOpen = targets.right.some(({ published, server }) => server === undefined && published === undefined)
  if (narrow && isOpen && !everything.test(name)) {
    return fault("an `allow` needs the name of one server, without `*`; `mcp__*` allows every tool of all servers")
  }
  const args = Arguments.compile(written, input.args, narrow)
  if (Either.isLeft(args)) return fault(args.left)
  const all = targets.right
  const fits = args.right
  if (fits !== undefined && all.every(({ kind }) => kind === "resource")) return fault("a resource has no arguments")
  return Either.right({
    decision,
    source,
    text: textOf(input),
    targets: all,
    readsArguments: fits !== undefined,
    matches: (subject) => all.some(({ covers }) => covers(subject)) && (fits === undefined || fits(subject))
  })
}
