/**
 * Which servers may be used at all: lists of what is allowed and what is denied, by name, command or address.
 *
 * @since 0.1.0
 */
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import * as looks from "./internal/hazards/hazards.ts"
import * as internal from "./internal/policy/policy.ts"
import * as documents from "./internal/policy/policyDocument.ts"
import * as variables from "./internal/policy/policyVariables.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/**
 * What a rule looks at. A name is what a file calls a server, so it is a convenience and no protection: where a list of
 * what is allowed has any rule about commands or addresses, rules about names allow nothing of that kind; and nothing at
 * all where the policy says `requireIdentity`.
 *
 * - `Name`: with `*` for any run of characters.
 * - `Command`: the whole command line, word by word.
 * - `CommandLine`: the words joined by spaces, with `*`.
 * - `Program`: the first word alone, whatever its arguments (Codex `requirements.toml`).
 * - `Url`: with `*`; compared after both are normalised (case of the host, default ports, dots, escapes).
 * - `Fingerprint`: exactly this.
 *
 * @since 0.1.0
 * @category models
 */
export type Matcher =
  | { readonly _tag: "Name"; readonly pattern: string }
  | { readonly _tag: "Command"; readonly argv: ReadonlyArray<string> }
  | { readonly _tag: "CommandLine"; readonly pattern: string }
  | { readonly _tag: "Program"; readonly command: string }
  | { readonly _tag: "Url"; readonly pattern: string }
  | { readonly _tag: "Fingerprint"; readonly fingerprint: string }

/**
 * @since 0.1.0
 * @category models
 */
export interface Policy {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  /** Absent or empty: everything that is not denied. Several policies with lists: a server must be in each. */
  readonly allow: ReadonlyArray<Matcher>
  readonly deny: ReadonlyArray<Matcher>
  /** Rules of which the first that matches decides (Amp); looked at after `deny`. */
  readonly ordered: ReadonlyArray<{ readonly action: "allow" | "deny"; readonly matcher: Matcher }>
  /** Only the managed policy's list of what is allowed counts. */
  readonly managedOnly: boolean
  /** Of what it allows, rules about names alone allow nothing (default: only those beside better ones). */
  readonly requireIdentity?: boolean | undefined
  /** Which names are bound to which identity (Codex `requirements.toml`): a name that is not in it is not allowed. */
  readonly identities: ReadonlyMap<string, Matcher> | undefined
  /** It, or all of its list of what is allowed, could not be read: nothing is allowed. Never so for a workspace's. */
  readonly broken: boolean
}

/**
 * `denied` by a rule, or `not-allowed` because a list names others.
 *
 * @since 0.1.0
 * @category models
 */
export type Decision = "allowed" | "denied" | "not-allowed"

/**
 * What is decided on: the name, and what will be run or reached. Before a connect it is asked once more with everything
 * resolved, because a template says nothing about where it leads.
 *
 * @since 0.1.0
 * @category models
 */
export interface Subject {
  readonly name: string
  readonly argv: ReadonlyArray<string> | undefined
  readonly url: string | undefined
  readonly fingerprint: string | undefined
  /** Whose file it was found in; then what other hosts than that allow, in files of a person or project, is not about it. */
  readonly provider?: string | undefined
}

/**
 * Deny beats allow, whoever says it. Every list of what is allowed only narrows, so a workspace may have one; only what
 * an administrator says makes the others' lists void.
 *
 * @since 0.1.0
 * @category combinators
 */
export const decide: (policies: ReadonlyArray<Policy>, subject: Subject) => Decision = internal.decide

/**
 * @since 0.1.0
 * @category constructors
 */
export const subject: (config: ServerConfig.ServerConfig, fingerprint?: string) => Subject = internal.subject

/**
 * Reads `policy` and `[security]` of a native document: a bad rule is an issue and the others hold. Variables stay as they
 * are written, see `withVariables`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromDocument: (
  root: ConfigDocument.Table,
  from: { readonly provider: string; readonly scope: Scope.Scope; readonly origin: Scope.Origin }
) => {
  readonly policy: Policy | undefined
  readonly invalid: ReadonlyArray<{ readonly at: string; readonly detail: string }>
} = documents.fromDocument

/**
 * Puts the values of variables (`${HOME}`, `${env:HOME}`) into the rules of a policy whose origin may read them: to be done
 * once, with the environment as it was at the start. A rule without a value for its variable is none.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withVariables: (policy: Policy, variable: (name: string) => string | undefined) => {
  readonly policy: Policy
  readonly invalid: ReadonlyArray<{ readonly at: string; readonly detail: string }>
} = variables.withVariables

/**
 * What a person should know about an entry before it is agreed to.
 *
 * @since 0.1.0
 * @category combinators
 */
export const hazards: (
  entry: ConfigEntry.ConfigEntry
) => ReadonlyArray<ConfigEntry.EntryWarning & { readonly detail: string }> = looks.hazards
