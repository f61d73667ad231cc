import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class Disk extends Context.Tag("effect-mcp-runtime/canary/leakingRequirements/Disk")<Disk, {
  readonly bytes: number
}>() {}

export class Cache extends Context.Tag("effect-mcp-runtime/canary/leakingRequirements/Cache")<Cache, {
  readonly read: Effect.Effect<string, never, Disk>
  readonly write: Effect.Effect<void, never, Disk>
}>() {}
