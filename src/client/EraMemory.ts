/** Remembers the era of each server, so that the next connection need not ask again. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { sha256 } from "../json/canonical.ts"
import type * as Transport from "../transport/Transport.ts"

export class EraMemory extends Context.Tag("effect-mcp-runtime/client/EraMemory")<EraMemory, {
  /** The era of a server at its last connection. */
  readonly get: (identity: string) => Transport.Era | undefined
  /** `undefined` forgets the server. */
  readonly set: (identity: string, era: Transport.Era | undefined) => void
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
  const eras = new Map<string, Transport.Era | undefined>()
  return {
    get: (identity) => eras.get(identity),
    set: (identity, era) => void eras.set(identity, era)
  }
}

export const layerMemory: Layer.Layer<EraMemory> = Layer.sync(EraMemory, makeMemory)

/** Remembers nothing. */
export const layerNone: Layer.Layer<EraMemory> = Layer.succeed(EraMemory, {
  get: () => undefined,
  set: () => undefined
})
