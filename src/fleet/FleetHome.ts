/**
 * The home of shared connections: runs each server once in the fleet, on the node that holds its shard, for the nodes
 * that call it. Commands, variables and secrets come from the configuration of the home alone.
 */
import * as Entity from "@effect/cluster/Entity"
import * as Sharding from "@effect/cluster/Sharding"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Connector from "../client/Connector.ts"
import * as InputHandlers from "../client/InputHandlers.ts"
import type * as McpClient from "../client/McpClient.ts"
import * as ServerRequests from "../client/serverRequests.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Callers from "./callers.ts"
import * as FleetServer from "./FleetServer.ts"

export interface Options {
  /** The servers that this node can run. Every home of a fleet has the same ones. */
  readonly servers: ReadonlyArray<ServerConfig.Source>
  /** After how long without a call a server is ended; the next call starts it again. */
  readonly maxIdle: Duration.DurationInput
  /** How many calls of all nodes may be in flight at one server. */
  readonly concurrency: number
  /** How often the home tells its callers that it is alive. */
  readonly beat: Duration.DurationInput
  /** After how long without a sign of life a caller is forgotten, with its calls and subscriptions. */
  readonly forgetAfter: Duration.DurationInput
}

export const defaults: Omit<Options, "servers"> = {
  maxIdle: Duration.minutes(5),
  concurrency: 256,
  beat: Duration.seconds(1),
  forgetAfter: Duration.seconds(30)
}

interface Connection {
  readonly incarnation: string
  readonly client: McpClient.McpClient
  readonly scope: Scope.CloseableScope
}

/** How often a home looks whether it still holds its shard. */
const look = Duration.millis(100)

/** The longest wait for the end of a connection. */
const closeWithin = Duration.seconds(10)

