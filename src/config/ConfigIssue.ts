/** What is wrong with a configuration: a kind to decide on, a place, and a sentence that says what to do. */
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Scope from "./Scope.ts"

/**
 * The fault and its remedy, by kind. `{at}` is the field or key, `{host}` the host, and `{detail}` the detail; where that is
 * absent, the detail follows in parentheses.
 */
interface Sentences {
  readonly [kind: string]: string
}

/** Faults of a whole file: none of its servers is used. */
const fileFaults = {
  unreadable: "The file cannot be read: check that it exists and that you may read it",
  "insecure-file": "Other users may change the file or its folder: make it yours, and writable for you alone",
  "not-a-file": "This is not a regular file: put a file in its place",
  "file-too-large": "The file is larger than a configuration may be: remove what does not belong in it",
  encoding: "The file is not UTF-8: save it as UTF-8",
  "nesting-too-deep": "The file is nested too deeply: flatten it",
  "too-many-entries": "The file has too many entries: split or shorten it",
  syntax: "The file cannot be parsed, so none of its servers is used: correct the syntax",
  "alias-limit": "The file repeats its parts by too many aliases: write them out",
  "duplicate-root-key": "The key {at} is there twice, and only one can count: join them",
  "root-not-object": "The top of the file is not a table: put the servers into an object with their root key",
  "servers-not-a-map": "What is under {at} is not a map of servers by name: make it one",
  "unsupported-schema": "The file does not name a schema that is known: give $schema the version it is written for",
  "unknown-import": "The list {at} names a host that is not known: correct or remove it",
  "invalid-policy": "The rule {at} of the policy cannot be understood and is left out: correct it",
  "invalid-permission":
    "The rule {at} cannot be understood, and until it is corrected nothing is permitted that it could be about"
} as const satisfies Sentences

/** Faults of one entry: it is not used, and still owns its name. */
const entryFaults = {
  "not-an-object": "The entry is not a table: give it a command or a url",
  "missing-name": "The entry has no name: give it one",
  "invalid-name":
    "The name cannot be used: take 1 to 128 characters, all seen and of one script, without *, and no hyphen at its beginning",
  "reserved-name": "The name is reserved: take another one",
  "reserved-key": "The key {at} is reserved and can only be there by mistake or malice: remove it",
  "missing-transport": "It is not said how to reach the server: give it a command or a url",
  "missing-type": "The entry needs a type: write stdio, streamable-http or sse",
  "ambiguous-transport": "It has a command and a url, and nothing says which counts: remove one, or write a type",
  "ambiguous-url": "It has several urls that differ: keep one",
  "transport-mismatch": "The type does not go with the rest of the entry: correct the type, or give it the right {at}",
  "unknown-transport": "The word in {at} is no transport: write stdio, streamable-http, sse or ws",
  "unknown-key": "The key {at} is not known here: correct its spelling or remove it",
  "invalid-type": "The field {at} has the wrong type: correct it",
  "invalid-value": "The field {at} has a value that cannot be used: correct it",
  "empty-command": "The command is empty: name a program",
  "empty-url": "The url is empty: write it out, with its scheme",
  "invalid-url": "The url is not one: write it out, with its scheme",
  "unsupported-url-scheme": "The scheme of the url is not supported: use http, https, ws or wss",
  "insecure-url": "The url is not encrypted, so that others can read and change what is sent: use https",
  "invalid-header": "The header {at} cannot be sent: correct its name and value, or leave it to the client",
  "invalid-env": "The variable {at} cannot be handed to a program: correct its name and value",
  "path-escape": "The path in {at} leads out of its folder: keep it inside",
  "unsupported-field": "The field {at} cannot be used here, nor by {host}: remove it",
  "not-an-mcp-server": "The entry belongs to the host itself and is not a server that can be started: ignore it",
  "needs-gateway": "The server is an image that Docker's gateway runs: add the gateway as a server",
  "variable-forbidden": "A file of the workspace may not read that variable in {at}: grant it, or write the value",
  "variable-unset": "{detail}",
  "input-required": "An input in {at} has no answer: give one",
  "policy-denied": "A policy forbids this server: ask the author of the policy"
} as const satisfies Sentences

