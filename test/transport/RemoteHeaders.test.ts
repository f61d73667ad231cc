import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"
import * as Peer from "../fixtures/httpPeer.ts"
import * as Configs from "../support/configs.ts"
import * as Client from "../support/httpTransport.ts"
import * as Leaks from "../support/leaks.ts"

const resolved = (config: Partial<ServerConfig.HttpInput>, env: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(
    RemoteHeaders.RemoteHeaders,
    (headers) => headers.resolve(Configs.http({ name: "peer", url: "http://127.0.0.1:1", ...config }))
  ).pipe(
    Effect.map((source) =>
      Object.fromEntries(Array.from(source.current(), ([name, value]) => [name, Redacted.value(value)]))
    ),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
    Effect.scoped
  )

const node = (script: string): readonly [string, ...ReadonlyArray<string>] => [process.execPath, "-e", script]

const prints = (value: unknown) => node(`console.log(${JSON.stringify(JSON.stringify(value))})`)

describe("the headers of a remote server", () => {
  it.effect("are those of its configuration, later sources first, whatever the case of their names", () =>
    Effect.gen(function*() {
      const headers = { "X-Key": "k", AUTHORIZATION: "Basic old" }
      assert.deepStrictEqual(yield* resolved({ headers }), { "x-key": "k", authorization: "Basic old" })
      const token = yield* resolved({ headers, bearerTokenEnvVar: "MY_TOKEN" }, { MY_TOKEN: " t\n" })
      assert.deepStrictEqual(token, { "x-key": "k", authorization: "Bearer t" })
    }))

  it.live("are not sent without encryption to another machine, unless the entry allows it", () =>
    Effect.gen(function*() {
      const token = { MY_TOKEN: "canary" }
      const sources: ReadonlyArray<Partial<ServerConfig.HttpInput>> = [
        { headers: { Authorization: "Bearer canary" } },
        { headers: { "X-Api-Key": "canary" } },
        { headers: { cookie: "canary" } },
        { bearerTokenEnvVar: "MY_TOKEN" },
        { headersCommand: prints({ authorization: "canary" }) }
      ]
      for (const source of sources) {
        for (const url of ["http://mcp.example/mcp", "http://10.0.0.1/", "http://localhost.example/"]) {
          const error = yield* Effect.flip(resolved({ url, ...source }, token))
          assert.deepInclude(error, { _tag: "ConfigurationError", path: "url" })
          assert.notInclude(error.message, "canary")
        }
        assert.lengthOf(
          Object.keys(yield* resolved({ url: "http://mcp.example/mcp", allowUnencrypted: true, ...source }, token)),
          1
        )
        for (const url of ["https://mcp.example/mcp", "http://localhost:1/", "http://[::1]/"]) {
          assert.lengthOf(Object.keys(yield* resolved({ url, ...source }, token)), 1)
        }
      }
      const harmless = { headers: { "x-region": "eu" } }
      assert.deepStrictEqual(yield* resolved({ url: "http://mcp.example/mcp", ...harmless }), { "x-region": "eu" })
    }))

  it.effect("need the variable that holds the token", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(resolved({ bearerTokenEnvVar: "MY_TOKEN" }))
      assert.deepInclude(error, { _tag: "ConfigurationError", path: "bearerTokenEnvVar" })
    }))

  for (
    const [name, headers] of [
      ["a name that is no token", { "a b": "1" }],
      ["an empty name", { "": "1" }],
      ["a line break", { "x-a": "1\nx-b: 2" }],
      ["a character beyond latin1", { "x-a": "日" }],
      ["the framing", { "Transfer-Encoding": "chunked" }],
      ["the host", { Host: "elsewhere" }]
    ] as const
  ) {
    it.effect(`cannot hold ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(resolved({ headers }))
        assert.deepInclude(error, { _tag: "ConfigurationError", server: "peer" })
      }))
  }

  it.effect("treat a header called __proto__ as a name like any other", () =>
    Effect.gen(function*() {
      const headers = new Map([["__proto__", Redacted.make("x")]])
      const source = yield* RemoteHeaders.fromConfig(Configs.http({ name: "peer", url: "http://a", headers }))
      assert.deepStrictEqual(Array.from(source.keys()), ["__proto__"])
    }))

  it.scopedLive("are requested before each request, and learn of a refusal", () =>
    Effect.gen(function*() {
      let current = new Map([["authorization", Redacted.make("Bearer 1")]])
      const refusals: Array<string> = []
      const peer = yield* Peer.serve((hit) => {
        if (hit.headers.authorization === "Bearer 2") Peer.json(hit, Peer.answer(hit))
        else hit.response.writeHead(401, { "www-authenticate": "Bearer" }).end()
      })
      const layer = Layer.succeed(RemoteHeaders.RemoteHeaders, {
        resolve: () =>
          Effect.succeed({
            current: () => current,
            refused: (error) => {
              refusals.push(McpError.label(error))
            }
          })
      })
      const client = yield* Client.open(peer.url).pipe(Effect.provide(layer))
      assert.deepInclude(yield* client.outcome(Client.call(1)), { _tag: "AuthorizationFailed", reason: "unauthorized" })
      current = new Map([["authorization", Redacted.make("Bearer 2")]])
      assert.deepInclude(yield* client.outcome(Client.call(2)), { id: 2 })
      assert.deepStrictEqual(refusals, ["AuthorizationFailed/unauthorized"])
    }))
})

describe("a program that prints headers", () => {
  it.live("sets headers in place of those of the configuration", () =>
    Effect.gen(function*() {
      const headers = yield* resolved({
        headers: { Authorization: "old", "x-a": "1" },
        headersCommand: prints({ authorization: "new" })
      })
      assert.deepStrictEqual(headers, { authorization: "new", "x-a": "1" })
    }))

  it.live("gets no more of the environment than a server", () =>
    Effect.gen(function*() {
      const host = { PATH: "/bin", HOME: "/h", GITHUB_TOKEN: "canary", NODE_OPTIONS: "--canary", HTTPS_PROXY: "canary" }
      const headers = yield* resolved({
        headersCommand: node("console.log(JSON.stringify({ x: Object.keys(process.env).sort().join() }))")
      }).pipe(Effect.provide(HostEnvironment.layer(host)))
      assert.deepStrictEqual(headers, { x: "HOME,PATH" })
    }))

  const fails = (name: string, command: readonly [string, ...ReadonlyArray<string>], detail: RegExp) =>
    it.live(name, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(resolved({ headersCommand: command }))
        assert.deepInclude(error, { _tag: "ConfigurationError" })
        assert.match("detail" in error ? String(error.detail) : "", detail)
        assert.notInclude(error.message, "secret")
      }))

  fails("that does not exist is told by its errno", ["/no/such/program"], /ENOENT/)
  fails("that fails is told by its exit code", node("console.log('secret'); process.exit(3)"), /exit code 3/)
  fails("that prints no JSON is told without what it printed", node("console.log('secret')"), /JSON/)
  fails("that prints a list is told", prints(["secret"]), /JSON/)
  fails("that prints something other than texts is told", prints({ "x-secret": 1 }), /JSON/)
  fails(
    "that prints too much is ended",
    node("process.stdout.write('x'.repeat(1e6)); setTimeout(() => {}, 1e6)"),
    /bytes/
  )
  fails("that prints a broken header is refused", prints({ "x-a": "secret\r\nx-b: 1" }), /header/)

  it.live("is ended with its child processes when its caller is interrupted", () =>
    Effect.gen(function*() {
      const folder = mkdtempSync(join(tmpdir(), "headers-"))
      const pids = join(folder, "pids")
      const script = `
        const child = require("node:child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 1e6)"])
        require("node:fs").writeFileSync(${JSON.stringify(pids)}, [process.pid, child.pid].join(" "))
        setTimeout(() => {}, 1e6)`
      const running = yield* Effect.fork(resolved({ headersCommand: node(script) }))
      const read = Effect.try(() => readFileSync(pids, "utf8").split(" ").map(Number)).pipe(
        Effect.filterOrFail((found) => found.length === 2 && found.every((pid) => pid > 0)),
        Effect.retry(Schedule.spaced("10 millis"))
      )
      const [parent, child] = yield* read
      yield* Fiber.interrupt(running)
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => !Leaks.isAlive(parent!) && !Leaks.isAlive(child!) })
      rmSync(folder, { recursive: true })
    }))
})
