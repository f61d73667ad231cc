import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export class Disk extends Context.Tag("effect-mcp-runtime/canary/layerMergeAllWithDependencies/Disk")<Disk, {
  readonly bytes: number
}>() {}

export class Cache extends Context.Tag("effect-mcp-runtime/canary/layerMergeAllWithDependencies/Cache")<Cache, {
  readonly bytes: number
}>() {}

const disk = Layer.succeed(Disk, { bytes: 1 })
const cache = Layer.effect(Cache, Effect.map(Disk, ({ bytes }) => ({ bytes })))

export const layer = Layer.mergeAll(disk, cache)
