import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Client from "../support/httpTransport.ts"
import { transportContract } from "../support/transportContract.ts"

const echo = (hit: Peer.Hit) => Peer.json(hit, Peer.answer(hit, hit.message?.params))

const ids = (count: number) => Array.from({ length: count }, (_, index) => index)

transportContract(
  "Streamable HTTP",
  Effect.gen(function*() {
    const peer = yield* Peer.serve((hit) => {
      if (hit.message?.method === "echo") echo(hit)
    })
    return { open: Client.unstarted(peer.url) }
  }),
  { live: true, ordered: false, ends: false }
)

describe("abandoning a request", () => {
  for (
    const [name, hang] of [
      ["never gets headers", () => undefined],
      ["stops in the middle of its JSON", (hit: Peer.Hit) => {
        hit.response.writeHead(200, { "content-type": "application/json" }).write("{\"jsonrpc\":")
      }],
      ["has a silent stream", (hit: Peer.Hit) => void Peer.sse(hit)],
      ["gets comments only", (hit: Peer.Hit) => {
        const stream = Peer.sse(hit)
        const timer = setInterval(() => stream.write(": ping\n\n"), 5)
        stream.on("close", () => clearInterval(timer))
      }],
      ["gets a byte at a time", (hit: Peer.Hit) => {
        hit.response.writeHead(200, { "content-type": "application/json" })
        const timer = setInterval(() => hit.response.write(" "), 5)
        hit.response.on("close", () => clearInterval(timer))
      }]
    ] as ReadonlyArray<readonly [string, (hit: Peer.Hit) => void]>
  ) {
    it.scopedLive(`that ${name} closes its socket at once and reports nothing`, () =>
      Effect.gen(function*() {
        const peer = yield* Peer.serve((hit) => {
          if (hit.message?.id === 1) hang(hit)
          else echo(hit)
        })
        const client = yield* Client.open(peer.url)
        client.transport.send(Client.call(1))
        yield* peer.until(() => peer.hits.length === 1)
        client.transport.abandon(1)
        yield* peer.until(() => peer.sockets.size === 0)
        assert.deepInclude(yield* client.outcome(Client.call(2)), { id: 2 })
        assert.deepStrictEqual(client.heard.order, ["message 2"])
      }))
  }

  it.scopedLive("that still waits for its turn sends nothing", () =>
    Effect.gen(function*() {
      const held: Array<Peer.Hit> = []
      const peer = yield* Peer.serve((hit) => hit.message?.id === 1 ? void held.push(hit) : echo(hit))
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 1 })
      for (const id of [1, 2, 3]) client.transport.send(Client.call(id))
      yield* peer.until(() => held.length === 1)
      client.transport.abandon(2)
      echo(held[0]!)
      yield* client.heard.answer(3)
      assert.deepStrictEqual(peer.hits.map(({ message }) => message?.id), [1, 3])
    }))
})

describe("the sockets of a connection", () => {
  it.scopedLive("are as few as the limit under a burst, and every call is right", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(echo)
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 16 })
      const answers = yield* Effect.forEach(
        ids(300),
        (id) => client.outcome(Client.request(id, "tools/call", { id })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map((answer) => "result" in answer && answer.result),
        ids(300).map((id) => ({ id }))
      )
      assert.isAtMost(peer.most(), 16)
    }))

  it.scopedLive("are kept for calls one after another", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) =>
        hit.nth % 2 === 0 ? echo(hit) : Peer.sse(hit).end(Peer.event(Peer.answer(hit)))
      )
      const client = yield* Client.open(peer.url)
      for (const id of ids(10)) yield* client.outcome(Client.call(id))
      assert.strictEqual(peer.connections(), 1)
    }))

  it.scopedLive("are closed before the keep-alive limit that the server announces", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        hit.response.setHeader("keep-alive", "timeout=1")
        echo(hit)
      })
      const client = yield* Client.open(peer.url)
      for (const id of ids(3)) yield* client.outcome(Client.call(id))
      assert.strictEqual(peer.connections(), 3)
    }))

  it.scopedLive("never make notifications and answers wait behind calls", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.message?.method !== "tools/call") hit.response.writeHead(202).end()
      })
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 2 })
      for (const id of ids(3)) client.transport.send(Client.call(id))
      client.transport.send({ jsonrpc: "2.0", id: "theirs", result: {} })
      client.transport.send({ jsonrpc: "2.0", method: "notifications/cancelled" })
      yield* peer.until(() => peer.hits.filter(({ message }) => message?.method !== "tools/call").length === 2)
      assert.lengthOf(peer.hits, 4)
    }))

  it.scopedLive("are few for notifications too, which all arrive", () =>
    Effect.gen(function*() {
      const held: Array<Peer.Hit> = []
      const peer = yield* Peer.serve((hit) => {
        held.push(hit)
        if (held.length >= 16) { for (const { response } of held.splice(0)) response.writeHead(202).end() }
      })
      const client = yield* Client.open(peer.url)
      for (const n of ids(48)) {
        assert.isUndefined(client.transport.send({ jsonrpc: "2.0", method: "notifications/progress", params: { n } }))
      }
      yield* peer.until(() => peer.hits.length === 48)
      assert.isAtMost(peer.most(), 16)
    }))

  it.scopedLive("are released by streams that stay open after their answer", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        Peer.sse(hit).write(Peer.event(Peer.answer(hit)))
      })
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 2 })
      for (const id of ids(30)) yield* client.outcome(Client.call(id))
      yield* peer.until(() => peer.sockets.size <= 9)
    }))

  it.scopedLive("are released by bodies of notifications that do not end", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        hit.response.writeHead(202).write("wait")
      })
      const client = yield* Client.open(peer.url)
      for (const _ of ids(30)) client.transport.send({ jsonrpc: "2.0", method: "notifications/progress" })
      yield* peer.until(() => peer.hits.length === 30 && peer.sockets.size <= 8)
    }))

  it.scopedLive("do not pile up over twenty connections", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.standard(hit, "s") || echo(hit))
      for (const id of ids(20)) {
        const client = yield* Client.open(peer.url)
        yield* client.handshake
        assert.deepInclude(yield* client.outcome(Client.call(id)), { id })
        yield* client.close
      }
      yield* peer.until(() => peer.sockets.size === 0)
      assert.lengthOf(peer.of("DELETE"), 20)
    }))

  it.scopedLive("refuse calls only when too many bytes wait", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(() => undefined)
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 1 })
      const big = (id: JsonRpc.Id) => Client.request(id, "tools/call", { text: "x".repeat(3 * 1024 * 1024) })
      const results = ids(5).map((id) => client.transport.send(big(id))?._tag)
      assert.deepStrictEqual(results, [undefined, undefined, undefined, "Overloaded", "Overloaded"])
    }))
})

