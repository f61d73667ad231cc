import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { rmSync, writeFileSync } from "node:fs"
import * as Https from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebSocketServer } from "ws"
import * as GuardedFetch from "../../src/auth/guardedFetch.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as Proxy from "../../src/transport/http/proxy.ts"
import * as LegacySseTransport from "../../src/transport/LegacySseTransport.ts"
import * as WebSocketTransport from "../../src/transport/WebSocketTransport.ts"
import * as Workspace from "../cli/workspace.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Certificate from "../support/certificate.ts"
import * as Configs from "../support/configs.ts"
import * as ForwardProxy from "../support/forwardProxy.ts"
import * as Client from "../support/httpTransport.ts"
import { weather } from "../support/registry.ts"

const echo = (hit: Peer.Hit) => {
  if (!Peer.standard(hit)) Peer.json(hit, Peer.answer(hit, { content: [{ type: "text", text: "echoed" }] }))
}

type Variables = Readonly<Record<string, string>>

const within = (variables: Variables, setting: Proxy.Setting = "environment") =>
  Layer.merge(HostEnvironment.layer(variables), Layer.succeed(Proxy.DefaultProxy, setting))

/** The address of the proxy of a URL, `"direct"`, or the name of the invalid setting. */
const addressOf = (url: string, variables: Variables, setting?: Proxy.Setting, configured?: string) =>
  Effect.map(
    Effect.provide(Proxy.make, within(variables, setting)),
    (route) =>
      Either.match(route(new URL(url), configured), {
        onLeft: ({ path }) => `invalid ${path}`,
        onRight: (proxy) => proxy?.address ?? "direct"
      })
  )

const p = "http://p.example:3128"

