/** The hosts as the reader reads them: where their files are, and how a document becomes servers. */
import type * as PermissionRule from "../safety/PermissionRule.ts"
import type * as Document from "./document.ts"
import type * as Expansion from "./Expansion.ts"
import { hosts } from "./hosts.ts"
import type { Item } from "./readEntry.ts"
import * as Reader from "./reader.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"

/**
 * Where a file of a host is. In a path `~` is the home folder, `{root}` the workspace, `{dir}` each folder from the
 * current one up to the workspace, `{vscode}` the user folder of VS Code, `{config}` the folder for configuration of
 * this person (XDG), `{appdata}`, `{localappdata}`, `{programdata}` those of Windows, `{app}` the application's name,
 * and `*` any name of one file or folder.
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
  readonly format?: Document.Format | undefined
  /** Where in the document the servers are, if not at the dialect's usual place; `{root}` stands for the workspace's path. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether it holds no servers, but only policy. */
  readonly policyOnly?: boolean | undefined
  /** Whether no other file counts, if it is there. */
  readonly exclusive?: boolean | undefined
}

/** The place of a document. */
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

/** A question that a file declares, for `${input:id}`. */
export type Input = NonNullable<Expansion.Expansion["inputs"]>[number]

/** The content of a document. */
export interface Decoded {
  readonly items: ReadonlyArray<Item>
  /** About the file: a file with an error has no items. */
  readonly issues: ReadonlyArray<Document.DocumentIssue>
  readonly inputs: ReadonlyArray<Input>
  /** The `${input:id}` that no declaration belongs to. */
  readonly undeclaredInputs: ReadonlyArray<string>
  /** The host's own lists, in our words. */
  readonly policy: ServerPolicy.Policy | undefined
  /** The rules on tools. */
  readonly permissions?: ReadonlyArray<PermissionRule.Input> | undefined
  /**
   * The host's own lists of names that are switched off, or on although their entries are disabled. Names that the host
   * trusts are not read, because a name can stand for another entry later.
   */
  readonly switches?: { readonly off: ReadonlyArray<string>; readonly on: ReadonlyArray<string> } | undefined
  /** Other hosts to read too, where the format has such a field. */
  readonly imports: ReadonlyArray<string> | undefined
}

/** A host. */
export interface Dialect {
  /** `claude-code`, `vscode`, `native`, …. */
  readonly host: string
  readonly title: string
  readonly format: Document.Format
  /** Whether a file has other settings beside the servers, which are ignored. */
  readonly isShared: (context: Context) => boolean
  /** The keys at the top of a document that lead to servers. */
  readonly rootKeys: (context: Context) => ReadonlyArray<string>
  /** Whether the variables of its entries are read only from the `env` of the entry. */
  readonly readsOnlyEntry: (scope: Scope.Scope) => boolean
  /** The spelling of a variable with a default; `undefined` if the host has none. */
  readonly withDefault: (name: string) => string | undefined
  /** How entries of the same name in several of its files are put together. */
  readonly merge: "whole" | "deep"
  readonly locations: ReadonlyArray<Location>
  readonly decode: (root: Document.Table, context: Context) => Decoded
}

/** All hosts, the native one first: the order decides between files of the same scope. */
export const all: ReadonlyArray<Dialect> = hosts.map(Reader.make)

/** The native format. */
export const native: Dialect = all[0]!

/** The dialect of a host, by its id. */
export const find = (host: string): Dialect | undefined => all.find((dialect) => dialect.host === host)
