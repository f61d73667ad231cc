import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Either, Exit, Fiber, Option, Queue, Scope, TestClock } from "effect"
import * as Http from "node:http"
import * as Net from "node:net"
import { networkInterfaces } from "node:os"
import type * as Interaction from "../../src/auth/Interaction.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as NodeInteraction from "../../src/node/NodeInteraction.ts"
import { listening } from "../fixtures/httpPeer.ts"
import { assertNoLeak, eventually } from "../support/leaks.ts"
import { standInBrowser } from "../support/standInBrowser.ts"

const state = "a-state-that-nobody-guesses"
const page = new URL(`https://as.example/authorize?response_type=code&state=${state}`)
const came: Interaction.Answer = { code: "c0de", iss: undefined, error: undefined, errorDescription: undefined }

const hasIpv6 = Object.values(networkInterfaces()).flat().some((one) => one?.address === "::1")

interface Asked {
  readonly verb?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Told {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** A request of any program of this machine; nothing, if the connection was cut. */
const get = (port: number, target: string, { headers, host = "127.0.0.1", verb = "GET" }: Asked = {}) =>
  Effect.async<Option.Option<Told>>((resume) => {
    const options = { host, port, path: target, method: verb, headers: { ...headers }, agent: false }
    const request = Http.request(options, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk
      })
      response.on(
        "end",
        () => resume(Effect.succeedSome({ status: response.statusCode ?? 0, headers: response.headers, body }))
      )
    })
    request.on("error", () => resume(Effect.succeedNone)).end()
  })

const statusOf = (port: number, target: string, asked?: Asked) =>
  Effect.map(get(port, target, asked), (told) => Option.getOrUndefined(told)?.status)

