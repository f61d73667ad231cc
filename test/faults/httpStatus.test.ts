import { assert, describe } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Net from "node:net"
import * as Inspect from "node:util"
import { redirecting } from "../fixtures/faults/httpModes.ts"
import * as HttpServer from "../fixtures/faults/httpServer.ts"
import * as Configs from "../support/configs.ts"
import { echoes, fails, run, succeeds, test, textOf } from "./harness.ts"
import { http, serverFor } from "./http.ts"
import { defaults } from "./stdio.ts"

const soon = "2 seconds"
const token = "Bearer a-secret-of-the-fleet"
const withToken = { config: { headers: { Authorization: token } } } as const

describe("the way to an HTTP server", () => {
  const toUrl = (url: string) =>
    Effect.succeed({ config: Configs.http({ ...defaults, url }), server: undefined, remains: { left: () => [] } })

  test(
    "http-refused",
    "connect fails at once with NetworkError{ECONNREFUSED}",
    run(
      // A port that was free a moment ago, and that nobody listens on any more.
      Effect.flatMap(Effect.scoped(HttpServer.serve({})), (server) => toUrl(`http://127.0.0.1:${server.port}/mcp`)),
      (peer) =>
        fails("open", peer.open, "NetworkError", {
          code: "ECONNREFUSED",
          outcome: "not-sent",
          isRetryable: true,
          countsForBreaker: true
        }, soon)
    )
  )

  test(
    "http-dns-fail",
    "connect fails with NetworkError and the resolver's code",
    run(
      toUrl("http://no-such-host.invalid/mcp"),
      (peer) =>
        fails("open", peer.open, ["NetworkError", "ConnectTimeout"], {
          code: (code: string | undefined) => code === undefined || ["ENOTFOUND", "EAI_AGAIN"].includes(code),
          outcome: "not-sent"
        })
    )
  )

  test(
    "http-tls-none",
    "https to a port without TLS is NetworkError/tls, for good, and nothing goes out in the clear",
    run(
      Effect.map(serverFor({}), ({ remains, server }) => ({
        config: Configs.http({ ...defaults, url: `https://127.0.0.1:${server.port}/mcp` }),
        server,
        remains
      })),
      (peer, server) =>
        Effect.gen(function*() {
          yield* fails(
            "open",
            peer.open,
            "NetworkError",
            { reason: "tls", outcome: "not-sent", isRetryable: false },
            soon
          )
          assert.strictEqual(server.seen.length, 0)
        })
    )
  )

  test(
    "http-not-http",
    "a port that speaks something else is a typed error in time",
    run(
      Effect.map(
        Effect.acquireRelease(
          Effect.async<{ readonly port: number; readonly server: Net.Server; readonly sockets: Set<Net.Socket> }>(
            (resume) => {
              const sockets = new Set<Net.Socket>()
              const server = Net.createServer((socket) => {
                sockets.add(socket)
                socket.on("error", () => undefined)
                socket.on("close", () => sockets.delete(socket))
                socket.on("data", () => undefined)
                socket.write("SSH-2.0-OpenSSH_9.6\r\n")
              })
              server.listen(
                0,
                "127.0.0.1",
                () => resume(Effect.succeed({ port: (server.address() as Net.AddressInfo).port, server, sockets }))
              )
            }
          ),
          ({ server, sockets }) =>
            Effect.async<void>((done) => {
              for (const socket of sockets) socket.destroy()
              server.close(() => done(Effect.void))
            })
        ),
        ({ port, sockets }) => ({
          config: Configs.http({ ...defaults, url: `http://127.0.0.1:${port}/mcp` }),
          server: undefined,
          remains: { left: () => sockets.size === 0 ? [] : ["a connection at the server"] }
        })
      ),
      (peer) =>
        fails("open", peer.open, "NetworkError", {
          code: (code: string) => code.startsWith("HPE_"),
          countsForBreaker: true
        }, soon)
    )
  )
})

