/**
 * What is remembered of how servers speak, so that the next connection need not ask again.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { sha256 } from "../json/canonical.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * The era of a server, as its last connection has found it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Verdict {
  readonly era: Transport.Era
  /** When it was found, in milliseconds since 1970. */
  readonly at: number
}

/**
 * A verdict of the session era is silent when it is wrong, since a server that learned the newer protocol still
 * answers the older: so it is asked again after this many milliseconds.
 *
 * @since 0.1.0
 * @category defaults
 */
export const maxAge = 24 * 60 * 60 * 1000

/**
 * @since 0.1.0
 * @category tags
 */
export class EraMemory extends Context.Tag("effect-mcp-runtime/client/EraMemory")<EraMemory, {
  readonly get: (identity: string) => Verdict | undefined
  readonly set: (identity: string, verdict: Verdict) => void
  readonly forget: (identity: string) => void
}>() {}

/**
 * What makes two configurations the same server: how it is reached, never its secrets or its name. It is kept, so it
 * does not show what an address or an argument holds.
 *
 * @since 0.1.0
 * @category combinators
 */
export const identity = (config: ServerConfig.ServerConfig): string => sha256(JSON.stringify(reached(config)))

const reached = (config: ServerConfig.ServerConfig): ReadonlyArray<unknown> => {
  switch (config.transport) {
    case "stdio":
      return [config.transport, config.command, config.args ?? [], config.cwd ?? ""]
    case "docker":
      return [config.transport, config.command, config.profile ?? "", config.servers ?? [], config.args ?? []]
    default:
      return [config.transport, config.url]
  }
}

/**
 * Remembers in this process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory = (): EraMemory["Type"] => {
  const verdicts = new Map<string, Verdict>()
  return {
    get: (identity) => verdicts.get(identity),
    set: (identity, verdict) => {
      verdicts.set(identity, verdict)
    },
    forget: (identity) => {
      verdicts.delete(identity)
    }
  }
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<EraMemory> = Layer.sync(EraMemory, makeMemory)

/**
 * Remembers nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<EraMemory> = Layer.succeed(EraMemory, {
  get: () => undefined,
  set: () => undefined,
  forget: () => undefined
})