/** Bytes of whoever keeps the connection open; they end with the scope. */
const connected = (port: number, bytes: string) =>
  Effect.acquireRelease(
    Effect.async<Net.Socket>((resume) => {
      const socket = Net.connect({ port, host: "127.0.0.1" }, () => {
        socket.write(bytes)
        resume(Effect.succeed(socket))
      })
      socket.on("error", () => undefined).resume()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** A login that waits: its page was announced. */
const begun = (options: Partial<NodeInteraction.Options> = {}, wanted: Partial<Interaction.Wanted> = {}) =>
  Effect.gen(function*() {
    const announced = yield* Deferred.make<NodeInteraction.Announcement>()
    const { open } = yield* NodeInteraction.make({
      browser: false,
      announce: (announcement) => Effect.asVoid(Deferred.succeed(announced, announcement)),
      ...options
    })
    const opened = yield* open({ server: "files", redirectUri: undefined, callbackPort: undefined, ...wanted })
    const login = yield* Effect.fork(opened.ask(page, state))
    const announcement = yield* Deferred.await(announced)
    const { pathname, port } = new URL(opened.redirectUri)
    return { announcement, login, path: pathname, port: Number(port), redirectUri: opened.redirectUri, opened }
  })

const opened = (wanted: Partial<Interaction.Wanted>, options: Partial<NodeInteraction.Options> = {}) =>
  Effect.flatMap(
    NodeInteraction.make({ browser: false, ...options }),
    ({ open }) => open({ server: "files", redirectUri: undefined, callbackPort: undefined, ...wanted })
  )

const freePort = Effect.scoped(Effect.map(listening(Net.createServer()), ({ port }) => port))

/** A person at a terminal who says these lines, and remembers the questions. */
const terminal = (...lines: ReadonlyArray<string | undefined>) => {
  const questions: Array<string> = []
  const left = [...lines]
  const ask = (question: string) => {
    questions.push(question)
    return left.length === 0 ? Effect.never : Effect.succeed(left.shift())
  }
  return { ask, questions }
}

describe("a login with a browser", () => {
  it.scopedLive("returns the parameters of the redirect", () =>
    assertNoLeak(Effect.scoped(Effect.gen(function*() {
      const { announcement, login, port, redirectUri } = yield* begun()
      assert.strictEqual(redirectUri, `http://127.0.0.1:${port}/callback`)
      assert.deepStrictEqual(announcement, { server: "files", url: page.href, opens: false })
      const query = `code=c%2B0de&state=${state}&iss=https%3A%2F%2Fas.example&unknown=1&unknown=2`
      assert.strictEqual(yield* statusOf(port, `/callback?${query}`), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), { ...came, code: "c+0de", iss: "https://as.example" })
    }))))

  it.scopedLive("shows a page without the parameters (oa-011)", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const hostile = "<script>alert(1)</script>"
      const query = `error=${encodeURIComponent(hostile)}&error_description=${encodeURIComponent(hostile)}&code=<img>`
      const shown = Option.getOrThrow(yield* get(port, `/callback?state=${state}&${query}`))
      assert.strictEqual(shown.body, "Login received. You can close this page and return to the application.\n")
      const { connection: _, date: __, "content-length": ___, "transfer-encoding": ____, ...headers } = shown.headers
      assert.deepStrictEqual(headers, {
        "content-type": "text/plain; charset=utf-8",
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store"
      })
      const answer = yield* Fiber.join(login)
      assert.deepStrictEqual(answer, { code: "<img>", iss: undefined, error: hostile, errorDescription: hostile })
    }))

  it.scopedLive("sends the whole page before the server closes", () =>
    Effect.gen(function*() {
      const waiting = yield* Deferred.make<number>()
      const login = yield* Effect.fork(Effect.scoped(Effect.flatMap(begun(), ({ login, port }) =>
        Effect.zipRight(Deferred.succeed(waiting, port), Fiber.join(login)))))
      const target = `/callback?code=c0de&state=${state}`
      const shown = Option.getOrThrow(yield* get(yield* Deferred.await(waiting), target))
      assert.deepInclude(shown, {
        status: 200,
        body: "Login received. You can close this page and return to the application.\n"
      })
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))

  it.scopedLive("accepts each state once, and no answer without one (oa-008)", () =>
    Effect.gen(function*() {
      const { login, opened, port } = yield* begun()
      const queries = ["code=evil", "code=evil&state=", "code=evil&state=another", "error=access_denied&state=another"]
      for (
        const query of [...queries, `code=evil&state=${state}&state=another`, `code=evil&state=${state}&state=${state}`]
      ) {
        const told = Option.getOrThrow(yield* get(port, `/callback?${query}`))
        assert.deepInclude(told, { status: 404, body: "Not found\n" }, query)
        assert.strictEqual(told.headers["content-security-policy"], "default-src 'none'")
      }
      assert.strictEqual(yield* statusOf(port, `/callback?code=c0de&state=${state}`), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
      assert.strictEqual(yield* statusOf(port, `/callback?code=evil&state=${state}`), 404)
      // a second login at the same page
      const again = yield* Effect.fork(opened.ask(page, "the next state"))
      yield* Effect.repeat(statusOf(port, "/callback?code=two&state=the+next+state"), {
        until: (status) => status === 200
      })
      assert.deepStrictEqual(yield* Fiber.join(again), { ...came, code: "two" })
    }))

  it.scopedLive("rejects other methods and paths, and continues to wait (oa-015)", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const query = `code=evil&state=${state}`
      for (const verb of ["POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH"]) {
        assert.strictEqual(yield* statusOf(port, `/callback?${query}`, { verb }), 404, verb)
      }
      const others = [
        "/",
        "/favicon.ico",
        "/callback",
        "/callback/",
        "//callback",
        "/Callback",
        "/callback/../callback"
      ]
      const targets = [
        ...others.map((path) => `${path}?${query}`),
        "/callback",
        `http://127.0.0.1:${port}/callback?${query}`
      ]
      for (const target of targets.filter((target) => !target.startsWith("/callback?"))) {
        assert.strictEqual(yield* statusOf(port, target), 404, target)
      }
      assert.strictEqual(yield* statusOf(port, `/callback?code=c0de&state=${state}`), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))

  it.scopedLive("rejects other host names", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const target = `/callback?code=evil&state=${state}`
      for (
        const host of ["attacker.example", `attacker.example:${port}`, `localhost:${port}`, "127.0.0.1", "127.0.0.1:1"]
      ) {
        assert.strictEqual(yield* statusOf(port, target, { headers: { host } }), 403, host)
      }
      assert.strictEqual(yield* statusOf(port, `/callback?code=c0de&state=${state}`), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))

  it.scopedLive("fails if a parameter is repeated", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      yield* get(port, `/callback?state=${state}&code=c0de&iss=https%3A%2F%2Fas.example&iss=https%3A%2F%2Fevil.example`)
      assert.deepInclude(yield* Effect.flip(Fiber.join(login)), { server: "files", reason: "answer" })
    }))

  it.scopedLive("rejects an answer over the size limit", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const long = (length: number) => `/callback?state=${state}&code=${"x".repeat(length)}`
      assert.strictEqual(yield* statusOf(port, long(9_000)), 404)
      // Node ends these itself, with 431 where it still can
      assert.include([431, undefined], yield* statusOf(port, long(40_000)))
      assert.strictEqual(yield* statusOf(port, long(4_000)), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), { ...came, code: "x".repeat(4_000) })
    }))

  it.scopedLive("accepts the browser while other clients hold connections open", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const sockets = yield* Effect.forEach(Array.from({ length: 40 }), () =>
        connected(port, "GET /callback HTTP/1.1\r\nx: "))
      assert.strictEqual(yield* statusOf(port, `/callback?code=c0de&state=${state}`), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
      yield* eventually(() =>
        sockets.filter((socket) => socket.closed).length >= 9
      )
    }))

  it.scopedLive("fails after too many requests", () =>
    Effect.gen(function*() {
      const { login, opened, port } = yield* begun()
      const told = yield* Effect.forEach(
        Array.from({ length: 210 }),
        () => statusOf(port, "/callback?code=x&state=guess"),
        { concurrency: 8 }
      )
      assert.lengthOf(told.filter((status) => status === 404), 200)
      assert.deepInclude(yield* Effect.flip(Fiber.join(login)), { reason: "cancelled" })
      assert.deepInclude(yield* Effect.flip(opened.ask(page, state)), { reason: "cancelled" })
    }))

  it.scoped("times out, by default after five minutes", () =>
    Effect.gen(function*() {
      const { login } = yield* begun()
      yield* TestClock.adjust("299 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(login)))
      yield* TestClock.adjust("1 second")
      const error = yield* Effect.flip(Fiber.join(login))
      assert.deepInclude(error, { reason: "timeout", detail: "no login within 5m" })
    }))

  it.scopedLive("closes all connections when it is interrupted", () =>
    assertNoLeak(Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { login, port } = yield* Scope.extend(begun(), scope)
      yield* Effect.scoped(Effect.gen(function*() {
        const idle = yield* connected(port, "")
        const slow = yield* connected(port, "GET /callback?code=")
        yield* Fiber.interrupt(login)
        yield* Scope.close(scope, Exit.void)
        yield* eventually(() => idle.closed && slow.closed)
        assert.isTrue(Option.isNone(yield* get(port, `/callback?code=c0de&state=${state}`)))
      }))
    })))

  it.scopedLive("fails at once for a page that is refused", () =>
    Effect.gen(function*() {
      const announced: Array<string> = []
      const { ask } = yield* opened({}, { announce: ({ url }) => Effect.sync(() => void announced.push(url)) })
      for (const url of ["http://remote.example/authorize", "https://user:pass@as.example/", "vscode://file/x"]) {
        assert.deepInclude(yield* Effect.flip(ask(new URL(url), state)), { server: "files", reason: "blocked" }, url)
      }
      assert.deepStrictEqual(announced, [])
    }))
})

