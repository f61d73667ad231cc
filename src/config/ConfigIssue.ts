/** Faults of a configuration: a kind to decide on, the position, and a sentence with the next step. */
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Sentences from "./issueSentences.ts"
import type * as Scope from "./Scope.ts"

export type FileFault = keyof typeof Sentences.fileFaults
export type EntryFault = keyof typeof Sentences.entryFaults
export type Warning =
  | keyof typeof Sentences.warnings
  | Extract<EntryFault, "unknown-key" | "insecure-url" | "variable-unset">
export type Kind = FileFault | EntryFault | Warning

const sentences: { readonly [K in Kind]: string } = {
  ...Sentences.fileFaults,
  ...Sentences.entryFaults,
  ...Sentences.warnings
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
  /** Absent where the parser does not report it, as that of TOML. */
  readonly column: number | undefined
  /** One sentence for a person, with nothing secret and no control characters in it. */
  readonly message: string
}

/** A warning about an entry. `at` is the field (`env.PORT`, `args.0`), `detail` what would be right, or why it is wrong. */
export interface EntryWarning extends Detail {
  readonly kind: Warning
}

/** The file, and where it is known the entry, the line and the column. */
export type Subject =
  & Pick<ConfigIssue, "provider" | "scope">
  & Partial<Pick<ConfigIssue, "path" | "server" | "line" | "column">>

export interface Detail {
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
  return filled(sentences[kind], { ...words, detail: detail ?? filled(Sentences.usualDetail[kind] ?? "", words) })
}

/** The sentence of a fault, as a part of another sentence. */
export const reason = (kind: Kind, host: string, at: string | undefined): string =>
  uncapitalized(sentence(kind, at && shownKey(at), host))

const explain = (kind: Kind, host: string, server: string | undefined, { at, detail }: Detail): string => {
  const shown = (text: string): string => UntrustedText.excerpt(text, 128)
  const isWithin = sentences[kind].includes("{detail}")
  const added = detail === undefined || detail === "" ? undefined : UntrustedText.excerpt(detail, isWithin ? 512 : 128)
  const inside = kind === "launch-override" && added !== undefined ? uncapitalized(added).replace(/\.$/, "") : added
  const named = server?.trim() === "" ? "A server without a name: " : `Server "${shown(server ?? "")}": `
  const whose = server === undefined ? "" : named
  const rest = added === undefined || isWithin ? "" : ` (${added})`
  return `${whose}${sentence(kind, at && shown(shownKey(at)), shown(host), inside)}${rest}.`
}

export const make = (
  { column, line, path, provider, scope, server }: Subject,
  severity: ConfigIssue["severity"],
  kind: Kind,
  { at, detail }: Detail = {}
): ConfigIssue => ({
  kind,
  severity,
  provider,
  scope,
  path,
  server,
  at: at && shownKey(at),
  line,
  column,
  message: explain(kind, provider, server, { at, detail })
})
