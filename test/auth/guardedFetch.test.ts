import { assert, describe, it } from "@effect/vitest"
import * as Sdk from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { getEventListeners } from "node:events"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Zlib from "node:zlib"
import * as GuardedFetch from "../../src/auth/guardedFetch.ts"
import { GuardedFetchError } from "../../src/auth/guardedFetch.ts"
import type * as UrlGuard from "../../src/auth/UrlGuard.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Certificate from "../support/certificate.ts"

const rules: UrlGuard.Rules = { loopback: true, privateHosts: [] }

const local = GuardedFetch.make({ rules })

const failure = (promise: Promise<Response>): Effect.Effect<GuardedFetchError> =>
  Effect.promise(async () => {
    const error: unknown = await promise.then(
      (response) => `answered with ${response.status}`,
      (error: unknown) => error
    )
    assert.instanceOf(error, GuardedFetchError)
    return error
  })

const reason = (promise: Promise<Response>) => Effect.map(failure(promise), (error) => error.reason)

/** A lookup that gives these addresses, one list after the other, and remembers what it was asked for. */
const scripted = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const lookup: GuardedFetch.Lookup = (host) =>
    Effect.sync(() => {
      asked.push(host)
      const addresses = answers[asked.length - 1] ?? ["10.9.9.9"]
      return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    })
  return { asked, lookup }
}

const certificate = Certificate.make("as.example")

const secure = (handle: Http.RequestListener) => Peer.listening(Https.createServer(certificate, handle))

const plain = (handle: Http.RequestListener) => Peer.listening(Http.createServer(handle))

const text = (response: Response) => Effect.promise(() => response.text())

describe("what is fetched", () => {
  it.scopedLive("is asked for with nothing but what was given, and never by the same socket twice (oa-043)", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => Peer.json(hit, { issuer: "x" }, { "set-cookie": "a=b" }))
      const fetch = yield* local
      const response = yield* Effect.promise(() => fetch(`${peer.origin}/a?b=c`))
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { issuer: "x" })
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      assert.isFalse(response.headers.has("set-cookie"))
      yield* Effect.promise(() => fetch(new URL(peer.url), { headers: { Accept: "application/json" } }))
      assert.deepStrictEqual(peer.hits.map(({ path }) => path), ["/a?b=c", "/mcp"])
      const usual = { host: `127.0.0.1:${peer.port}`, "accept-encoding": "identity", connection: "close" }
      assert.deepStrictEqual(peer.hits.map(({ headers }) => ({ ...headers })), [
        { ...usual, accept: "*/*" },
        { ...usual, accept: "application/json" }
      ])
      yield* peer.until(() => peer.sockets.size === 0)
      assert.strictEqual(peer.connections(), 2)
    }))

  it.scopedLive("may be sent something, with credentials but without a say about the connection", () =>
    Effect.gen(function*() {
      const got: Array<string> = []
      const peer = yield* plain((request, response) => {
        request.setEncoding("utf8").on("data", (chunk: string) => got.push(chunk))
        request.on("end", () => response.end(JSON.stringify(request.rawHeaders)))
      })
      const fetch = yield* local
      const headers = new Headers({
        authorization: "Basic x",
        host: "evil.example",
        "accept-encoding": "br",
        te: "gzip"
      })
      const response = yield* Effect.promise(() =>
        fetch(peer.url, { method: "post", headers, body: new URLSearchParams({ code: "a b" }) })
      )
      const told: ReadonlyArray<string> = JSON.parse(yield* text(response))
      const pairs = told.flatMap((name, at) => at % 2 === 0 ? [`${name.toLowerCase()}: ${told[at + 1]}`] : [])
      assert.deepStrictEqual(pairs.toSorted(), [
        "accept-encoding: identity",
        "accept: */*",
        "authorization: Basic x",
        "connection: close",
        "content-length: 8",
        "content-type: application/x-www-form-urlencoded;charset=UTF-8",
        `host: 127.0.0.1:${peer.port}`
      ])
      assert.deepStrictEqual(got, ["code=a+b"])
    }))

  it.scopedLive("is an answer too if it says no, or nothing", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        const status = Number(hit.path.slice(1))
        hit.response.writeHead(status).end(status === 204 ? "" : "words")
      })
      const fetch = yield* local
      for (
        const [status, body] of [[204, ""], [205, ""], [400, "words"], [401, "words"], [404, "words"], [
          503,
          "words"
        ]] as const
      ) {
        const response = yield* Effect.promise(() => fetch(`${peer.origin}/${status}`))
        assert.deepStrictEqual([response.status, yield* text(response)], [status, body])
      }
      assert.strictEqual(yield* reason(fetch(`${peer.origin}/700`)), "unreachable")
    }))

  it.scopedLive("is what was compressed, although nobody asked for that", () =>
    Effect.gen(function*() {
      const codings = new Map([["gzip", Zlib.gzipSync], ["deflate", Zlib.deflateSync], ["br", Zlib.brotliCompressSync]])
      const peer = yield* Peer.serve((hit) => {
        const coding = hit.path.slice(1)
        const code = codings.get(coding)
        hit.response.writeHead(200, { "content-encoding": coding }).end(code?.("{}") ?? "{}")
      })
      const fetch = yield* local
      for (const coding of codings.keys()) {
        const response = yield* Effect.promise(() => fetch(`${peer.origin}/${coding}`))
        assert.deepStrictEqual([yield* text(response), response.headers.get("content-encoding")], ["{}", null])
      }
      assert.strictEqual(yield* reason(fetch(`${peer.origin}/zstd`)), "unreachable")
      assert.strictEqual(yield* reason(fetch(`${peer.origin}/x-gzip`)), "unreachable")
    }))
})

