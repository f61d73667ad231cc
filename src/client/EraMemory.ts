/** Remembers the era of each server, so that the next connection need not ask again. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { sha256 } from "../json/canonical.ts"
import type * as Transport from "../transport/Transport.ts"

/** The era of a server at its last connection. */
export interface Verdict {
  readonly era: Transport.Era
  /** When it was found, in milliseconds since 1970. */
  readonly at: number
}

/**
 * The server is asked again after this time in milliseconds, because one that was upgraded to the stateless era still
 * answers in the session era.
 */
export const maxAge = 24 * 60 * 60 * 1000

export class EraMemory extends Context.Tag("effect-mcp-runtime/client/EraMemory")<EraMemory, {
  readonly get: (identity: string) => Verdict | undefined
  readonly set: (identity: string, verdict: Verdict) => void
  readonly forget: (identity: string) => void
}>() {}

/**
 * Equal for configurations that reach the same server, whatever their names. A hash, because it is stored and addresses
 * and arguments may hold secrets.
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

/** In the memory of this process. */
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

export const layerMemory: Layer.Layer<EraMemory> = Layer.sync(EraMemory, makeMemory)

/** Remembers nothing. */
export const layerNone: Layer.Layer<EraMemory> = Layer.succeed(EraMemory, {
  get: () => undefined,
  set: () => undefined,
  forget: () => undefined
})
