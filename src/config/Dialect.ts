/**
 * A host as a row of `hosts.ts`: where its files are, where the servers are in them, which key of an entry is which field of
 * `fields.ts`, and what differs from most hosts. A row is data for the one reader (`reader.ts`). A function for something
 * that only one host does is named by a row and implemented in `quirks.ts`.
 */
import type * as PermissionRule from "../safety/PermissionRule.ts"
import type * as Document from "./document.ts"
import type { tables } from "./fields.ts"
import { hosts } from "./hosts.ts"
import type * as Interpolation from "./Interpolation.ts"
import type { login } from "./loginFields.ts"
import type * as PolicyWords from "./policyWords.ts"
import type * as Quirks from "./quirks.ts"
import type { Item } from "./readEntry.ts"
import type * as Scope from "./Scope.ts"
import type * as ServerEntry from "./serverEntry.ts"
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
  /** One path for all platforms, or one or several for each; a platform that is absent has no path. */
  readonly path:
    | string
    | ReadonlyArray<string>
    | { readonly [Platform in "linux" | "darwin" | "win32"]?: string | ReadonlyArray<string> }
  /** A variable that names another folder or file in place of the beginning of `path`: `["CODEX_HOME", "config.toml"]`. */
  readonly variable?: readonly [name: string, rest: string] | undefined
  /** Where it differs from the usual one of the host. */
  readonly format?: Document.Format | undefined
  /** Where in the document the servers are, if not under the usual root key; `{root}` is replaced by the workspace's path. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether it holds no servers, but only policy. */
  readonly policyOnly?: boolean | undefined
  /** Whether no other file counts, if it is there. */
  readonly exclusive?: boolean | undefined
  /** Read without an import of the host. */
  readonly always?: boolean | undefined
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
  /** Entries are read without what the origin has no right to, as a discovery takes them (default: as they are written). */
  readonly restricted?: boolean | undefined
  /** A variable of the environment, for the rules of policies; without it they keep their variables. */
  readonly variable?: ((name: string) => string | undefined) | undefined
  /** Where a part of the document begins. */
  readonly position?: Document.Document["position"] | undefined
}

/** A question that a file declares, for `${input:id}`. */
export type Input = NonNullable<Scope.Expansion["inputs"]>[number]

/** The content of a document. */
export interface Decoded {
  readonly items: ReadonlyArray<Item>
  /** About the file: a file with an error has no items. */
  readonly issues: ReadonlyArray<Document.DocumentIssue>
  readonly inputs: ReadonlyArray<Input>
  /** The host's own lists, in our words. */
  readonly policy: ServerPolicy.Policy | undefined
  /** The rules on tools. */
  readonly permissions?: ReadonlyArray<PermissionRule.Input> | undefined
  /**
   * The host's own lists of names that are switched off, or on although their entries are disabled. Names that the host
   * trusts are not read, because a name can refer to another entry later.
   */
  readonly switches?: { readonly off: ReadonlyArray<string>; readonly on: ReadonlyArray<string> } | undefined
  /** Other hosts to read too, where the format has such a field. */
  readonly imports: ReadonlyArray<string> | undefined
}

/** `auto`: Streamable HTTP, then the older HTTP+SSE. */
export type Transport = ServerEntry.Entry["transport"]

/**
 * What a key of an entry means: a field of `fields.ts` under its name, or one of these.
 *
 * - `type`: a word for the transport, or a table with such a word and the fields of the transport.
 * - `envNames`: variables passed on, by name or as `{name}`; `envSecrets`: names of secrets.
 * - `headerVariables`: from header to variable; `bearer`: a token.
 * - `headersLine`: a command line, of which only plain words are taken.
 * - `timeouts`: a number (for requests) or `{startup, request}`.
 * - `disabled`: the opposite of `enabled`. `trust`: `true` approves all tools.
 * - `tools`: by `shape`.
 * - `extra`: known, without effect here; `lacking` describes the effect if it matters. `ignored`: known, without meaning.
 *   `refused`: a fault of the entry. `unknown`: a common field that this host does not have.
 *
 * `command` may be a list, whose rest goes before `args`. `oauth` is the settings of the login, one of them (`part`), or the
 * word `"oauth"`.
 */
