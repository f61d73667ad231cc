/**
 * The transport that an SDK client believes it has. Its messages travel on our wire beside our own; what it receives
 * is made harmless first, so that one odd field costs no connection.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as McpError from "../../McpError.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import * as Protocol from "../Protocol.ts"
import type * as Wire from "./wire.ts"

/**
 * What both SDKs mean by a transport.
 *
 * @internal
 */
export interface SdkTransport {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  setProtocolVersion?: ((version: string) => void) | undefined
}

/**
 * Rides in the `data` of the errors that an SDK client is handed, and comes back in those it throws.
 *
 * @internal
 */
export class Carrier {
  readonly error: McpError.CallError
  constructor(error: McpError.CallError) {
    this.error = error
  }
}

/** @internal */
export interface Initialized {
  /** What was sent, to be sent again when a session has expired. */
  readonly params: JsonRpc.JsonObject
  readonly result: JsonRpc.JsonObject
  readonly protocolVersion: string
}

/** @internal */
export interface Bridge {
  readonly transport: SdkTransport
  /** What the handshake has come to, once it has. */
  readonly initialized: () => Either.Either<Initialized, McpError.ConnectError> | undefined
}

/** @internal */
export interface Options {
  readonly server: string
  readonly negotiated: (negotiated: Transport.Negotiated) => void
  readonly lenient: (detail: string) => void
}

/** @internal */
export const make = (wire: Wire.Wire, options: Options): Bridge => {
  let initialized: Either.Either<Initialized, McpError.ConnectError> | undefined = undefined

  const deliver = (message: unknown): void => {
    // the cast: each SDK names its own type for the same JSON
    transport.onmessage?.(message as never)
  }

  const settle = (request: JsonRpc.Request) => (settled: Wire.Settled): void => {
    const answer = request.method === "initialize" ? onInitialize(request, settled) : settled
    if (Either.isRight(answer)) return deliver({ jsonrpc: "2.0", id: request.id, result: answer.right })
    const error = answer.left
    const code = error._tag === "RemoteError" ? error.code : -32000
    deliver({ jsonrpc: "2.0", id: request.id, error: { code, message: error._tag, data: new Carrier(error) } })
  }

  const onInitialize = (request: JsonRpc.Request, settled: Wire.Settled): Wire.Settled => {
    const facts = Either.isLeft(settled)
      ? Either.left(refusal(options.server, settled.left))
      : checked(options.server, request.params ?? {}, settled.right)
    initialized = facts
    return Either.map(facts, ({ protocolVersion, result }) => tidied(result, protocolVersion, options.lenient))
  }

  const access = wire.inhabit({
    request: deliver,
    notification: deliver,
    ended: () => transport.onclose?.()
  })

  const transport: SdkTransport = {
    start: () => Promise.resolve(),
    send: (message) => {
      // the cast: an SDK client writes JSON-RPC messages
      const outgoing = message as JsonRpc.Message
      if (JsonRpc.isRequest(outgoing)) {
        access.request(outgoing, settle(outgoing))
        return Promise.resolve()
      }
      const error = access.send(outgoing)
      if (error === undefined || !("method" in outgoing) || outgoing.method !== "notifications/initialized") {
        return Promise.resolve()
      }
      // the server is gone again before it could be told that it is connected
      initialized = Either.left(refusal(options.server, error))
      return Promise.reject(new Error(error._tag))
    },
    close: () => {
      transport.onclose?.()
      return Promise.resolve()
    },
    setProtocolVersion: (protocolVersion) => options.negotiated({ era: "session", protocolVersion })
  }

  return { transport, initialized: () => initialized }
}

/**
 * The error of a connect whose `initialize` failed so.
 *
 * @internal
 */
export const refusal = (server: string, error: McpError.CallError): McpError.ConnectError => {
  if (!McpError.isConnectError(error) && error._tag !== "RemoteError") {
    return new McpError.ProtocolViolation({
      server,
      what: `the handshake ended with ${error._tag}`,
      excerpt: "",
      outcome: "unknown",
      phase: "initialize"
    })
  }
  if (error._tag !== "RemoteError") return error
  return error.code === -32022
    ? new McpError.HandshakeFailed({
      server,
      reason: "version",
      got: supportedOf(error.data) ?? "another version",
      supported: [...Protocol.sessionVersions]
    })
    : new McpError.HandshakeFailed({ server, reason: "rejected", code: error.code, detail: error.detail })
}

const supportedOf = (data: unknown): string | undefined => {
  if (!JsonRpc.isObject(data) || !Array.isArray(data["supported"])) return undefined
  return data["supported"].filter((version) => typeof version === "string").join(", ").slice(0, 256)
}

/** @internal */
export const checked = (
  server: string,
  params: JsonRpc.JsonObject,
  result: JsonRpc.JsonObject
): Either.Either<Initialized, McpError.ConnectError> => {
  const protocolVersion = result["protocolVersion"]
  if (typeof protocolVersion !== "string") {
    return Either.left(
      new McpError.ProtocolViolation({
        server,
        what: "the answer to initialize names no protocol version",
        excerpt: "",
        outcome: "executed",
        phase: "initialize"
      })
    )
  }
  return Protocol.sessionVersions.includes(protocolVersion)
    ? Either.right({ params, result, protocolVersion })
    : Either.left(
      new McpError.HandshakeFailed({
        server,
        reason: "version",
        got: protocolVersion.slice(0, 256),
        supported: [...Protocol.sessionVersions]
      })
    )
}

/** What an SDK needs of the answer and nothing else: it rejects whole answers for one field that it does not like. */
const tidied = (
  result: JsonRpc.JsonObject,
  protocolVersion: string,
  lenient: (detail: string) => void
): JsonRpc.JsonObject => {
  const { capabilities, serverInfo } = result
  if (!JsonRpc.isObject(capabilities)) lenient("the answer to initialize declares no capabilities")
  if (!JsonRpc.isObject(serverInfo)) lenient("the answer to initialize does not say who the server is")
  const declared: Array<[string, JsonRpc.Json]> = []
  for (const [name, value] of Object.entries(JsonRpc.isObject(capabilities) ? capabilities : {})) {
    if (knownCapabilities.has(name) && JsonRpc.isObject(value)) declared.push([name, {}])
  }
  // a task-augmented request is only sent to a server that declares it
  const tasks = JsonRpc.isObject(capabilities) ? capabilities["tasks"] : undefined
  if (JsonRpc.isObject(tasks)) {
    declared.push(["tasks", { list: {}, cancel: {}, requests: { tools: { call: {} } } }])
  }
  return {
    protocolVersion,
    capabilities: Object.fromEntries(declared),
    serverInfo: { name: "server", version: "0" }
  }
}

const knownCapabilities: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "logging", "completions"])
