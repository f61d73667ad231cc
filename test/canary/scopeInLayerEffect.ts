import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export class Disk extends Context.Tag("effect-mcp-runtime/canary/scopeInLayerEffect/Disk")<Disk, {
  readonly bytes: number
}>() {}

export const layer = Layer.effect(Disk, Effect.acquireRelease(Effect.succeed({ bytes: 1 }), () => Effect.void))
