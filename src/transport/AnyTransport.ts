/** The transports of an application, chosen by the `transport` field of a server's configuration. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DockerGateway from "./DockerGateway.ts"
import * as HttpTransport from "./HttpTransport.ts"
import * as LegacySseTransport from "./LegacySseTransport.ts"
import * as StdioTransport from "./StdioTransport.ts"
import * as Transport from "./Transport.ts"
import * as WebSocketTransport from "./WebSocketTransport.ts"

const openers = Effect.all({
  docker: DockerGateway.DockerGateway,
  http: HttpTransport.HttpTransport,
  sse: LegacySseTransport.LegacySseTransport,
  stdio: StdioTransport.StdioTransport,
  ws: WebSocketTransport.WebSocketTransport
})

export type Each = Effect.Effect.Context<typeof openers>

export const make: Effect.Effect<Transport.Transports["Type"], never, Each> = Effect.map(openers, (openers) => ({
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

export const layer: Layer.Layer<Transport.Transports, never, Each> = Layer.effect(Transport.Transports, make)
