/** A connector over peers in memory. */
import { Layer } from "effect"
import type * as Connector from "../../src/client/Connector.ts"
import * as EraMemory from "../../src/client/EraMemory.ts"
import * as NativeConnector from "../../src/client/NativeConnector.ts"
import * as SdkConnector from "../../src/client/SdkConnector.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"

const over = (connector: typeof NativeConnector.layer) =>
(
  peers: Parameters<typeof MemoryTransport.layer>[0],
  teardown: Layer.Layer<Teardown.Teardown> = Teardown.layerImmediate
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | EraMemory.EraMemory | Teardown.Teardown> =>
  connector.pipe(
    Layer.provide(MemoryTransport.layer(peers)),
    Layer.provideMerge(Layer.mergeAll(EraMemory.layerMemory, McpEvent.layer, teardown))
  )

export const client = over(NativeConnector.layer)

export const sdk = over(SdkConnector.layer)