describe("what is not gone to", () => {
  it.scopedLive("is an address that the guard refuses; nobody is even asked where it is (oa-041, oa-042)", () =>
    Effect.gen(function*() {
      const { asked, lookup } = scripted()
      const fetch = yield* GuardedFetch.make({ lookup })
      for (
        const [url, fault] of [
          ["http://169.254.169.254/latest/meta-data/", "private-address"],
          ["https://10.0.0.1/jwks.json", "private-address"],
          ["https://vault.internal/", "private-name"],
          ["https://localhost/", "private-name"],
          ["http://as.example/", "not-https"],
          ["https://user@as.example/", "userinfo"],
          ["file:///etc/passwd", "scheme"],
          ["nowhere", "malformed"]
        ] as const
      ) {
        const error = yield* failure(fetch(url))
        assert.deepStrictEqual([error.reason, error.fault], ["blocked", fault], url)
        assert.strictEqual(error._tag, "GuardedFetchError")
        assert.instanceOf(error, TypeError)
      }
      assert.strictEqual(yield* reason(fetch("https://as.example/", { method: "CONNECT" })), "blocked")
      assert.strictEqual(
        yield* reason(fetch("https://as.example/", { method: "POST", body: new FormData() })),
        "blocked"
      )
      assert.deepStrictEqual(asked, [])
    }))

  for (
    const [name, addresses] of [
      ["this machine (url-006)", ["127.0.0.1"]],
      ["this machine in IPv6", ["::1"]],
      ["a cloud's credentials", ["169.254.169.254"]],
      ["everybody and somebody's own network", ["93.184.215.14", "10.0.0.1"]],
      ["an address of a link", ["2606:4700:4700::1111", "fe80::1%eth0"]]
    ] as const
  ) {
    it.scopedLive(`is a name that stands for ${name}`, () =>
      Effect.gen(function*() {
        const peer = yield* secure((_, response) => void response.end("secret"))
        const { asked, lookup } = scripted(addresses)
        const fetch = yield* GuardedFetch.make({ lookup, rules, ca: certificate.cert })
        const error = yield* failure(fetch(`https://127.0.0.1.nip.io:${peer.port}/`))
        assert.deepStrictEqual([error.reason, error.fault], ["blocked", "private-address"])
        assert.deepStrictEqual(asked, ["127.0.0.1.nip.io"])
        assert.strictEqual(peer.connections(), 0)
      }))
  }

  it.scopedLive("is another machine that calls itself this one", () =>
    Effect.gen(function*() {
      const { lookup } = scripted(["93.184.215.14"])
      const fetch = yield* GuardedFetch.make({ lookup, rules })
      assert.strictEqual(yield* reason(fetch("http://localhost:1/")), "blocked")
    }))
})