describe("the redirect URI of a login", () => {
  it.scopedLive.skipIf(!hasIpv6)("listens on both loopback addresses (oa-013)", () =>
    Effect.gen(function*() {
      const { login, port } = yield* begun()
      const taken = (host: string) =>
        Effect.async<string>((resume) => {
          const server = Net.createServer()
          server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "")))
          server.listen({ host, port }, () => server.close(() => resume(Effect.succeed("free"))))
        })
      assert.deepStrictEqual([yield* taken("127.0.0.1"), yield* taken("::1")], ["EADDRINUSE", "EADDRINUSE"])
      assert.strictEqual(
        yield* statusOf(port, `/callback?code=evil&state=${state}`, { host: "::1", headers: { host: "x" } }),
        403
      )
      assert.strictEqual(yield* statusOf(port, `/callback?code=c0de&state=${state}`, { host: "::1" }), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))

  it.scopedLive("is never shared with another program on either address (oa-013)", () =>
    Effect.gen(function*() {
      for (const host of hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"]) {
        const port = yield* Effect.acquireRelease(
          Effect.async<Net.Server>((resume) => {
            const server = Net.createServer().listen({ host, port: 0 }, () => resume(Effect.succeed(server)))
          }),
          (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
        ).pipe(Effect.map((server) => (server.address() as Net.AddressInfo).port))
        for (const wanted of [{ callbackPort: port }, { redirectUri: `http://localhost:${port}/back` }]) {
          const error = yield* Effect.flip(opened(wanted))
          assert.deepInclude(error, { server: "files", reason: "not-interactive" }, host)
          assert.include(error.detail, `the callback port ${port} is in use`)
          assert.include(error.detail, "is in use")
        }
      }
      assert.include(
        (yield* Effect.flip(opened({ callbackPort: 70_000 }))).detail,
        "the callback port 70000 could not be opened"
      )
    }))

  it.scopedLive("uses the requested port", () =>
    Effect.gen(function*() {
      const callbackPort = yield* freePort
      const { redirectUri } = yield* begun({}, { callbackPort })
      assert.strictEqual(redirectUri, `http://127.0.0.1:${callbackPort}/callback`)
    }))

  it.scopedLive("equals the registered one character by character", () =>
    Effect.gen(function*() {
      const registered = `http://LocalHost:${yield* freePort}/oauth/Back?x=1`
      const { login, port, redirectUri } = yield* begun({}, { redirectUri: registered, callbackPort: 1 })
      assert.strictEqual(redirectUri, registered)
      assert.strictEqual(yield* statusOf(port, `/callback?code=evil&state=${state}`), 404)
      const headers = { host: `localhost:${port}` }
      assert.strictEqual(yield* statusOf(port, `/oauth/Back?x=1&code=c0de&state=${state}`, { headers }), 200)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))

  it.scopedLive("gets a port if none is registered", () =>
    Effect.gen(function*() {
      const { port, redirectUri } = yield* begun({}, { redirectUri: "http://localhost/back" })
      assert.isAbove(port, 0)
      assert.strictEqual(redirectUri, `http://localhost:${port}/back`)
    }))

  it.scopedLive("must be a loopback address unless the person can paste it", () =>
    Effect.gen(function*() {
      const elsewhere = [
        "https://app.example/back",
        "https://localhost:9000/back",
        "urn:ietf:wg:oauth:2.0:oob",
        "no address"
      ]
      for (
        const redirectUri of [
          ...elsewhere,
          "http://127.0.0.1.example/",
          "http://user@127.0.0.1:9000/",
          "http://0.0.0.0/"
        ]
      ) {
        assert.deepInclude(yield* Effect.flip(opened({ redirectUri })), { reason: "not-interactive" }, redirectUri)
      }
      const { ask } = terminal(`https://app.example/back?code=c0de&state=${state}`)
      const { login, redirectUri } = yield* begun({ ask }, { redirectUri: elsewhere[0] })
      assert.strictEqual(redirectUri, elsewhere[0])
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }))
})

describe("a login opens a browser", () => {
  const begunWith = (variables: Readonly<Record<string, string>>) =>
    Effect.provideService(begun({ browser: true }), HostEnvironment.HostEnvironment, {
      platform: "linux",
      variables: () => variables
    })

  it.scopedLive("at the login page, which is announced too", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 0")
      const { announcement, login, port } = yield* begunWith({ PATH: browser.folder, DISPLAY: ":0" })
      assert.deepStrictEqual(announcement, { server: "files", url: page.href, opens: true })
      yield* eventually(() => browser.opened().length > 0)
      assert.deepStrictEqual(browser.opened(), [[page.href]])
      yield* get(port, `/callback?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("and continues if that fails", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 3")
      const { login, port } = yield* begunWith({ PATH: browser.folder, DISPLAY: ":0" })
      yield* eventually(() => browser.opened().length > 0)
      yield* get(port, `/callback?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("but not on a headless machine", () =>
    Effect.gen(function*() {
      const browser = yield* standInBrowser("exit 0")
      const { announcement, login, port } = yield* begunWith({ PATH: browser.folder, DISPLAY: ":0", CI: "true" })
      assert.isFalse(announcement.opens)
      yield* get(port, `/callback?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(login), came)
      assert.deepStrictEqual(browser.opened(), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("a login with a pasted address", () => {
  const redirectUri = "http://127.0.0.1:49999/callback"
  const only = (...lines: ReadonlyArray<string | undefined>) => {
    const person = terminal(...lines)
    return Effect.flatMap(
      begun({ ask: person.ask, listens: false }, { redirectUri }),
      ({ login }) => Effect.map(Effect.either(Fiber.join(login)), (result) => ({ result, questions: person.questions }))
    )
  }

  it.scopedLive("accepts the address or its query in the forms that people copy", () =>
    Effect.gen(function*() {
      const lines = [
        `${redirectUri}?code=c0de&state=${state}`,
        `  ${redirectUri}?state=${state}&code=c0de#fragment \r`,
        `127.0.0.1:49999/callback?code=c0de&state=${state}`,
        `${redirectUri}?code=c0de\n&state=${state}`,
        `?code=c0de&state=${state}`,
        `state=${state}&code=c0de`,
        `code=c0de state=${state}`
      ]
      for (const line of lines) {
        const { questions, result } = yield* only(line)
        assert.deepStrictEqual(result, Either.right(came), line)
        assert.lengthOf(questions, 1)
      }
    }))

  it.scopedLive("asks three times, with the reason", () =>
    Effect.gen(function*() {
      const { questions, result } = yield* only("", page.href, `${redirectUri}?code=evil&state=another`)
      assert.deepInclude(Either.getOrThrow(Either.flip(result)), { server: "files", reason: "cancelled" })
      const again =
        `That is not the address that the browser was redirected to, which starts with ${redirectUri}. Paste it again: `
      assert.deepStrictEqual(questions, [
        "Log in, then paste the address that the browser was redirected to: ",
        again,
        again
      ])
      const other = yield* only(`${redirectUri}?code=evil&state=another`, `${redirectUri}?code=c0de&state=${state}`)
      assert.strictEqual(other.questions[1], "That address belongs to another login. Paste it again: ")
      assert.deepStrictEqual(other.result, Either.right(came))
    }))

  it.scopedLive("rejects any other text", () =>
    Effect.gen(function*() {
      const query = `code=evil&state=${state}`
      const lines = [
        `http://127.0.0.1:49998/callback?${query}`,
        `https://127.0.0.1:49999/callback?${query}`,
        `http://127.0.0.1:49999/callbacks?${query}`,
        `http://127.0.0.1:49999@attacker.example/callback?${query}`,
        `${redirectUri}?code=evil`,
        `${redirectUri}?${query}&state=another`,
        "c0de",
        `code=${"x".repeat(9_000)}&state=${state}`
      ]
      for (const line of lines) {
        const { questions, result } = yield* only(line, `${redirectUri}?code=c0de&state=${state}`)
        assert.deepStrictEqual(result, Either.right(came), line)
        assert.lengthOf(questions, 2, line)
      }
    }))

  it.scopedLive("fails if a parameter is repeated or the input ends", () =>
    Effect.gen(function*() {
      const twice = yield* only(`${redirectUri}?code=c0de&code=evil&state=${state}`)
      assert.deepInclude(Either.getOrThrow(Either.flip(twice.result)), { reason: "answer" })
      const ended = yield* only(undefined)
      assert.deepInclude(Either.getOrThrow(Either.flip(ended.result)), { reason: "cancelled" })
      assert.deepInclude(yield* Effect.flip(opened({}, { listens: false })), { reason: "not-interactive" })
    }))

  it.scopedLive("opens no port", () =>
    Effect.gen(function*() {
      const { port } = yield* begun({ ...terminal(), listens: false })
      assert.isAtLeast(port, 49_152)
      assert.isTrue(Option.isNone(yield* get(port, "/callback")))
    }))

  it.scopedLive("ends with the first answer", () =>
    Effect.gen(function*() {
      const questions = yield* Queue.unbounded<string>()
      const lines = yield* Queue.unbounded<string | undefined>()
      let ended = 0
      const ask = (question: string) =>
        Effect.zipRight(Queue.offer(questions, question), Queue.take(lines)).pipe(
          Effect.onInterrupt(() => Effect.sync(() => ended++))
        )
      const first = yield* begun({ ask })
      yield* Queue.take(questions)
      yield* get(first.port, `/callback?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(first.login), came)
      assert.strictEqual(ended, 1)

      const second = yield* begun({ ask })
      yield* Queue.take(questions)
      yield* Queue.offer(lines, `${second.redirectUri}?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(second.login), came)

      // the server is still there for somebody who cannot put it in
      const third = yield* begun({ ask })
      yield* Queue.offerAll(lines, ["x", "y", undefined])
      yield* Queue.takeN(questions, 3)
      yield* get(third.port, `/callback?code=c0de&state=${state}`)
      assert.deepStrictEqual(yield* Fiber.join(third.login), came)
    }))

  it.scoped("times out", () =>
    Effect.gen(function*() {
      const { login } = yield* begun({ ...terminal(), listens: false, timeout: Duration.minutes(1) })
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Effect.flip(Fiber.join(login)), { reason: "timeout" })
    }))
})
