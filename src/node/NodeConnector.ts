/** A connector with its transports for Node, for single connections without a runtime. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connector from "../client/Connector.ts"
import * as EraMemory from "../client/EraMemory.ts"
import * as NativeConnector from "../client/NativeConnector.ts"
import * as SdkConnector from "../client/SdkConnector.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Teardown from "../resilience/Teardown.ts"
import { concern, supply } from "../runtime/composition.ts"
import * as DockerGateway from "../transport/DockerGateway.ts"
import * as HttpTransport from "../transport/HttpTransport.ts"
import * as LegacySseTransport from "../transport/LegacySseTransport.ts"
import * as StdioTransport from "../transport/StdioTransport.ts"
import * as Transport from "../transport/Transport.ts"
import * as WebSocketTransport from "../transport/WebSocketTransport.ts"

export interface Options {
  readonly teardown?: Partial<Teardown.Options> | undefined
}

const openers = Effect.all({
  docker: DockerGateway.DockerGateway,
  http: HttpTransport.HttpTransport,
  sse: LegacySseTransport.LegacySseTransport,
  stdio: StdioTransport.StdioTransport,
  ws: WebSocketTransport.WebSocketTransport
})

export type Openers = Effect.Effect.Context<typeof openers>

const chosen = Effect.map(openers, (openers): Transport.Transports["Type"] => ({
  open: (config) => {
    switch (config.transport) {
      case "streamable-http":
        return openers.http.open(config)
      case "docker":
        return openers.docker.open(config)
      case "sse":
        return openers.sse.open(config)
      case "stdio":
        return openers.stdio.open(config)
      case "ws":
        return openers.ws.open(config)
    }
  }
}))

/** All transports, selected by the `transport` field of a configuration. The environment can replace each of them. */
export const makeTransports = chosen.pipe(
  supply(DockerGateway.DockerGateway, DockerGateway.make()),
  supply(StdioTransport.StdioTransport, StdioTransport.make),
  supply(HttpTransport.HttpTransport, HttpTransport.make()),
  supply(LegacySseTransport.LegacySseTransport, LegacySseTransport.make),
  supply(WebSocketTransport.WebSocketTransport, WebSocketTransport.make)
)

export const layerTransports = (): Layer.Layer<Transport.Transports, never, Teardown.Teardown> =>
  concern(Transport.Transports, makeTransports)

const supplied = <E, R>(connector: Effect.Effect<Connector.Connector["Type"], E, R>) =>
  connector.pipe(
    supply(Transport.Transports, makeTransports),
    supply(EraMemory.EraMemory, Effect.sync(EraMemory.makeMemory))
  )

/** The default connector, with all transports. */
export const make = supplied(NativeConnector.make)

const closed = (
  connector: Effect.Effect<Connector.Connector["Type"], never, McpEvent.McpEvents | Teardown.Teardown>,
  options: Options = {}
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> =>
  Layer.effect(Connector.Connector, connector).pipe(
    Layer.provideMerge(concern(Teardown.Teardown, Teardown.make(options.teardown))),
    Layer.provideMerge(concern(McpEvent.McpEvents, McpEvent.make()))
  )

/** The default connector. */
export const layer = (options?: Options): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> =>
  closed(make, options)

/** The connector over `@modelcontextprotocol/sdk` 1.x: the session era and its tasks. */
export const layerSdk = (
  options?: Options
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> =>
  closed(supplied(SdkConnector.make), options)