describe("the proxy of a URL", () => {
  for (
    const [url, variables, expected] of [
      ["https://docs.example/mcp", {}, "direct"],
      ["https://docs.example/mcp", { HTTPS_PROXY: p }, p],
      ["wss://docs.example/mcp", { HTTPS_PROXY: p }, p],
      ["https://docs.example/mcp", { https_proxy: p, HTTPS_PROXY: "http://other:1" }, p],
      ["https://docs.example/mcp", { https_proxy: "", HTTPS_PROXY: p }, p],
      ["https://docs.example/mcp", { HTTP_PROXY: p }, "direct"],
      ["https://docs.example/mcp", { ALL_PROXY: p }, p],
      ["https://docs.example/mcp", { ALL_PROXY: "http://other:1", HTTPS_PROXY: p }, p],
      ["https://docs.example/mcp", { HTTPS_PROXY: "p.example:3128" }, p],
      ["https://docs.example/mcp", { HTTPS_PROXY: "https://p.example" }, "https://p.example"],
      ["https://docs.example/mcp", { HTTPS_PROXY: "socks5://p.example:1080" }, "invalid HTTPS_PROXY"],
      ["https://docs.example/mcp", { all_proxy: "http://" }, "invalid all_proxy"],
      ["http://docs.example/mcp", { HTTP_PROXY: p }, p],
      ["ws://docs.example/mcp", { http_proxy: p }, p],
      ["http://docs.example/mcp", { HTTP_PROXY: p, REQUEST_METHOD: "GET" }, "direct"],
      ["http://docs.example/mcp", { http_proxy: p, REQUEST_METHOD: "GET" }, p],
      ["http://localhost:3000/mcp", { ALL_PROXY: p }, "direct"],
      ["http://127.0.0.1:3000/mcp", { ALL_PROXY: p }, "direct"],
      ["http://[::1]:3000/mcp", { ALL_PROXY: p }, "direct"]
    ] as ReadonlyArray<readonly [string, Variables, string]>
  ) {
    it.effect(`is ${expected} for ${url} with ${JSON.stringify(variables)}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* addressOf(url, variables), expected)
      }))
  }

  for (
    const [entry, url, isCovered] of [
      ["*", "https://docs.example/", true],
      ["docs.example", "https://docs.example/", true],
      ["DOCS.example", "https://docs.example./", true],
      ["example", "https://docs.example/", true],
      [".example", "https://docs.example/", true],
      ["*.example", "https://docs.example/", true],
      ["ocs.example", "https://docs.example/", false],
      ["a.docs.example", "https://docs.example/", false],
      ["other,docs.example", "https://docs.example/", true],
      ["other docs.example", "https://docs.example/", true],
      ["docs.example:443", "https://docs.example/", true],
      ["docs.example:443", "https://docs.example:8443/", false],
      ["10.0.0.1", "https://10.0.0.1/", true],
      ["10.0.0.0/8", "https://10.1.2.3/", true],
      ["10.0.0.0/8", "https://11.1.2.3/", false],
      ["10.0.0.0/99", "https://10.1.2.3/", false],
      ["10.0.0.1:8443", "https://10.0.0.1:8443/", true],
      ["fd00::/8", "https://[fd12::1]/", true],
      ["[fd12:0::1]", "https://[fd12::1]/", true],
      ["[fd12::1]:8443", "https://[fd12::1]/", false],
      ["0.1", "https://10.0.0.1/", false]
    ] as const
  ) {
    it.effect(`is ${isCovered ? "none" : "used"} for ${url} with NO_PROXY=${entry}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* addressOf(url, { HTTPS_PROXY: p, NO_PROXY: entry }), isCovered ? "direct" : p)
      }))
  }

  it.effect("is that of the runtime before the environment, and that of the server before both", () =>
    Effect.gen(function*() {
      const variables = { HTTPS_PROXY: "http://other:1", NO_PROXY: "near.example" }
      const url = "https://docs.example/"
      assert.strictEqual(yield* addressOf(url, variables, "direct"), "direct")
      assert.strictEqual(yield* addressOf(url, variables, Redacted.make("http://me:secret@p.example:3128")), p)
      assert.strictEqual(yield* addressOf("https://near.example/", variables, p), "direct")
      assert.strictEqual(yield* addressOf(url, variables, "socks5://p"), "invalid proxy")
      assert.strictEqual(yield* addressOf(url, variables, p, "direct"), "direct")
      assert.strictEqual(yield* addressOf("https://near.example/", variables, "direct", p), p)
    }))
})

const http = (url: string, proxy?: string) => Client.open(url, proxy === undefined ? {} : { proxy })

