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
import * as Establish from "./internal/establish.ts"
import * as SdkClient from "./internal/sdkClient.ts"

const load: Effect.Effect<Adapter.Loaded> = Effect.map(
  Effect.promise(() => import("@modelcontextprotocol/client")),
  ({ Client }): Adapter.Loaded => ({
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
        yield* SdkClient.attempt(() =>
          client.connect(host.transport as never, { prior: { kind: "legacy" }, timeout: SdkClient.never })
        )
        return { tasks: undefined }
      })
  })
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
