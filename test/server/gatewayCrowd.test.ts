import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as NodeHttpListener from "../../src/node/NodeHttpListener.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Gateway from "../support/gateway.ts"
import * as Pool from "../support/pool.ts"

const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" }

interface Rpc {
  readonly id: unknown
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }> }
}

const messageOf = (type: string | null, body: string): Rpc => {
  const text = type?.startsWith("text/event-stream") === true
    ? body.split("\n").findLast((line) => line.startsWith("data: {"))!.slice("data: ".length)
    : body
  return JSON.parse(text)
}

const post = (url: string, message: object, headers: Record<string, string> = {}) =>
  Effect.promise((signal) =>
    fetch(url, { method: "POST", headers: { ...accept, ...headers }, body: JSON.stringify(message), signal })
      .then(async (response) => ({
        status: response.status,
        session: response.headers.get("mcp-session-id"),
        body: await response.text(),
        type: response.headers.get("content-type")
      }))
  )

const version = "2026-07-28"

const envelope = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {}
}

/** A call of a caller that has no session. */
const alone = (url: string, id: number, name: string, args: object) =>
  post(
    url,
    { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta: envelope } },
    { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name }
  )

const begin = (url: string) =>
  Effect.gen(function*() {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "crowd", version: "1" } }
    const { session } = yield* post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params })
    const headers = { "mcp-session-id": session ?? "", "mcp-protocol-version": "2025-11-25" }
    return (id: number, name: string, args: object) =>
      post(url, { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } }, headers)
  })

const names = Array.from({ length: 16 }, (_, at) => `s${at}`)

describe("a gateway with many callers", () => {
  it.scopedLive(
    "answers a thousand calls, none lost or crossed, among malformed requests",
    () =>
      Effect.gen(function*() {
        const peers = yield* Effect.forEach(names, (name) =>
          MemoryServer.make({
            era: "session",
            tools: [{
              name: "echo",
              call: ({ text }) => Effect.as(Effect.sleep(Math.random() * 5), `${name} says ${text}`)
            }]
          }))
        const gateway = yield* Gateway.make(
          Object.fromEntries(names.map((name, at) => [name, peers[at]!])),
          names.map((name) => Pool.remote(name))
        )
        // a thousand heads at once take their time, in one process with those who sent them
        const { url } = yield* NodeHttpListener.serve(gateway, { requestTimeout: "2 minutes" })
        const sessions = yield* Effect.forEach([1, 2, 3], () => begin(url))
        const callers = [...sessions, (id: number, name: string, args: object) => alone(url, id, name, args)]
        const noise = Effect.forEach(
          ["{", "[]", "{\"jsonrpc\":\"2.0\",\"id\":1}", "x".repeat(10_000)],
          (body) =>
            Effect.promise(() =>
              fetch(url, { method: "POST", headers: accept, body }).then((response) => response.text())
            ),
          { discard: true }
        )
        const calls = Effect.forEach(
          Array.from({ length: 1_000 }, (_, at) => at),
          (at) => {
            const server = names[at % names.length]!
            return Effect.map(
              callers[at % callers.length]!(at, `mcp__${server}__echo`, { text: `${at}!` }),
              ({ body, type }) => {
                const { id, result } = messageOf(type, body)
                assert.strictEqual(id, at)
                assert.strictEqual(result.content[0]?.text, `${server} says ${at}!`)
                return 1
              }
            )
          },
          { concurrency: "unbounded" }
        )
        const [answered] = yield* Effect.all([calls, Effect.repeatN(noise, 20)], { concurrency: "unbounded" })
        assert.lengthOf(answered, 1_000)
        assert.strictEqual(peers.reduce((sum, peer) => sum + peer.executions("echo"), 0), 1_000)
      }),
    60_000
  )

  it.scopedLive(
    "cancels the calls of callers that vanish, and closes their connections",
    () =>
      Effect.gen(function*() {
        let cancelled = 0
        const all = yield* Deferred.make<void>()
        const wanted = 60
        const peer = yield* MemoryServer.make({
          era: "session",
          tools: [{
            name: "hang",
            call: (_, context) =>
              Effect.zipRight(
                context.cancelled,
                Effect.suspend(() =>
                  ++cancelled === wanted
                    ? Effect.zipRight(Deferred.succeed(all, undefined), Effect.never)
                    : Effect.never
                )
              )
          }]
        })
        const gateway = yield* Gateway.make({ one: peer }, [Pool.remote("one")])
        const { endpoint, url } = yield* NodeHttpListener.serve(gateway, { resumeTimeout: "50 millis" })
        const session = yield* begin(url)
        const fibers = yield* Effect.forEach(
          Array.from({ length: wanted }, (_, at) => at),
          (at) => Effect.fork(at % 2 === 0 ? alone(url, at, "mcp__one__hang", {}) : session(at, "mcp__one__hang", {}))
        )
        yield* peer.until(() => peer.executions("hang") === wanted)
        assert.strictEqual(peer.connections().open, 2)
        yield* Fiber.interruptAll(fibers)
        yield* Deferred.await(all)
        assert.strictEqual(endpoint.sessions(), 1)
        // the session is still there, and what it has is free
        const { status } = yield* post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, {})
        assert.strictEqual(status, 400)
      }),
    30_000
  )
})
