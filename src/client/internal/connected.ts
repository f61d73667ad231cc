/**
 * A connection, once its protocol is settled: the port over the wire, in the manner of the era.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Stream from "effect/Stream"
import type * as Limits from "../../config/Limits.ts"
import * as McpError from "../../McpError.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as McpClient from "../McpClient.ts"
import * as Protocol from "../Protocol.ts"
import * as Bridge from "./bridge.ts"
import * as Calls from "./calls.ts"
import type * as Handshake from "./handshake.ts"
import * as InputRounds from "./inputRounds.ts"
import type * as Inputs from "./inputs.ts"
import * as Watching from "./watching.ts"
import type * as Wire from "./wire.ts"

/** @internal */
export interface Options {
  readonly server: string
  readonly limits: Limits.Limits
  readonly wire: Wire.Wire
  readonly transport: Transport.Transport
  readonly settled: Handshake.Settled
  readonly envelope: JsonRpc.JsonObject
  readonly ask: (method: string, params: JsonRpc.JsonObject) => Effect.Effect<JsonRpc.JsonObject, Inputs.Refused>
  /** Runs in the scope of the connection. */
  readonly run: (effect: Effect.Effect<void>) => void
}

/** @internal */
export const make = (options: Options): Effect.Effect<McpClient.Channel> => {
  const { limits, server, settled, transport, wire } = options
  return Effect.map(
    settled._tag === "Session" ? inSession(options, settled) : stateless(options, settled),
    ({ probe, question, ...era }) => ({
      server,
      transport: transport.kind,
      limits,
      ...era,
      notify: (method, params) =>
        Effect.suspend(() => {
          const error = wire.notify(method, params)
          return error === undefined ? Effect.void : Effect.fail(error)
        }),
      onNotification: (listener) => wire.onNotification(listener),
      health: alive(probe(question, undefined, {
        idleTimeout: limits.pingTimeout,
        totalTimeout: limits.pingTimeout
      })),
      ended: wire.ending.wait,
      onEnded: (listener) => wire.ending.on(listener),
      stderrTail: Effect.sync(() => transport.stderrTail())
    })
  )
}

/** A server that answers anything is alive. */
const alive = (probe: Effect.Effect<JsonRpc.JsonObject, McpError.CallError>) =>
  Effect.asVoid(Effect.catchTag(probe, "RemoteError", () => Effect.void))

type OfEra =
  & Pick<
    McpClient.Channel,
    | "era"
    | "protocolVersion"
    | "serverInfo"
    | "capabilities"
    | "instructions"
    | "request"
    | "watch"
    | "tasks"
    | "onPaused"
  >
  & {
    /** The request that every server of the era answers, and how to make it whatever the others wait for. */
    readonly question: string
    readonly probe: Calls.Request
  }

/**
 * The session of a connection. A new one starts in the connection's scope, because all requests share it and the
 * interruption of one of them must not end it.
 */
const sessionOf = (
  { limits, run, server, transport, wire }: Options,
  params: JsonRpc.JsonObject,
  restore: Effect.Effect<void>
): Calls.Session => {
  let generation = 0
  let expired = false
  let beginning: Deferred.Deferred<void, McpError.ConnectError> | undefined

  const initialize = () =>
    wire.request("initialize", params, {
      idle: Infinity,
      total: Infinity,
      progress: false,
      cancellable: false
    }).pipe(
      Effect.mapError((error) => Bridge.refusal(server, error)),
      Effect.timeoutFail({
        duration: limits.startupTimeout,
        onTimeout: () => new McpError.ConnectTimeout({ server, phase: "initialize", limit: limits.startupTimeout })
      }),
      Effect.flatMap((answer) => Bridge.checked(server, params, answer)),
      Effect.flatMap((checked) => {
        transport.negotiated({ era: "session", protocolVersion: checked.protocolVersion })
        wire.notify("notifications/initialized", undefined)
        return transport.accepted ?? Effect.void
      }),
      Effect.map(() => {
        generation++
        expired = false
      }),
      Effect.mapError(McpError.notSent)
    )

  const begin = (): Deferred.Deferred<void, McpError.ConnectError> => {
    const begun = Deferred.unsafeMake<void, McpError.ConnectError>(FiberId.none)
    beginning = begun
    run(
      initialize().pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            beginning = undefined
            // interrupted with the connection, whose error goes to the waiting requests
            if (!Exit.isInterrupted(exit)) Deferred.unsafeDone(begun, exit)
          })
        ),
        Effect.zipRight(Effect.suspend(() => {
          wire.announce(Watching.resync)
          return restore
        })),
        // the waiting requests get this error
        Effect.ignore
      )
    )
    return begun
  }

  const ended = Effect.flatMap(wire.ending.wait, (error) => Effect.fail(McpError.notSent(error)))
  const ready = Effect.suspend(() =>
    expired ? Effect.raceFirst(Deferred.await(beginning ?? begin()), ended) : Effect.void
  )

  return {
    generation: () => generation,
    isExpired: () => expired,
    expire: (seen) => {
      if (seen === generation) expired = true
    },
    renew: () => run(Effect.ignore(ready)),
    ready
  }
}

