import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import * as Net from "node:net"
import * as EventStream from "../../src/server/eventStream.ts"
import type * as McpServer from "../../src/server/McpServer.ts"
import * as HttpCaller from "../support/httpCaller.ts"
import * as Leaks from "../support/leaks.ts"
import * as PipedCaller from "../support/pipedCaller.ts"

const { echo, held, stateless } = PipedCaller

const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

const tokens = { ann: Redacted.make("ann-token"), bob: Redacted.make("bob-token") }
const ann = { authorization: "Bearer ann-token" }
const bob = { authorization: "bearer bob-token" }

/** Goes on telling until somebody has read so much. */
const progressing: McpServer.Handler = ({ params, progress }) =>
  Effect.sync(() => {
    for (let n = 1; n <= Number(params["n"]); n++) progress({ progress: n })
    return {}
  })

describe("HttpEndpoint admission", () => {
  const cases: ReadonlyArray<readonly [string, HttpCaller.Headers, number]> = [
    ["admits its own host name", {}, 404],
    ["refuses another host name", { host: "evil.example" }, 403],
    ["refuses a host name that begins like its own", { host: "localhost.evil.example" }, 403],
    ["admits a page of this machine", { origin: "http://localhost:5173" }, 404],
    ["admits a page of an allowed origin", { origin: "https://app.example" }, 404],
    ["refuses a page of another origin", { origin: "https://evil.example" }, 403],
    ["refuses a page with the origin null", { origin: "null" }, 403],
    ["refuses a page of another scheme", { origin: "file://localhost" }, 403],
    ["refuses a caller without a token", { authorization: undefined }, 401],
    ["refuses an unknown token", { authorization: "Bearer ann-toke" }, 401],
    ["refuses a token of another scheme", { authorization: "Basic ann-token" }, 401]
  ]
  for (const [name, headers, status] of cases) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const { post } = yield* HttpCaller.serve(PipedCaller.offer(), { tokens, origins: ["https://app.example"] })
        const response = yield* post(ping, { ...ann, "mcp-session-id": "nothing", ...headers })
        assert.strictEqual(response.status, status)
        if (status === 401) assert.strictEqual(response.header("www-authenticate"), "Bearer realm=\"test\"")
        yield* response.text
      }))
  }

  it.scopedLive("answers the preflight request of a page", () =>
    Effect.gen(function*() {
      const { ask } = yield* HttpCaller.serve(PipedCaller.offer(), { tokens })
      const response = yield* ask("OPTIONS", {
        origin: "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-param-x"
      })
      assert.strictEqual(response.status, 204)
      assert.strictEqual(response.header("access-control-allow-origin"), "http://localhost:5173")
      assert.strictEqual(response.header("access-control-allow-headers"), "content-type,mcp-param-x")
      yield* response.text
    }))
})

