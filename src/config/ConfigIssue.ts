/**
 * What is wrong with a configuration: a kind to decide on, a place, and a sentence that says what to do.
 *
 * @since 0.1.0
 */
import type * as Scope from "./Scope.ts"

/**
 * Faults of a whole file: none of its servers is used.
 *
 * @since 0.1.0
 * @category models
 */
export type FileFault =
  | "unreadable"
  | "insecure-file"
  | "not-a-file"
  | "file-too-large"
  | "encoding"
  | "nesting-too-deep"
  | "too-many-entries"
  | "syntax"
  | "alias-limit"
  | "duplicate-root-key"
  | "root-not-object"
  | "servers-not-a-map"
  | "unsupported-schema"
  | "unknown-import"
  | "invalid-policy"
  | "invalid-permission"

/**
 * Faults of one entry: it is not used, and still owns its name.
 *
 * @since 0.1.0
 * @category models
 */
export type EntryFault =
  | "not-an-object"
  | "missing-name"
  | "invalid-name"
  | "reserved-name"
  | "reserved-key"
  | "missing-transport"
  | "missing-type"
  | "ambiguous-transport"
  | "ambiguous-url"
  | "transport-mismatch"
  | "unknown-transport"
  | "unknown-key"
  | "invalid-type"
  | "invalid-value"
  | "empty-command"
  | "empty-url"
  | "invalid-url"
  | "unsupported-url-scheme"
  | "insecure-url"
  | "invalid-header"
  | "invalid-env"
  | "path-escape"
  | "unsupported-field"
  | "not-an-mcp-server"
  | "needs-gateway"
  | "variable-forbidden"
  | "variable-unset"
  | "input-required"
  | "policy-denied"

/**
 * What does not keep a server from being used.
 *
 * @since 0.1.0
 * @category models
 */
export type Warning =
  | "unknown-key"
  | "coerced"
  | "host-would-reject"
  | "unused-field"
  | "deprecated"
  | "timeout-suspicious"
  | "invalid-timeout"
  | "whitespace"
  | "insecure-url"
  | "url-userinfo"
  | "looks-like-variable"
  | "command-substitution"
  | "conflicting-enabled"
  | "name-not-portable"
  | "duplicate-key"
  | "duplicate-name"
  | "env-dropped"
  | "wrong-root-key"
  | "empty-file"
  | "no-servers"
  | "bom-stripped"
  | "jsonc-in-strict-json"
  | "ignored-in-project"
  | "not-inherited"
  | "unpinned-package"
  | "near-name"
  | "remote-code"
  | "privileged-container"
  | "visible-secret"
  | "launch-override"
  | "not-honoured"
  | "variable-unset"

/**
 * @since 0.1.0
 * @category models
 */
export type Kind = FileFault | EntryFault | Warning

/**
 * One fault or warning.
 *
 * @since 0.1.0
 * @category models
 */
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
  /** One sentence for a person, with nothing secret and no control characters in it. */
  readonly message: string
}
