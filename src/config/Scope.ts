/** The source of a configuration: its strength, and its possible authors. */
import * as Schema from "effect/Schema"

/**
 * The strength of a source. The whole entry of the strongest scope wins.
 *
 * - `managed`: the administrator of the machine.
 * - `session`: this run: given in code, or by an option of the command.
 * - `local`: this person, for this project.
 * - `project`: all people who work on the project.
 * - `user`: this person, for all projects.
 * - `plugin`: something that was installed.
 */
export const Scope = Schema.Literal("managed", "session", "local", "project", "user", "plugin")

export type Scope = typeof Scope.Type

/** Strongest first. */
export const order: ReadonlyArray<Scope> = Scope.literals

/**
 * The possible authors of the file. It is not the scope: a `local` file that lies in the workspace can be part of a
 * repository that was cloned, and one in the home folder cannot.
 */
export const Origin = Schema.Literal("system", "code", "home", "workspace", "plugin")

export type Origin = typeof Origin.Type

/** The permissions of an entry by its origin. */
export interface Rights {
  /** Its servers start without approval. */
  readonly start: boolean
  /** `${env:NAME}` reads the process environment without a grant. */
  readonly environment: boolean
  /** `${file:path}` reads files anywhere, and `${cmd:line}` runs programs. */
  readonly substitute: boolean
  /** It may say which tools need no approval. */
  readonly approveTools: boolean
  /** Its servers may have variables that make programs load other code, or trust any peer. */
  readonly loaderVariables: boolean
  /** Its policy may allow; every policy may deny. */
  readonly allow: boolean
}

const rightsOf = (isTrusted: boolean, start = isTrusted): Rights => ({
  start,
  environment: isTrusted,
  substitute: isTrusted,
  approveTools: isTrusted,
  loaderVariables: isTrusted,
  allow: isTrusted
})

const table: { readonly [O in Origin]: Rights } = {
  system: rightsOf(true),
  code: rightsOf(true),
  home: rightsOf(true),
  // its author is not the person who approved it by installing it
  plugin: rightsOf(false, true),
  workspace: rightsOf(false)
}

/** The rights of an origin. A workspace file has none, regardless of its content. */
export const rights = (origin: Origin): Rights => table[origin]

/** Negative when the first is stronger. */
export const compare = (self: Scope, that: Scope): number => order.indexOf(self) - order.indexOf(that)

/** The file that an entry was read from, and its position there. */
export const Provenance = Schema.Struct({
  /** The id of the dialect: `native`, `claude-code`, `vscode`, …; `code` for what an application gives. */
  provider: Schema.String,
  scope: Scope,
  origin: Origin,
  /** The file; absent for what is given in code. */
  path: Schema.optional(Schema.String),
  /** The keys of the entry from the top of the document. */
  pointer: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  /** The first line of the entry, from 1, if the format has lines. */
  line: Schema.optional(Schema.Number)
})

export type Provenance = typeof Provenance.Type

/** The provenance in one line: `.mcp.json:12 (project)`. The path is not escaped. */
export const format = ({ line, path, provider, scope }: Provenance): string =>
  path === undefined ? `${provider} (${scope})` : `${path}${line === undefined ? "" : `:${line}`} (${scope})`

/**
 * The values that the templates of one server are resolved with. A configuration that has an expansion consists of
 * templates; one without, which code has made, consists of plain texts.
 */
export const Expansion = Schema.Struct({
  origin: Origin,
  /** The names of the variables that this very entry may read. */
  grants: Schema.Array(Schema.String),
  /** The values of `${var:…}`. */
  builtins: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** The folder of relative paths. */
  directory: Schema.String,
  /** The folder whose files may be read, if the origin has no right to read others. */
  root: Schema.optional(Schema.String),
  /** Variables of the entry that `${env:…}` is read from before the environment, where the host has such a rule. */
  entryVariables: Schema.optional(
    Schema.ReadonlyMapFromSelf({ key: Schema.String, value: Schema.RedactedFromSelf(Schema.String) })
  ),
  /** `${env:…}` is read from these variables only, whatever the environment has. */
  onlyEntryVariables: Schema.optional(Schema.Boolean),
  /** The identity of the entry in policies. */
  fingerprint: Schema.optional(Schema.String),
  /** The `${input:…}` that the file declares. */
  inputs: Schema.optional(Schema.Array(Schema.Struct({
    id: Schema.String,
    description: Schema.optional(Schema.String),
    secret: Schema.optional(Schema.Boolean),
    default: Schema.optional(Schema.String),
    choices: Schema.optional(Schema.Array(Schema.String))
  })))
})

export type Expansion = typeof Expansion.Type