describe("HttpEndpoint with malformed requests", () => {
  const cases: ReadonlyArray<
    readonly [string, string, HttpCaller.Headers, string | undefined, number, number | undefined]
  > = [
    ["refuses another HTTP method", "PUT", {}, "{}", 405, -32600],
    ["refuses a body of another content type", "POST", { "content-type": "text/plain" }, "{}", 415, -32600],
    ["refuses a body without a content type", "POST", { "content-type": undefined }, "{}", 415, -32600],
    ["refuses a POST that does not accept event streams", "POST", { accept: "application/json" }, "{}", 406, -32600],
    ["refuses a POST that does not accept JSON", "POST", { accept: "text/event-stream" }, "{}", 406, -32600],
    ["refuses a GET that does not accept event streams", "GET", { accept: "application/json" }, undefined, 406, -32600],
    [
      "accepts types with qualities",
      "POST",
      { accept: "application/json ; q=0.9, text/event-stream ; q=0.5" },
      "{",
      400,
      -32700
    ],
    ["answers a body that is not JSON with a parse error", "POST", {}, "{", 400, -32700],
    ["answers an empty body with a parse error", "POST", {}, "", 400, -32700],
    ["refuses an object that is not a message", "POST", {}, "{\"id\":1}", 400, -32600],
    ["refuses an empty list", "POST", {}, "[]", 400, -32600],
    ["refuses a body over the limit", "POST", {}, `"${"x".repeat(2_000)}"`, 413, -32600],
    ["refuses a request without a session id", "POST", {}, JSON.stringify(ping), 400, -32600],
    [
      "answers a request of an unknown session with 404",
      "POST",
      { "mcp-session-id": "x" },
      JSON.stringify(ping),
      404,
      -32600
    ],
    [
      "refuses a request of an unknown version",
      "POST",
      { "mcp-protocol-version": "1999-01-01" },
      JSON.stringify(ping),
      400,
      -32022
    ],
    ["refuses a GET without a session id", "GET", {}, undefined, 400, -32600],
    ["answers a GET of an unknown session with 404", "GET", { "mcp-session-id": "x" }, undefined, 404, -32600],
    ["refuses a DELETE without a session id", "DELETE", {}, undefined, 400, -32600],
    ["refuses a GET in the stateless era", "GET", { "mcp-protocol-version": "2026-07-28" }, undefined, 405, -32600]
  ]
  for (const [name, method, headers, body, status, code] of cases) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const { ask } = yield* HttpCaller.serve(PipedCaller.offer(), { maxMessageBytes: 1_024 })
        const response = yield* ask(method, { ...HttpCaller.accepting, ...headers }, body)
        assert.strictEqual(response.status, status)
        assert.strictEqual((yield* response.json).error?.code, code)
      }))
  }

  it.scopedLive("ends a body that does not arrive after a timeout, and serves other callers meanwhile", () =>
    Effect.gen(function*() {
      const { answered, begin, session } = yield* HttpCaller.serve(PipedCaller.offer(), { requestTimeout: "1 second" })
      const half = begin("POST", { ...HttpCaller.accepting, "content-length": "100" })
      half.write("{\"jsonrpc\":")
      const waiting = yield* Effect.fork(answered(half))
      const other = yield* session()
      assert.deepStrictEqual((yield* Effect.flatMap(other.request(1, "ping"), ({ json }) => json)).result, {})
      assert.strictEqual((yield* waiting).status, 408)
    }))

  it.scopedLive("refuses a chunked body over the limit", () =>
    Effect.gen(function*() {
      const { answered, begin } = yield* HttpCaller.serve(PipedCaller.offer(), { maxMessageBytes: 1_024 })
      const request = begin("POST", { ...HttpCaller.accepting, "transfer-encoding": "chunked" })
      request.end("x".repeat(2_000))
      assert.strictEqual((yield* answered(request)).status, 413)
    }))

  it.scopedLive("accepts a request after the announced keep-alive, and closes an idle connection later", () =>
    Effect.gen(function*() {
      const { listener } = yield* HttpCaller.serve(PipedCaller.offer(), { keepAliveTimeout: "1500 millis" })
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => Net.connect(listener.port, "127.0.0.1").setEncoding("utf8")),
        (socket) => Effect.sync(() => socket.destroy())
      )
      let heard = ""
      let isOver = false
      socket.on("data", (text) => (heard += text)).on("error", () => undefined).on("close", () => {
        isOver = true
      })
      const asked = Effect.gen(function*() {
        heard = ""
        socket.write(`GET /health HTTP/1.1\r\nhost: 127.0.0.1:${listener.port}\r\n\r\n`)
        yield* Leaks.eventually(() => heard.startsWith("HTTP/1.1 404 "), () => "no answer")
      })
      yield* asked
      assert.match(heard, /^keep-alive: timeout=1\r$/im)
      yield* Effect.sleep("2 seconds")
      yield* asked
      yield* Leaks.eventually(() => isOver, () => "the connection is still there")
    }))

  it.scopedLive("queues 800 connections while the process is busy", () =>
    Effect.gen(function*() {
      const crowd = 800
      const { listener } = yield* HttpCaller.serve(PipedCaller.offer())
      const port = listener.port.toString(16).toUpperCase().padStart(4, "0")
      const connectedHere = new RegExp(`^ *\\d+: 0100007F:${port} (\\S+) 01 `, "gm")
      yield* Effect.acquireUseRelease(
        Effect.sync(() => Array.from({ length: crowd }, () => Net.connect(listener.port, "127.0.0.1"))),
        (sockets) =>
          Effect.async<void>((resume) => {
            for (const socket of sockets) socket.on("error", () => undefined)
            // they connect in the next tick, and are let in only once the loop goes round
            process.nextTick(() => {
              // the table is read in pieces: where others come and go meanwhile, a line is there twice, or not at all
              const waiting = new Set<string | undefined>()
              for (let look = 0; look < 5 && waiting.size < crowd; look++) {
                const table = readFileSync("/proc/self/net/tcp", "utf8")
                for (const [, other] of table.matchAll(connectedHere)) waiting.add(other)
              }
              resume(Effect.sync(() => assert.strictEqual(waiting.size, crowd)))
            })
          }),
        (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
      )
    }))

  it.scopedLive("serves other callers after bytes that are not HTTP", () =>
    Effect.gen(function*() {
      const { listener, session } = yield* HttpCaller.serve(PipedCaller.offer())
      yield* Effect.async<void>((resume) => {
        const socket = Net.connect(listener.port, "127.0.0.1", () => socket.write("\u0000\u0001 nonsense\r\n\r\n"))
        socket.on("error", () => undefined)
        socket.resume().on("close", () => resume(Effect.void))
        return Effect.sync(() => socket.destroy())
      })
      const other = yield* session()
      assert.strictEqual((yield* other.request(1, "ping")).status, 200)
    }))
})

