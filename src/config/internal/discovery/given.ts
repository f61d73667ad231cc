/**
 * The servers that an application gives in code, beside those of files: stronger than all but the administrator's.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Merge from "../../Merge.ts"
import type * as ServerConfig from "../../ServerConfig.ts"

/** @internal */
export const provider = "code"

const target = (config: ServerConfig.ServerConfig) => {
  switch (config.transport) {
    case "stdio":
    case "docker":
      return {
        transport: "stdio" as const,
        command: Interpolation.literal(config.command),
        args: (config.args ?? []).map(Interpolation.literal)
      }
    default:
      return { transport: config.transport, url: Interpolation.literal(config.url) }
  }
}

/** What is shown of it: its secrets stay where they are. */
const entryOf = (config: ServerConfig.ServerConfig): ConfigEntry.ConfigEntry => ({
  ...target(config),
  name: config.name,
  enabled: config.enabled !== false,
  required: config.required,
  lazy: config.lazy,
  title: config.title,
  description: config.description
})

/** @internal */
export const layer = (servers: ReadonlyArray<ServerConfig.ServerConfig>): Merge.Layer => ({
  provider,
  scope: "session",
  path: undefined,
  rank: -1,
  distance: 0,
  deep: false,
  exclusive: false,
  items: servers.map((config, at) => ({
    item: { _tag: "Server", name: config.name, pointer: [at], raw: null, entry: entryOf(config), warnings: [] },
    provenance: {
      provider,
      scope: "session",
      origin: "code",
      path: undefined,
      pointer: [at],
      line: undefined
    }
  }))
})
