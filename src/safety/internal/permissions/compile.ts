/**
 * From the text of a rule to what it covers.
 *
 * @internal
 */
import * as Either from "effect/Either"
import { wildcard } from "../../../internal/wildcard.ts"
import * as ToolName from "../../../tools/ToolName.ts"
import * as UntrustedText from "../../../UntrustedText.ts"
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

const target = (
  narrow: boolean,
  server: string,
  kind: Kind | undefined,
  name: string
): Target => {
  const isServer = wildcard(server)
  const isName = kind === "resource" ? Location.matcher(name, narrow) : wildcard(collapsed(name))
  return {
    server: server.includes("*") ? undefined : server,
    kind,
    name: name.includes("*") || kind === "resource" ? undefined : name,
    covers: (subject) =>
      (kind === undefined || subject.kind === kind) && isServer(subject.server) && isName(subject.name)
  }
}

/** Of a name, which has no parts, `**` is no more than `*`. */
const collapsed = (pattern: string): string => pattern.replace(/\*{2,}/g, "*")

/** All that a server has to offer, which for an `allow` is its tools: what it can do to the model by itself is not. */
const whole = (narrow: boolean, server: string): Target => target(narrow, server, narrow ? "tool" : undefined, "*")

const styles = ["double", "single"] as const

/** A name as models see it is that of one tool only, whatever it looks like. */
const published = (name: string): Target => ({
  server: undefined,
  kind: "tool",
  name: undefined,
  published: name,
  covers: ({ kind, name: tool, server }) =>
    kind === "tool" && styles.some((style) => ToolName.qualify(server, tool, style) === name)
})

/** As a model sees names, for patterns over servers whose names cannot be written in them. */
const publishedLike = (pattern: string): Target => {
  const isName = wildcard(collapsed(pattern))
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

const qualified = (narrow: boolean, text: string): Parsed => {
  const rest = text.slice("mcp__".length)
  if (/^\*+$/.test(rest)) return Either.right([whole(narrow, "*")])
  const marked = /^(.+?)(?:__|[./])(resource|prompt):(.+)$/s.exec(rest)
  if (!narrow && marked !== null && serverCharacters.test(marked[1]!)) {
    return Either.right([target(narrow, marked[1]!, marked[2] === "prompt" ? "prompt" : "resource", marked[3]!)])
  }
  if (!toolCharacters.test(rest)) return Either.left(badCharacters)
  const identity = ToolName.parse(text)
  const at = rest.indexOf("__")
  // of names that end in a hash nothing can be read back, but they are compared as they are
  const exact = text.includes("*") ? [] : [published(text)]
  if (at === -1) {
    // neither style of names has these, so that it is half of one and half of the other
    const other = narrow || !/[./]/.test(rest) ? undefined : separated(narrow, rest)
    const like = narrow || exact.length > 0 ? [] : [publishedLike(text)]
    if (narrow && rest.includes("/")) return Either.left(badCharacters)
    return Either.right([
      ...exact,
      whole(narrow, rest),
      ...like,
      ...(other === undefined ? [] : Either.getOrElse(other, () => []))
    ])
  }
  const [server, tool] = [rest.slice(0, at), rest.slice(at + 2)]
  if (server === "" || tool === "") return Either.left("it needs a server and a tool: `mcp__server__tool`")
  if (/^\*+$/.test(tool)) return Either.right([whole(narrow, server), ...(narrow ? [] : [publishedLike(text)])])
  if (exact.length > 0 && identity === undefined) return Either.right(exact)
  const plain = target(narrow, server, "tool", tool)
  return Either.right([...exact, plain, ...(narrow || exact.length > 0 ? [] : [publishedLike(text)])])
}

const badCharacters = "there are characters in it that no server and no tool has in its name"

const marked = /[./](resource|prompt):/

/** What is written with one separator, of which a name may have more. */
const separated = (narrow: boolean, text: string): Parsed => {
  const mark = marked.exec(text)
  if (mark !== null) {
    const server = text.slice(0, mark.index)
    const name = text.slice(mark.index + mark[0].length)
    if (!serverCharacters.test(server) || name === "") return Either.left(badCharacters)
    const kind = mark[1] === "resource" ? "resource" as const : "prompt" as const
    return Either.right([target(narrow, server, kind, name)])
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
    return /^\*+$/.test(tool) ? whole(narrow, server) : target(narrow, server, "tool", tool)
  }).filter((one) => one !== undefined)
  return targets.length === 0 ? Either.left("there is no tool in it: write `server/tool`") : Either.right(targets)
}

const targetsOf = (narrow: boolean, text: string): Parsed => {
  if (/^\*+$/.test(text)) return Either.right([whole(narrow, "*")])
  if (text.startsWith("mcp__")) return qualified(narrow, text)
  if (text.startsWith("mcp_") && !/[./]/.test(text) && toolCharacters.test(text)) {
    if (!text.includes("*")) return Either.right([published(text)])
    // in the other style of names a server cannot be told from a tool, which is enough to hold something back
    if (!narrow) return Either.right([publishedLike(text)])
  }
  return separated(narrow, text)
}

const ofServer = (narrow: boolean, server: string, text: string): Parsed => {
  const mark = /^(resource|prompt):(.+)$/s.exec(text)
  if (mark !== null) {
    const kind = mark[1] === "prompt" ? "prompt" as const : "resource" as const
    const isName = kind === "resource" ? Location.matcher(mark[2]!, narrow) : wildcard(collapsed(mark[2]!))
    // a tool may be called so, too
    const isTool = narrow ? undefined : wildcard(collapsed(text))
    const covers = (subject: PermissionRule.Subject) =>
      subject.server === server &&
      ((subject.kind === kind && isName(subject.name)) || (subject.kind === "tool" && isTool?.(subject.name) === true))
    return Either.right([{ server, kind: undefined, name: undefined, covers }])
  }
  if (!toolCharacters.test(text)) return Either.left(badCharacters)
  const tool = collapsed(text)
  const isTool = wildcard(tool)
  const name = tool.includes("*") ? undefined : tool
  const covers = (subject: PermissionRule.Subject) =>
    subject.server === server && (subject.kind === "tool" || (!narrow && tool === "*")) && isTool(subject.name)
  return Either.right([{ server, kind: narrow || tool !== "*" ? "tool" : undefined, name, covers }])
}

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

/** Longer rules and other characters do not survive being copied from a message into a shell or a file. */
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
  const narrow = decision === "allow"
  const fault = (detail: string) => Either.left({ input, detail })
  if (narrow && source === "workspace") return fault("what a workspace says may only narrow: it cannot allow")
  if (tool.length > maxLength) return fault(`it is longer than ${maxLength} characters`)
  const [name, written] = parts(tool.trim())
  const targets = input.server === undefined ? targetsOf(narrow, name) : ofServer(narrow, input.server, name)
  if (Either.isLeft(targets)) return fault(targets.left)
  if (narrow && targets.right.some(({ published, server }) => server === undefined && published === undefined)) {
    return fault("an `allow` needs the name of one server, without `*`")
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