describe("a session over HTTP", () => {
  it.scopedLive("begins with a handshake, has a random id, and answers with one JSON text", () =>
    Effect.gen(function*() {
      const { listener, open, session } = yield* HttpCaller.serve(PipedCaller.offer({ echo }))
      const first = yield* open()
      assert.strictEqual(first.response.type, "application/json")
      assert.match(first.session, /^[0-9a-f]{32}$/)
      assert.deepInclude((yield* first.response.json).result, { protocolVersion: "2025-11-25" })
      const { request } = yield* session()
      const response = yield* request(5, "echo", { a: 1 })
      assert.strictEqual(response.type, "application/json")
      assert.deepStrictEqual(yield* response.json, { jsonrpc: "2.0", id: 5, result: { echo: { a: 1 } } })
      assert.strictEqual(listener.endpoint.sessions(), 2)
    }))

  it.scopedLive("gets a question on the stream of its request, and answers with a POST", () =>
    Effect.gen(function*() {
      const { session } = yield* HttpCaller.serve(
        PipedCaller.offer({ asking: ({ ask }) => ask("elicitation/create", { message: "really?" }) })
      )
      const { post, request } = yield* session()
      const response = yield* request(1, "asking")
      const { message } = yield* response.message
      assert.strictEqual(message.method, "elicitation/create")
      assert.strictEqual((yield* post({ jsonrpc: "2.0", id: message.id, result: { action: "decline" } })).status, 202)
      assert.deepStrictEqual(yield* response.rest, [{ jsonrpc: "2.0", id: 1, result: { action: "decline" } }])
    }))

  it.scopedLive("gets no answer to a cancelled request", () =>
    Effect.gen(function*() {
      const { begun, handler, stopped } = yield* held
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ slow: handler }))
      const { post, request } = yield* session()
      const call = yield* Effect.fork(request(1, "slow", { name: "a" }))
      yield* begun("a")
      yield* post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* stopped("a")
      assert.strictEqual(yield* Effect.flatMap(call, ({ text }) => text), "")
    }))

  it.scopedLive("does not exist after a failed handshake", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      const { listener, post } = yield* HttpCaller.serve(
        PipedCaller.offer({}, {
          open: () => Effect.zipRight(Effect.addFinalizer(() => Deferred.succeed(closed, undefined)), Effect.die("bug"))
        }),
        { maxSessions: 1 }
      )
      for (let i = 0; i < 2; i++) {
        const { json } = yield* post({
          ...ping,
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {} }
        })
        assert.strictEqual((yield* json).error?.code, -32603)
      }
      yield* Deferred.await(closed)
      assert.strictEqual(listener.endpoint.sessions(), 0)
    }))

  it.scopedLive("takes notifications and responses with 202", () =>
    Effect.gen(function*() {
      const { session } = yield* HttpCaller.serve(PipedCaller.offer())
      const { post } = yield* session()
      assert.strictEqual((yield* post({ jsonrpc: "2.0", method: "notifications/initialized" })).status, 202)
      assert.strictEqual((yield* post({ jsonrpc: "2.0", id: 9, result: {} })).status, 202)
    }))

  it.scopedLive("is not found with the token of another caller", () =>
    Effect.gen(function*() {
      const { ask, post, session } = yield* HttpCaller.serve(PipedCaller.offer(), { tokens })
      const mine = yield* session(ann)
      const theirs = { ...bob, "mcp-session-id": mine.id }
      assert.strictEqual((yield* post(ping, theirs)).status, 404)
      assert.strictEqual((yield* ask("GET", { ...theirs, accept: "text/event-stream" })).status, 404)
      assert.strictEqual((yield* ask("DELETE", theirs)).status, 404)
      assert.strictEqual((yield* mine.request(1, "ping")).status, 200)
    }))

  it.scopedLive("is not found after a DELETE, which interrupts its requests", () =>
    Effect.gen(function*() {
      const { begun, handler, stopped } = yield* held
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ slow: handler }))
      const { end, request } = yield* session()
      const call = yield* Effect.fork(request(1, "slow", { name: "a" }))
      yield* begun("a")
      assert.strictEqual((yield* end).status, 200)
      yield* stopped("a")
      assert.strictEqual((yield* call).status, 404)
      assert.strictEqual((yield* request(2, "ping")).status, 404)
      assert.strictEqual((yield* end).status, 404)
    }))

  it.scopedLive("ends after the session timeout", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      const { listener, session } = yield* HttpCaller.serve(
        PipedCaller.offer({}, {
          open: () => Effect.as(Effect.addFinalizer(() => Deferred.succeed(closed, undefined)), { handlers: new Map() })
        }),
        { sessionTimeout: "100 millis" }
      )
      const { request } = yield* session()
      yield* Deferred.await(closed)
      assert.strictEqual(listener.endpoint.sessions(), 0)
      assert.strictEqual((yield* request(1, "ping")).status, 404)
    }))

  it.scopedLive("is evicted for a new one only while it is idle", () =>
    Effect.gen(function*() {
      const { begun, handler } = yield* held
      const { open, session } = yield* HttpCaller.serve(PipedCaller.offer({ slow: handler }), { maxSessions: 2 })
      const busy = yield* session()
      const idle = yield* session()
      yield* Effect.forkScoped(busy.request(1, "slow", { name: "a" }))
      yield* begun("a")
      const third = yield* session()
      assert.strictEqual((yield* idle.request(1, "ping")).status, 404)
      yield* Effect.forkScoped(third.request(1, "slow", { name: "b" }))
      yield* begun("b")
      const { response } = yield* open()
      assert.strictEqual(response.status, 503)
      assert.deepInclude(yield* response.json, { id: 0 })
      assert.strictEqual((yield* busy.request(2, "ping")).status, 200)
    }))

  it.scopedLive("counts against the limit during its handshake", () =>
    Effect.gen(function*() {
      const [there, begun] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { open } = yield* HttpCaller.serve(
        PipedCaller.offer({}, {
          open: () =>
            Deferred.succeed(begun, undefined).pipe(
              Effect.zipRight(Deferred.await(there)),
              Effect.as({ handlers: new Map() })
            )
        }),
        { maxSessions: 1 }
      )
      const first = yield* Effect.fork(open())
      yield* Deferred.await(begun)
      assert.strictEqual((yield* open()).response.status, 503)
      yield* Deferred.succeed(there, undefined)
      assert.strictEqual((yield* first).response.status, 200)
    }))

  it.scopedLive("answers a batch as a stream in the version that has batches", () =>
    Effect.gen(function*() {
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ echo }))
      const { post } = yield* session({}, "2025-03-26")
      const response = yield* post([ping, { ...ping, id: 2, method: "echo" }, { jsonrpc: "2.0", method: "x" }])
      assert.strictEqual(response.type, "text/event-stream")
      assert.sameMembers((yield* response.rest).map(({ id }) => id), [1, 2])
      assert.strictEqual((yield* post([])).status, 400)
    }))
})