describe("a name", () => {
  const named = { loopback: false, privateHosts: ["as.example", "other.example"] }

  it.scopedLive("is looked up once, and what was checked is dialled, on the way of a redirect too", () =>
    Effect.gen(function*() {
      const peer = yield* secure((request, response) =>
        void (request.url === "/b" ? response.end("here") : response.writeHead(302, { location: "/b" }).end())
      )
      // each further lookup would give an address that leads nowhere
      const { asked, lookup } = scripted(["127.0.0.1"])
      const fetch = yield* GuardedFetch.make({ lookup, rules: named, ca: certificate.cert })
      const response = yield* Effect.promise(() => fetch(`https://AS.example.:${peer.port}/a`))
      assert.strictEqual(yield* text(response), "here")
      assert.deepStrictEqual(asked, ["as.example"])
      assert.strictEqual(peer.connections(), 2)
    }))

  it.scopedLive("is tried at each of its addresses", () =>
    Effect.gen(function*() {
      const peer = yield* secure((_, response) => void response.end("here"))
      const { lookup } = scripted(["127.0.0.2", "127.0.0.1"])
      const fetch = yield* GuardedFetch.make({ lookup, rules: named, ca: certificate.cert })
      assert.strictEqual(yield* text(yield* Effect.promise(() => fetch(`https://as.example:${peer.port}/`))), "here")
    }))

  it.scopedLive("is what the certificate must be for, whatever the address and the environment", () =>
    Effect.gen(function*() {
      const peer = yield* secure((_, response) => void response.end("secret"))
      const { lookup } = scripted(["127.0.0.1"], ["127.0.0.1"])
      const trusting = yield* GuardedFetch.make({ lookup, rules: named, ca: certificate.cert })
      const other = yield* failure(trusting(`https://other.example:${peer.port}/`))
      assert.deepStrictEqual([other.reason, other.errno], ["unreachable", "ERR_TLS_CERT_ALTNAME_INVALID"])
      const strict = yield* GuardedFetch.make({ lookup, rules: named })
      const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
      const unknown = yield* Effect.ensuring(
        failure(strict(`https://as.example:${peer.port}/`)),
        Effect.sync(() => {
          if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
          else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before
        })
      )
      assert.deepStrictEqual([unknown.reason, unknown.errno], ["unreachable", "DEPTH_ZERO_SELF_SIGNED_CERT"])
    }))

  it.scopedLive("that nobody knows is unreachable", () =>
    Effect.gen(function*() {
      const { lookup } = scripted([])
      const fetch = yield* GuardedFetch.make({ lookup })
      assert.strictEqual(yield* reason(fetch("https://as.example/")), "unreachable")
      // a name that no name server is asked about
      const system = yield* GuardedFetch.make({ rules: { loopback: false, privateHosts: ["a".repeat(64)] } })
      const error = yield* failure(system(`https://${"a".repeat(64)}/`))
      assert.deepStrictEqual([error.reason, error.errno], ["unreachable", "ENOTFOUND"])
    }))

  it.scopedLive("of this machine is one for the system's lookup", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => void hit.response.end("here"))
      const fetch = yield* local
      assert.strictEqual(yield* text(yield* Effect.promise(() => fetch(`http://localhost:${peer.port}/`))), "here")
    }))
})