/** One connection of the fleet, on this node. */
const home = (configs: ReadonlyMap<string, ServerConfig.ServerConfig>, options: Options) =>
  Effect.gen(function*() {
    const { entityId, shardId } = yield* Entity.CurrentAddress
    const sharding = yield* Sharding.Sharding
    const connector = yield* Connector.Connector
    const clock = yield* Effect.clock
    const scope = yield* Effect.scope
    const run = yield* FiberSet.makeRuntime<never, FleetServer.Result | void, McpError.CallError>()
    const opening = yield* Effect.makeSemaphore(1)
    const callers = new Callers.Callers(scope, clock)
    const { identity, server } = FleetServer.addressOf(entityId)
    const now = (): number => clock.unsafeCurrentTimeMillis()

    /** The answer to a caller of an earlier home, or to one that was forgotten. */
    const unknown: FleetServer.Event = {
      _tag: "Ended",
      error: new McpError.ConnectionLost({
        server,
        reason: "moved",
        detail: "its home no longer knows this node",
        outcome: "unknown"
      })
    }
    /** All incarnations of this home. A call that names one of them was begun here or nowhere. */
    const incarnations = new Set<string>()
    let connection: Connection | undefined
    let isMoving = false
    let usedAt = now()

    const close = (ended: Connection): Effect.Effect<void> =>
      Effect.asVoid(BoundedWait.within(closeWithin)(Scope.close(ended.scope, Exit.void)))

    /** Takes the connection out of use, and ends it. */
    const drop = (ended: Connection, last: (caller: Callers.Caller) => FleetServer.Event): void => {
      if (connection !== ended) return
      connection = undefined
      callers.dismiss(last)
      run(close(ended))
    }

    const open = (declared: JsonRpc.JsonObject): Effect.Effect<Connection, McpError.ConnectError> =>
      Effect.gen(function*() {
        const config = configs.get(server)
        if (config === undefined) {
          const detail = "the home of the fleet has no server of this name"
          return yield* new McpError.ConfigurationError({ server, path: "servers", detail })
        }
        const owned = yield* Scope.fork(scope, ExecutionStrategy.sequential)
        const client = yield* Connector.open(config).pipe(
          Effect.provideService(Connector.Connector, connector),
          Effect.provideService(Connector.Identity, identity),
          Effect.provideService(InputHandlers.InputHandlers, Callers.handlers(callers, declared)),
          Scope.extend(owned),
          Effect.onError(() => Scope.close(owned, Exit.void))
        )
        const incarnation = String(yield* sharding.getSnowflake)
        const opened: Connection = { incarnation, client, scope: owned }
        incarnations.add(incarnation)
        connection = opened
        usedAt = now()
        client.onNotification(({ method, params }) => callers.broadcast({ _tag: "Notification", method, params }))
        client.onPaused((until) => callers.broadcast({ _tag: "Paused", until }))
        client.onEnded((error) => drop(opened, () => ({ _tag: "Ended", error })))
        return opened
      })

    /** The connection, which all callers open together. */
    const connected = (declared: JsonRpc.JsonObject) =>
      opening.withPermits(1)(
        Effect.suspend(() => connection === undefined ? open(declared) : Effect.succeed(connection))
      )

    /** Opens the connection for a caller that does not have it. */
    const openFor = (caller: Callers.Caller, capabilities: JsonRpc.JsonObject): void => {
      if (isMoving || caller.opened !== undefined) return
      caller.opened = "opening"
      run(Effect.match(connected(capabilities), {
        onSuccess: ({ client, incarnation }) => {
          caller.opened = incarnation
          callers.send(caller, openedOf(incarnation, client))
        },
        onFailure: (error) => {
          caller.opened = undefined
          callers.send(caller, { _tag: "Ended", error })
        }
      }))
    }

    const listen = ({ caller: id, capabilities, read, settled }: FleetServer.Listen) =>
      Effect.gen(function*() {
        if (read > 0 && callers.get(id) === undefined) return { read, events: [unknown] }
        const caller = yield* callers.know(id)
        callers.settle(caller, settled)
        if (read >= caller.read + caller.events.length) openFor(caller, capabilities)
        return yield* callers.listen(caller, read, options.beat)
      })

    /** Runs one operation. */
    const perform = (
      { client }: Connection,
      caller: Callers.Caller,
      { call, operation }: FleetServer.Call
    ): Effect.Effect<FleetServer.Result, McpError.CallError> => {
      let progress = 0
      const done = (result: Effect.Effect<JsonRpc.JsonObject | void, McpError.CallError>) =>
        Effect.map(result, (result): FleetServer.Result => ({ result: result ?? {}, progress }))
      switch (operation._tag) {
        case "Request": {
          const { _tag, method, params, passInput, ...options } = operation
          return done(client.request(method, params, {
            ...options,
            passInput: passInput && { capabilities: passInput },
            onProgress: (value) => {
              progress++
              callers.send(caller, { _tag: "Progress", call, progress: { ...value } })
            }
          }))
        }
        case "Notify":
          return done(client.notify(operation.method, operation.params))
        case "Health":
          return done(client.health)
        case "SetLogLevel":
          return done(client.setLogLevel(operation.level))
        case "StderrTail":
          return done(Effect.map(client.stderrTail, (text): JsonRpc.JsonObject => text === undefined ? {} : { text }))
        case "Watch":
          return done(Effect.flatMap(Scope.fork(caller.scope, ExecutionStrategy.sequential), (scope) => {
            const { filter, watching } = operation
            caller.watches.set(watching, { scope, ofResources: (filter.resourceUris ?? []).length > 0 })
            return client.watch(filter).pipe(
              Scope.extend(scope),
              Effect.onError(() => unwatch(caller, watching))
            )
          }))
        case "Unwatch":
          return done(unwatch(caller, operation.watching))
      }
    }

    const unwatch = (caller: Callers.Caller, watching: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        const found = caller.watches.get(watching)
        caller.watches.delete(watching)
        return found === undefined ? Effect.void : Scope.close(found.scope, Exit.void)
      })

    type Answer = Effect.Effect<FleetServer.Result, McpError.CallError | FleetServer.Refused>

    const call = (call: FleetServer.Call): Answer =>
      Effect.suspend((): Answer => {
        const caller = callers.get(call.caller)
        // its calls were forgotten with it, so this one may have been run
        if (caller === undefined) return new FleetServer.Refused({ neverBegun: false })
        const known = caller.calls.get(call.call)
        if (known !== undefined) return joined(known)
        // a copy that was delayed on the way
        if (call.call <= caller.settledTo || caller.settled.has(call.call)) {
          return new FleetServer.Refused({ neverBegun: false })
        }
        const { incarnation } = call
        if (isMoving || connection?.incarnation !== incarnation) {
          return new FleetServer.Refused({ neverBegun: incarnations.has(incarnation) })
        }
        if (callers.inFlight >= options.concurrency) {
          const { concurrency: limit } = options
          return new McpError.Overloaded({ server, queue: "calls", queued: callers.inFlight, limit })
        }
        // the health check of an idle caller does not keep the server
        if (call.operation._tag !== "Health") usedAt = now()
        const running = run(callers.during(caller, perform(connection, caller, call)))
        caller.calls.set(call.call, running)
        return joined(running)
      })

    /** Every request for a call waits for the one execution. The interruption of any of them cancels it. */
    const joined = (running: Callers.Running) =>
      Effect.onInterrupt(Fiber.join(running), () => Fiber.interruptFork(running))

    /** The shard belongs to another node: the calls that have begun are finished, and no other is. */
    const move = Effect.sync(() => {
      const wasMoving = isMoving
      isMoving = !sharding.hasShardId(shardId)
      if (!isMoving || wasMoving) return
      callers.dismiss(({ calls }) => ({ _tag: "Moving", accepted: Array.from(calls.keys()) }))
    })
    yield* Effect.forkScoped(Effect.repeat(move, Schedule.spaced(look)))

    const forgetSilent = Effect.suspend(() =>
      Effect.forEach(
        callers.silentSince(now() - Duration.toMillis(options.forgetAfter)),
        (id) => callers.forget(id),
        { discard: true }
      )
    )
    const sleep = Effect.sync(() => {
      const isUsed = callers.inFlight > 0 || callers.some(hasSubscription)
      if (isUsed) usedAt = now()
      if (connection === undefined || now() - usedAt < Duration.toMillis(options.maxIdle)) return
      drop(connection, () => ({ _tag: "Asleep" }))
    })
    yield* Effect.forkScoped(Effect.repeat(Effect.zipRight(forgetSilent, sleep), Schedule.spaced(options.beat)))

    return FleetServer.FleetServer.of({
      Listen: ({ payload }) => listen(payload),
      Call: ({ payload }) => call(payload),
      Answer: ({ payload }) =>
        Effect.sync(() => {
          const { caller, id, refused, result = {} } = payload
          const question = callers.get(caller)?.questions.get(id)
          const answer = refused === undefined ? Exit.succeed(result) : Exit.fail(new ServerRequests.Refused(refused))
          if (question !== undefined) Deferred.unsafeDone(question, answer)
        }),
      Detach: ({ payload }) => callers.forget(payload.caller)
    })
  })

