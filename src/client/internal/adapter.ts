/**
 * What an SDK has to do for us, and nothing more.
 *
 * @internal
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpClient from "../McpClient.ts"
import type * as Bridge from "./bridge.ts"
import type * as Inputs from "./inputs.ts"

/** @internal */
export interface Host {
  readonly server: string
  readonly transport: Bridge.SdkTransport
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly capabilities: JsonRpc.JsonObject
  /** The questions of the server that the application answers. */
  readonly methods: ReadonlyArray<Inputs.Method>
  /** Asks the application; rejects with an error whose `code` goes to the server. */
  readonly asked: (
    method: Inputs.Method,
    params: JsonRpc.JsonObject,
    signal: AbortSignal
  ) => Promise<JsonRpc.JsonObject>
}

/** @internal */
export interface Adapter {
  /** Whether servers of the stateless era can be reached. */
  readonly stateless: boolean
  /**
   * Loads the SDK; run while the server starts, so that the two do not wait for each other. The module loader keeps
   * what is loaded; `Effect.cached` would keep the interruption of the first attempt instead.
   */
  readonly load: Effect.Effect<Loaded>
}

/** @internal */
export interface Loaded {
  /**
   * Runs the handshake of the session era and leaves the SDK's client in charge of what the server asks. The error is
   * whatever the SDK says: the bridge knows better what happened.
   */
  readonly handshake: (host: Host) => Effect.Effect<Session, HandshakeFailed, Scope.Scope>
}

/** @internal */
export interface Session {
  readonly tasks: McpClient.LegacyTasks | undefined
}

/** @internal */
export interface HandshakeFailed {
  readonly _tag: "HandshakeFailed"
  readonly detail: string
}
