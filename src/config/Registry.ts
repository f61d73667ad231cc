/**
 * The documents of the MCP registry (`server.json`): one server, and the ways in which it can be configured.
 *
 * @since 0.1.0
 */
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as Dialect from "./Dialect.ts"
import * as internal from "./internal/packages/registry.ts"

/**
 * What a person is asked before the server can be used.
 *
 * @since 0.1.0
 * @category models
 */
export type Input = Dialect.Input

/**
 * What may be set too, and was left out because nothing says to what.
 *
 * @since 0.1.0
 * @category models
 */
export interface Optional {
  /** `env.LOG_FILE`, `headers.X-Team`, `packageArguments.2`. */
  readonly at: string
  readonly description: string | undefined
  readonly secret: boolean
}

/**
 * One way to run or to reach the server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Option {
  /** The last part of the server's name. */
  readonly name: string
  /** The kind of package (`npm`, `pypi`, `oci`, `nuget`, …), or the transport of a remote. */
  readonly source: string
  /** The entry in our own terms, or why it can have none. Its pointer leads into the document. */
  readonly item: ConfigEntry.Item
  readonly inputs: ReadonlyArray<Input>
  /** The ids of the inputs that are secret. */
  readonly secrets: ReadonlyArray<string>
  readonly optional: ReadonlyArray<Optional>
}

/**
 * The ways to configure a server that a document offers, packages first, in its order. Total: a way that cannot be taken
 * is there with its fault. A package is started from the registry of its kind and no other, by a program of its kind and
 * no other, whatever the document hints at.
 *
 * @since 0.1.0
 * @category constructors
 */
export const options: (document: ConfigDocument.Table) => ReadonlyArray<Option> = internal.options
