/**
 * What of the host process matters to the servers it starts: its platform, its user and its environment variables.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/**
 * @since 0.1.0
 * @category models
 */
export interface Host {
  readonly platform: string
  /** Read anew for each server that is started. */
  readonly variables: () => Readonly<Record<string, string | undefined>>
  /** Who the host process runs as; absent where users have no numbers (Windows). */
  readonly uid?: number | undefined
}

/**
 * The host's own platform and variables, unless others are provided.
 *
 * @since 0.1.0
 * @category references
 */
export class HostEnvironment extends Context.Reference<HostEnvironment>()(
  "effect-mcp-runtime/config/HostEnvironment",
  { defaultValue: (): Host => ({ platform: process.platform, variables: () => process.env, uid: process.getuid?.() }) }
) {}

/**
 * Other variables in place of the host's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (variables: Readonly<Record<string, string>>): Layer.Layer<HostEnvironment> =>
  Layer.succeed(HostEnvironment, {
    platform: process.platform,
    variables: () => variables,
    uid: process.getuid?.()
  })
