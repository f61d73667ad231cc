import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, type Scope } from "effect"
import * as Http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as Discovery from "../../src/auth/discovery.ts"
import * as Grant from "../../src/auth/Grant.ts"
import * as GuardedFetch from "../../src/auth/guardedFetch.ts"
import type * as McpError from "../../src/McpError.ts"

describe("discovery", () => {
  type Answers = Readonly<Record<string, { readonly status?: number; readonly body: unknown } | undefined>>

  /** A server that answers by path, and remembers what it was asked. */
  const serving = (answers: (origin: string) => Answers) =>
    Effect.gen(function*() {
      const heard: Array<Http.IncomingMessage> = []
      const sockets = new Set<Socket>()
      const server = Http.createServer((request, response) => {
        heard.push(request)
        const answer = answers(origin)[request.url ?? ""]
        const body = typeof answer?.body === "string" ? answer.body : JSON.stringify(answer?.body ?? {})
        response.writeHead(answer === undefined ? 404 : answer.status ?? 200).end(body)
      })
      server.on("connection", (socket) => sockets.add(socket))
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () =>
          Effect.async<void>((resume) => {
            server.close(() => resume(Effect.void))
            for (const socket of sockets) socket.destroy()
          })
      )
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return { origin, heard }
    })

  const prm = "/.well-known/oauth-protected-resource/mcp/a"
  const as = "/.well-known/oauth-authorization-server"
  const metadata = (issuer: string) => ({ issuer, token_endpoint: `${issuer}/token` })
  const usual = (origin: string): Answers => ({
    [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: [origin] } },
    [as]: { body: metadata(origin) }
  })

  const discover = (
    origin: string,
    { isOwn = true, resourceMetadata, ...configured }: Discovery.Settings["configured"] & {
      readonly isOwn?: boolean
      readonly resourceMetadata?: string
    } = {}
  ) =>
    Effect.gen(function*() {
      return yield* Discovery.discover({
        server: "s",
        url: new URL(`${origin}/mcp/a`),
        fetch: yield* GuardedFetch.make({ rules: { loopback: true, privateHosts: [] } }),
        resourceMetadata,
        settings: { configured, grant: Grant.authorizationCode },
        isOwn
      })
    })

  const outcome = <A>(effect: Effect.Effect<A, McpError.AuthorizationFailed, Scope.Scope>) =>
    Effect.map(Effect.either(effect), Either.match({ onLeft: ({ reason }) => reason, onRight: (found) => found }))

  const test = (
    name: string,
    answers: (origin: string) => Answers,
    body: (
      server: { readonly origin: string; readonly heard: ReadonlyArray<Http.IncomingMessage> }
    ) => Effect.Effect<void, unknown, Scope.Scope>
  ) => it.scopedLive(name, () => Effect.flatMap(serving(answers), body))

  test(
    "finds what a server and its authorization server say, with no credentials (oa-043)",
    usual,
    ({ heard, origin }) =>
      Effect.gen(function*() {
        const found = yield* discover(origin)
        assert.deepStrictEqual([found.issuer, found.resource], [origin, `${origin}/mcp/a`])
        assert.deepStrictEqual(heard.map(({ url }) => url), [prm, as])
        for (const { headers } of heard) {
          assert.deepStrictEqual(Object.keys(headers).toSorted(), ["accept", "accept-encoding", "connection", "host"])
        }
      })
  )

  for (const hidden of ["\u001b[2J", "\u202e", "\n", " "]) {
    test(
      `refuses an authorization server whose name hides something: ${JSON.stringify(hidden)}`,
      (origin) => ({
        ...usual(origin),
        [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: [`${origin}/${hidden}`] } }
      }),
      ({ heard, origin }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(discover(origin)), "metadata")
          assert.strictEqual(heard.length, 1)
        })
    )
  }

  test(
    "refuses an authorization server that says that it is another one (oa-001)",
    (origin) => ({ ...usual(origin), [as]: { body: metadata("https://honest.example") } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      })
  )

  test(
    "takes a folder of the server as its resource only where the person wrote the configuration (oa-020)",
    (origin) => ({ ...usual(origin), [prm]: { body: { resource: `${origin}/mcp`, authorization_servers: [origin] } } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* discover(origin)).resource, `${origin}/mcp`)
        assert.strictEqual(yield* outcome(discover(origin, { isOwn: false })), "metadata")
      })
  )

  test("takes no resource from a workspace but the server itself", usual, ({ origin }) =>
    Effect.gen(function*() {
      const resource = "https://bank.example/"
      assert.strictEqual((yield* discover(origin, { resource })).resource, resource)
      assert.strictEqual(yield* outcome(discover(origin, { resource, isOwn: false })), "metadata")
      assert.strictEqual(
        (yield* discover(origin, { resource: `${origin}/mcp/a`, isOwn: false })).resource,
        `${origin}/mcp/a`
      )
    }))

  for (const resource of ["https://bank.example/mcp/a", "/mcp/ab", "/mc", ""]) {
    test(
      `refuses a server that describes another one: ${resource}`,
      (origin) => ({
        ...usual(origin),
        [prm]: {
          body: {
            resource: resource.startsWith("/") ? `${origin}${resource}` : resource,
            authorization_servers: [origin]
          }
        }
      }),
      ({ origin }) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(discover(origin)), "metadata")
        })
    )
  }

  test(
    "does not go where nobody goes, and looks in the usual place (oa-042)",
    usual,
    ({ heard, origin }) =>
      Effect.gen(function*() {
        for (const resourceMetadata of ["file:///etc/passwd", "javascript:0", "ftp://127.0.0.1/", "no address"]) {
          assert.strictEqual((yield* discover(origin, { resourceMetadata })).issuer, origin)
        }
        assert.strictEqual(heard.length, 8)
      })
  )

  test("goes to no private address that a server names", usual, ({ origin }) =>
    Effect.gen(function*() {
      for (const host of ["169.254.169.254", "10.0.0.1", "[fd00::1]"]) {
        assert.strictEqual(
          yield* outcome(discover(origin, { resourceMetadata: `https://${host}/metadata` })),
          "blocked"
        )
      }
    }))

  test(
    "takes little of what is said (oa-039)",
    (origin) => ({
      ...usual(origin),
      [as]: { body: JSON.stringify({ ...metadata(origin), more: "x".repeat(1024 * 1024) }) }
    }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      })
  )

  test(
    "does not take a prototype for metadata, and does not go to a place of keys (oa-040, oa-041)",
    (origin) => ({
      ...usual(origin),
      [as]: {
        body:
          `{"__proto__":{"code_challenge_methods_supported":["S256"]},"issuer":"${origin}","token_endpoint":"${origin}/t",`
          + `"jwks_uri":"${origin}/jwks"}`
      }
    }),
    ({ heard, origin }) =>
      Effect.gen(function*() {
        const { metadata } = yield* discover(origin)
        assert.strictEqual(metadata.code_challenge_methods_supported, undefined)
        assert.isFalse(heard.some(({ url }) => url === "/jwks"))
      })
  )

  test("does not make up an authorization server", () => ({}), ({ heard, origin }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* outcome(discover(origin)), "metadata")
      assert.isFalse(heard.some(({ url }) => url?.includes("authorization-server") === true))
      assert.strictEqual(yield* outcome(Effect.map(discover(origin, { legacy: true }), ({ issuer }) => issuer)), origin)
    }))

  test(
    "tells what is not there now from what is not there",
    (origin) => ({ ...usual(origin), [as]: { status: 503, body: {} } }),
    ({ origin }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* outcome(discover(origin)), "unreachable")
      })
  )

  test("takes the authorization server that is configured, and no other", (origin) => ({
    ...usual(origin),
    [prm]: { body: { resource: `${origin}/mcp/a`, authorization_servers: ["https://attacker.example", origin] } }
  }), ({ origin }) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* discover(origin, { issuer: origin })).issuer, origin)
      assert.strictEqual(yield* outcome(discover(origin, { issuer: "https://honest.example" })), "metadata")
    }))
})
