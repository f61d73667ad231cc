/**
 * The connector over the `Client` of `@modelcontextprotocol/sdk` (1.x), for users who want the reference implementation:
 * the session era only. That client is the engine of the connection; what is above the engine is the native connector's.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import type { Transport as SdkTransport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type * as Sdk from "@modelcontextprotocol/sdk/types.js"
import type { jsonSchemaValidator, JsonSchemaValidatorResult } from "@modelcontextprotocol/sdk/validation/types.js"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpError from "../McpError.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Connector from "./Connector.ts"
import * as Engine from "./engine.ts"
import * as Era from "./era.ts"
import * as Establish from "./establish.ts"
import * as InputHandlers from "./InputHandlers.ts"
import type * as McpClient from "./McpClient.ts"
import * as Messages from "./messages.ts"
import * as Protocol from "./Protocol.ts"
import * as SessionEra from "./sessionEra.ts"

const load = Effect.promise(() =>
  Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/types.js")
  ])
)

type Loaded = Effect.Effect.Success<typeof load>

/** The longest time that a timer takes: the limits are ours, because the client's do not stop while a person is asked. */
const never = 2 ** 31 - 1

/** Rides in the `data` of the errors that the client is given, and comes back in those that it throws. */
class Carrier {
  readonly error: McpError.CallError
  constructor(error: McpError.CallError) {
    this.error = error
  }
}

interface Pending {
  readonly method: string
  limited: Engine.Limited | undefined
}

