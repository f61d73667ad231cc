/**
 * Opening the HTTP transport in tests, with a sink that listens and a record of its end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as McpError from "../../src/McpError.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as HttpTransport from "../../src/transport/HttpTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as Configs from "./configs.ts"
import * as Sink from "./sink.ts"

export interface Opened {
  readonly transport: Transport.Transport
  readonly heard: Sink.Recorder
  /** Sends a request and succeeds with what came of it: an answer or an error. */
  readonly outcome: (
    request: JsonRpc.Request,
    options?: Transport.SendOptions
  ) => Effect.Effect<JsonRpc.Incoming | McpError.CallError>
  /** The handshake of the session era. */
  readonly handshake: Effect.Effect<void>
  readonly close: Effect.Effect<void>
  readonly ends: ReadonlyArray<Teardown.ServerEnd>
}

export const request = (id: JsonRpc.Id, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const call = (id: JsonRpc.Id, name = "echo"): JsonRpc.Request => request(id, "tools/call", { name })

/** A `Teardown` that only remembers. */
export const teardown = (ends: Array<Teardown.ServerEnd>, farewellTimeout: Duration.DurationInput = "1 second") =>
  Layer.succeed(Teardown.Teardown, {
    options: {
      drainTimeout: Duration.zero,
      stdinGrace: Duration.zero,
      termGrace: Duration.zero,
      farewellTimeout: Duration.decode(farewellTimeout),
      deadline: Duration.seconds(10),
      installGrace: Duration.zero
    },
    record: (end) => {
      ends.push(end)
    },
    report: Effect.sync(() => ({ servers: ends })),
    lastResort: () => Effect.void
  })

export const started = (
  open: Effect.Effect<Transport.Transport, McpError.ConnectError, Scope.Scope>,
  ends: ReadonlyArray<Teardown.ServerEnd>
): Effect.Effect<Opened, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const transport = yield* Scope.extend(open, scope)
    const heard = Sink.make()
    transport.start(heard.sink)
    const outcome: Opened["outcome"] = (request, options) =>
      Effect.suspend(() => {
        const refused = transport.send(request, options)
        if (refused !== undefined) return Effect.succeed(refused)
        const failure = () => heard.failures.find(({ id }) => id === request.id)?.error
        const message = () => heard.messages.find((message) => message["id"] === request.id)
        return Effect.map(
          heard.until(() => (failure() ?? message()) !== undefined),
          () => failure() ?? message()!
        )
      })
    let handshakes = 0
    const handshake = Effect.gen(function*() {
      yield* outcome(request(`init-${++handshakes}`, "initialize", { protocolVersion: "2025-11-25" }))
      transport.negotiated({ era: "session", protocolVersion: "2025-11-25" })
      transport.send({ jsonrpc: "2.0", method: "notifications/initialized" })
      yield* transport.accepted ?? Effect.void
    })
    return { transport, heard, outcome, handshake, close: Scope.close(scope, Exit.void), ends }
  })

/** Streams are opened again after 20 ms, so that tests need not wait. */
type OpenOptions = Partial<HttpTransport.Options> & { readonly farewellTimeout?: Duration.DurationInput }

/** The transport alone, without a sink. */
export const unstarted = (
  url: string,
  config: Partial<ServerConfig.HttpInput> = {},
  { farewellTimeout, ...options }: OpenOptions = {},
  ends: Array<Teardown.ServerEnd> = []
): Effect.Effect<Transport.Transport, McpError.ConnectError, Scope.Scope> =>
  Effect.flatMap(HttpTransport.HttpTransport, (http) => http.open(Configs.http({ name: "peer", url, ...config })))
    .pipe(
      Effect.provide(
        Layer.provide(
          HttpTransport.layer({ retryFloor: "20 millis", retryDelay: "20 millis", ...options }),
          teardown(ends, farewellTimeout)
        )
      )
    )

export const open = (
  url: string,
  config: Partial<ServerConfig.HttpInput> = {},
  options: OpenOptions = {}
): Effect.Effect<Opened, McpError.ConnectError, Scope.Scope> =>
  Effect.suspend(() => {
    const ends: Array<Teardown.ServerEnd> = []
    return started(unstarted(url, config, options, ends), ends)
  })
