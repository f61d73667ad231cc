/**
 * A transport that is nothing but its port: a test sees what is sent and decides what arrives, synchronously.
 */
import type * as McpError from "../../src/McpError.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import type * as Transport from "../../src/transport/Transport.ts"

export interface FakeTransport extends Transport.Transport {
  /** What was sent and not refused. */
  readonly sent: Array<JsonRpc.Message>
  readonly abandoned: Array<JsonRpc.Id>
  /** The error that the next requests meet. */
  refusal: McpError.CallError | undefined
  readonly sink: () => Transport.Sink
}

export const make = (): FakeTransport => {
  let sink: Transport.Sink | undefined = undefined
  const transport: FakeTransport = {
    kind: "memory",
    streamPerRequest: false,
    sent: [],
    abandoned: [],
    refusal: undefined,
    sink: () => sink!,
    start: (given) => {
      sink = given
    },
    send: (message) => {
      if (transport.refusal !== undefined && "method" in message && "id" in message) return transport.refusal
      transport.sent.push(message)
      return undefined
    },
    abandon: (id) => {
      transport.abandoned.push(id)
    },
    negotiated: () => undefined,
    stderrTail: () => undefined
  }
  return transport
}
