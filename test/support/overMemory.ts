/** A connector over peers in memory. */
import { Layer } from "effect"
import * as ClientConnector from "../../src/connection/ClientConnector.ts"
import type * as Connector from "../../src/connection/Connector.ts"
import * as EraMemory from "../../src/connection/EraMemory.ts"
import * as SdkConnector from "../../src/connection/SdkConnector.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as MemoryTransport from "../../src/transport/MemoryTransport.ts"

const over = (connector: typeof ClientConnector.layer) =>
(
  peers: Parameters<typeof MemoryTransport.layer>[0],
  teardown: Layer.Layer<Teardown.Teardown> = Teardown.layerImmediate
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | EraMemory.EraMemory | Teardown.Teardown> =>
  connector.pipe(
    Layer.provide(MemoryTransport.layer(peers)),
    Layer.provideMerge(Layer.mergeAll(EraMemory.layerMemory, McpEvent.layer, teardown))
  )

export const client = over(ClientConnector.layer)

export const sdk = over(SdkConnector.layer)