const inSession = (
  options: Options,
  settled: Extract<Handshake.Settled, { _tag: "Session" }>
): Effect.Effect<OfEra> =>
  Effect.sync(() => {
    const { limits, server, wire } = options
    const { params, protocolVersion, result } = settled.initialized
    const session = sessionOf(options, params, Effect.suspend(() => watching.restore))
    const { onPaused, probe, request } = Calls.make(wire, limits, {
      server,
      params: (params) => params,
      unfinished: () => undefined,
      session
    })
    const watching = Watching.session(wire, request, limits)
    return {
      era: "session",
      protocolVersion,
      serverInfo: identity(result["serverInfo"]),
      capabilities: object(result["capabilities"]),
      instructions: text(result["instructions"]),
      request,
      watch: watching.watch,
      tasks: settled.session.tasks === undefined ? undefined : inSessionOf(session, settled.session.tasks),
      onPaused,
      question: "ping",
      probe
    }
  })

/** Tasks of the SDK's client, whose requests do not pass `Calls`. */
const inSessionOf = (session: Calls.Session, tasks: McpClient.LegacyTasks): McpClient.LegacyTasks => ({
  callTool: (params, options) =>
    Stream.unwrap(Effect.map(session.ready, () => {
      const generation = session.generation()
      return Stream.tapError(tasks.callTool(params, options), (error) =>
        Effect.sync(() => {
          if (error._tag !== "SessionExpired") return
          session.expire(generation)
          session.renew()
        }))
    }))
})

const stateless = (
  options: Options,
  settled: Extract<Handshake.Settled, { _tag: "Stateless" }>
): Effect.Effect<OfEra> =>
  Effect.sync(() => {
    const { ask, envelope, limits, server, transport, wire } = options
    const { discovered, protocolVersion } = settled
    wire.serverRequests = false
    wire.cancelByNotification = !transport.streamPerRequest
    const plain = { _meta: envelope }
    const enveloped = (
      params: JsonRpc.JsonObject | undefined,
      capabilities?: JsonRpc.JsonObject
    ): JsonRpc.JsonObject => {
      const given = params === undefined ? plain : { ...params, _meta: { ...object(params["_meta"]), ...envelope } }
      return capabilities === undefined
        ? given
        : { ...given, _meta: { ...given._meta, [Protocol.metaKey.clientCapabilities]: capabilities } }
    }
    const calls: Calls.Calls = Calls.make(wire, limits, {
      server,
      params: enveloped,
      unfinished: (result, asked, since) =>
        InputRounds.unfinished(
          { server, maxRounds: limits.maxInputRounds, total: limits.toolTimeout, once: calls.once, answer: ask },
          result,
          asked,
          since
        ),
      session: undefined
    })
    return {
      era: "stateless",
      protocolVersion,
      serverInfo: identity(object(discovered["_meta"])[Protocol.metaKey.serverInfo] ?? discovered["serverInfo"]),
      capabilities: object(discovered["capabilities"]),
      instructions: text(discovered["instructions"]),
      request: calls.request,
      watch: Watching.stateless(server, wire, limits, enveloped).watch,
      tasks: undefined,
      onPaused: calls.onPaused,
      question: "server/discover",
      probe: calls.probe
    }
  })

// the casts: what JSON.parse gave and is an object is a JSON object
const object = (value: unknown): JsonRpc.JsonObject => JsonRpc.isObject(value) ? value as JsonRpc.JsonObject : {}

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

const identity = (value: unknown): McpClient.Channel["serverInfo"] => {
  const { name, title, version } = object(value)
  if (typeof name !== "string") return undefined
  return {
    name,
    version: typeof version === "string" ? version : "",
    ...(typeof title === "string" ? { title } : {})
  }
}

/**
 * What an SDK's request handler has to return: the answer, or an error with the code that the server is to see.
 *
 * @internal
 */
export const asPromise = (
  fiber: Fiber.RuntimeFiber<JsonRpc.JsonObject, Inputs.Refused>,
  signal: AbortSignal
): Promise<JsonRpc.JsonObject> =>
  new Promise((resolve, reject) => {
    const abort = () => fiber.unsafeInterruptAsFork(fiber.id())
    signal.addEventListener("abort", abort, { once: true })
    fiber.addObserver((exit) => {
      signal.removeEventListener("abort", abort)
      if (exit._tag === "Success") return resolve(exit.value)
      const refused = Cause.failureOption(exit.cause)
      reject(
        refused._tag === "Some"
          ? Object.assign(new Error(refused.value.reason), { code: refused.value.code })
          : Object.assign(new Error("The application could not answer"), { code: -32603 })
      )
    })
  })