/** The client over our transport: its `Transport` on one side, the engine of a connection on the other. */
class SdkEngine extends Engine.Listeners implements SdkTransport, Engine.Engine {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: Sdk.JSONRPCMessage) => void
  /** The first answer to `initialize`, as it came. */
  initialized: Either.Either<Era.Initialized, McpError.ConnectError> | undefined = undefined

  readonly #transport: Transport.Transport
  readonly #frame: Establish.Frame
  readonly #client: Client
  readonly #resultSchema: Loaded[1]["ResultSchema"]
  readonly #clock: Clock.Clock
  readonly #pending = new Map<JsonRpc.Id, Pending>()
  /** The requests of the server that the client serves. */
  readonly #serving = new Set<JsonRpc.Id>()
  #lastSent: Pending | undefined = undefined

  constructor(
    transport: Transport.Transport,
    frame: Establish.Frame,
    client: Client,
    resultSchema: Loaded[1]["ResultSchema"],
    clock: Clock.Clock
  ) {
    super()
    this.#transport = transport
    this.#frame = frame
    this.#client = client
    this.#resultSchema = resultSchema
    this.#clock = clock
  }

  start(): Promise<void> {
    this.#transport.start({
      message: (message) => this.#receive(message),
      failed: (id, error) => this.#fail(id, error),
      waiting: (id, open) => this.#pending.get(id)?.limited?.waits(open, this.now()),
      diagnostic: this.#frame.report.diagnostic,
      ended: (end) => this.finish(end)
    })
    return Promise.resolve()
  }

  send(sent: Sdk.JSONRPCMessage): Promise<void> {
    const message = outgoing(sent as JsonRpc.Message) // the cast: the same JSON under a type of ours
    if (JsonRpc.isRequest(message)) {
      this.#lastSent = { method: message.method, limited: undefined }
      this.#pending.set(message.id, this.#lastSent)
    } else if ("id" in message && message.id !== null) this.#serving.delete(message.id)
    const error = this.lost("not-sent", "the request") ?? this.#transport.send(message)
    if (error !== undefined && JsonRpc.isRequest(message)) this.#fail(message.id, error)
    else if (error !== undefined) return Promise.reject(error)
    else if ("method" in message && message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"]
      if (typeof id === "number" && this.#pending.delete(id)) this.#transport.abandon(id)
    }
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.onclose?.()
    return Promise.resolve()
  }

  setProtocolVersion(protocolVersion: string): void {
    this.#transport.negotiated({ era: "session", protocolVersion })
  }

  now(): number {
    return this.#clock.unsafeCurrentTimeMillis()
  }

  /** The limits are ours: those of the client do not stop while a person is asked. */
  request(
    method: string,
    params: JsonRpc.JsonObject | undefined,
    limits: Engine.RequestOptions
  ): Effect.Effect<JsonRpc.JsonObject, McpError.CallError> {
    return Effect.suspend(() => {
      const lost = this.lost("not-sent", method)
      if (lost !== undefined) return Effect.fail(lost)
      const { report, server } = this.#frame
      const { onProgress, progress } = limits
      const limited = new Engine.Limited(limits, this.now())
      const token = progress === true ? `progress-${++tokens}` : progress
      const remove = this.onNotification((notification) => {
        if (notification.method !== "notifications/progress" || notification.params["progressToken"] !== token) return
        limited.touch(this.now())
        const reported = Messages.progressOf(notification.params, report.text)
        if (reported !== undefined) onProgress?.(reported)
      })
      const answered = Effect.async<JsonRpc.JsonObject, McpError.CallError>((resume) => {
        const controller = new AbortController()
        const options = { signal: controller.signal, timeout: never }
        this.#client.request({ method, params: Messages.withToken(params, token) }, this.#resultSchema, options).then(
          (result) => resume(Effect.succeed(Messages.objectOf(result))),
          (cause: unknown) => resume(Effect.fail(failure(server, method, cause)))
        )
        if (this.#lastSent?.method === method) this.#lastSent.limited = limited
        return Effect.sync(() => controller.abort("the caller no longer waits"))
      })
      const overdue = Effect.gen(this, function*() {
        while (true) {
          const now = this.now()
          // while the application is asked something, the server owes nothing
          if (this.#serving.size > 0 || limited.isWaiting) limited.touch(now)
          if (limited.dueAt <= now) return yield* limited.timeout(server, method, now)
          const at = Math.min(limited.idleAt, limited.isWaiting ? Infinity : limited.totalAt)
          if (at === Infinity) return yield* Effect.never
          yield* Effect.sleep(Duration.millis(at - now))
        }
      })
      return Effect.ensuring(Effect.raceFirst(answered, overdue), Effect.sync(remove))
    })
  }

  notify(method: string, params?: JsonRpc.JsonObject): McpError.CallError | undefined {
    const lost = this.lost("not-sent", method)
    // what the transport refuses is reported by the next request
    if (lost === undefined) this.#client.notification({ method, params: { ...params } }).catch(() => undefined)
    return lost
  }

  protected thrown(): void {}

  finish(end: Transport.Ended): void {
    if (this.isEnded) return
    this.end({ error: (outcome) => this.#frame.report.error(end.error(outcome)), unsent: end.unsent })
    for (const [id, { method }] of Array.from(this.#pending)) {
      const error = this.lost(end.unsent(id) ? "not-sent" : "unknown", method)
      if (error !== undefined) this.#fail(id, error)
    }
    this.onclose?.()
  }

  #deliver(message: JsonRpc.Incoming): void {
    // the cast: the client checks what it is given
    this.onmessage?.(message as Sdk.JSONRPCMessage)
  }

  #fail(id: JsonRpc.Id, failure: McpError.CallError): void {
    const { report, server } = this.#frame
    const error = report.error(failure)
    if (this.#pending.get(id)?.method === "initialize") this.initialized ??= Either.left(Era.refusal(server, error))
    this.#pending.delete(id)
    const code = error._tag === "RemoteError" ? error.code : -32000
    const data = new Carrier(error)
    this.#deliver({ jsonrpc: "2.0", id: ofClient(id), error: { code, message: error._tag, data } })
  }

  #receive(message: JsonRpc.Incoming): void {
    const { id, method } = message
    if (typeof method === "string" && id === undefined) {
      const params = Messages.paramsOf(message)
      if (method === "notifications/cancelled") {
        const cancelled = params["requestId"]
        if (typeof cancelled === "number" || typeof cancelled === "string") this.#serving.delete(cancelled)
        this.#deliver(message)
      }
      return this.announce({ method, params })
    }
    if (typeof id !== "number" && typeof id !== "string") return
    const { limits, server, stage } = this.#frame
    if (typeof method === "string") {
      if (this.#serving.size < limits.maxServerRequests) {
        this.#serving.add(id)
        return this.#deliver(message)
      }
      this.#transport.send({ jsonrpc: "2.0", id, error: { code: -32000, message: "Too many requests at once" } })
      return
    }
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    const answer = Messages.decode(server, stage.phase, message)
    if (Either.isLeft(answer)) return this.#fail(id, answer.left)
    this.#pending.delete(id)
    if (pending.method !== "initialize" || this.initialized !== undefined) {
      return this.#deliver({ jsonrpc: "2.0", id: ofClient(id), result: answer.right })
    }
    this.initialized = Era.initialized(server, answer.right)
    if (Either.isLeft(this.initialized)) return this.#fail(id, this.initialized.left)
    // the client rejects the whole answer for one field that it does not like
    const { protocolVersion } = this.initialized.right
    const result = { protocolVersion, capabilities: {}, serverInfo: { name: "server", version: "0" } }
    this.#deliver({ jsonrpc: "2.0", id: ofClient(id), result })
  }
}

let tokens = 0

/** The client numbers its requests from 0. The server sees higher ids, which a stray answer does not meet. */
const firstId = 1 << 20
const onWire = <Id>(id: Id): Id | number => typeof id === "number" ? id + firstId : id
const ofClient = (id: JsonRpc.Id): JsonRpc.Id => typeof id === "number" ? id - firstId : id

const outgoing = (message: JsonRpc.Message): JsonRpc.Message => {
  if (JsonRpc.isRequest(message)) return { ...message, id: onWire(message.id) }
  if (!("method" in message) || message.method !== "notifications/cancelled") return message
  return { ...message, params: { ...message.params, requestId: onWire(message.params?.["requestId"] ?? null) } }
}

const failure = (server: string, method: string, cause: unknown): McpError.CallError =>
  JsonRpc.isObject(cause) && cause["data"] instanceof Carrier ? cause["data"].error : new McpError.ProtocolViolation({
    server,
    what: `\`${method}\`: an answer that the SDK rejects`,
    excerpt: UntrustedText.excerpt(cause instanceof Error ? cause.message : String(cause)),
    outcome: "unknown"
  })

/** Results are checked per tool and with a budget elsewhere; the client's validator would compile every schema. */
const noValidator: jsonSchemaValidator = {
  // the cast: nothing is checked, so the client gets back what it gave
  getValidator: <T>() => (input: unknown): JsonSchemaValidatorResult<T> => ({
    valid: true,
    data: input as T,
    errorMessage: undefined
  })
}

/** Registers the handlers with the client. */
const serve = (
  client: Client,
  Types: Loaded[1],
  { handlers, server }: Establish.Frame,
  run: (effect: Effect.Effect<JsonRpc.JsonObject, InputHandlers.Refused>) => Promise<JsonRpc.JsonObject>
): void => {
  const schemas = [Types.ListRootsRequestSchema, Types.ElicitRequestSchema, Types.CreateMessageRequestSchema]
  for (const schema of schemas) {
    const method = schema.shape.method.value
    if (!InputHandlers.methods(handlers).includes(method)) continue
    client.setRequestHandler(schema, (request, { signal }) => {
      const answer = InputHandlers.answer(server, handlers, method, Messages.objectOf(request.params))
      const aborted = Effect.async<never>((resume) =>
        signal.addEventListener("abort", () => resume(Effect.interrupt), { once: true })
      )
      // the cast: the SDK checks the answer against its own type when it is there
      return run(Effect.raceFirst(RuntimeLog.asApplication(answer), aborted)) as never
    })
  }
}

/** A function of its own, so that nothing in a connection refers to the opening, which holds secrets. */
const over = (
  transport: Transport.Transport,
  [{ Client }, Types]: Loaded,
  frame: Establish.Frame
): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { handlers, limits, report, server, stage } = frame
    const capabilities = InputHandlers.capabilities(handlers)
    const clock = yield* Effect.clock
    const client = new Client(Protocol.clientInfo, {
      // the cast: the application declares capabilities of any version
      capabilities: capabilities as Sdk.ClientCapabilities,
      jsonSchemaValidator: noValidator
    })
    const engine = new SdkEngine(transport, frame, client, Types.ResultSchema, clock)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        engine.finish({
          error: (outcome) => new McpError.Closed({ server, operation: "the request", outcome }),
          unsent: () => false
        })
        client.close().catch(() => undefined)
      })
    )
    serve(client, Types, frame, yield* FiberSet.makeRuntimePromise<never, JsonRpc.JsonObject, InputHandlers.Refused>())
    stage.phase = "initialize"
    yield* Effect.ignore(Effect.tryPromise(() => client.connect(engine, { timeout: never })))
    const initialized = yield* engine.initialized ?? Effect.flip(engine.ended)
    // servers refuse a request that overtakes `notifications/initialized`
    yield* transport.accepted ?? Effect.void
    const run = yield* FiberSet.makeRuntime<never, void>()
    return Establish.channelOf(
      frame,
      transport,
      engine,
      SessionEra.make({ server, engine, transport, stage, report, limits, capabilities, run }, initialized)
    )
  })

export const make: Effect.Effect<Connector.Connector["Type"], never, Establish.Services> = Establish.make({
  isStateless: false,
  attempt: (open, frame) =>
    Effect.gen(function*() {
      // the SDK loads while the server starts
      const loading = yield* Effect.forkScoped(load)
      const transport = yield* open
      return yield* over(transport, yield* Fiber.join(loading), frame)
    })
})

export const layer: Layer.Layer<Connector.Connector, never, Establish.Services> = Layer.effect(
  Connector.Connector,
  make
)
