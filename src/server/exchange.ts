/** The requests of callers while they are in flight, the same for both eras. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

/** Where messages to a caller go: a pipe, or one event stream. */
export interface Output {
  /** Waits for room. Messages to a caller that is gone are dropped. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void>
  /** Drops the message if there is no room. */
  readonly offer: (message: JsonRpc.Message) => void
}

/** How a message has arrived, and where its answer goes. */
export interface Arrival {
  readonly output: Output
  readonly principal: string | undefined
  readonly header: McpServer.Exchange["header"]
  /** Called once everything that the message led to was sent. */
  readonly done: () => void
}

/** What both eras serve, and to whom. */
export interface Serving {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
}

export interface Request extends Messages.Request, Arrival {}

export type Result = Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

/** The request, until it is answered: after that the handler can send nothing for it. */
export type CurrentRequest = () => Request | undefined

/** The caller that an `initialize` request or the `_meta` of a stateless request describes, under these keys. */
export const callerOf = (
  source: JsonRpc.JsonObject,
  keys: Readonly<Record<"protocolVersion" | "clientCapabilities" | "clientInfo", string>>,
  { era, link, principal }: Pick<McpServer.Caller, "era" | "link" | "principal">
): Effect.Effect<McpServer.Caller, McpServer.Refusal> => {
  const protocolVersion = source[keys.protocolVersion]
  const capabilities = source[keys.clientCapabilities]
  const info = source[keys.clientInfo]
  if (typeof protocolVersion !== "string") {
    return McpServer.invalidParams(`Invalid params: ${keys.protocolVersion} must be a string`)
  }
  if (!JsonRpc.isObject(capabilities)) {
    return McpServer.invalidParams(`Invalid params: ${keys.clientCapabilities} must be an object`)
  }
  return Effect.succeed({
    era,
    link,
    protocolVersion,
    clientInfo: JsonRpc.isObject(info) ? Messages.objectOf(info) : undefined,
    capabilities: Messages.objectOf(capabilities),
    principal
  })
}

/** The capabilities of an offer, with the extensions for this caller. */
export const capabilitiesFor = (
  { capabilities }: McpServer.Offer,
  { extensions }: McpServer.Service,
  caller: McpServer.Caller
): Effect.Effect<JsonRpc.JsonObject> =>
  extensions === undefined ? Effect.succeed(capabilities) : Effect.map(
    extensions(caller),
    (extensions) => Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions }
  )

/** The notifications and log messages to an output, from a level on. */
export const notifying = (
  output: () => Output | undefined,
  level: () => McpServer.LogLevel | undefined
): Pick<McpServer.Exchange, "log" | "notify"> => {
  const notify: McpServer.Exchange["notify"] = (method, params) => output()?.offer({ jsonrpc: "2.0", method, params })
  return {
    notify,
    log: (message) => {
      const least = level()
      const { logLevels } = McpServer
      if (least === undefined || logLevels.indexOf(message.level) < logLevels.indexOf(least)) return
      notify("notifications/message", { ...message })
    }
  }
}

/** The exchange of a request whose later rounds are other requests: `current` is the one that waits for the answer. */
export const make = (
  { header, method, params }: Request,
  current: CurrentRequest,
  level: () => McpServer.LogLevel | undefined,
  { ask, caller }: Pick<McpServer.Exchange, "ask" | "caller">
): McpServer.Exchange => {
  const { log, notify } = notifying(() => current()?.output, level)
  let last = -Infinity
  return {
    ask,
    caller,
    method,
    params,
    header,
    notify,
    log,
    progress: ({ message, progress, total }) => {
      const { progressToken } = Messages.metaOf(current()?.params ?? {})
      if (typeof progressToken !== "string" && typeof progressToken !== "number") return
      // the protocol wants it to grow, and JSON has no infinite numbers
      if (!Number.isFinite(progress) || progress <= last) return
      last = progress
      const known = Number.isFinite(total) ? { total } : {}
      notify("notifications/progress", { progressToken, progress, ...known, message })
    }
  }
}

export const methodNotFound = (method: string): McpServer.Refusal =>
  McpServer.refusal("methodNotFound", `Method not found: ${method.slice(0, 128)}`)

const duplicate = McpServer.refusal("invalidRequest", "Invalid Request: a request with this id is in flight")
const full = McpServer.refusal("overloaded", "Too many requests at once")
const bug = McpServer.refusal("internal", "Internal error")

type Handling = (current: CurrentRequest) => Result

/** Sends the answer of a handler, unless it is interrupted. Defects go to the log and not to the caller. */
const answer = (request: Request, handling: Handling): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { id, method, output } = request
    let current: Request | undefined = request
    return Effect.suspend(() => handling(() => current)).pipe(
      Effect.map((result): JsonRpc.Success => ({ jsonrpc: "2.0", id, result })),
      Effect.catchAllCause((cause) =>
        Either.match(Cause.failureOrCause(cause), {
          onLeft: (refusal) => Effect.succeed(Messages.failure(id, refusal)),
          onRight: (cause) =>
            Effect.as(
              RuntimeLog.error(`The handler of ${method.slice(0, 128)} died with a defect`, cause),
              Messages.failure(id, bug)
            )
        })
      ),
      Effect.flatMap((message) => {
        current = undefined
        return output.send(message)
      })
    )
  })

/** The requests in flight of one caller, or of all callers without a session. */
export interface InFlight {
  /** Forks the handling, or refuses the request. A key replaces the id where ids of several callers meet. */
  readonly begin: (request: Request, handling: Handling, key?: symbol) => Effect.Effect<void>
  /** Interrupts a request, which is not answered then. */
  readonly cancel: (key: unknown) => void
  readonly isIdle: () => boolean
  /** Waits for all of them, and interrupts those that are left at the limit. */
  readonly drain: (limit: Duration.Duration) => Effect.Effect<void>
}

export const inFlight = (maxRequests: number): Effect.Effect<InFlight, never, Scope.Scope> =>
  Effect.gen(function*() {
    /** Includes cancelled requests that have not ended yet. */
    const running = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(running)<never>()
    const fibers = new Map<unknown, Fiber.RuntimeFiber<void>>()
    return {
      begin: (request, handling, key) =>
        Effect.flatMap(FiberSet.size(running), (size) => {
          const id = key ?? request.id
          const done = Effect.sync(request.done)
          const refusal = fibers.has(id) ? duplicate : size >= maxRequests ? full : undefined
          if (refusal !== undefined) {
            return Effect.ensuring(request.output.send(Messages.failure(request.id, refusal)), done)
          }
          const fiber = fork(Effect.ensuring(answer(request, handling), done))
          fibers.set(id, fiber)
          fiber.addObserver(() => {
            if (fibers.get(id) === fiber) fibers.delete(id)
          })
          return Effect.void
        }),
      cancel: (id) => {
        const fiber = fibers.get(id)
        // a cancelled request has no answer, so its id is free at once
        fibers.delete(id)
        fiber?.unsafeInterruptAsFork(fiber.id())
      },
      isIdle: () => fibers.size === 0,
      drain: (limit) =>
        Effect.zipRight(
          BoundedWait.within(limit)(FiberSet.awaitEmpty(running)),
          Effect.suspend(() => Fiber.interruptAll(fibers.values()))
        )
    }
  })
