/**
 * The HTTP+SSE transport of 2024-11-05: one stream of events that carries everything the server says, and an endpoint,
 * named in its first event, that takes everything we say.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import type * as Teardown from "../resilience/Teardown.ts"
import * as Failure from "./failure.ts"
import * as Client from "./http/client.ts"
import * as Connection from "./http/connection.ts"
import * as Headers from "./http/headers.ts"
import * as Refusal from "./http/refusal.ts"
import * as Sse from "./http/sse.ts"
import type * as Transport from "./Transport.ts"

export class LegacySseTransport
  extends Context.Tag("effect-mcp-runtime/transport/LegacySseTransport")<LegacySseTransport, {
    /** Succeeds when the server has named its endpoint. The fallback opens a Streamable HTTP configuration. */
    readonly open: Transport.Open<ServerConfig.SseServer | ServerConfig.HttpServer>
  }>()
{}

export const make: Effect.Effect<LegacySseTransport["Type"], never, Teardown.Teardown> = Connection.opener((
  peer,
  url
) => Effect.map(Connection.make(peer, url), legacySse))

export const layer: Layer.Layer<LegacySseTransport, never, Teardown.Teardown> = Layer.effect(LegacySseTransport, make)

const maxInFlight = 64

/** Opens the stream, and is ready when the server has named a usable endpoint. */
const legacySse = (connection: Connection.Connection): Connection.Opened => {
  const { client, server, url } = connection
  const headers = new Headers.RequestHeaders(url, connection.source)
  const endpoint = Deferred.unsafeMake<void, McpError.ConnectError>(FiberId.none)
  let path: string | undefined

  const channel = Connection.channel(connection, maxInFlight, (post) => {
    const call = channel.callOf(post, path ?? connection.path, headers.post(post.message, post.bytes))
    return client.exchange<void, McpError.CallError>(call, (response, done) =>
      done(
        Client.isSuccess(response)
          ? client.drain(response)
          : Refusal.refuseRequest(connection, response, false, post.id)
      ))
  })

  const finish = (error: Transport.Ended["error"]): void => {
    channel.end(error)
    Deferred.unsafeDone(endpoint, Effect.fail(error("not-sent")))
    client.destroy()
  }

  const { diagnostic } = channel.outlet
  const on: Sse.Handlers = {
    message: channel.deliver,
    diagnostic,
    endpoint: (text) => {
      if (path !== undefined) return diagnostic({ kind: "lenient", detail: "another endpoint event was ignored" })
      if (text === "" || !URL.canParse(text, url.href)) {
        return finish(() => Failure.violation(server, "an endpoint that is no URL", text, { phase: "endpoint" }))
      }
      const { href, origin, pathname, search } = new URL(text, url)
      const to = href.slice(0, 2048)
      // it must be on the origin of the stream
      if (origin !== url.origin) {
        return finish(() => new McpError.HttpError({ server, reason: "origin", outcome: "not-sent", to }))
      }
      path = pathname + search
      Deferred.unsafeDone(endpoint, Effect.void)
    }
  }

  connection.fork(Effect.match(Sse.open(connection, headers.get(undefined), false, on), {
    onFailure: (error) => finish(() => error),
    onSuccess: ({ end }) =>
      finish(
        end === "ended" || end === "cut" || end === "done"
          ? Failure.lost(server, "stream-interrupted", "the stream ended")
          : () => Refusal.broken(connection, end)
      )
  }))

  return {
    transport: {
      ...channel.transport,
      kind: "sse",
      streamPerRequest: false,
      negotiated: (negotiated) => {
        headers.negotiated = negotiated
      }
    },
    ready: Deferred.await(endpoint),
    farewell: Effect.sync(() => finish(Failure.closed(server)))
  }
}
