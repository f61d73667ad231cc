/** Callers with an identity share no connection and no login. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Option, Random, Schedule, Stream, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as CircuitBreaker from "../../src/resilience/CircuitBreaker.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import { layerTest, MemoryServer } from "../../src/testing/index.ts"
import * as Configs from "../support/configs.ts"
import { call, run, server as guarded } from "../support/guarded.ts"
import * as Node from "../support/nodeRuntime.ts"
import { runs } from "../support/runs.ts"

/** A server whose tools and resources answer with the identity that their connection was opened for. */
const labelled = Effect.suspend(() => {
  const owners = new Map<number, string>()
  const owner = ({ io }: Pick<MemoryServer.Context, "io">) => Effect.sync(() => owners.get(io.connection) ?? "nobody")
  return MemoryServer.make({
    onConnect: ({ connection }) =>
      Effect.map(Connector.Identity, (identity) => void owners.set(connection, identity ?? "application")),
    tools: [{ name: "who", call: (_, context) => owner(context) }],
    resources: [{ name: "who", uri: "who:am-i", read: owner }]
  })
})

const options = (identity: string | undefined) => identity === undefined ? {} : { identity }

const who = ({ callTool }: McpRuntime.Service, identity: string | undefined) =>
  Effect.map(
    callTool({ server: "s", tool: "who" }, {}, options(identity)),
    ({ content: [first] }) => first?._tag === "Text" ? first.text : undefined
  )

const withRuntime = <A, E>(
  config: Partial<ServerConfig.StdioInput>,
  body: (runtime: McpRuntime.Service, server: MemoryServer.Server) => Effect.Effect<A, E>
) =>
  Effect.flatMap(labelled, (server) =>
    Effect.flatMap(McpRuntime.McpRuntime, (runtime) => body(runtime, server)).pipe(
      Effect.provide(
        layerTest({ s: server }, { servers: [Configs.memory("s", config)] }).pipe(
          Layer.provide([
            CircuitBreaker.layerNone,
            ReconnectPolicy.layer({ schedule: Schedule.spaced("1 millis"), stormReconnects: Infinity })
          ])
        )
      )
    ))

const users = ["alice", "bob", "carol", undefined]

