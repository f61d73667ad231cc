/**
 * A discovery as if its servers were all lazy: none is connected to before something is asked of it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"

/** @internal */
export const resting = (service: ConfigDiscovery.ConfigDiscovery["Type"]): ConfigDiscovery.ConfigDiscovery["Type"] => ({
  ...service,
  current: Effect.map(service.current, (discovery) => ({
    ...discovery,
    configs: discovery.configs.map((config) => ({ ...config, lazy: true, required: false }))
  }))
})
