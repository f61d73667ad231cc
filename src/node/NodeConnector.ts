/**
 * Everything that it takes to connect to servers from Node, wired with its defaults.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ClientConnector from "../client/ClientConnector.ts"
import type * as Connector from "../client/Connector.ts"
import * as EraMemory from "../client/EraMemory.ts"
import * as SdkConnector from "../client/SdkConnector.ts"
import * as Assembly from "../internal/assembly.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as AnyTransport from "../transport/AnyTransport.ts"
import * as DockerGateway from "../transport/DockerGateway.ts"
import * as HttpTransport from "../transport/Http.ts"
import * as LegacySseTransport from "../transport/LegacySse.ts"
import * as StdioTransport from "../transport/StdioTransport.ts"
import * as Transport from "../transport/Transport.ts"
import * as WebSocketTransport from "../transport/WebSocket.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly teardown?: Partial<Teardown.Options> | undefined
}

const { service } = Assembly.over(Context.empty())

/**
 * Every transport, over the `Teardown` and `McpEvents` of the application.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeTransports: Effect.Effect<
  Transport.Transports["Type"],
  never,
  Teardown.Teardown | McpEvent.McpEvents
> = Effect.succeed(Context.empty()).pipe(
  Effect.flatMap(service(HttpTransport.HttpTransport, HttpTransport.make())),
  Effect.flatMap(service(LegacySseTransport.LegacySseTransport, LegacySseTransport.make)),
  Effect.flatMap(service(StdioTransport.StdioTransport, StdioTransport.make)),
  Effect.flatMap(service(DockerGateway.DockerGateway, DockerGateway.make())),
  Effect.flatMap(service(WebSocketTransport.WebSocketTransport, WebSocketTransport.make)),
  Effect.flatMap((each) => Effect.provide(AnyTransport.make, each))
)

/**
 * @since 0.1.0
 * @category layers
 */
export const layerTransports: Layer.Layer<Transport.Transports, never, Teardown.Teardown | McpEvent.McpEvents> = Layer
  .effect(Transport.Transports, makeTransports)

const closed = <E>(
  connector: Layer.Layer<
    Connector.Connector,
    E,
    Transport.Transports | McpEvent.McpEvents | Teardown.Teardown | EraMemory.EraMemory
  >,
  options: Options
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown, E> =>
  connector.pipe(
    Layer.provide(Layer.merge(layerTransports, EraMemory.layerMemory)),
    Layer.provideMerge(Layer.merge(Teardown.layer(options.teardown), McpEvent.layer))
  )

/**
 * The default connector, which reaches servers of both eras.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (
  options: Options
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> => closed(ClientConnector.layer, options)

/**
 * The default connector with the default bounds.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> =
  /* @__PURE__ */ layerWith({})

/**
 * The connector over `@modelcontextprotocol/sdk` 1.x: the session era and its tasks.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSdkWith = (
  options: Options
): Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> => closed(SdkConnector.layer, options)

/**
 * @since 0.1.0
 * @category layers
 */
export const layerSdk: Layer.Layer<Connector.Connector | McpEvent.McpEvents | Teardown.Teardown> =
  /* @__PURE__ */ layerSdkWith({})
