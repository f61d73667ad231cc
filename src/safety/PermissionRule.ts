/**
 * Rules on what may be called: which tools, resources and prompts of which servers, with which arguments. Pure data, and
 * the decision over it.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as compiling from "./internal/permissions/compile.ts"
import * as deciding from "./internal/permissions/decide.ts"

/**
 * Where several rules speak, `deny` counts more than `ask`, and `ask` more than `allow`.
 *
 * @since 0.1.0
 * @category models
 */
export type Decision = "allow" | "ask" | "deny"

/**
 * Whose rule it is. What a workspace says only narrows: it may `ask` and `deny`, and never `allow`.
 *
 * @since 0.1.0
 * @category models
 */
export type Source = "code" | "managed" | "user" | "workspace"

/**
 * A rule as it is written. `tool` is one of
 *
 * - `server/tool`, `server.tool` or `mcp__server__tool`, in which `*` stands for any run of characters;
 * - `server/*`, or `mcp__server` for short: all tools of a server;
 * - `server/resource:URI` and `server/prompt:NAME`;
 * - `*` or `mcp__*`: everything, but in an `allow` only as `mcp__*`, and then every tool;
 *
 * each with arguments behind it if only some calls are meant: `fs/read(path=/repo/**, mode=text)`.
 *
 * An `allow` is read narrowly: its server has no `*`, it covers only calls all of whose arguments it names, its `*` stays
 * within one part of a path or of a host (`**` does not), and a path must be written plainly, without `..` or escapes. In
 * a pattern of several words, as of a command, it covers nothing that begins another command. Of an argument `*` alone is
 * any value. An `ask` or `deny` is read broadly: any way to write the same path, address or value, at any depth of the
 * arguments, with any other arguments; `~` is the home of any user, and what is below a folder is the folder, too. A
 * `deny` also ignores case in the names of servers, tools and prompts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input {
  readonly decision: Decision
  readonly tool: string
  /** The very name of the server, whatever characters it has: then `tool` is only the tool. */
  readonly server?: string | undefined
  /** Arguments by name, `a.b` for one within another, each a pattern; as if they stood in parentheses. */
  readonly args?: Readonly<Record<string, string>> | undefined
  /** Default: `code`. */
  readonly source?: Source | undefined
}

/**
 * What somebody wants to use.
 *
 * @since 0.1.0
 * @category models
 */
export interface Subject {
  readonly kind: "tool" | "resource" | "prompt"
  readonly server: string
  /** The server's own name of the tool or prompt, or the URI. */
  readonly name: string
  /** Rules that name arguments speak only where there are some. */
  readonly args?: JsonRpc.JsonObject | undefined
}

/**
 * A rule that can be applied.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule {
  readonly decision: Decision
  readonly source: Source
  /** As it was written, arguments included. */
  readonly text: string
  readonly matches: (subject: Subject) => boolean
}

/**
 * A rule that cannot be applied, and why, in words for whoever wrote it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fault {
  readonly input: Input
  readonly detail: string
}

/**
 * Makes a rule ready.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse: (input: Input) => Either.Either<Rule, Fault> = compiling.parse

/**
 * Rules that are looked through fast, however many there are.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuleSet {
  readonly rules: ReadonlyArray<Rule>
  /** What could not be read. Each has been replaced by a rule that is at least as strict. */
  readonly faults: ReadonlyArray<Fault>
  /** The first rule that decides, or nothing if none speaks. */
  readonly decide: (subject: Subject) => Rule | undefined
  /** Whether every rule allows. */
  readonly onlyAllows: boolean
  /** Whether any rule says something of arguments. */
  readonly readsArguments: boolean
}

/**
 * Puts rules together. Nothing is lost by a mistake: a `deny` that cannot be read denies everything, an `ask`, or the
 * `deny` of a workspace, has everything asked, and an `allow` allows nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const compile: (inputs: Iterable<Input>) => RuleSet = deciding.compile

/**
 * The narrowest `allow` rule, as it is written, that permits this whatever its arguments; none where its name cannot be
 * written in a rule.
 *
 * @since 0.1.0
 * @category combinators
 */
export const allowing: (subject: Subject) => string | undefined = compiling.allowing

/**
 * No rules.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: RuleSet = compile([])
