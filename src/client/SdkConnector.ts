/**
 * The connector over the `Client` of `@modelcontextprotocol/sdk` (1.x), for users who want the reference implementation:
 * the session era only. That client sits between the request engine and the transport: it numbers and sends what the
 * engine requests, and checks what the server answers and asks.
 */
import type { Transport as SdkTransport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Connector from "./Connector.ts"
import { objectOf } from "./messages.ts"
import * as NativeConnector from "./NativeConnector.ts"
import * as Protocol from "./Protocol.ts"
import * as ServerRequests from "./serverRequests.ts"

const load = Effect.promise(() =>
  Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/types.js")
  ])
)

/** The longest time that a timer takes: the limits are the engine's, because the client's do not stop for a person. */
const never = 2 ** 31 - 1

/** The SDK loads while the server starts, because the transport is open. */
const through: NativeConnector.Through = (transport, { handlers, server }) =>
  Effect.gen(function*() {
    const [{ Client }, Types] = yield* load
    const client = new Client(Protocol.clientInfo, {
      // the cast: the application declares capabilities of any version
      capabilities: ServerRequests.capabilities(handlers) as Sdk.ClientCapabilities
    })
    /** The pending requests of the engine, with the number that the client has given to each. */
    const numbers = new Map<unknown, JsonRpc.Id>()
    /** The questions of the server that the engine has not answered. */
    const questions = new Map<unknown, (answer: JsonRpc.Success | JsonRpc.Failure) => void>()
    let sink: Transport.Sink | undefined = undefined
    let sending: JsonRpc.Request | undefined = undefined
    let refusal: McpError.CallError | undefined = undefined

    const below: SdkTransport = {
      // with a session the client leaves the handshake to the engine
      sessionId: "of the engine",
      start: () => Promise.resolve(),
      close: () => Promise.resolve(below.onclose?.()),
      send: (sent) => {
        const message = sent as JsonRpc.Message // the cast: the same JSON under a type of ours
        if (!JsonRpc.isRequest(message) || sending === undefined) transport.send(message)
        else {
          numbers.set(sending.id, message.id)
          refusal = transport.send({ ...message, id: sending.id })
        }
        return Promise.resolve()
      }
    }
    yield* Effect.addFinalizer(() => Effect.promise(() => client.close()))

    // the cast: the client checks what it is given
    const deliver = (message: JsonRpc.Incoming): void => below.onmessage?.(message as Sdk.JSONRPCMessage)

    /** Ends a request at the client, which gets no answer to it. */
    const forget = (id: unknown): void => {
      const number = numbers.get(id)
      if (numbers.delete(id)) deliver({ jsonrpc: "2.0", id: number, error: { code: -32000, message: "settled" } })
    }

    const request = (message: JsonRpc.Request): McpError.CallError | undefined => {
      const { id, method, params } = message
      sending = message
      refusal = undefined
      client.request({ method, params }, Types.ResultSchema, { timeout: never }).then(
        (result) => {
          numbers.delete(id)
          sink?.message({ jsonrpc: "2.0", id, result })
        },
        (cause: unknown) => {
          const what = `\`${method}\`: an answer that the SDK rejects`
          const excerpt = UntrustedText.excerpt(cause instanceof Error ? cause.message : String(cause))
          if (numbers.delete(id)) {
            sink?.failed(id, new McpError.ProtocolViolation({ server, what, excerpt, outcome: "unknown" }))
          }
        }
      )
      if (refusal !== undefined) forget(id)
      return refusal
    }

    for (const schema of [Types.ListRootsRequestSchema, Types.ElicitRequestSchema, Types.CreateMessageRequestSchema]) {
      const method = schema.shape.method.value
      if (!ServerRequests.methods(handlers).includes(method)) continue
      client.setRequestHandler(schema, ({ params }, { requestId: id }) =>
        // the cast: the SDK checks the answer against its own type when it is there
        new Promise<JsonRpc.JsonObject>((resolve, reject) => {
          questions.set(id, (answer) => {
            questions.delete(id)
            if ("result" in answer) resolve(answer.result)
            else reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }))
          })
          sink?.message({ jsonrpc: "2.0", id, method, params })
        }) as never)
    }

    return {
      kind: transport.kind,
      streamPerRequest: transport.streamPerRequest,
      accepted: transport.accepted,
      negotiated: (negotiated) => transport.negotiated(negotiated),
      stderrTail: () => transport.stderrTail(),
      abandon: (id) => {
        transport.abandon(id)
        forget(id)
      },
      send: (message) => {
        if (JsonRpc.isRequest(message)) return request(message)
        if ("id" in message) questions.get(message.id)?.(message)
        // what the transport refuses is reported by the next request
        else client.notification({ method: message.method, params: { ...message.params } }).catch(() => undefined)
        return undefined
      },
      start: (above) => {
        sink = above
        client.connect(below).catch(() => undefined)
        transport.start({
          message: (message) => {
            const { error, id, method, result } = message
            if (method === "notifications/cancelled") {
              questions.delete(objectOf(message["params"])["requestId"])
              deliver(message)
            }
            const number = numbers.get(id)
            if (typeof method === "string" && id !== undefined) deliver(message)
            else if (number !== undefined && error === undefined && JsonRpc.isObject(result)) {
              deliver({ jsonrpc: "2.0", id: number, result })
            } else {
              above.message(message)
              forget(id)
            }
          },
          failed: (id, error) => {
            above.failed(id, error)
            forget(id)
          },
          waiting: above.waiting,
          diagnostic: above.diagnostic,
          ended: (end) => {
            above.ended(end)
            below.onclose?.()
          }
        })
      }
    }
  })

export const make: Effect.Effect<Connector.Connector["Type"], never, NativeConnector.Services> = NativeConnector
  .connector(through)

export const layer: Layer.Layer<Connector.Connector, never, NativeConnector.Services> = Layer.effect(
  Connector.Connector,
  make
)