describe("identity", () => {
  it.live("gives each user a connection, and the application its own", () =>
    withRuntime({}, (runtime, server) =>
      Effect.gen(function*() {
        for (const user of [...users, ...users]) assert.strictEqual(yield* who(runtime, user), user ?? "application")
        assert.strictEqual(server.connections().opened, 4)
        const { users: connected } = yield* runtime.servers.get("s")
        assert.deepStrictEqual(
          connected.map(({ identity, status }) => [identity, status._tag]),
          [["alice", "Connected"], ["bob", "Connected"], ["carol", "Connected"]]
        )
      })))

  it.live("is used by reads, subscriptions of the client and lent clients, too", () =>
    withRuntime({}, (runtime) =>
      Effect.gen(function*() {
        const [read] = yield* runtime.readResource("s", "who:am-i", { identity: "alice" })
        assert.propertyVal(read, "text", "alice")
        const lent = yield* runtime.withClient("s", ({ callTool }) => callTool("who"), { identity: "bob" })
        assert.deepInclude(lent.content[0], { text: "bob" })
      })))

  it.live("shares the connection of a server with the affinity `shared`", () =>
    withRuntime({ affinity: "shared" }, (runtime, server) =>
      Effect.gen(function*() {
        for (const user of users) assert.strictEqual(yield* who(runtime, user), "application")
        assert.strictEqual(server.connections().opened, 1)
      })))

  it.live("leaves the lists of the application to the application", () =>
    withRuntime({ lazy: true }, (runtime) =>
      Effect.gen(function*() {
        yield* who(runtime, "alice")
        const { status, toolCount } = yield* runtime.servers.get("s")
        assert.deepStrictEqual([status._tag, toolCount], ["Idle", undefined])
      })))

  it.live("closes the connection of a user that is idle, and opens another at the next call", () =>
    withRuntime({ idleTimeout: "20 millis" }, (runtime, server) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* who(runtime, "alice"), "alice")
        yield* server.until(() => server.connections().closed === server.connections().opened)
        yield* Effect.repeat(runtime.servers.get("s"), {
          until: ({ users }) => users.length === 0,
          schedule: Schedule.spaced("1 millis")
        })
        assert.strictEqual(yield* who(runtime, "alice"), "alice")
      })))

  it.effect("keeps the connection of a user with a subscription", () =>
    withRuntime({}, (runtime, server) =>
      Effect.gen(function*() {
        const followed = yield* Effect.fork(
          Stream.runDrain(runtime.subscribeResource("s", "who:am-i", { identity: "alice" }))
        )
        yield* server.until(() => server.received("subscriptions/listen").length > 1)
        const { opened } = server.connections()
        for (let minutes = 0; minutes < 20; minutes++) yield* TestClock.adjust("1 minute")
        assert.strictEqual(server.connections().opened, opened)
        assert.isNull(yield* Fiber.poll(followed).pipe(Effect.map(Option.getOrNull)))
        yield* Fiber.interrupt(followed)
      })))

  it.live("ends with its server: disabled, blocked, removed", () =>
    withRuntime({}, (runtime, server) =>
      Effect.gen(function*() {
        yield* who(runtime, "alice")
        yield* runtime.servers.disable("s")
        assert.strictEqual(server.connections().open, 0)
        assert.deepInclude(yield* Effect.flip(who(runtime, "alice")), { _tag: "ServerUnavailable", why: "disabled" })
        yield* runtime.servers.enable("s")
        assert.strictEqual(yield* who(runtime, "alice"), "alice")
        yield* runtime.servers.reload([{ ...Configs.memory("s"), blocked: "untrusted" }])
        assert.deepInclude(yield* Effect.flip(who(runtime, "alice")), { _tag: "ServerUnavailable", why: "untrusted" })
        yield* runtime.servers.reload([])
        assert.deepInclude(yield* Effect.flip(who(runtime, "alice")), { _tag: "NotFound" })
        yield* server.until(() => server.connections().open === 0)
      })))

  it.live(
    "crosses with no other in random interleavings with losses, reloads and switches",
    () =>
      withRuntime({}, (runtime, server) =>
        Effect.gen(function*() {
          const { servers } = runtime
          const configurations = [{}, { concurrency: 8 }, { args: ["other"] }, { idleTimeout: Duration.millis(3) }]
          const change = (kind: number): Effect.Effect<unknown, unknown> => {
            if (kind === 0) return server.drop()
            if (kind === 1) return servers.reconnect("s")
            if (kind === 2) return Effect.zipRight(servers.disconnect("s"), servers.connect("s"))
            if (kind === 3) return Effect.zipRight(servers.disable("s"), servers.enable("s"))
            if (kind === 4) return servers.disconnectAll.pipe(Effect.zipRight(servers.connect("s")))
            return servers.reload([Configs.memory("s", configurations[kind % configurations.length])])
          }
          let answers = 0
          const step = Effect.gen(function*() {
            if ((yield* Random.nextIntBetween(0, 20)) === 0) {
              return yield* Effect.ignore(change(yield* Random.nextIntBetween(0, 9)))
            }
            const user = users[yield* Random.nextIntBetween(0, users.length)]
            const answer = yield* Effect.option(who(runtime, user))
            if (answer._tag === "None") return
            answers++
            assert.strictEqual(answer.value, user ?? "application")
          })
          const steps = runs(10_000)
          yield* Effect.forEach(Array.from({ length: steps }), () => step, { concurrency: 8, discard: true })
          // most calls get an answer, so that the comparison says something
          assert.isAbove(answers, steps / 2)
        }).pipe(Effect.withRandom(Random.make("identity")))),
    120_000
  )

  Node.test(
    "has a login of its own, which no other identity uses and which ends with its logout",
    run({}, (guardedRun) =>
      Effect.gen(function*() {
        const { runtime, server, store } = guardedRun
        const { login, loginStatus, logout } = runtime.servers
        yield* login(guarded, { identity: "alice" })
        const as = (identity: string) => runtime.callTool({ server: guarded, tool: "read" }, {}, { identity })
        assert.isFalse((yield* as("alice")).isError)
        const tokens = () => new Set(server.of("/mcp").flatMap(({ headers }) => headers.authorization ?? []))
        const ofAlice = tokens()
        assert.deepInclude(yield* Effect.flip(as("bob")), { _tag: "AuthorizationFailed" })
        assert.deepInclude(yield* Effect.flip(call(guardedRun)), { _tag: "AuthorizationFailed" })
        assert.deepStrictEqual(tokens(), ofAlice)
        yield* login(guarded, { identity: "bob" })
        assert.isFalse((yield* as("bob")).isError)
        assert.isAbove(tokens().size, ofAlice.size)
        yield* logout(guarded, { identity: "bob" })
        assert.deepInclude(yield* loginStatus(guarded, { identity: "bob" }), { _tag: "LoggedOut" })
        assert.deepInclude(yield* loginStatus(guarded, { identity: "alice" }), { _tag: "LoggedIn" })
        assert.deepInclude(yield* loginStatus(guarded), { _tag: "LoggedOut" })
        assert.isFalse((yield* as("alice")).isError)
        assert.isDefined(store)
      }))
  )
})