export type Meaning =
  | keyof typeof tables.stdio
  | keyof typeof tables["streamable-http"]
  | "bearer"
  | "disabled"
  | "envNames"
  | "envSecrets"
  | "extra"
  | "headerVariables"
  | "headersLine"
  | "ignored"
  | "refused"
  | "timeouts"
  | "tools"
  | "trust"
  | "type"
  | "unknown"

/** A setting of the login, or one that only hosts have. */
export type LoginPart = keyof typeof login | "enabled" | "public"

/** One key of an entry. */
export interface Field {
  readonly is: Meaning
  /** Of a time. */
  readonly unit?: "s" | "ms" | undefined
  /** Whether 0 is "no limit"; otherwise it is no time at all. */
  readonly zeroIsOff?: boolean | undefined
  /** The transport that an address under this key has. */
  readonly transport?: Transport | undefined
  /** Of `oauth`: the one setting that this key is. */
  readonly part?: LoginPart | undefined
  /** With `part`: the value is the name of the environment variable that has the setting. */
  readonly variable?: boolean | undefined
  /** Of `oauth`: an unknown word in it may be another way to log in, which is ignored without a warning. */
  readonly mode?: boolean | undefined
  /**
   * Of `tools`: a list of what is allowed (`*` for all), `{tool: {approval_mode}}`, `{tool: {enabled}}` or
   * `{tool: boolean}`, `{include, exclude}`.
   */
  readonly shape?: "list" | "approvals" | "switches" | "include" | undefined
  /** What is written in its place, of a word that is older or not known. */
  readonly instead?: string | undefined
  /** The host's older word: taken, with the warning `deprecated`. */
  readonly deprecated?: boolean | undefined
  /** The host does not know this word: taken, with the warning `host-would-reject`. */
  readonly foreign?: boolean | undefined
  /** With `extra`: what does not happen here, although the host does it, for the warning `not-honoured`. */
  readonly lacking?: string | undefined
  /** With `lacking`: warn for stdio servers only, because the field has no meaning for a remote one. */
  readonly ofPrograms?: boolean | undefined
  /** With `lacking`: values that need no warning, because they are the behaviour here anyway. */
  readonly unless?: ReadonlyArray<string | boolean | null> | undefined
  /** For a field beside the servers: each key begins with the name of the server that it applies to (`server_tool`). */
  readonly byPrefix?: boolean | undefined
}

/** By the key as it is written. A key that is in neither of this and `common` is unknown. */
export type Fields = { readonly [Key in string]: Field }

export type Part = "command" | "args" | "env" | "cwd" | "envFile" | "url" | "headers" | "oauth"