/** What does not keep a server from being used. */
const warnings = {
  coerced: "The field {at} is not written as text, as it should be: put it in quotes, or correct its type",
  "host-would-reject": "The host {host} itself would not take this entry as it is: write it in its own way",
  "unused-field": "The field {at} has no effect here: remove it",
  deprecated: "The spelling {at} is an old one: use the one that replaced it",
  "timeout-suspicious": "The time in {at} is unlikely in the unit that this host has: check it",
  "invalid-timeout": "The time in {at} is not one and is left out: write a positive number",
  whitespace: "There is space or a line break around the text of {at}: remove it if it is not meant",
  "url-userinfo": "The url has a user or password in it: put credentials into a header",
  "looks-like-variable": "What looks like a variable in {at} is none for this host and stays as it is: check it",
  "command-substitution": "The value of {at} is the output of a program that is run at each connect: check it",
  "conflicting-enabled": "The entry says both that it is on and that it is off, and counts as off: keep one",
  "name-not-portable": "Not every client takes such a name: prefer 1 to 64 letters, digits, _ and -",
  "duplicate-key": "The key {at} is there twice, and the last one counts: remove one",
  "duplicate-name": "Two servers are called {at}, and the last one counts: rename one",
  "env-dropped": "{at} makes programs load other code, or trust others, and is left out: set it in a file of your own",
  "wrong-root-key": "Servers stand under {at}, which is the key of another host: rename it",
  "empty-file": "The file is empty: add servers or remove it",
  "no-servers": "There are no servers in the file: put them under the root key of its host",
  "bom-stripped": "The file begins with a byte order mark, which some hosts refuse: save it without one",
  "jsonc-in-strict-json": "{host} takes neither comments nor trailing commas: remove them",
  "ignored-in-project": "A file of a workspace may not say {at}, so it is left out: set it in a file of your own",
  "not-inherited":
    "The {at} of a weaker file are for another address or program and do not follow: write them again if they are meant",
  "unpinned-package": "The package in {at} has no exact version, so what runs can change: pin it",
  "near-name": "The package in {at} is called almost like a well-known one: check its name",
  "remote-code": "The program in {at} is fetched from an address and run: check that you trust it",
  "privileged-container": "The container in {at} gets power over this machine: take it away",
  "visible-secret": "The value of {at} looks like a secret, and every process can see it: use a variable",
  "launch-override": "Check {at} before you agree: {detail}",
  "not-honoured": "The field {at} is not supported: {detail}"
} as const satisfies Sentences

export type FileFault = keyof typeof fileFaults
export type EntryFault = keyof typeof entryFaults
export type Warning = keyof typeof warnings | Extract<EntryFault, "unknown-key" | "insecure-url" | "variable-unset">
export type Kind = FileFault | EntryFault | Warning

const sentences: { readonly [K in Kind]: string } = { ...fileFaults, ...entryFaults, ...warnings }

/** What stands for `{detail}` where there is none. */
const usualDetail: { readonly [K in Kind]?: string } = {
  "variable-unset": "A variable in {at} has no value: set it, or give it a default",
  "launch-override": "it decides which program runs, or which hosts it talks to",
  "not-honoured": "it has no effect here"
}

/** One fault or warning. */
export interface ConfigIssue {
  readonly kind: Kind
  /** An error costs the entry, or the file if there is no `server`; a warning costs nothing. */
  readonly severity: "error" | "warning"
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string | undefined
  /** The entry, where it is about one. */
  readonly server: string | undefined
  /** The field within the entry (`args.0`, `env.TOKEN`), or the key within the file (`mcpServers/a`). */
  readonly at: string | undefined
  readonly line: number | undefined
  /** Where the parser tells it: TOML has none. */
  readonly column?: number | undefined
  /** One sentence for a person, with nothing secret and no control characters in it. */
  readonly message: string
}

/** A warning about an entry. `at` is the field: `env.PORT`, `args.0`, `timeout`. */
export interface EntryWarning {
  readonly kind: Warning
  readonly at?: string | undefined
  /** What would be right, or why it is wrong, for a person. */
  readonly detail?: string | undefined
}

interface About {
  readonly host: string
  readonly server?: string | undefined
  readonly at?: string | undefined
  readonly detail?: string | undefined
}

/** A key without its value, where a line for a shell was put in as a key. */
export const shownKey = (key: string): string => key.replace(/([=:]).+$/s, "$1…")

const uncapitalized = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

const filled = (template: string, words: { readonly [word: string]: string }): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, word: string) => words[word] ?? "")

const sentence = (kind: Kind, at: string | undefined, host: string, detail?: string): string => {
  const words = { at: at || "one of its fields", host }
  return filled(sentences[kind], { ...words, detail: detail ?? filled(usualDetail[kind] ?? "", words) })
}

/** Why, as a part of another sentence. */
export const reason = (kind: Kind, host: string, at: string | undefined): string =>
  uncapitalized(sentence(kind, at && shownKey(at), host))

export const explain = (kind: Kind, { at, detail, host, server }: About): string => {
  const shown = (text: string): string => UntrustedText.excerpt(text, 128)
  const isWithin = sentences[kind].includes("{detail}")
  const added = detail === undefined || detail === "" ? undefined : UntrustedText.excerpt(detail, isWithin ? 512 : 128)
  const inside = kind === "launch-override" && added !== undefined ? uncapitalized(added).replace(/\.$/, "") : added
  const whose = server === undefined ? "" : `Server "${shown(server)}": `
  const rest = added === undefined || isWithin ? "" : ` (${added})`
  return `${whose}${sentence(kind, at && shown(shownKey(at)), shown(host), inside)}${rest}.`
}
