/**
 * How one host writes down its servers: where its files are and what their fields mean. A table for each host, and one
 * reader for all tables.
 *
 * @since 0.1.0
 */
import type * as PermissionRule from "../safety/PermissionRule.ts"
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Expansion from "./Expansion.ts"
import * as internal from "./internal/dialect/dialect.ts"
import type { Item } from "./readEntry.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"

/**
 * Where a file of a host is. In a path `~` is the home folder, `{root}` the workspace, `{dir}` each folder from the
 * current one up to the workspace, `{vscode}` the user folder of VS Code, `{config}` the folder for configuration of
 * this person (XDG), `{appdata}`, `{localappdata}`, `{programdata}` those of Windows, `{app}` the application's name,
 * and `*` any name of one file or folder.
 *
 * @since 0.1.0
 * @category models
 */
export interface Location {
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  /** One path for all platforms, or one (or several) for each; a platform that is absent has none. */
  readonly path:
    | string
    | ReadonlyArray<string>
    | { readonly [Platform in "linux" | "darwin" | "win32"]?: string | ReadonlyArray<string> }
  /** A variable that names another folder or file in place of the beginning of `path`: `["CODEX_HOME", "config.toml"]`. */
  readonly variable?: readonly [name: string, rest: string] | undefined
  /** Where it differs from the dialect's. */
  readonly format?: ConfigDocument.Format | undefined
  /** Where in the document the servers are, if not at the dialect's usual place; `{root}` stands for the workspace's path. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether it holds no servers, but only policy. */
  readonly policyOnly?: boolean | undefined
  /** Whether its being there silences every other file. */
  readonly exclusive?: boolean | undefined
}

/**
 * What the reader of a document is told.
 *
 * @since 0.1.0
 * @category models
 */
export interface Context {
  readonly scope: Scope.Scope
  readonly origin: Scope.Origin
  /** The name of the file, for dialects that take a server's name from it. */
  readonly path: string | undefined
  /** Where the servers are, if the location says so. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether what the host itself would refuse is an error here too (default: no, a warning). */
  readonly strict?: boolean | undefined
}

/**
 * A question that a file declares, for `${input:id}`.
 *
 * @since 0.1.0
 * @category models
 */
export type Input = NonNullable<Expansion.Expansion["inputs"]>[number]

/**
 * What a document says.
 *
 * @since 0.1.0
 * @category models
 */
export interface Decoded {
  readonly items: ReadonlyArray<Item>
  /** About the file: a file with an error has no items. */
  readonly issues: ReadonlyArray<ConfigDocument.DocumentIssue>
  readonly inputs: ReadonlyArray<Input>
  /** The `${input:id}` that no declaration belongs to. */
  readonly undeclaredInputs: ReadonlyArray<string>
  /** The host's own lists, in our words. */
  readonly policy: ServerPolicy.Policy | undefined
  /** The rules on tools. */
  readonly permissions?: ReadonlyArray<PermissionRule.Input> | undefined
  /**
   * The host's own lists of servers, by name: what it was told to leave out, and what it was told to switch on although
   * the entry says no. That a host was told to trust a name is not here, because an approval by name is no approval.
   */
  readonly switches?: { readonly off: ReadonlyArray<string>; readonly on: ReadonlyArray<string> } | undefined
  /** Other hosts to read too, where the format has such a field. */
  readonly imports: ReadonlyArray<string> | undefined
}

/**
 * A host. `decode` is made by the table of the host and the one reader.
 *
 * @since 0.1.0
 * @category models
 */
export interface Dialect {
  /** `claude-code`, `vscode`, `native`, …. */
  readonly host: string
  /** What people call it. */
  readonly title: string
  readonly format: ConfigDocument.Format
  /** Whether its files hold other settings too, so that what is around the servers is none of our business. */
  readonly shared: boolean
  /** How entries of the same name in several of its files are put together. */
  readonly merge: "whole" | "deep"
  readonly locations: ReadonlyArray<Location>
  readonly decode: (root: ConfigDocument.Table, context: Context) => Decoded
}

/**
 * All of them, the native one first: the order decides between files of the same scope.
 *
 * @since 0.1.0
 * @category models
 */
export const all: ReadonlyArray<Dialect> = internal.all

/**
 * By the id of its host.
 *
 * @since 0.1.0
 * @category combinators
 */
export const find = (host: string): Dialect | undefined => all.find((dialect) => dialect.host === host)

/**
 * What is wrong in a sentence for a person: what, and what to do about it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const explain: (
  kind: ConfigIssue.Kind,
  about: {
    readonly host: string
    readonly server?: string | undefined
    readonly at?: string | undefined
    readonly detail?: string | undefined
  }
) => string = internal.explain
