/** The transports of an application, chosen by the `transport` field of a server's configuration. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DockerGateway from "./DockerGateway.ts"
import * as HttpTransport from "./HttpTransport.ts"
import * as LegacySseTransport from "./LegacySseTransport.ts"
import * as StdioTransport from "./StdioTransport.ts"
import * as Transport from "./Transport.ts"
import * as WebSocketTransport from "./WebSocketTransport.ts"

export type Each =
  | DockerGateway.DockerGateway
  | HttpTransport.HttpTransport
  | LegacySseTransport.LegacySseTransport
  | StdioTransport.StdioTransport
  | WebSocketTransport.WebSocketTransport

export const make: Effect.Effect<Transport.Transports["Type"], never, Each> = Effect.gen(function*() {
  const docker = yield* DockerGateway.DockerGateway
  const http = yield* HttpTransport.HttpTransport
  const sse = yield* LegacySseTransport.LegacySseTransport
  const stdio = yield* StdioTransport.StdioTransport
  const ws = yield* WebSocketTransport.WebSocketTransport
  return {
    open: (config) => {
      switch (config.transport) {
        case "stdio":
          return stdio.open(config)
        case "docker":
          return docker.open(config)
        case "streamable-http":
          return http.open(config)
        case "sse":
          return sse.open(config)
        case "ws":
          return ws.open(config)
      }
    }
  }
})

export const layer: Layer.Layer<Transport.Transports, never, Each> = Layer.effect(Transport.Transports, make)
