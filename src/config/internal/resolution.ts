/**
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ServerConfig from "../ServerConfig.ts"

/** @internal */
export const environmentOnly = {
  resolve: (config: ServerConfig.ServerConfig): Effect.Effect<ServerConfig.ServerConfig> => Effect.succeed(config)
}
