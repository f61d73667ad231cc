/**
 * One file of a known host, from its bytes to its servers and what is wrong with them: what discovery reads files with,
 * and what tells the author of a file what it means.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import * as internal from "./internal/documents/file.ts"
import type * as Scope from "./Scope.ts"

/**
 * What has to be known about a file to read it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Whose file it is, by id (`claude-code`) or as the dialect itself. */
  readonly host: string | Dialect.Dialect
  readonly scope: Scope.Scope
  /** Who could have written it; default: what is usual for the scope. */
  readonly origin?: Scope.Origin | undefined
  readonly path?: string | undefined
  /** Default: by the ending of the path, or what is usual for the host. */
  readonly format?: ConfigDocument.Format | undefined
  /** Where in the document the servers are; default: where the host has them in a file of that name. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether what the host itself would not take is an error. */
  readonly strict?: boolean | undefined
  readonly limits?: Partial<ConfigDocument.Limits> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ConfigFile {
  readonly document: ConfigDocument.ConfigDocument
  readonly decoded: Dialect.Decoded
  /** Of the file and of its entries, with their lines. */
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

/**
 * Reads a file. Never fails: what is wrong is an issue. An unknown host is read like the native format.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode: (bytes: Uint8Array, options: Options) => Effect.Effect<ConfigFile> = internal.decode
