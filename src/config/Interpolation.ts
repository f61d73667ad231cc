/**
 * Variables in configurations: every host's spelling is turned into one canonical template when a file is read, and
 * resolved when the server is connected, in one pass over the text, each time anew.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as ConfigEntry from "./ConfigEntry.ts"
import * as Variables from "./environmentVariables.ts"
import * as Lookups from "./internal/templates/lookups.ts"
import * as Spelling from "./internal/templates/spelling.ts"
import * as internal from "./internal/templates/template.ts"
import * as VariableNames from "./internal/templates/variableNames.ts"
import type * as Scope from "./Scope.ts"

/**
 * How a host writes variables. Each field that is absent means that the host does not know that spelling, so that the
 * text stays literal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Syntax {
  /** `${NAME}` and `${NAME:-default}`: a variable of the environment. */
  readonly bare?: boolean | undefined
  /** `$NAME`. */
  readonly dollar?: boolean | undefined
  /** `${env:NAME}`, and `${env:NAME:-default}`. */
  readonly env?: boolean | undefined
  /** `${input:id}`. */
  readonly input?: boolean | undefined
  /** `${secret:id}`, `${file:path}`, `${cmd:line}` as the canonical syntax has them. */
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
  /** Words that stand for places: `["CLAUDE_PLUGIN_ROOT", "pluginRoot"]` turns `${CLAUDE_PLUGIN_ROOT}` into `${var:pluginRoot}`. */
  readonly places?: ReadonlyMap<string, Place> | undefined
  /** Prefixes that mean an input: `user_config.` turns `${user_config.key}` into `${input:key}`. */
  readonly inputPrefix?: string | undefined
}

/**
 * What `${var:…}` can name.
 *
 * @since 0.1.0
 * @category models
 */
export type Place =
  | "projectDir"
  | "configDir"
  | "userHome"
  | "pluginRoot"
  | "pluginData"
  | "workspaceFolder"
  | "workspaceFolderBasename"
  | "pathSeparator"

/**
 * The canonical syntax itself, which native files use.
 *
 * @since 0.1.0
 * @category models
 */
export const native: Syntax = Spelling.native

/**
 * What became of a text. `warnings` are of the kinds `looks-like-variable` (it has a variable's shape, but not one of
 * this host) and `command-substitution`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Canonical {
  readonly template: ConfigEntry.Template
  readonly warnings: ReadonlyArray<"looks-like-variable" | "command-substitution">
}

/**
 * A host's text as a canonical template. A text without variables is itself, `${` is escaped where it is literal.
 *
 * @since 0.1.0
 * @category combinators
 */
export const canonical: (syntax: Syntax, text: string) => Canonical = Spelling.canonical

/**
 * What a canonical template asks for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reference {
  readonly kind: "env" | "input" | "secret" | "file" | "var" | "cmd" | "unknown"
  /** The name, id, path or line, without the default. For `unknown`, all that is between the braces. */
  readonly name: string
  readonly fallback: string | undefined
}

/**
 * The literal text and the references of a template, in order. Total and linear: whatever is no reference is literal.
 *
 * @since 0.1.0
 * @category combinators
 */
export const parse: (template: ConfigEntry.Template) => ReadonlyArray<string | Reference> = internal.parse

/**
 * A template that stands for the text itself.
 *
 * @since 0.1.0
 * @category combinators
 */
export const literal: (text: string) => ConfigEntry.Template = internal.literal

/**
 * The names of environment variables that a template asks for.
 *
 * @since 0.1.0
 * @category combinators
 */
export const variables: (template: ConfigEntry.Template) => ReadonlyArray<string> = internal.variables

/**
 * Why a template has no value.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly kind: "variable-unset" | "variable-forbidden" | "input-required"
  /** `TOKEN`; with its kind in front if it is none of the environment: `cmd:cat x`, `input:pat`. */
  readonly variable: string
}

/**
 * Answers one reference: a text, or nothing (then the default counts, and without one the variable is unset), or that it
 * may not be asked for (then no default helps).
 *
 * @since 0.1.0
 * @category models
 */
export type Lookup = (reference: Reference) => { readonly value: string | undefined } | "forbidden"

/**
 * The value of a template: one pass, what is put in is not looked at again. An empty value counts as unset.
 *
 * @since 0.1.0
 * @category combinators
 */
export const resolve: (template: ConfigEntry.Template, lookup: Lookup) => Either.Either<string, Failure> =
  internal.resolve

/**
 * Where a template stands. What is sent to a server, and what decides which program runs, may ask for less.
 *
 * @since 0.1.0
 * @category models
 */
export type Field = "command" | "cwd" | "argument" | "url" | "header"

/**
 * Who asks, and what there is to be read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Asking {
  readonly origin: Scope.Origin
  /** The variables that the entry was allowed to read. */
  readonly grants: ReadonlyArray<string>
  /** The literal variables of the entry itself, which it may always read. */
  readonly own: ReadonlyMap<string, string>
  /** Of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The values of `${var:…}`. */
  readonly places: Readonly<Record<string, string>>
  /** What was found for `${input:…}`, `${secret:…}`, `${file:…}` and `${cmd:…}`, under `input:id` and so on. */
  readonly answers: ReadonlyMap<string, string>
  /** The `${input:…}` that hide what is typed. */
  readonly hidden: ReadonlySet<string>
}

/**
 * The rule of who may ask for what. An origin with the right to the environment reads all of it; others read their own
 * literal variables, what was granted, and, outside of what is sent to a server, variables that are harmless. The name
 * of a server's host never holds a credential, and neither does a command or a folder: both are shown.
 *
 * @since 0.1.0
 * @category combinators
 */
export const lookup: (asking: Asking, field: Field, template: ConfigEntry.Template) => Lookup = Lookups.lookup

/**
 * Whether a variable's name says that it holds a credential.
 *
 * @since 0.1.0
 * @category guards
 */
export const isCredential: (name: string) => boolean = VariableNames.isCredential

/**
 * Whether a variable tells where things are, and nothing that is anybody's secret: `HOME`, `USER`, `TMPDIR`, ….
 *
 * @since 0.1.0
 * @category guards
 */
export const isHarmless: (name: string) => boolean = Variables.isHarmless