describe("a server without TLS behind a proxy", () => {
  it.scopedLive("gets whole requests, with the credentials of the proxy left there", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(echo)
      const proxy = yield* ForwardProxy.make(peer.port)
      const variables = { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` }
      const client = yield* Effect.provide(http("http://docs.example:8080/mcp?a=b"), within(variables))
      yield* client.handshake
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
      assert.strictEqual(proxy.asked[0], "POST http://docs.example:8080/mcp?a=b")
      assert.strictEqual(proxy.authorizations[0], `Basic ${Buffer.from("me:p@ss").toString("base64")}`)
      assert.strictEqual(peer.hits[0]?.path, "/mcp?a=b")
      assert.strictEqual(peer.hits[0]?.headers.host, "docs.example:8080")
    }))

  it.scopedLive("is reached over HTTP+SSE too", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        if (hit.verb === "GET") Peer.sse(hit).write("event: endpoint\ndata: /post\n\n")
        else hit.response.writeHead(202).end()
      })
      const proxy = yield* ForwardProxy.make(peer.port)
      const transport = yield* LegacySseTransport.make.pipe(
        Effect.flatMap(({ open }) => open(Configs.sse({ name: "peer", url: "http://docs.example/sse" }))),
        Effect.provide(Layer.merge(Client.teardown([]), within({ HTTP_PROXY: `127.0.0.1:${proxy.port}` })))
      )
      transport.send(Client.call(1))
      yield* peer.until(() => peer.of("POST").length === 1)
      assert.deepStrictEqual(proxy.asked, ["GET http://docs.example/sse", "POST http://docs.example/post"])
    }))

  it.scopedLive("is reached without the proxy if its configuration says so", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(echo)
      const client = yield* Effect.provide(
        http(peer.url, "direct"),
        within({ ALL_PROXY: "http://127.0.0.1:9" }, "http://127.0.0.1:9")
      )
      assert.deepInclude(yield* client.outcome(Client.call(1)), { id: 1 })
    }))
})

describe("a proxy that does not connect", () => {
  for (
    const [what, answer, url, code, isRetryable] of [
      ["asks for a login", 407, "http://docs.example/mcp", "407", false],
      ["asks for a login", 407, "https://docs.example/mcp", "407", false],
      ["forbids the address", 403, "https://docs.example/mcp", "403", false],
      ["does not reach the server", 502, "https://docs.example/mcp", "502", true]
    ] as const
  ) {
    it.scopedLive(`because it ${what} (${url}), is named, without its password and its words`, () =>
      Effect.gen(function*() {
        const proxy = yield* ForwardProxy.make(1, answer)
        const variables = { ALL_PROXY: `http://me:hunter2@127.0.0.1:${proxy.port}` }
        const client = yield* Effect.provide(http(url), within(variables))
        const error = yield* client.outcome(Client.call(1))
        assert.deepInclude(error, {
          _tag: "NetworkError",
          reason: "proxy",
          proxy: proxy.origin,
          outcome: "not-sent",
          code
        })
        assert.strictEqual("isRetryable" in error && error.isRetryable, isRetryable)
        assert.strictEqual(
          "message" in error && error.message,
          `peer: the proxy ${proxy.origin} failed (${code}): it answered with status ${code}`
        )
        assert.notMatch(JSON.stringify(error), /hunter2|secret words/)
      }))
  }

  for (const url of ["http://docs.example/mcp", "https://docs.example/mcp"]) {
    it.scopedLive(`because it does not run, is named (${url})`, () =>
      Effect.gen(function*() {
        const address = `http://127.0.0.1:${yield* Peer.deadPort}`
        const client = yield* Effect.provide(http(url), within({}, address))
        const error = yield* client.outcome(Client.call(1))
        assert.deepInclude(error, { reason: "proxy", proxy: address, code: "ECONNREFUSED", isRetryable: true })
      }))
  }

  it.scopedLive("cannot put its password into a text by quoting the request", () =>
    Effect.gen(function*() {
      const redaction = yield* Redaction.Redaction
      const variables = { ALL_PROXY: "http://me:walnut-harbour@127.0.0.1:9" }
      const basic = Buffer.from("me:walnut-harbour").toString("base64")
      yield* Effect.provide(http("https://docs.example/mcp"), within(variables))
      assert.strictEqual(redaction.text(`Basic ${basic}`), "Basic [redacted]")
      assert.strictEqual(redaction.text("walnut-harbour"), "[redacted]")
    }).pipe(Effect.provide(Redaction.layer({ formats: false }))))

  it.scopedLive("because its address is invalid, fails the connect before anything is sent", () =>
    Effect.gen(function*() {
      const opening = Effect.provide(
        http("https://docs.example/mcp"),
        within({ HTTPS_PROXY: "socks5://me:hunter2@p:1" })
      )
      const error = yield* Effect.flip(opening)
      assert.deepInclude(error, { _tag: "ConfigurationError", path: "HTTPS_PROXY" })
      assert.notInclude(error.message, "hunter2")
    }))

  it.scopedLive("because it is silent, keeps no socket when the transport ends", () =>
    Effect.gen(function*() {
      const proxy = yield* ForwardProxy.make(1, "none")
      const client = yield* Effect.provide(http("https://docs.example/mcp"), within({}, proxy.origin))
      client.transport.send(Client.call(1))
      yield* proxy.until(() => proxy.connections() === 1)
      yield* client.close
      yield* proxy.until(() => proxy.sockets.size === 0)
    }))

  it.scopedLive("because it is silent, keeps no socket when a WebSocket is interrupted", () =>
    Effect.gen(function*() {
      const proxy = yield* ForwardProxy.make(1, "none")
      const opening = WebSocketTransport.make.pipe(
        Effect.flatMap(({ open }) => open(Configs.ws({ name: "peer", url: "wss://docs.example/mcp" }))),
        Effect.scoped,
        Effect.provide(Layer.merge(Client.teardown([]), within({}, proxy.origin)))
      )
      yield* Effect.race(opening, proxy.until(() => proxy.connections() === 1))
      yield* proxy.until(() => proxy.sockets.size === 0)
    }))
})