/** A host: where its files are, and how a document of it becomes servers. */
export interface Dialect {
  /** `claude-code`, `vscode`, `native`, …. */
  readonly host: string
  readonly title: string
  /** The host whose files these are too, where it has files of several kinds: its id means all of them. */
  readonly partOf?: string | undefined
  readonly format: Document.Format
  /** How entries of the same name in several of its files are put together; default: `whole`. */
  readonly merge?: "whole" | "deep" | undefined
  /** Whether its files hold other settings too; or in which scopes they do. */
  readonly shared?: boolean | ReadonlyArray<Scope.Scope> | undefined
  readonly locations: ReadonlyArray<Location>
  /** The paths from the top of a document to its servers; every path that exists is read. Default: `mcpServers`. */
  readonly roots?: ReadonlyArray<ReadonlyArray<string>> | undefined
  /** Only the first of `roots` that holds a map of servers is read, because the others are older spellings of it. */
  readonly firstRoot?: boolean | undefined
  /** Keys that a document can be about without any servers in it. */
  readonly aside?: ReadonlyArray<string> | undefined
  /** Whether a document without any of the roots may be the map of servers itself; or in which scopes. */
  readonly bare?: boolean | ReadonlyArray<Scope.Scope> | undefined
  /** Whether a document without any of the roots may be one server, named after its file. */
  readonly single?: boolean | undefined
  /** Whether the servers may be a list, whose entries have names. */
  readonly list?: boolean | undefined
  /** Whether every field of `fields.ts` is known by its own name and its aliases, as in our own files. */
  readonly everyField?: boolean | undefined
  /** They replace the common fields of the same keys. */
  readonly fields?: Fields | undefined
  /** What differs for the servers under one of the roots, by its first key. */
  readonly under?: { readonly [Root in string]: Pick<Dialect, "fields"> } | undefined
  /** Whether the common fields are not known either, and an unknown key is a fault. */
  readonly closed?: boolean | undefined
  /** Words for transports beyond the common ones; or what is wrong with such an entry. */
  readonly words?: { readonly [Word in string]: Transport | "not-an-mcp-server" } | undefined
  /** Keys beside the map of servers that the host applies to all of them, or to some. */
  readonly beside?: Fields | undefined
  /** The only words for transports there are, as they are written. */
  readonly onlyWords?: ReadonlyArray<string> | undefined
  /** What an address without a word for the transport is; default: `auto`. */
  readonly typeless?: Transport | undefined
  /** What the host makes of an address (or of any entry) without such a word, if it does not take it. */
  readonly typeRequired?: { readonly for: "url" | "all"; readonly is: "fault" | "host-would-reject" } | undefined
  /** Whether a command or a url is used if an entry has both and no type; default: the entry is a fault. */
  readonly prefers?: "command" | "url" | undefined
  /** Whether the first address of the entry's keys in the order of `fields` counts; default: two that differ are a fault. */
  readonly urlsInOrder?: boolean | undefined
  /** What a field is that belongs to another transport; default: the warning `unused-field`. */
  readonly mixing?: "unsupported-field" | "unknown-key" | "host-would-reject" | undefined
  /** An address that is not encrypted, and not of this machine, is a fault; default: the warning `insecure-url`. */
  readonly encrypted?: boolean | undefined
  /** The host knows no servers behind addresses. */
  readonly stdioOnly?: boolean | undefined
  /** An entry of these keys alone says something about a server of a weaker layer. */
  readonly patch?: boolean | undefined
  /** Whether the words for the transport may lie in a table with the fields of the transport (Cline). */
  readonly nested?: boolean | undefined
  /** `null` in `env` takes a variable away. */
  readonly nullEnv?: boolean | undefined
  /** Some variables are not passed to a server: those of Goose. */
  readonly refusesVariables?: boolean | undefined
  /**
   * How it writes variables, and where; default: not at all. `in`: only in these parts; default: in all. `fromEntry`: in
   * files of these scopes only the `env` of the entry is read, and not the environment; default: in none.
   */
  readonly variables?:
    | {
      readonly syntax: Interpolation.Syntax
      readonly in?: ReadonlyArray<Part> | undefined
      readonly fromEntry?: ReadonlyArray<Scope.Scope> | undefined
    }
    | undefined
  /** The quirk that rewrites an entry before it is read. */
  readonly prepare?: keyof typeof Quirks.prepare | undefined
  /** The quirk that inspects the document before it is read. */
  readonly inspect?: keyof typeof Quirks.inspect | undefined
  /** The keys of the questions (`inputs`) beside the servers that differ among hosts; default: no questions. */
  readonly inputs?: { readonly secret: string; readonly choices: string } | undefined
  /** In whose words the rules on servers, and on tools, are written; default: no rules. */
  readonly policy?: keyof typeof PolicyWords.words | undefined
  /** The lists beside the servers of names that are switched off or on. */
  readonly switches?:
    | { readonly off?: ReadonlyArray<string> | undefined; readonly on?: ReadonlyArray<string> | undefined }
    | undefined
  /** Whether `imports` names other hosts to read. */
  readonly imports?: boolean | undefined
}

/** All hosts, the native one first: the order decides between files of the same scope. */
export const all: ReadonlyArray<Dialect> = hosts

/** The native format. */
export const native: Dialect = hosts[0]!

/** The host of an id. */
export const find = (host: string): Dialect | undefined => hosts.find((dialect) => dialect.host === host)
