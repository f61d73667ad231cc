/**
 * A discovery as a login wants it: none of its servers is connected to before something is asked of it, and more rights are
 * asked for than its configurations say.
 */
import * as Effect from "effect/Effect"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"

const oauthWith = (config: ServerConfig.ServerConfig, scopes: ReadonlyArray<string>) => {
  if (scopes.length === 0 || !("url" in config) || config.oauth === false) return {}
  return { oauth: { ...config.oauth, scopes: [...config.oauth?.scopes ?? [], ...scopes] } }
}

export const resting = (
  service: ConfigDiscovery.ConfigDiscovery["Type"],
  scopes: ReadonlyArray<string>
): ConfigDiscovery.ConfigDiscovery["Type"] => ({
  ...service,
  current: Effect.map(service.current, (discovery) => ({
    ...discovery,
    configs: discovery.configs.map((config) => ({
      ...config,
      ...oauthWith(config, scopes),
      lazy: true,
      required: false
    }))
  }))
})