const certificate = Certificate.make("docs.example")
const certificateOfProxy = Certificate.make("localhost")

/** An MCP server, a registry and a WebSocket server of MCP behind one port with TLS. */
const tls = Effect.gen(function*() {
  const server = Https.createServer(certificate, (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (request.url?.startsWith("/v0.1/") === true) {
        response.end(JSON.stringify(weather))
        return
      }
      const body = Buffer.concat(chunks).toString()
      const answer = request.method === "POST" ? answerTo(body) : undefined
      response.writeHead(request.method === "GET" ? 405 : answer === undefined ? 202 : 200, {
        "content-type": "application/json"
      })
      response.end(answer)
    })
  })
  new WebSocketServer({ server, handleProtocols: () => "mcp" }).on("connection", (socket) => {
    socket.on("message", (data) => {
      const answer = answerTo(String(data))
      if (answer !== undefined) socket.send(answer)
    })
  })
  return yield* Peer.listening(server)
})

const answerTo = (body: string): string | undefined => {
  const { id, method } = JSON.parse(body)
  if (id === undefined) return undefined
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "docs", version: "1" }
    },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "echoed" }] }
  }
  const result = results[method]
  const error = { code: -32601, message: "unknown" }
  return JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) })
}

describe("a server with TLS behind a proxy", () => {
  const authority = join(tmpdir(), `authority-${process.pid}.pem`)
  beforeAll(() => writeFileSync(authority, certificate.cert + certificateOfProxy.cert))
  afterAll(() => rmSync(authority))

  const used = (secure: boolean, proxyCertificate?: Certificate.Certificate) =>
    Effect.gen(function*() {
      const work = yield* Effect.acquireRelease(Effect.sync(Workspace.make), (work) => Effect.sync(work.remove))
      const peer = yield* tls
      const proxy = yield* ForwardProxy.make(peer.port, undefined, proxyCertificate)
      const scheme = proxyCertificate === undefined ? "http" : "https"
      const variables = {
        HTTPS_PROXY: `${scheme}://me:hunter2@localhost:${proxy.port}`,
        ...(secure ? { NODE_EXTRA_CA_CERTS: authority } : {})
      }
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => work.run(args, { variables }))
      return { proxy, run }
    })

  for (const url of ["https://docs.example/mcp", "wss://docs.example/mcp"]) {
    it.scopedLive(
      `is called through a tunnel to its port, with an authority of NODE_EXTRA_CA_CERTS (${url})`,
      () =>
        Effect.gen(function*() {
          const { proxy, run } = yield* used(true)
          const { code, stderr, stdout } = yield* run("call", "--url", url, "echo")
          assert.deepStrictEqual([code, stdout], [0, "echoed\n"], stderr)
          assert.deepStrictEqual([...new Set(proxy.asked)], ["CONNECT docs.example:443"])
          assert.deepStrictEqual([...new Set(proxy.authorizations)], [
            `Basic ${Buffer.from("me:hunter2").toString("base64")}`
          ])
        }),
      60_000
    )
  }

  it.scopedLive("is called through a proxy with TLS", () =>
    Effect.gen(function*() {
      const { proxy, run } = yield* used(true, certificateOfProxy)
      const { code, stderr, stdout } = yield* run("call", "--url", "https://docs.example/mcp", "echo")
      assert.deepStrictEqual([code, stdout], [0, "echoed\n"], stderr)
      assert.deepStrictEqual([...new Set(proxy.asked)], ["CONNECT docs.example:443"])
    }), 60_000)

  it.scopedLive("is called through a proxy with TLS if it has none itself", () =>
    Effect.gen(function*() {
      const work = yield* Effect.acquireRelease(Effect.sync(Workspace.make), (work) => Effect.sync(work.remove))
      const peer = yield* Peer.serve((hit) => {
        if (Peer.standard(hit)) return
        const tools = [{ name: "echo", inputSchema: { type: "object" } }]
        Peer.json(hit, Peer.answer(hit, { tools, content: [{ type: "text", text: "echoed" }] }))
      })
      const proxy = yield* ForwardProxy.make(peer.port, undefined, certificateOfProxy)
      const variables = { HTTP_PROXY: `https://localhost:${proxy.port}`, NODE_EXTRA_CA_CERTS: authority }
      const { code, stderr, stdout } = yield* Effect.promise(() =>
        work.run(["call", "--url", "http://docs.example/mcp", "echo"], { variables })
      )
      assert.deepStrictEqual([code, stdout], [0, "echoed\n"], stderr)
      assert.strictEqual(proxy.asked[0], "POST http://docs.example/mcp")
    }), 60_000)

  it.scopedLive("is not trusted because of the proxy", () =>
    Effect.gen(function*() {
      const { run } = yield* used(false)
      const { code, stderr } = yield* run("call", "--url", "https://docs.example/mcp", "echo")
      assert.strictEqual(code, 4)
      assert.match(stderr, /TLS failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    }), 60_000)

  it.scopedLive("can be the registry", () =>
    Effect.gen(function*() {
      const { proxy, run } = yield* used(true)
      const argv = ["add", "io.github.acme/weather", "--registry", "https://docs.example", "--yes"]
      const { stderr } = yield* run(...argv)
      assert.match(stderr, /Added weather/)
      assert.deepStrictEqual(proxy.asked, ["CONNECT docs.example:443"])
    }), 60_000)

  it.scopedLive("can be an authorization server, whose name is not looked up here", () =>
    Effect.gen(function*() {
      const peer = yield* tls
      const proxy = yield* ForwardProxy.make(peer.port)
      const route = yield* Effect.provide(Proxy.make, within({ HTTPS_PROXY: proxy.origin }))
      const fetch = yield* GuardedFetch.make({
        ca: certificate.cert,
        lookup: () => Effect.dieMessage("looked up"),
        proxyOf: route
      })
      const response = yield* Effect.promise(() => fetch("https://docs.example/v0.1/x"))
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(proxy.asked, ["CONNECT docs.example:443"])
      // names and addresses that are private stay refused
      for (const url of ["https://10.0.0.1/", "https://db.internal/", "https://169.254.169.254/"]) {
        const error = yield* Effect.promise(() => fetch(url).then(() => undefined, (error: unknown) => error))
        assert.deepInclude(error, { reason: "blocked" })
      }
      assert.lengthOf(proxy.asked, 1)
    }))

  it.scopedLive("is not fetched if the proxy refuses, which the error names", () =>
    Effect.gen(function*() {
      const proxy = yield* ForwardProxy.make(1, 407)
      const route = yield* Effect.provide(Proxy.make, within({ HTTPS_PROXY: proxy.origin }))
      const fetch = yield* GuardedFetch.make({ proxyOf: route })
      const error = yield* Effect.promise(() => fetch("https://docs.example/").then(() => undefined, (e: unknown) => e))
      assert.deepInclude(error, { reason: "unreachable", proxy: proxy.origin, errno: "407" })
    }))
})
