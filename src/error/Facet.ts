/**
 * The facets that every error carries, so that callers decide on fields and never on text.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What is known of a request that failed: it never left (`not-sent`), nobody can tell (`unknown`), or the server has
 * dealt with it (`executed`).
 *
 * @since 0.1.0
 * @category models
 */
export const Outcome = Schema.Literal("not-sent", "unknown", "executed")

/**
 * @since 0.1.0
 * @category models
 */
export type Outcome = typeof Outcome.Type

/**
 * The stage of a connection's life in which something happened. `install`: a launcher (npx, uvx, …) installs the server.
 *
 * @since 0.1.0
 * @category models
 */
export const Phase = Schema.Literal(
  "spawn",
  "install",
  "open",
  "endpoint",
  "discover",
  "initialize",
  "ready",
  "closing"
)

/**
 * @since 0.1.0
 * @category models
 */
export type Phase = typeof Phase.Type
