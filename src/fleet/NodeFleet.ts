/**
 * The cluster under a fleet, for Node: PostgreSQL for the shards, sockets between the nodes, and a watch on each home.
 *
 * It differs from `NodeClusterSocket` in four ways: sockets without Nagle's delay, nothing of a call in the database,
 * every home watches the others, and a home that is frozen loses its locks.
 */
import * as MessageStorage from "@effect/cluster/MessageStorage"
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as RunnerHealth from "@effect/cluster/RunnerHealth"
import * as Runners from "@effect/cluster/Runners"
import * as RunnerStorage from "@effect/cluster/RunnerStorage"
import type { Sharding } from "@effect/cluster/Sharding"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SocketRunner from "@effect/cluster/SocketRunner"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import * as Socket from "@effect/platform/Socket"
import type { SocketServerError } from "@effect/platform/SocketServer"
import * as RpcClient from "@effect/rpc/RpcClient"
import * as RpcSerialization from "@effect/rpc/RpcSerialization"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as RuntimeLog from "../runtimeLog.ts"

export interface Options {
  /** The address of the PostgreSQL database, with its password. */
  readonly url: Redacted.Redacted
  /** Where the other nodes reach this one. A node that only calls needs none. */
  readonly address: { readonly host: string; readonly port: number } | undefined
  /** Where this node listens, if that is not its address. */
  readonly listen: { readonly host: string; readonly port: number } | undefined
  /** How often a home is asked whether it is alive. */
  readonly watchEvery: Duration.DurationInput
  /** After how long without an answer a home loses its shards. */
  readonly deadAfter: Duration.DurationInput
  /** How long the calls in flight at a home that closes may take. */
  readonly drain: Duration.DurationInput
  /** The largest message between two nodes, in bytes. */
  readonly maxMessageBytes: number
}

export const defaults: Omit<Options, "url"> = {
  address: undefined,
  listen: undefined,
  watchEvery: Duration.millis(500),
  deadAfter: Duration.seconds(4),
  drain: Duration.seconds(5),
  maxMessageBytes: 64 * 1024 * 1024
}

const applicationName = (address: { readonly host: string; readonly port: number }): string =>
  `mcp-fleet ${address.host}:${address.port}`.slice(0, 63)

/** Connects to another node. */
const protocol = Layer.effect(
  Runners.RpcClientProtocol,
  Effect.map(
    RpcSerialization.RpcSerialization,
    (serialization) => ({ host, port }: RunnerAddress.RunnerAddress) =>
      NodeSocket.makeNet({ host, port, noDelay: true, openTimeout: 1_000 }).pipe(
        Effect.flatMap((socket) => Effect.provideService(RpcClient.makeProtocolSocket(), Socket.Socket, socket)),
        Effect.provideService(RpcSerialization.RpcSerialization, serialization),
        Effect.orDie
      )
  )
)

/** Asks a node whether it is alive. */
const isAlive = (runners: Runners.Runners["Type"], { deadAfter }: Options) => (address: RunnerAddress.RunnerAddress) =>
  runners.ping(address).pipe(
    Effect.timeout(Duration.unsafeDivide(Duration.decode(deadAfter), 2)),
    Effect.retry({ times: 1, schedule: Schedule.spaced("100 millis") }),
    Effect.isSuccess
  )

type Watched = readonly [runner: { readonly address: RunnerAddress.RunnerAddress }, isHealthy: boolean]

/**
 * Watches the other homes. The cluster has one watch for all, which dies with the home that runs it; and a home that is
 * frozen keeps its locks as long as its connection to the database is open.
 */
const watch = (options: Options, self: RunnerAddress.RunnerAddress) =>
  Effect.gen(function*() {
    const runners = yield* Runners.Runners
    const storage = yield* RunnerStorage.RunnerStorage
    const sql = yield* SqlClient.SqlClient
    const alive = isAlive(runners, options)

    const unlock = (address: RunnerAddress.RunnerAddress) =>
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${applicationName(address)}`

    /** Never calls the last healthy home dead, so that two homes that lose sight of each other do not both go. */
    const check = (all: ReadonlyArray<Watched>) => ([{ address }, wasHealthy]: Watched) =>
      Effect.gen(function*() {
        if (address.host === self.host && address.port === self.port) return
        const isHealthy = yield* alive(address)
        const isLast = all.filter(([, isHealthy]) => isHealthy).length <= 1
        if (isHealthy === wasHealthy || (!isHealthy && isLast)) return
        yield* storage.setRunnerHealth(address, isHealthy)
        if (!isHealthy) yield* unlock(address)
      })

    yield* storage.getRunners.pipe(
      Effect.flatMap((all) => Effect.forEach(all, check(all), { concurrency: "unbounded", discard: true })),
      Effect.catchAllCause((cause) => RuntimeLog.debug("could not watch the homes of the fleet", cause)),
      Effect.repeat(Schedule.spaced(options.watchEvery)),
      Effect.forkScoped
    )
  })

/** Sharding over PostgreSQL. With an address this node can be a home; without, it only calls. */
export const layer = (
  given: Pick<Options, "url"> & Partial<Options>
): Layer.Layer<Sharding, SocketServerError | SqlError> => {
  const options: Options = { ...defaults, ...given }
  const address = options.address === undefined
    ? undefined
    : RunnerAddress.make(options.address.host, options.address.port)
  const listen = options.listen === undefined ? undefined : RunnerAddress.make(options.listen.host, options.listen.port)

  const config = ShardingConfig.layer({
    runnerAddress: Option.fromNullable(address),
    runnerListenAddress: Option.fromNullable(listen),
    entityTerminationTimeout: options.drain,
    refreshAssignmentsInterval: "500 millis",
    sendRetryInterval: "100 millis",
    shardLockRefreshInterval: "3 seconds",
    shardLockExpiration: "12 seconds",
    entityMessagePollInterval: "1 second",
    simulateRemoteSerialization: false
  })
  const sql = PgClient.layer({
    url: options.url,
    applicationName: address === undefined ? "mcp-fleet" : applicationName(address)
  })
  const storage = Layer.merge(MessageStorage.layerNoop, SqlRunnerStorage.layer)
  const serialization = RpcSerialization.layerMsgPackWith({ maxBufferSize: options.maxMessageBytes })
  const below = Layer.mergeAll(storage, protocol).pipe(
    Layer.provideMerge(serialization),
    Layer.provideMerge(config),
    Layer.provideMerge(sql)
  )
  if (address === undefined) return quiet(SocketRunner.layerClientOnly.pipe(Layer.provide(below)))

  const { host, port } = listen ?? address
  const health = Layer.effect(
    RunnerHealth.RunnerHealth,
    Effect.map(Runners.Runners, (runners) => ({ isAlive: isAlive(runners, options) }))
  ).pipe(Layer.provide(Runners.layerRpc))
  return quiet(
    Layer.scopedDiscard(watch(options, address)).pipe(
      Layer.provideMerge(SocketRunner.layer),
      Layer.provide([NodeSocketServer.layer({ host, port, noDelay: true }), health]),
      Layer.provide(below)
    )
  )
}

/** The cluster logs to stderr, and only what concerns an operator. */
const quiet = <A, E, R>(cluster: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  RuntimeLog.layerOnStderr(Layer.provide(cluster, Logger.minimumLogLevel(LogLevel.Warning)))
