/**
 * Servers that a reload blocks before it is its turn: none that is before it may start them meanwhile.
 *
 * @internal
 */
import type * as ServerConfig from "../config/ServerConfig.ts"

/** @internal */
export interface Bars {
  /** The number of a reload, and the servers that must not be used from now on. */
  readonly raise: (configs: ReadonlyArray<ServerConfig.ServerConfig>) => {
    readonly turn: number
    readonly blocked: ReadonlyArray<ServerConfig.ServerConfig>
  }
  /** What a reload may make of a server: what it says itself, unless one after it has said that it is blocked. */
  readonly latest: (turn: number, config: ServerConfig.ServerConfig) => ServerConfig.ServerConfig
}

/** @internal */
export const make = (): Bars => {
  let turns = 0
  let raised: { readonly turn: number; readonly configs: ReadonlyMap<string, ServerConfig.ServerConfig> } = {
    turn: 0,
    configs: new Map()
  }
  return {
    raise: (configs) => {
      const blocked = new Map<string, ServerConfig.ServerConfig>()
      // of several with one name, the first is the one that counts
      for (const config of configs.toReversed()) {
        if (config.blocked === undefined) blocked.delete(config.name)
        else blocked.set(config.name, config)
      }
      raised = { turn: ++turns, configs: blocked }
      return { turn: turns, blocked: Array.from(blocked.values()) }
    },
    latest: (turn, config) => turn < raised.turn ? raised.configs.get(config.name) ?? config : config
  }
}
