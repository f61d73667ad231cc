import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { build, stop } from "esbuild"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import * as Interaction from "../../src/auth/Interaction.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeInteraction from "../../src/node/NodeInteraction.ts"
import { listening } from "../fixtures/httpPeer.ts"
import * as Oidc from "../fixtures/oidc/server.mjs"
import { assertNoLeak } from "../support/leaks.ts"
import * as Login from "../support/login.ts"
import { standInBrowser } from "../support/standInBrowser.ts"

type Runtime = McpRuntime.McpRuntime["Type"]

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/oidc/${name}`, import.meta.url))

let desk: Oidc.Desk
let folder: string

/** The program of the fixture in one file, because loading it from many takes most of its time. */
const program = () => join(folder, "member.cjs")

beforeAll(async () => {
  desk = await Oidc.start()
  folder = mkdtempSync(join(tmpdir(), "mcp-member-"))
  await build({
    entryPoints: [fixture("member.ts")],
    outfile: program(),
    bundle: true,
    platform: "node",
    format: "cjs",
    banner: { js: "{ const { now } = Date; Date.now = () => now() + Number(process.env.SKEW) }" },
    external: ["@napi-rs/keyring"],
    logLevel: "error"
  })
})

afterAll(async () => {
  await stop()
  rmSync(folder, { recursive: true, force: true })
  await desk.close()
})

const test = <E>(
  name: string,
  body: (place: Login.Place) => Effect.Effect<unknown, E>
): void => it.live(name, () => assertNoLeak(Effect.suspend(() => Effect.asVoid(Login.watched(desk, body)))), 60_000)

const call = (runtime: Runtime, tool = "read") => runtime.callTool({ server: "notes", tool })

/** What was asked of the authorization server for tokens. */
const grants = () => desk.journal.grants.map(({ outcome, type }) => `${type}: ${outcome}`)

/** Why somebody was not let in, whatever was asked for. */
const refused = () => desk.journal.refusals.map(({ error }) => error)

const loggedIn = "authorization_code: success"
const refreshed = ["refresh_token: success"]

const needsLogin = (effect: Effect.Effect<unknown, { readonly _tag: string }>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => assert.strictEqual(_tag, "AuthorizationFailed"))

/** More than the five minutes in which a proof without a number is a new one to an authorization server. */
const offBy = 310_000

/** Another process with the same logins: says its next line after what it is told, and ends when nothing is. */
const member = ({ logins, tell, ...place }: Login.Place, skew: number) =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program(), logins, desk.url], {
          cwd: place.folder,
          env: { PATH: process.env["PATH"], HOME: place.folder, SKEW: String(skew) },
          stdio: ["pipe", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const ended = once(child, "close")
    child.stderr.setEncoding("utf8").on("data", (text: string) => tell("stderr", text))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = Effect.map(Effect.promise(() => lines.next()), ({ value }) => {
      tell("stdout", value ?? "")
      return String(value ?? "")
    })
    assert.strictEqual(yield* next, "ready")
    return (line: string | undefined) =>
      Effect.suspend(() => {
        if (line !== undefined) child.stdin.write(`${line}\n`)
        else child.stdin.end()
        return line === undefined ? Effect.zipRight(Effect.promise(() => ended), next) : next
      })
  })

describe("a login at an authorization server", () => {
  test("is made in the browser of the system, which comes back to this process", (place) =>
    Effect.gen(function*() {
      const opener = yield* standInBrowser(`exec '${process.execPath}' '${fixture("person.mjs")}' "$1"`)
      const interaction = NodeInteraction.layer().pipe(
        Layer.provide(HostEnvironment.layer({ DISPLAY: ":0", PATH: `${opener.folder}:${process.env["PATH"]}` }))
      )
      yield* Login.using(desk, place, { interaction }, (runtime) =>
        Effect.gen(function*() {
          yield* needsLogin(runtime.servers.connect("notes"))
          assert.lengthOf(opener.opened(), 0)
          assert.deepStrictEqual(yield* runtime.servers.loginStatus("notes"), { _tag: "LoggedOut" })
          yield* runtime.servers.login("notes")
          assert.strictEqual((yield* call(runtime)).isError, false)
          assert.deepInclude(yield* runtime.servers.loginStatus("notes"), {
            _tag: "LoggedIn",
            issuer: desk.issuer,
            scope: "notes:read",
            renewable: true
          })
        }))
      assert.lengthOf(opener.opened(), 1)
      assert.deepStrictEqual(desk.journal.logins, ["notes:read offline_access"])
      assert.deepStrictEqual(desk.journal.grants, [
        { type: "authorization_code", outcome: "success", resource: desk.url }
      ])
      assert.deepStrictEqual(desk.journal.calls, ["read"])
      assert.lengthOf(place.files(), 1)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))

  test("is kept for the next run, with the key that its tokens are bound to", (place) =>
    Effect.gen(function*() {
      yield* Login.using(desk, place, {}, (runtime) => runtime.servers.login("notes"))
      desk.clear()
      yield* Login.using(desk, place, { interaction: Interaction.layerNone }, (runtime) =>
        Effect.gen(function*() {
          yield* call(runtime)
          // the program may be another than the one that the token was given to
          desk.expire()
          yield* call(runtime)
        }))
      assert.deepStrictEqual(grants(), refreshed)
      assert.deepStrictEqual(desk.journal.calls, ["read", "read"])
    }))

  test("is renewed before its token is over, and once if the server says so in the middle of a call", (place) =>
    Effect.gen(function*() {
      let ahead = 0
      const real = Clock.make()
      const now = () => real.unsafeCurrentTimeMillis() + ahead
      const clock: Clock.Clock = {
        ...real,
        unsafeCurrentTimeMillis: now,
        currentTimeMillis: Effect.sync(now),
        sleep: (duration) => real.sleep(duration),
        unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos()
      }
      yield* Effect.withClock(
        Login.using(desk, place, {}, (runtime) =>
          Effect.gen(function*() {
            yield* runtime.servers.login("notes")
            yield* call(runtime)
            desk.clear()
            ahead = 3600 * 1000 - 5000
            yield* call(runtime)
            assert.deepStrictEqual(grants(), refreshed)
            assert.deepStrictEqual(refused(), [])
            desk.clear()
            desk.expire()
            yield* Effect.all([call(runtime), call(runtime), call(runtime)], { concurrency: "unbounded" })
            assert.deepStrictEqual(grants(), refreshed)
            // a subscription that comes late is refused beside the calls
            const { refusals } = desk.journal
            assert.lengthOf(refusals.filter(({ method }) => method === "tools/call"), 3)
            assert.deepStrictEqual(new Set(refused()), new Set(["invalid_token"]))
            assert.deepStrictEqual(desk.journal.calls, ["read", "read", "read"])
            assert.strictEqual(desk.count("AccessToken"), 1)
          })),
        clock
      )
    }))

  test("is over when it was revoked, and begins again with somebody who logs in", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        yield* runtime.servers.login("notes")
        const before = desk.secrets()
        desk.revoke()
        yield* needsLogin(call(runtime))
        assert.deepStrictEqual(yield* runtime.servers.loginStatus("notes"), { _tag: "LoggedOut" })
        for (const file of place.files()) {
          const text = readFileSync(file, "utf8")
          for (const secret of before) assert.notInclude(text, secret)
        }
        // nobody was asked by itself
        assert.lengthOf(desk.journal.logins, 1)
        yield* runtime.servers.login("notes")
        yield* call(runtime)
        assert.lengthOf(desk.journal.logins, 2)
        assert.deepStrictEqual(grants(), [loggedIn, "refresh_token: invalid_grant", loggedIn])
      })))

  test("is not made when somebody says no", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        desk.settings.agrees = false
        const error = yield* Effect.flip(runtime.servers.login("notes"))
        assert.deepInclude(error, { _tag: "AuthorizationFailed", reason: "refused", code: "access_denied" })
        assert.deepStrictEqual(yield* runtime.servers.loginStatus("notes"), { _tag: "LoggedOut" })
        yield* needsLogin(call(runtime))
        assert.deepStrictEqual(grants(), [])
      })))

  for (const dpop of [true, false]) {
    test(`gets more rights, beside those that it has, for a call that needs them (${dpop ? "DPoP" : "bearer"})`, (place) =>
      Effect.gen(function*() {
        // the same address twice, and with it the same client
        const { port } = yield* Effect.scoped(listening(createServer()))
        const settings = { auth: { login: "calls" }, oauth: { callbackPort: port, dpop } } as const
        yield* Login.using(desk, place, settings, (runtime) =>
          Effect.gen(function*() {
            yield* runtime.servers.login("notes")
            yield* call(runtime, "write")
            assert.deepStrictEqual(desk.journal.logins, [
              "notes:read offline_access",
              "notes:read offline_access notes:write"
            ])
            assert.deepStrictEqual(refused().slice(-1), ["insufficient_scope"])
            assert.deepInclude(yield* runtime.servers.loginStatus("notes"), { scope: "notes:read notes:write" })
            yield* call(runtime, "read")
            desk.expire()
            yield* call(runtime, "write")
            assert.deepStrictEqual(grants(), [loggedIn, loggedIn, ...refreshed])
            assert.deepStrictEqual(desk.journal.calls, ["write", "read", "write"])
          }))
      }))
  }

  test("is asked for by no call unless the application says so, and tells which rights are missing", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        yield* runtime.servers.login("notes")
        const error = yield* Effect.flip(call(runtime, "write"))
        assert.deepInclude(error, { _tag: "HttpError", reason: "forbidden" })
        assert.lengthOf(desk.journal.logins, 1)
        yield* runtime.servers.login("notes")
        yield* call(runtime, "write")
      })))

  test("waits for an authorization server that is away, and is made anew at one that knows nobody", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        yield* runtime.servers.login("notes")
        desk.expire()
        yield* Effect.promise(desk.endProvider)
        const error = yield* Effect.flip(call(runtime))
        assert.deepInclude(error, { _tag: "AuthorizationFailed", reason: "unreachable", isRetryable: true })
        yield* Effect.promise(() => desk.beginProvider({ anew: false }))
        assert.strictEqual((yield* runtime.servers.loginStatus("notes"))._tag, "LoggedIn")
        yield* call(runtime)
        // the server has begun anew, so it may refuse the nonce that it gave before
        assert.deepStrictEqual(grants().filter((grant) => grant !== "refresh_token: use_dpop_nonce"), [
          loggedIn,
          ...refreshed
        ])

        desk.clear()
        yield* Effect.promise(desk.endProvider)
        yield* Effect.promise(() => desk.beginProvider({ anew: true }))
        yield* needsLogin(call(runtime))
        assert.deepStrictEqual(yield* runtime.servers.loginStatus("notes"), { _tag: "LoggedOut" })
        assert.deepStrictEqual(desk.journal.registrations, [])
        yield* runtime.servers.login("notes")
        yield* call(runtime)
        assert.lengthOf(desk.journal.registrations, 1)
      })))

  test("goes on when the server begins anew", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        yield* runtime.servers.login("notes")
        yield* call(runtime)
        yield* Effect.promise(desk.restartResource)
        yield* runtime.servers.reconnect("notes")
        yield* call(runtime)
        assert.deepStrictEqual(grants(), [loggedIn])
      })))

  test("of another process is used by the next call of a server that needs one", (place) =>
    Login.using(desk, place, { interaction: Interaction.layerNone }, (runtime) =>
      Effect.gen(function*() {
        yield* needsLogin(call(runtime))
        yield* Login.using(desk, place, {}, (other) => other.servers.login("notes"))
        assert.strictEqual((yield* call(runtime)).isError, false)
        assert.lengthOf(desk.journal.logins, 1)
      })))

  test("is gone after a logout", (place) =>
    Login.using(desk, place, {}, (runtime) =>
      Effect.gen(function*() {
        yield* runtime.servers.login("notes")
        yield* call(runtime)
        yield* runtime.servers.logout("notes")
        assert.deepStrictEqual(place.files(), [])
        assert.deepStrictEqual(yield* runtime.servers.loginStatus("notes"), { _tag: "LoggedOut" })
        yield* needsLogin(call(runtime))
        assert.deepStrictEqual(desk.journal.calls, ["read"])
      })))

  test("is renewed once by two processes, one with a clock that is ahead and one that is behind", (place) =>
    Effect.gen(function*() {
      yield* Login.using(desk, place, {}, (runtime) => Effect.zipRight(runtime.servers.login("notes"), call(runtime)))
      desk.clear()
      const members = yield* Effect.all([member(place, offBy), member(place, -offBy)], {
        concurrency: 2
      })
      // who is so far off cannot prove anything without a number
      assert.deepStrictEqual(new Set(refused()), new Set(["use_dpop_nonce"]))
      assert.deepStrictEqual(grants(), [])
      for (const _ of ["once", "and again with what that gave"]) {
        desk.clear()
        desk.expire()
        const answers = yield* Effect.all(members.map((ask) => ask("go")), { concurrency: 2 })
        assert.deepStrictEqual(answers, ["done", "done"])
        // for want of a number nothing is redeemed
        assert.deepStrictEqual(grants().filter((grant) => !grant.endsWith(": use_dpop_nonce")), refreshed)
      }
      assert.deepStrictEqual(yield* Effect.all(members.map((ask) => ask(undefined))), ["", ""])
    }).pipe(Effect.scoped))
})
