import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Connector from "../../../src/client/Connector.ts"
import * as Teardown from "../../../src/resilience/Teardown.ts"
import * as Configs from "../../support/configs.ts"
import { isAlive } from "../../support/leaks.ts"
import * as Peers from "../../support/peers.ts"
import { type Cell, connector, era, jsonOf, name, remembers, textOf } from "./cell.ts"

const pids = (peer: Peers.Peer) =>
  Effect.map(peer.processEvents, (events) => events.filter(({ event }) => event === "start").map(({ pid }) => pid))

/** A session that the test closes; its peer stays, so that it can tell how the session has ended. */
const openApart = (cell: Cell, settings?: Peers.Settings) =>
  Effect.gen(function*() {
    const peer = yield* Peers.start(cell.kind, cell.transport, settings)
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const session = yield* Scope.extend(Connector.open(peer.config), scope)
    return { peer, session, close: Scope.close(scope, Exit.void) }
  })

/** What is asked of a server at the end is no race here, however busy the machine is. */
const patient = { stdinGrace: "10 seconds", farewellTimeout: "10 seconds", deadline: "14 seconds" } as const

/** What the test opens is closed before the services of the adapter are. */
const alongside =
  (cell: Cell) =>
  <A, E>(test: Effect.Effect<A, E, Connector.Connector | Teardown.Teardown | Scope.Scope>): Effect.Effect<A, E> =>
    test.pipe(Effect.scoped, Effect.provide(connector(cell, { teardown: patient })))

