/** The default connector: speaks both eras by itself, over any transport. */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as McpError from "../McpError.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Connector from "./Connector.ts"
import * as Establish from "./establish.ts"
import * as Handshake from "./handshake.ts"
import * as InputHandlers from "./InputHandlers.ts"
import type * as McpClient from "./McpClient.ts"
import * as RequestEngine from "./RequestEngine.ts"
import * as SessionEra from "./sessionEra.ts"
import * as StatelessEra from "./statelessEra.ts"

/** A function of its own, so that nothing in a connection refers to the opening, which holds secrets. */
const over = (
  transport: Transport.Transport,
  frame: Establish.Frame,
  era: Establish.Era
): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { drainTimeout, handlers, limits, report, server, stage } = frame
    // a handler is code of the application, which logs where the application does
    const answer = (method: string, params: JsonRpc.JsonObject) =>
      RuntimeLog.asApplication(InputHandlers.answer(server, handlers, method, params))
    const methods = InputHandlers.methods(handlers)
    const engine = yield* RequestEngine.make({
      server,
      transport,
      stage,
      report,
      maxServerRequests: limits.maxServerRequests,
      serve: (method, params) =>
        methods.includes(method)
          ? answer(method, params)
          : new InputHandlers.Refused({ code: -32601, reason: "Method not found" })
    })
    yield* Effect.addFinalizer(() => engine.close(drainTimeout))
    const run = yield* FiberSet.makeRuntime<never, void>()
    const options = {
      server,
      engine,
      transport,
      stage,
      report,
      limits,
      capabilities: InputHandlers.capabilities(handlers),
      answer,
      run
    }
    const settled = yield* era === "auto"
      ? Handshake.negotiate(options)
      : era === "stateless"
      ? Handshake.onlyStateless(options)
      : Handshake.initialize(options)
    const ofEra = settled._tag === "Session" ? SessionEra.make(options, settled) : StatelessEra.make(options, settled)
    return Establish.channelOf(frame, transport, engine, ofEra)
  })

export const make: Effect.Effect<Connector.Connector["Type"], never, Establish.Services> = Establish.make({
  isStateless: true,
  attempt: (open, frame, era) => Effect.flatMap(open, (transport) => over(transport, frame, era))
})

export const layer: Layer.Layer<Connector.Connector, never, Establish.Services> = Layer.effect(
  Connector.Connector,
  make
)