describe("an event stream over HTTP", () => {
  const telling = Effect.gen(function*() {
    const gates = yield* held
    const handler: McpServer.Handler = (exchange) =>
      Effect.gen(function*() {
        exchange.progress({ progress: 1 })
        yield* gates.handler({ ...exchange, params: { name: "one" } })
        exchange.progress({ progress: 2 })
        yield* gates.handler({ ...exchange, params: { name: "two" } })
        return { done: true }
      })
    return { ...gates, handler }
  })
  const params = { _meta: { progressToken: "t" } }
  const progressOf = ({ message }: { readonly message: PipedCaller.Message }) => message.params?.["progress"]

  it.scopedLive("sends progress as it happens, and ends with the answer", () =>
    Effect.gen(function*() {
      const { handler, release } = yield* telling
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ work: handler }))
      const { request } = yield* session()
      const response = yield* request(1, "work", params)
      assert.strictEqual(response.type, "text/event-stream")
      assert.strictEqual(progressOf(yield* response.message), 1)
      yield* release("one")
      assert.strictEqual(progressOf(yield* response.message), 2)
      yield* release("two")
      assert.deepStrictEqual((yield* response.rest).map(({ id }) => id), [1])
    }))

  it.scopedLive("resumes after the last event id without duplicates", () =>
    Effect.gen(function*() {
      const { begun, handler, release } = yield* telling
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ work: handler }))
      const { get, request } = yield* session()
      const response = yield* request(1, "work", params)
      const first = yield* response.message
      yield* response.leave
      yield* release("one")
      yield* begun("two")
      const rest = yield* get(first.id)
      assert.strictEqual(progressOf(yield* rest.message), 2)
      yield* release("two")
      assert.deepStrictEqual((yield* rest.rest).map(({ result }) => result), [{ done: true }])
      // the connection may have broken before that arrived
      const again = yield* get(first.id)
      assert.lengthOf(yield* again.rest, 2)
    }))

  it.scopedLive("cancels the call when a broken stream is not resumed, also after it was resumed once", () =>
    Effect.gen(function*() {
      const { handler, stopped } = yield* telling
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ work: handler }), { resumeTimeout: "150 millis" })
      const { get, request } = yield* session()
      const response = yield* request(1, "work", params)
      const { id } = yield* response.message
      yield* response.leave
      const again = yield* get(id)
      // longer than the first break may have lasted
      yield* Effect.sleep("200 millis")
      yield* again.leave
      yield* stopped("one")
    }))

  it.scopedLive("cancels the call at once when it breaks in the stateless era", () =>
    Effect.gen(function*() {
      const { handler, stopped } = yield* telling
      const { stateless: post } = yield* HttpCaller.serve(PipedCaller.offer({ work: handler }))
      const response = yield* post(1, "work", stateless({}, { progressToken: "t" }))
      yield* response.message
      yield* response.leave
      yield* stopped("one")
    }))

  it.scopedLive("keeps messages without a request for the next reader, and serves only the latest reader", () =>
    Effect.gen(function*() {
      const peers: Array<McpServer.Peer> = []
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({}, {
        open: (peer) =>
          Effect.sync(() => {
            peers.push(peer)
            return { handlers: new Map() }
          })
      }))
      const { get } = yield* session()
      const { notify } = peers[0]!
      notify("n", { n: 1 })
      const first = yield* get()
      assert.deepStrictEqual((yield* first.message).message.params, { n: 1 })
      const second = yield* get()
      // the first one is told that it is over
      assert.deepStrictEqual(yield* first.rest, [])
      notify("n", { n: 2 })
      assert.deepStrictEqual((yield* second.message).message.params, { n: 2 })
    }))

  it.scopedLive("sends comments while there are no messages", () =>
    Effect.gen(function*() {
      const { session } = yield* HttpCaller.serve(PipedCaller.offer(), { keepAlive: "20 millis" })
      const { get } = yield* session()
      const response = yield* get()
      assert.strictEqual(Option.getOrThrow(yield* response.event).comment, ": open")
      assert.strictEqual(Option.getOrThrow(yield* response.event).comment, ": keep-alive")
    }))

  it.scopedLive("makes senders wait while it is not read, and loses nothing", () =>
    Effect.gen(function*() {
      const text = "x".repeat(256 * 1024)
      const channel = new EventStream.EventStream({
        name: "1",
        primes: false,
        maxMessageBytes: 1024 * 1024,
        keepAlive: Duration.minutes(1)
      })
      const pull = yield* Stream.toPull(channel.stream())
      yield* pull
      let sent = 0
      const sending = yield* Effect.fork(Effect.forEach(
        Array.from({ length: 60 }, (_, id) => id),
        (id) => Effect.map(channel.send({ jsonrpc: "2.0", id, result: { text } }), () => ++sent),
        { concurrency: "unbounded", discard: true }
      ))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      assert.strictEqual(sent, 16)
      let read = ""
      while (!read.includes("\"id\":59")) {
        for (const bytes of yield* pull) read += Buffer.from(bytes).toString().replaceAll(text, "")
      }
      yield* sending
      assert.strictEqual(read.match(/"id":/g)?.length, 60)
    }))

  it.scopedLive("drops progress without room and keeps the answer", () =>
    Effect.gen(function*() {
      const { session } = yield* HttpCaller.serve(PipedCaller.offer({ progressing }))
      const { request } = yield* session()
      const all = yield* (yield* request(1, "progressing", { n: 20_000, ...params })).rest
      assert.isBelow(all.length, 1_000)
      assert.strictEqual(all.at(-1)?.id, 1)
    }))
})

