/**
 * Where a configuration comes from: how strong it is, and who could have written it.
 *
 * @since 0.1.0
 */
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
 *
 * @since 0.1.0
 * @category models
 */
export const Scope = Schema.Literal("managed", "session", "local", "project", "user", "plugin")

/**
 * @since 0.1.0
 * @category models
 */
export type Scope = typeof Scope.Type

/**
 * Strongest first.
 *
 * @since 0.1.0
 * @category models
 */
export const order: ReadonlyArray<Scope> = Scope.literals

/**
 * Who could have written the file. It is not the scope: a `local` file that lies in the workspace can be part of a
 * repository that was cloned, and one in the home folder cannot.
 *
 * @since 0.1.0
 * @category models
 */
export const Origin = Schema.Literal("system", "code", "home", "workspace", "plugin")

/**
 * @since 0.1.0
 * @category models
 */
export type Origin = typeof Origin.Type

/**
 * What an entry may do without being asked for, by its origin.
 *
 * @since 0.1.0
 * @category models
 */
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

/**
 * The rights of an origin. What lies in the workspace has none, whatever it says of itself.
 *
 * @since 0.1.0
 * @category combinators
 */
export const rights = (origin: Origin): Rights => table[origin]

/**
 * Negative when the first is stronger.
 *
 * @since 0.1.0
 * @category combinators
 */
export const compare = (self: Scope, that: Scope): number => order.indexOf(self) - order.indexOf(that)