describe("an HTTP server that says no", () => {
  http(
    "http-401-init",
    "connect fails with Unauthorized and the challenge, not with our secret",
    (peer) =>
      Effect.gen(function*() {
        const error = yield* fails("open", peer.open, "AuthorizationFailed", {
          reason: "unauthorized",
          resourceMetadata: "http://127.0.0.1/.well-known/oauth-protected-resource",
          scope: "read",
          outcome: "not-sent",
          isRetryable: false,
          countsForBreaker: false
        }, soon)
        assert.notInclude(`${error.message} ${String(error)} ${Inspect.inspect(error, { depth: 5 })}`, "secret")
      }),
    withToken
  )

  http(
    "http-403-init",
    "connect fails with Forbidden",
    (peer) =>
      fails("open", peer.open, "HttpError", {
        reason: "forbidden",
        outcome: "not-sent",
        isRetryable: false,
        countsForBreaker: false
      }, soon)
  )

  http(
    "http-500-init",
    "connect fails with HttpError{500}",
    (peer) =>
      fails("open", peer.open, "HttpError", {
        reason: "status",
        status: 500,
        outcome: "not-sent",
        isRetryable: true,
        countsForBreaker: true
      }, soon)
  )

  http(
    "http-502-html-init",
    "connect fails with HttpError{502} and a short excerpt of the page",
    (peer) =>
      fails("open", peer.open, "HttpError", {
        reason: "status",
        status: 502,
        detail: (text: string) => text.includes("Bad gateway") && text.length <= 1100
      }, soon)
  )

  for (
    const [mode, tag, counts] of [["http-429", "HttpError/rate-limited", false], [
      "http-503",
      "HttpError/unavailable",
      true
    ]] as const
  ) {
    http(
      `${mode}-init`,
      `connect fails at once with ${tag} and the time that the server asks for; the next one works`,
      (peer) =>
        Effect.gen(function*() {
          yield* fails("open", peer.open, tag, { retryAfter: Duration.seconds(1), outcome: "not-sent" }, soon)
          yield* echoes(yield* succeeds("open", peer.open))
        })
    )

    http(
      `${mode}-long-init`,
      `connect fails at once with ${tag} where the wait is longer than the deadline`,
      (peer) =>
        fails("open", peer.open, tag, {
          retryAfter: Duration.seconds(3600),
          outcome: "not-sent",
          isRetryable: true,
          countsForBreaker: counts
        }, soon)
    )

    http(
      `${mode}-call`,
      "a call that was not executed waits as asked, and runs once",
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "at the second try")
          assert.strictEqual(server.executions("bad"), 2)
        })
    )

    http(
      `${mode}-call`,
      `a call whose limit is shorter than the wait fails with ${tag}`,
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          yield* fails("bad", session.callTool("bad", {}, { idleTimeout: "500 millis" }), tag, {
            retryAfter: Duration.seconds(1),
            outcome: "not-sent"
          }, soon)
          assert.strictEqual(server.executions("bad"), 1)
          yield* echoes(session)
        })
    )
  }

  http("http-401-call", "the call fails with Unauthorized, the session lives", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails(
        "bad",
        session.callTool("bad"),
        "AuthorizationFailed/unauthorized",
        { outcome: "not-sent", countsForBreaker: false },
        soon
      )
      yield* echoes(session)
    }), withToken)

  http(
    "http-403-call",
    "the call fails with Forbidden and the scope that is asked for",
    (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails(
          "bad",
          session.callTool("bad"),
          "HttpError/forbidden",
          { scope: "files:write", countsForBreaker: false },
          soon
        )
        yield* echoes(session)
      })
  )

  http(
    "http-500-call",
    "the call fails with HttpError{500} and is not sent again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "HttpError", {
          reason: "status",
          status: 500,
          outcome: "unknown",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        assert.strictEqual(server.executions("bad"), 1)
        yield* echoes(session)
      })
  )
})

describe("redirects", () => {
  const elsewhere = (name: keyof ReturnType<typeof redirecting>) =>
    Effect.gen(function*() {
      const witness = yield* HttpServer.serve({})
      const { config, remains, server } = yield* serverFor(redirecting(`${witness.origin}/mcp`)[name], withToken)
      return { config, server: { server, witness }, remains }
    })

  test(
    "http-redirect-other-307",
    "connect fails with HttpError/redirect, for good, and nothing is sent to the other origin",
    run(elsewhere("http-redirect-other-307"), (peer, { witness }) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "HttpError", {
          reason: "redirect",
          to: (to: string) => to.startsWith(witness.origin),
          redirect: "other-origin",
          outcome: "not-sent",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        assert.strictEqual(witness.most(), 0)
      }))
  )

  test(
    "http-redirect-other-302-call",
    "the call fails with HttpError/redirect, and nothing is sent to the other origin",
    run(elsewhere("http-redirect-other-302-call"), (peer, { witness }) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "HttpError", { reason: "redirect", isRetryable: false }, soon)
        assert.strictEqual(witness.most(), 0)
        yield* echoes(session)
      }))
  )

  test(
    "http-redirect-get-other",
    "a stream that redirects elsewhere is told and given up; calls work without it",
    run(elsewhere("http-redirect-get-other"), (peer, { server, witness }) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* Effect.repeat(echoes(session), { until: () => server.verbs("GET") > 0 })
        yield* echoes(session)
        assert.strictEqual(witness.most(), 0)
        assert.isTrue(peer.diagnostics().some(({ kind }) => kind === "stream"))
      }))
  )

  http(
    "http-redirect-loop",
    "connect fails with HttpError/redirect{loop} after a few rounds",
    (peer, server) =>
      Effect.gen(function*() {
        yield* fails(
          "open",
          peer.open,
          "HttpError",
          { reason: "redirect", redirect: "loop", outcome: "not-sent" },
          soon
        )
        assert.isAtMost(server.seen.length, 12)
      })
  )

  http(
    "http-redirect-same",
    "a redirect inside the origin is followed with its method",
    (peer, server) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        assert.isTrue(server.seen.some(({ path, verb }) => path === "/moved/mcp" && verb === "POST"))
      }),
    withToken
  )
})
