/** Where a configuration comes from: how strong it is, and who could have written it. */
import * as Schema from "effect/Schema"

/**
 * How strong a source is. The whole entry of the strongest scope wins.
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
 * Who could have written the file. It is not the scope: a `local` file that lies in the workspace can be part of a
 * repository that was cloned, and one in the home folder cannot.
 */
export const Origin = Schema.Literal("system", "code", "home", "workspace", "plugin")

export type Origin = typeof Origin.Type

/** What an entry may do without being asked for, by its origin. */
export interface Rights {
  /** Whether its servers start without approval. */
  readonly start: boolean
  /** Whether `${env:NAME}` reads the process environment without a grant. */
  readonly environment: boolean
  /** Whether `${file:path}` reads files anywhere, and `${cmd:line}` runs programs. */
  readonly substitute: boolean
  /** Whether it may say which tools need no approval. */
  readonly approveTools: boolean
  /** Whether its servers may have variables that make programs load other code, or trust any peer. */
  readonly loaderVariables: boolean
  /** Whether its policy may allow; every policy may deny. */
  readonly allow: boolean
}

const all: Rights = {
  start: true,
  environment: true,
  substitute: true,
  approveTools: true,
  loaderVariables: true,
  allow: true
}

const none: Rights = {
  start: false,
  environment: false,
  substitute: false,
  approveTools: false,
  loaderVariables: false,
  allow: false
}

const table: { readonly [O in Origin]: Rights } = {
  system: all,
  code: all,
  home: all,
  // what was installed was agreed to, but by a person who did not write it
  plugin: { ...none, start: true },
  workspace: none
}

/** The rights of an origin. What lies in the workspace has none, whatever it says of itself. */
export const rights = (origin: Origin): Rights => table[origin]

/** Negative when the first is stronger. */
export const compare = (self: Scope, that: Scope): number => order.indexOf(self) - order.indexOf(that)

/** Which words of which file an entry was read from. */
export const Provenance = Schema.Struct({
  /** The id of the dialect: `native`, `claude-code`, `vscode`, …; `code` for what an application gives. */
  provider: Schema.String,
  scope: Scope,
  origin: Origin,
  /** The file; absent for what is given in code. */
  path: Schema.optional(Schema.String),
  /** The way to the entry from the top of the document. */
  pointer: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  /** The line of the file it begins at, from 1, where the format tells. */
  line: Schema.optional(Schema.Number)
})

export type Provenance = typeof Provenance.Type

/** The place in one line: `.mcp.json:12 (project)`. The path is not escaped. */
export const format = ({ line, path, provider, scope }: Provenance): string =>
  path === undefined ? `${provider} (${scope})` : `${path}${line === undefined ? "" : `:${line}`} (${scope})`

/**
 * What the templates of one server may be resolved with. A configuration that has it is made of templates; one without it,
 * as code writes them, is made of plain texts.
 */
export const Expansion = Schema.Struct({
  origin: Origin,
  /** The variables that this very entry was allowed to read, by name. */
  grants: Schema.Array(Schema.String),
  /** The values of `${var:…}`. */
  builtins: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** Where relative paths begin. */
  directory: Schema.String,
  /** Where files may be read from, if the origin has no right to read others. */
  root: Schema.optional(Schema.String),
  /** Variables of the entry that `${env:…}` is read from before the environment, where the host has such a rule. */
  own: Schema.optional(
    Schema.ReadonlyMapFromSelf({ key: Schema.String, value: Schema.RedactedFromSelf(Schema.String) })
  ),
  /** `${env:…}` is read from these variables only, whatever the environment has. */
  onlyOwn: Schema.optional(Schema.Boolean),
  /** What policies know the entry by. */
  fingerprint: Schema.optional(Schema.String),
  /** What the file says of its `${input:…}`: their defaults. */
  inputs: Schema.optional(Schema.Array(Schema.Struct({
    id: Schema.String,
    description: Schema.optional(Schema.String),
    secret: Schema.optional(Schema.Boolean),
    default: Schema.optional(Schema.String),
    choices: Schema.optional(Schema.Array(Schema.String))
  })))
})

export type Expansion = typeof Expansion.Type
