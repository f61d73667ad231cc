/**
 * The format of our own files (`mcp-client.json`, `.jsonc` and `.toml`): what it is, for editors and for people, and how
 * servers are written in it. Reading it is `ConfigFile.decode`'s, as for the files of every host.
 *
 * @since 0.1.0
 */
import type * as ConfigEntry from "./ConfigEntry.ts"
import type * as Dialect from "./Dialect.ts"
import * as shape from "./internal/native/nativeDocument.ts"
import { encode as encodeDocument } from "./internal/native/nativeEncoding.ts"
import { published } from "./internal/native/nativePublished.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"

/**
 * A document as it is best written: everything in it is read without a warning about its form.
 *
 * @since 0.1.0
 * @category models
 */
export const Document = shape.document

/**
 * @since 0.1.0
 * @category models
 */
export type Document = typeof Document.Type

/**
 * The same as a JSON Schema (2020-12): the text of `schema/mcp-client.schema.json`, which the package has for editors.
 *
 * @since 0.1.0
 * @category constructors
 */
export const jsonSchema: () => object = published

/**
 * What a file can say.
 *
 * @since 0.1.0
 * @category models
 */
export interface Content {
  readonly entries: ReadonlyArray<ConfigEntry.ConfigEntry>
  readonly inputs?: ReadonlyArray<Dialect.Input> | undefined
  readonly imports?: ReadonlyArray<string> | undefined
  readonly policy?:
    | (Pick<ServerPolicy.Policy, "allow" | "deny"> & {
      readonly managedOnly?: boolean | undefined
      readonly requireIdentity?: boolean | undefined
      readonly exclusive?: boolean | undefined
      readonly providers?: ReadonlyArray<string> | undefined
    })
    | undefined
}

/**
 * The text of a file from which the same is read again. What the format has no word for is left out: a host's words for
 * how tools are approved, and in TOML the nulls of foreign fields.
 *
 * @since 0.1.0
 * @category constructors
 */
export const encode: (content: Content, format: "json" | "toml") => string = encodeDocument