/** A subscription keeps its server, because changes would be missed while it is asleep. Changed lists are read anew. */
const hasSubscription = ({ watches }: Callers.Caller): boolean =>
  Array.from(watches.values()).some(({ ofResources }) => ofResources)

const openedOf = (
  incarnation: string,
  { capabilities, era, instructions, protocolVersion, serverInfo, transport }: McpClient.McpClient
): FleetServer.Opened => ({
  _tag: "Opened",
  incarnation,
  transport,
  era,
  protocolVersion,
  serverInfo,
  capabilities,
  instructions
})

/** Runs the servers that this node is given. Provide the connector that starts them, and `Sharding`. */
export const layer = (
  options: Pick<Options, "servers"> & Partial<Options>
): Layer.Layer<never, McpError.ConfigurationError, Connector.Connector | Sharding.Sharding> =>
  Layer.unwrapEffect(Effect.map(ServerConfig.all(options.servers), (servers) => {
    const settings: Options = { ...defaults, ...options }
    const configs = new Map(servers.map((config) => [config.name, config]))
    return FleetServer.FleetServer.toLayer(home(configs, settings), {
      // the home ends its connection by itself; the entity without one is small
      maxIdleTime: Duration.sum(settings.forgetAfter, settings.maxIdle),
      concurrency: "unbounded",
      mailboxCapacity: "unbounded",
      disableFatalDefects: true
    })
  }))
