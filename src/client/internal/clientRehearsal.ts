/**
 * A handshake with nobody. The first one of a process makes what all of them use, and takes many times as long as those
 * after it: it is gone through while the first server starts, so that no server that has answered waits for it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Bridge from "./bridge.ts"

/**
 * Says yes to the one question of a handshake.
 *
 * @internal
 */
export const nobody = (): Bridge.SdkTransport => {
  const transport: Bridge.SdkTransport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      if (JsonRpc.isObject(message) && JsonRpc.isObject(message["params"]) && "id" in message) {
        const { id, params: { protocolVersion } } = message
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: "nobody", version: "0" } }
        // the cast: an SDK takes whatever it is sent for one of its messages
        transport.onmessage?.({ jsonrpc: "2.0", id, result } as never)
      }
      return Promise.resolve()
    }
  }
  return transport
}

let isDone = false

/**
 * Does it once for a process, and nothing after that; whatever comes of it, the next handshake is with a server.
 *
 * @internal
 */
export const rehearse = (handshake: (transport: Bridge.SdkTransport) => Promise<void>): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isDone) return Effect.void
    isDone = true
    return Effect.ignore(Effect.tryPromise(() => handshake(nobody())))
  })
