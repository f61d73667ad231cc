/**
 * Which words of which file an entry was read from.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Scope from "./Scope.ts"

/**
 * @since 0.1.0
 * @category models
 */
export const Provenance = Schema.Struct({
  /** The id of the dialect: `native`, `claude-code`, `vscode`, …; `code` for what an application gives. */
  provider: Schema.String,
  scope: Scope.Scope,
  origin: Scope.Origin,
  /** The file; absent for what is given in code. */
  path: Schema.optional(Schema.String),
  /** The way to the entry from the top of the document. */
  pointer: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  /** The line of the file it begins at, from 1, where the format tells. */
  line: Schema.optional(Schema.Number)
})

/**
 * @since 0.1.0
 * @category models
 */
export type Provenance = typeof Provenance.Type

/**
 * The place in one line: `.mcp.json:12 (project)`. The path is not escaped.
 *
 * @since 0.1.0
 * @category combinators
 */
export const format = ({ line, path, provider, scope }: Provenance): string =>
  path === undefined ? `${provider} (${scope})` : `${path}${line === undefined ? "" : `:${line}`} (${scope})`
