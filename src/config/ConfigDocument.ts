/**
 * The text of a configuration file as data, with the places of its parts: JSON with comments, TOML and YAML in one
 * shape that no key of a file can pollute.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as internal from "./internal/documents/document.ts"

/**
 * `json`: the host takes no comments and no trailing commas; we take them, and warn.
 *
 * @since 0.1.0
 * @category models
 */
export type Format = "json" | "jsonc" | "toml" | "yaml"

/**
 * A table of a file. A map, because its keys are foreign.
 *
 * @since 0.1.0
 * @category models
 */
export type Table = ReadonlyMap<string, Value>

/**
 * Whatever a file can hold. `Date` is what TOML calls a date; a `bigint` is an integer beyond 2^53.
 *
 * @since 0.1.0
 * @category models
 */
export type Value = null | boolean | number | bigint | string | Date | ReadonlyArray<Value> | Table

/**
 * The way to a part of a document.
 *
 * @since 0.1.0
 * @category models
 */
export type Pointer = ReadonlyArray<string | number>

/**
 * A fault or a warning about the whole file, without its place.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentIssue {
  readonly kind: ConfigIssue.FileFault | ConfigIssue.Warning
  readonly severity: "error" | "warning"
  /** For duplicate keys: the keys from the top, with `/` between (`mcpServers/a/command`). */
  readonly at?: string | undefined
  readonly line?: number | undefined
  /** What the parser said, cut and cleaned. */
  readonly detail?: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ConfigDocument {
  /** Absent when an issue is an error: half a file is never used, because it may have lost a deny list. */
  readonly root: Table | undefined
  readonly issues: ReadonlyArray<DocumentIssue>
  /** The line at which a part begins, from 1, where the format tells. */
  readonly line: (pointer: Pointer) => number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  /** Of the file, before anything is parsed. */
  readonly maxBytes: number
  readonly maxDepth: number
  /** The members of all tables and lists of the file, counted together. */
  readonly maxEntries: number
}

/**
 * What each format is allowed by default: as much as is read in less than a second, whatever it is.
 *
 * @since 0.1.0
 * @category defaults
 */
export const defaults: { readonly [F in Format]: Limits } = internal.defaults

/**
 * Reads bytes. Never fails and never throws: what is wrong is an issue. A parser is loaded when the first file needs it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode: (
  bytes: Uint8Array,
  format: Format,
  limits?: Partial<Limits>
) => Effect.Effect<ConfigDocument> = internal.decode
