/** The platform, the user and the environment variables of the host process, which the servers that it starts depend on. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface Host {
  readonly platform: string
  /** Read for each server that is started. */
  readonly variables: () => Readonly<Record<string, string | undefined>>
  /** The user id of the host process; absent on Windows. */
  readonly uid?: number | undefined
}

/** The host's own platform and variables, unless others are provided. */
export class HostEnvironment extends Context.Reference<HostEnvironment>()(
  "effect-mcp-runtime/config/HostEnvironment",
  { defaultValue: (): Host => ({ platform: process.platform, variables: () => process.env, uid: process.getuid?.() }) }
) {}

/** Other variables in place of the host's. */
export const layer = (variables: Readonly<Record<string, string>>): Layer.Layer<HostEnvironment> =>
  Layer.succeed(HostEnvironment, {
    platform: process.platform,
    variables: () => variables,
    uid: process.getuid?.()
  })