describe("the stateless era over HTTP", () => {
  const headers = { "mcp-name": "t" }
  const params = stateless({ name: "t" })
  const cases: ReadonlyArray<readonly [string, string, HttpCaller.Headers, object, number, number | undefined]> = [
    ["answers a request without a session", "tools/call", headers, params, 200, undefined],
    ["accepts a name in base64", "tools/call", { "mcp-name": "=?base64?dA==?=" }, params, 200, undefined],
    [
      "refuses a version header that differs from the request",
      "tools/call",
      { ...headers, "mcp-protocol-version": "2025-06-18" },
      params,
      400,
      -32020
    ],
    [
      "refuses a request without a version header",
      "tools/call",
      { ...headers, "mcp-protocol-version": undefined },
      params,
      400,
      -32020
    ],
    [
      "refuses a method header that differs from the request",
      "tools/call",
      { ...headers, "mcp-method": "tools/list" },
      params,
      400,
      -32020
    ],
    [
      "refuses a request without a method header",
      "tools/call",
      { ...headers, "mcp-method": undefined },
      params,
      400,
      -32020
    ],
    ["refuses a name header that differs from the request", "tools/call", { "mcp-name": "u" }, params, 400, -32020],
    ["refuses a request without a name header", "tools/call", {}, params, 400, -32020],
    ["refuses a name header with invalid base64", "tools/call", { "mcp-name": "=?base64?%?=" }, params, 400, -32020],
    [
      "refuses an unknown version",
      "x",
      { "mcp-protocol-version": "2099-01-01" },
      stateless({}, { "io.modelcontextprotocol/protocolVersion": "2099-01-01" }),
      400,
      -32022
    ],
    ["refuses a request without its `_meta`", "tools/call", headers, { name: "t" }, 400, -32602],
    ["answers an unknown method with 404", "nothing", {}, stateless(), 404, -32601],
    ["answers a defect with 500", "bug", {}, stateless(), 500, -32603]
  ]
  for (const [name, method, more, given, status, code] of cases) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const { stateless } = yield* HttpCaller.serve(
          PipedCaller.offer({ "tools/call": echo, bug: () => Effect.die("bug") })
        )
        const response = yield* stateless(1, method, given, more)
        assert.strictEqual(response.status, status)
        const { error, id } = yield* response.json
        assert.deepStrictEqual({ id, code: error?.code }, { id: 1, code })
      }))
  }

  it.scopedLive("refuses requests over the limit with 503", () =>
    Effect.gen(function*() {
      const { begun, handler, release } = yield* held
      const { stateless: post } = yield* HttpCaller.serve(PipedCaller.offer({ slow: handler }), { maxRequests: 1 })
      const first = yield* Effect.fork(post(1, "slow", stateless({ name: "a" })))
      yield* begun("a")
      const second = yield* post(2, "slow", stateless({ name: "b" }))
      assert.strictEqual(second.status, 503)
      assert.deepInclude(yield* second.json, { id: 2 })
      yield* release("a")
      assert.strictEqual((yield* first).status, 200)
    }))

  it.scopedLive("takes an answer only from the caller that got the question", () =>
    Effect.gen(function*() {
      const { stateless: post } = yield* HttpCaller.serve(
        PipedCaller.offer({ asking: ({ ask }) => ask("roots/list") }),
        { tokens }
      )
      const asked = yield* (yield* post(1, "asking", stateless(), ann)).json
      const answer = stateless({
        requestState: asked.result?.["requestState"],
        inputResponses: Object.fromEntries(
          Object.keys(asked.result?.["inputRequests"] ?? {}).map((key) => [key, { roots: [] }])
        )
      })
      const theirs = yield* post(2, "asking", answer, bob)
      assert.strictEqual((yield* theirs.json).error?.code, -32602)
      const mine = yield* post(3, "asking", answer, ann)
      assert.deepInclude((yield* mine.json).result, { roots: [] })
    }))
})

describe("HttpEndpoint close", () => {
  it.live("ends its streams in good order, and leaks nothing", () =>
    Leaks.assertNoLeak(Effect.gen(function*() {
      const { begun, handler, stopped } = yield* held
      const scope = yield* Scope.make()
      const served = yield* Scope.extend(HttpCaller.serve(PipedCaller.offer({ slow: handler })), scope)
      const { get, request } = yield* served.session()
      const alone = yield* get()
      const listening = yield* served.stateless("l", "subscriptions/listen", stateless({ notifications: {} }))
      yield* listening.message
      yield* Effect.fork(request(1, "slow", { name: "a" }).pipe(Effect.catchAllCause(() => Effect.void)))
      yield* begun("a")
      yield* served.listener.endpoint.close
      assert.deepStrictEqual((yield* listening.rest).map(({ id }) => id), ["l"])
      assert.deepStrictEqual(yield* alone.rest, [])
      assert.strictEqual((yield* served.post(ping)).status, 503)
      yield* Scope.close(scope, Exit.void)
      yield* stopped("a")
    })))
})