/** How a connection begins and ends; each test has one of its own. */
export const lifecycle = (cell: Cell) =>
  describe(`${name(cell)}, from beginning to end`, () => {
    const alone = alongside(cell)

    if (cell.transport === "stdio") {
      it.live("starts the server's process exactly once, and leaves none", () =>
        Effect.gen(function*() {
          const { close, peer, session } = yield* openApart(cell)
          yield* session.callTool("echo", { value: "x" })
          yield* close
          const started = yield* pids(peer)
          assert.strictEqual(started.length, 1)
          assert.deepStrictEqual(started.filter(isAlive), [])
        }).pipe(alone))

      it.live("lets a polite server go by itself", () =>
        Effect.gen(function*() {
          const { close, peer } = yield* openApart(cell)
          yield* close
          const events = yield* peer.processEvents
          assert.deepStrictEqual(events.map(({ event }) => event), ["start", "stdin-end", "exit"])
          const teardown = yield* Teardown.Teardown
          const { servers } = yield* teardown.report
          assert.deepStrictEqual(servers.map(({ how, server }) => ({ how, server })), [
            { how: "closed", server: `peer ${cell.kind}` }
          ])
        }).pipe(alone))

      it.live("fails a call whose server dies, and reports the end of the connection", () =>
        Effect.gen(function*() {
          const { peer, session } = yield* openApart(cell)
          const call = yield* Effect.fork(Effect.flip(session.callTool("slow", { token: "dies" })))
          yield* session.callTool("started", { token: "dies" })
          for (const pid of yield* pids(peer)) process.kill(pid, "SIGKILL")
          assert.deepInclude(yield* Fiber.join(call), {
            _tag: "ConnectionLost",
            reason: "exited",
            signal: "SIGKILL",
            outcome: "unknown"
          })
          assert.deepInclude(yield* session.ended, { _tag: "ConnectionLost", reason: "exited" })
        }).pipe(alone))
    } else {
      it.live("leaves no socket at the server", () =>
        Effect.gen(function*() {
          const { close, peer, session } = yield* openApart(cell)
          yield* session.callTool("echo", { value: "x" })
          yield* close
          const { http } = peer
          assert.isDefined(http)
          if (http.openSockets() > 0) {
            yield* Effect.promise(() => http.when(({ open }) => open === 0)).pipe(Effect.timeout("5 seconds"))
          }
        }).pipe(alone))
    }

    if (cell.kind === "1.x" && cell.transport === "streamable-http") {
      it.live("ends its session at the server", () =>
        Effect.gen(function*() {
          const { close, peer } = yield* openApart(cell)
          yield* close
          const ended = peer.http?.events.filter(({ event, method }) => event === "answered" && method === "DELETE")
          assert.deepStrictEqual(ended?.map(({ status }) => status), [200])
        }).pipe(alone))

      it.live("opens one new session for all requests that find theirs expired", () =>
        Effect.gen(function*() {
          const { peer, session } = yield* openApart(cell)
          yield* session.callTool("echo", { value: "before" })
          peer.http?.forgetSessions()
          const call = Effect.flip(session.callTool("echo", { value: "refused" }))
          const [lists, errors] = yield* Effect.all(
            [
              Effect.all([session.tools, session.tools], { concurrency: 2 }),
              Effect.all([call, call], { concurrency: 2 })
            ],
            { concurrency: 2 }
          )
          assert.isTrue(lists.every(({ tools }) => tools.length > 0))
          for (const error of errors) assert.deepInclude(error, { _tag: "SessionExpired", outcome: "unknown" })
          assert.strictEqual(textOf(yield* session.callTool("echo", { value: "after" })), "after")
          const handshakes = peer.http?.events.filter(({ event, rpc }) => event === "request" && rpc === "initialize")
          assert.strictEqual(handshakes?.length, 2)
        }).pipe(alone))
    }

    if (cell.kind === "1.x" && cell.transport === "streamable-http") {
      it.live("renews the watches of an expired session in the new one", () =>
        Effect.gen(function*() {
          const { peer, session } = yield* openApart(cell)
          const uri = "memory://items/watched"
          yield* session.watch({ resourceUris: [uri] })
          const { http } = peer
          assert.isDefined(http)
          yield* peer.canPush
          const before = new Set(http.events.map(({ session }) => session))
          http.forgetSessions()
          yield* session.callTool("echo", { value: "after" })
          // The server can send what belongs to no request once the new session has its stream.
          yield* Effect.promise(() =>
            http.when(({ event, method, session }) => event === "answered" && method === "GET" && !before.has(session))
          )
          const updated = yield* Deferred.make<unknown>()
          session.onNotification(({ method, params }) => {
            if (method === "notifications/resources/updated") {
              Deferred.unsafeDone(updated, Effect.succeed(params["uri"]))
            }
          })
          yield* session.callTool("touch", { uri })
          assert.strictEqual(yield* Deferred.await(updated), uri)
        }).pipe(alone))
    }

    if (cell.kind === "1.x" && cell.transport === "streamable-http") {
      it.live("asks in a new session for the log level of the expired one", () =>
        Effect.gen(function*() {
          const { peer, session } = yield* openApart(cell)
          yield* session.setLogLevel("error")
          peer.http?.forgetSessions()
          const levels: Array<unknown> = []
          session.onNotification(({ method, params }) => {
            if (method === "notifications/message") {
              levels.push(params["level"])
            }
          })
          // The call that finds the session expired is sent again before the level is; the next one is not.
          yield* session.callTool("echo", { value: "after" })
          yield* session.callTool("chatter", { token: "after" })
          assert.deepStrictEqual(levels, ["error"])
        }).pipe(alone))
    }

    if (cell.transport === "sse") {
      it.live("is found behind a configuration for Streamable HTTP", () =>
        Effect.gen(function*() {
          const peer = yield* Peers.start(cell.kind, cell.transport)
          const session = yield* Connector.open(Configs.http({ name: "fallback", url: peer.http?.url ?? "" }))
          assert.strictEqual(session.transport, "sse")
          assert.strictEqual(textOf(yield* session.callTool("echo", { value: "x" })), "x")
        }).pipe(alone))
    }

    if (era(cell) === "stateless" && cell.transport === "streamable-http") {
      it.live("has no session at the server", () =>
        Effect.gen(function*() {
          const { close, peer, session } = yield* openApart(cell)
          yield* session.callTool("echo", { value: "x" })
          yield* close
          const requests = peer.http?.events.filter(({ event }) => event === "request") ?? []
          assert.isTrue(requests.every(({ method, session }) => method === "POST" && session === undefined))
          assert.isFalse(requests.some(({ rpc }) => rpc === "initialize"))
        }).pipe(alone))
    }

    it.live("finds a server that is gone unhealthy", () =>
      Effect.gen(function*() {
        const { peer, session } = yield* openApart(cell)
        for (const pid of yield* pids(peer)) {
          process.kill(pid, "SIGKILL")
        }
        yield* Effect.promise(async () => peer.http?.close())
        const error = yield* Effect.flip(session.health)
        assert.isTrue(error.countsForBreaker)
      }).pipe(alone))

    it.live("fails calls after the end without waiting", () =>
      Effect.gen(function*() {
        const { close, session } = yield* openApart(cell)
        yield* close
        const error = yield* Effect.flip(session.callTool("echo", { value: "late" }))
        assert.deepInclude(error, { _tag: "Closed", outcome: "not-sent" })
      }).pipe(alone))

    it.live("fails at the end a call that is still under way", () =>
      Effect.gen(function*() {
        const { close, session } = yield* openApart(cell)
        const call = yield* Effect.fork(Effect.flip(session.callTool("slow", { token: "closing" })))
        yield* session.callTool("started", { token: "closing" })
        yield* close
        assert.deepInclude(yield* Fiber.join(call), { _tag: "Closed", outcome: "unknown" })
      }).pipe(alone))

    it.live("can be closed at once", () =>
      Effect.gen(function*() {
        const { close, peer } = yield* openApart(cell)
        yield* close
        assert.deepStrictEqual((yield* pids(peer)).filter(isAlive), [])
      }).pipe(alone))

    if (remembers(cell)) {
      it.live("declares and answers nothing unless the application has handlers", () =>
        Effect.gen(function*() {
          const { session } = yield* openApart(cell)
          const { capabilities } = Object(jsonOf(yield* session.callTool("client")))
          assert.notProperty(capabilities, "elicitation")
          assert.notProperty(capabilities, "sampling")
          assert.notProperty(capabilities, "roots")
          const refused = yield* session.callTool("elicit", { question: "anybody?" }).pipe(
            Effect.match({
              onFailure: (error) => error._tag === "RemoteError",
              onSuccess: (result) => result.isError
            })
          )
          assert.isTrue(refused)
          assert.strictEqual(textOf(yield* session.callTool("echo", { value: "fine" })), "fine")
        }).pipe(alone))
    }

    if (cell.adapter === "client" && cell.kind === "2.x") {
      it.live("uses the session era with a server of both if it is configured", () =>
        Effect.gen(function*() {
          const { peer, session } = yield* openApart(cell, { protocol: "session" })
          assert.strictEqual(session.era, "session")
          assert.strictEqual(textOf(yield* session.callTool("echo", { value: "x" })), "x")
          if (cell.transport === "stdio") assert.strictEqual((yield* pids(peer)).length, 1)
        }).pipe(alone))
    }

    if (cell.kind === "1.x" && cell.adapter === "client") {
      it.live("does not fall back where the configuration wants the stateless era", () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(openApart(cell, { protocol: "stateless" }))
          assert.deepInclude(error, { _tag: "HandshakeFailed", reason: "version" })
        }).pipe(alone))
    }
  })

/** The sdk adapter before a server that speaks the stateless era only. */
export const unreachable = (cell: Cell) =>
  describe(name(cell), () => {
    it.live("fails without a common protocol version, and leaves nothing", () =>
      Effect.gen(function*() {
        const peer = yield* Peers.start(cell.kind, cell.transport)
        const error = yield* Effect.flip(Effect.scoped(Connector.open(peer.config)))
        assert.deepInclude(error, { _tag: "HandshakeFailed", reason: "version", server: "peer 2.x-stateless" })
        const started = yield* pids(peer)
        assert.strictEqual(started.length, cell.transport === "stdio" ? 1 : 0)
        assert.deepStrictEqual(started.filter(isAlive), [])
      }).pipe(alongside(cell)))
  })