describe("a redirect", () => {
  const redirecting = (location: (hit: Peer.Hit) => string | undefined, status = 307) =>
    Peer.serve((hit) => {
      const to = location(hit)
      if (to === undefined) hit.response.end(JSON.stringify(hit.headers))
      else hit.response.writeHead(status, { location: to }).end("moved")
    })

  it.scopedLive("is followed by a GET in its origin, without the credentials that were for another address", () =>
    Effect.gen(function*() {
      const peer = yield* redirecting(({ nth }) => ["/b", "c?d", "#x"][nth])
      const fetch = yield* local
      const headers = { authorization: "Bearer a", cookie: "a=b", dpop: "c", "mcp-protocol-version": "2025-11-25" }
      const response = yield* Effect.promise(() => fetch(`${peer.origin}/a/`, { headers, redirect: "manual" }))
      assert.deepStrictEqual(peer.hits.map(({ path }) => path), ["/a/", "/b", "/c?d", "/c?d"])
      assert.include(peer.hits[0]?.headers, { authorization: "Bearer a", cookie: "a=b", dpop: "c" })
      const last: unknown = yield* Effect.promise(() => response.json())
      assert.hasAllKeys(last, ["host", "accept", "accept-encoding", "connection", "mcp-protocol-version"])
    }))

  it.scopedLive("is followed three times", () =>
    Effect.gen(function*() {
      const peer = yield* redirecting(({ nth }) => `/${nth}`)
      const fetch = yield* local
      assert.strictEqual(yield* reason(fetch(peer.url)), "redirect")
      assert.strictEqual(peer.hits.length, 4)
      assert.strictEqual(yield* reason(fetch(peer.url, { redirect: "error" })), "redirect")
      assert.strictEqual(peer.hits.length, 5)
    }))

  it.scopedLive("is not followed to anywhere else", () =>
    Effect.gen(function*() {
      const other = yield* Peer.serve((hit) => void hit.response.end("secret"))
      const places = [
        other.url,
        `//127.0.0.1:${other.port}/`,
        `\\\\127.0.0.1:${other.port}/`,
        "unix:///var/run/docker.sock",
        "http://169.254.169.254/",
        "http://[",
        ""
      ]
      const peer = yield* redirecting(({ nth }) => places[nth])
      const fetch = yield* local
      for (const place of places.slice(0, -1)) {
        assert.strictEqual(yield* reason(fetch(peer.url)), "redirect", place)
      }
      assert.strictEqual(other.connections(), 0)
      const user = yield* redirecting(({ headers }) => `http://u:p@${headers.host}/`)
      assert.strictEqual(yield* reason(fetch(user.url)), "blocked")
      const nowhere = yield* Peer.serve((hit) => void hit.response.writeHead(304).end())
      assert.strictEqual(yield* reason(fetch(nowhere.url)), "redirect")
    }))

  it.scopedLive("is not followed with what was sent", () =>
    Effect.gen(function*() {
      const peer = yield* redirecting(() => "/b")
      const fetch = yield* local
      for (const method of ["POST", "PUT", "DELETE", "HEAD"]) {
        assert.strictEqual(yield* reason(fetch(peer.url, { method })), "redirect", method)
      }
      assert.deepStrictEqual(peer.hits.map(({ path }) => path), ["/mcp", "/mcp", "/mcp", "/mcp"])
    }))
})

describe("too much", () => {
  const mebi = 1024 * 1024

  it.scopedLive("is more than 1 MiB, as it comes or once it is no longer compressed (oa-039)", () =>
    Effect.gen(function*() {
      const bombs = new Map([
        ["/gzip", Zlib.gzipSync(Buffer.alloc(4 * mebi))],
        ["/br", Zlib.brotliCompressSync(Buffer.alloc(mebi + 1))]
      ])
      const peer = yield* Peer.serve((hit) => {
        const bomb = bombs.get(hit.path)
        if (hit.path === "/endless") Peer.endless(hit.response, "{")
        else if (bomb === undefined) hit.response.end(Buffer.alloc(Number(hit.path.slice(1)), 32))
        else hit.response.writeHead(200, { "content-encoding": hit.path.slice(1) }).end(bomb)
      })
      const fetch = yield* local
      for (const path of ["/endless", `/${mebi + 1}`, "/gzip", "/br"]) {
        assert.strictEqual(yield* reason(fetch(peer.origin + path)), "too-large", path)
      }
      const response = yield* Effect.promise(() => fetch(`${peer.origin}/${mebi}`))
      assert.strictEqual((yield* text(response)).length, mebi)
      yield* peer.until(() => peer.sockets.size === 0)
    }))

  it.scopedLive("are more than 32 KiB of headers", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        hit.response.writeHead(200, { x: "x".repeat(Number(hit.path.slice(1)) * 1024) }).end("here")
      })
      const fetch = yield* local
      assert.strictEqual(yield* reason(fetch(`${peer.origin}/33`)), "too-large")
      assert.strictEqual(yield* text(yield* Effect.promise(() => fetch(`${peer.origin}/31`))), "here")
    }))

  for (
    const [name, hang] of [
      ["nothing comes", () => undefined],
      ["a byte comes now and then", (hit: Peer.Hit) => void hit.response.write("{")]
    ] as ReadonlyArray<readonly [string, (hit: Peer.Hit) => void]>
  ) {
    it.scoped(`is to wait for 10 seconds when ${name} (oa-039)`, () =>
      Effect.gen(function*() {
        const peer = yield* Peer.serve(hang)
        const fetch = yield* local
        const error = yield* Effect.fork(failure(fetch(peer.url)))
        yield* peer.until(() => peer.hits.length === 1)
        yield* TestClock.adjust("9 seconds")
        assert.strictEqual(peer.sockets.size, 1)
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual((yield* Fiber.join(error)).reason, "timeout")
        yield* peer.until(() => peer.sockets.size === 0)
      }))
  }

  it.scoped("is to wait for a name server for 10 seconds", () =>
    Effect.gen(function*() {
      const fetch = yield* GuardedFetch.make({ lookup: () => Effect.never })
      const error = yield* Effect.fork(failure(fetch("https://as.example/")))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(error)).reason, "timeout")
    }))
})

