/**
 * The default connector: reaches servers of both eras. Handshakes of the session era, and what a server asks in it,
 * go through the client of `@modelcontextprotocol/client` (2.x), loaded when the first server connects; the stateless
 * era has neither, so there it stays unloaded work.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connector from "./Connector.ts"
import type * as Adapter from "./internal/adapter.ts"
import type * as Bridge from "./internal/bridge.ts"
import * as ClientRehearsal from "./internal/clientRehearsal.ts"
import * as Establish from "./internal/establish.ts"
import * as SdkClient from "./internal/sdkClient.ts"
import * as Protocol from "./Protocol.ts"

const load: Effect.Effect<Adapter.Loaded> = Effect.flatMap(
  Effect.promise(() => import("./internal/clientLibrary.ts")),
  ({ Client }) => {
    const connect = (client: InstanceType<typeof Client>, transport: Bridge.SdkTransport) =>
      client.connect(transport as never, { prior: { kind: "legacy" }, timeout: SdkClient.never })
    const loaded: Adapter.Loaded = {
      handshake: (host) =>
        Effect.gen(function*() {
          const client = new Client(host.clientInfo, {
            // the cast: capabilities are the application's words, of any version
            capabilities: host.capabilities as never,
            jsonSchemaValidator: SdkClient.noValidator
          })
          yield* SdkClient.closing(client)
          for (const method of host.methods) {
            client.setRequestHandler(method, (request, context) =>
              // the cast: the SDK checks the answer against its own type when it is there
              host.asked(method, SdkClient.paramsOf(request), context.mcpReq.signal) as never)
          }
          yield* SdkClient.attempt(() => connect(client, host.transport))
          return { tasks: undefined }
        })
    }
    const rehearsal = ClientRehearsal.rehearse(async (nobody) => {
      const client = new Client(Protocol.clientInfo, { jsonSchemaValidator: SdkClient.noValidator })
      await connect(client, nobody)
      await client.close()
    })
    return Effect.as(rehearsal, loaded)
  }
)

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Connector.Connector["Type"], never, Establish.Services> = Establish.make({
  stateless: true,
  load
})

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Connector.Connector, never, Establish.Services> = Layer.effect(
  Connector.Connector,
  make
)