describe("an idle socket that the server has closed", () => {
  /** Every second request on a socket finds it dead. */
  const stale = (execute: (hit: Peer.Hit) => void) => {
    const used = new WeakSet<object>()
    return Peer.serve((hit) => {
      if (used.has(hit.socket)) {
        hit.socket.destroy()
        return
      }
      used.add(hit.socket)
      execute(hit)
    })
  }

  it.scopedLive("costs a request that only reads nothing", () =>
    Effect.gen(function*() {
      const peer = yield* stale(echo)
      const client = yield* Client.open(peer.url)
      for (const id of ids(6)) assert.deepInclude(yield* client.outcome(Client.request(id, "tools/list")), { id })
    }))

  it.scopedLive("never has a call sent twice, and costs few of them", () =>
    Effect.gen(function*() {
      let executions = 0
      const peer = yield* stale((hit) => {
        executions++
        echo(hit)
      })
      const client = yield* Client.open(peer.url)
      const outcomes = yield* Effect.forEach(ids(20), (id) => client.outcome(Client.call(id)))
      const failed = outcomes.filter((outcome) => "_tag" in outcome)
      assert.lengthOf(failed, 1)
      assert.deepInclude(failed[0], { _tag: "NetworkError", outcome: "unknown" })
      assert.strictEqual(executions, 19)
      assert.lengthOf(peer.hits, 20)
    }))
})

describe("the handshake", () => {
  it.scopedLive("ends when initialized is accepted, because a request could overtake it", () =>
    Effect.gen(function*() {
      let initialized: Peer.Hit | undefined
      const peer = yield* Peer.serve((hit) => {
        if (hit.message?.method === "notifications/initialized") initialized = hit
        else if (!Peer.standard(hit)) echo(hit)
      })
      const client = yield* Client.open(peer.url)
      const handshake = yield* Effect.fork(client.handshake)
      yield* peer.until(() => initialized !== undefined)
      client.transport.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" })
      yield* peer.until(() => peer.hits.length === 3 && peer.hits[2]!.over)
      assert.isNull(handshake.unsafePoll())
      initialized!.response.writeHead(202).end()
      yield* Fiber.join(handshake)
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
    }))

  it.scopedLive("does not cost the requests when its end is refused, or not answered", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.message?.method !== "notifications/initialized") return void (Peer.standard(hit) || echo(hit))
        if (hit.headers["x-refuse"] !== undefined) hit.response.writeHead(500).end()
      })
      for (const headers of [{ "x-refuse": "1" }, {}]) {
        const client = yield* Client.open(peer.url, { headers })
        yield* client.handshake
        assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
      }
    }))
})

describe("closing", () => {
  it.scopedLive("settles at once, deletes the session, and leaves no socket", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.verb === "GET") Peer.sse(hit)
        else if (hit.message?.method === "tools/call") Peer.sse(hit).write(": working\n\n")
        else Peer.standard(hit, "s-1")
      })
      const client = yield* Client.open(peer.url, {}, { maxInFlight: 2 })
      yield* client.handshake
      for (const id of ids(4)) client.transport.send(Client.call(id))
      yield* peer.until(() => peer.hits.length === 5)
      yield* client.close
      yield* peer.until(() => peer.sockets.size === 0)
      assert.deepInclude(peer.of("DELETE")[0]!.headers, {
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-11-25"
      })
      assert.deepStrictEqual(client.heard.order, ["message init-1", "ended"])
      const [end] = client.heard.endings
      assert.deepStrictEqual(ids(4).map((id) => end!.unsent(id)), [false, false, true, true])
      assert.deepInclude(client.ends[0], { server: "peer", transport: "streamable-http", how: "closed" })
      assert.deepInclude(client.transport.send(Client.call(9)), { _tag: "Closed", outcome: "not-sent" })
    }))

  it.scopedLive("does not wait for a farewell that is not answered", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.verb !== "DELETE") Peer.standard(hit, "s-1")
      })
      const client = yield* Client.open(peer.url, {}, { farewellTimeout: "50 millis" })
      yield* client.handshake
      const [took] = yield* Effect.timed(client.close)
      assert.isBelow(Duration.toMillis(took), 5000)
      yield* peer.until(() => peer.sockets.size === 0)
      assert.deepInclude(client.ends[0], { how: "abandoned" })
    }))

  it.scopedLive("lets a notification that was just sent arrive", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.standard(hit) || echo(hit))
      const client = yield* Client.open(peer.url)
      client.transport.send({ jsonrpc: "2.0", method: "notifications/cancelled" })
      yield* client.close
      assert.deepStrictEqual(peer.hits.map(({ message }) => message?.method), ["notifications/cancelled"])
    }))
})