describe("a connection", () => {
  it.scopedLive("that is not made, breaks or speaks otherwise is unreachable", () =>
    Effect.gen(function*() {
      const fetch = yield* local
      const dead = yield* failure(fetch(`http://127.0.0.1:${yield* Peer.deadPort}/`))
      assert.deepStrictEqual([dead.reason, dead.errno], ["unreachable", "ECONNREFUSED"])
      for (
        const [bytes, errno] of [
          ["", "ECONNRESET"],
          ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{", "ECONNRESET"],
          ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab", "ECONNRESET"],
          ["HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", "ECONNRESET"],
          ["SSH-2.0-x\r\n", "HPE_INVALID_CONSTANT"]
        ] as const
      ) {
        const peer = yield* Peer.raw((socket) => socket.once("data", () => socket.end(bytes)))
        const error = yield* failure(fetch(peer.url))
        assert.deepStrictEqual([error.reason, error.errno], ["unreachable", errno], bytes)
        yield* peer.until(() => peer.sockets.size === 0)
      }
    }))

  it.scopedLive("is closed when nobody waits any more, who hears what they said themselves", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(() => undefined)
      const fetch = yield* local
      const controller = new AbortController()
      const given = new Error("given up")
      const rejected = Effect.promise(() =>
        fetch(peer.url, { signal: controller.signal }).catch((error: unknown) => error)
      )
      const waiting = yield* Effect.fork(rejected)
      yield* peer.until(() => peer.hits.length === 1)
      const other = yield* Peer.serve((hit) => void hit.response.end("here"))
      yield* Effect.promise(() => fetch(other.url, { signal: controller.signal }))
      assert.strictEqual(getEventListeners(controller.signal, "abort").length, 1)
      controller.abort(given)
      assert.strictEqual(yield* Fiber.join(waiting), given)
      yield* peer.until(() => peer.sockets.size === 0)
      assert.strictEqual(yield* rejected, given)
      assert.strictEqual(peer.connections(), 1)
    }))

  it.scopedLive("is closed with the scope, after which there are no others", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve(() => undefined)
      const { asked, lookup } = scripted(["127.0.0.1"])
      const scope = yield* Scope.make()
      const fetch = yield* Scope.extend(GuardedFetch.make({ lookup, rules }), scope)
      const rejected = Effect.promise(() => fetch(`http://localhost:${peer.port}/`).catch((error: unknown) => error))
      const waiting = yield* Effect.fork(rejected)
      yield* peer.until(() => peer.hits.length === 1)
      yield* Scope.close(scope, Exit.void)
      yield* peer.until(() => peer.sockets.size === 0)
      for (const error of [yield* Fiber.join(waiting), yield* rejected]) {
        assert.instanceOf(error, DOMException)
        assert.strictEqual(error.name, "AbortError")
      }
      assert.deepStrictEqual(asked, ["localhost"])
      assert.strictEqual(peer.connections(), 1)
    }))
})

describe("the SDK", () => {
  it.scopedLive("discovers with it, and makes no guesses after what was blocked", () =>
    Effect.gen(function*() {
      const peer = yield* Peer.serve((hit) => {
        const endpoint = (name: string) => `${peer.origin}/${name}`
        if (hit.path === "/.well-known/oauth-authorization-server") {
          Peer.json(hit, {
            issuer: peer.origin,
            authorization_endpoint: endpoint("authorize"),
            token_endpoint: endpoint("token"),
            response_types_supported: ["code"]
          })
        } else hit.response.writeHead(404).end()
      })
      const fetchFn = yield* local
      const found = yield* Effect.promise(() => Sdk.discoverOAuthServerInfo(peer.url, { fetchFn }))
      assert.strictEqual(found.authorizationServerMetadata?.token_endpoint, `${peer.origin}/token`)
      const before = peer.hits.length
      const resourceMetadataUrl = new URL("http://169.254.169.254/")
      const error: unknown = yield* Effect.promise(() =>
        Sdk.discoverOAuthServerInfo(peer.url, { fetchFn, resourceMetadataUrl }).catch((error: unknown) => error)
      )
      assert.instanceOf(error, GuardedFetchError)
      assert.strictEqual(peer.hits.length, before)
    }))
})
