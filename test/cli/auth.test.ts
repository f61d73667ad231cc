import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { Logins } from "../../src/cli/commands/auth.ts"
import * as Keyring from "../../src/node/keyring.ts"
import { visit } from "../fixtures/oidc/person.mjs"
import * as Oidc from "../fixtures/oidc/server.mjs"
import { eventually } from "../support/leaks.ts"
import { own, type Place, place, run as runAny, type Typing } from "./inProcess.ts"

let desk: Oidc.Desk

beforeAll(async () => {
  desk = await Oidc.start()
})

afterAll(() => desk.close())

/** No keyring of whoever runs the tests. */
const run = (at: Place, argv: ReadonlyArray<string>, typing: Typing = {}) =>
  Effect.provideService(
    runAny(at, argv, typing),
    Keyring.KeyringLoader,
    Effect.fail(new Cause.UnknownException("none"))
  )

const shown = /^ {2}(http:\S+)$/m

/** Whoever reads what is shown, and opens the address elsewhere. */
const reading = () => {
  let text = ""
  let isOpened = false
  return (more: string) => {
    text += more
    const url = shown.exec(text)?.[1]
    if (url === undefined || isOpened) return
    isOpened = true
    void visit(url)
  }
}

const decode = (text: string) => Schema.decodeUnknownSync(Schema.parseJson(Logins), { onExcessProperty: "error" })(text)

/** The server of the desk, one with credentials of its own, and one that nobody logs in to. */
const configured = Effect.tap(place, (at) =>
  Effect.sync(() => {
    desk.clear()
    Object.assign(desk.settings, { agrees: true, broken: false })
    at.write(own, {
      mcpServers: {
        notes: { type: "http", url: desk.url },
        shown: { type: "http", url: `${desk.url}/shown`, headers: { Authorization: "Bearer of-its-own" } },
        files: { command: "files" }
      }
    })
  }))

const test = (name: string, body: (at: Place) => Effect.Effect<unknown, unknown>) =>
  it.live(name, () => Effect.scoped(Effect.flatMap(configured, body)))

const states = (out: string) => decode(out).servers.map(({ server, state }) => [server, state])

describe("auth", () => {
  test("logs in, says so, uses it, and forgets it", (at) =>
    Effect.gen(function*() {
      const before = yield* run(at, ["auth", "--json"])
      assert.strictEqual(before.code, 0)
      assert.deepStrictEqual(states(before.out), [["notes", "logged-out"], ["shown", "configured"]])
      assert.include(decode(before.out).keptIn, at.home)
      const named = yield* run(at, ["auth", "status", "notes"])
      assert.strictEqual(named.code, 5)
      assert.include(named.err, "Log in with `mcp-runtime auth login notes`.")
      // nobody was asked for that
      assert.deepStrictEqual(desk.journal.refusals, [])

      const login = yield* run(at, ["auth", "login", "notes"], { onWrite: reading(), columns: 80 })
      assert.strictEqual(login.code, 0, login.err)
      assert.strictEqual(login.out, `logged in to notes at ${desk.issuer}\n  scopes: notes:read\n`)
      const told = login.err.split("\n")
      assert.strictEqual(told[0], "Log in to notes here:")
      assert.match(told[1]!, /^ {2}http:\S+$/)
      assert.match(told.slice(2).join(" "), /^Login saved in files in .* $/)

      const after = yield* run(at, ["auth", "status", "notes", "--json"])
      assert.strictEqual(after.code, 0)
      const { expiresAt, ...rest } = decode(after.out).servers[0]!
      assert.isNumber(expiresAt)
      assert.deepStrictEqual(rest, {
        server: "notes",
        state: "logged-in",
        issuer: desk.issuer,
        scopes: ["notes:read"],
        renewable: true,
        error: null
      })
      const table = yield* run(at, ["auth", "status"], { columns: 160 })
      assert.match(table.out, /^notes +logged-in +notes:read +renewed automatically +http:\S+$/m)
      assert.notInclude(table.out, "files")
      assert.strictEqual((yield* run(at, ["call", "notes/read"])).code, 0)

      const logout = yield* run(at, ["auth", "logout", "notes"])
      assert.deepStrictEqual([logout.code, logout.out], [0, "logged out of notes\n"])
      const again = yield* run(at, ["auth", "logout", "notes", "--json"])
      assert.deepStrictEqual(states(again.out), [["notes", "logged-out"]])
      const all = [before, named, login, after, table, logout, again].map(({ err, out }) => out + err).join("")
      for (const secret of [...desk.secrets(), "of-its-own"]) assert.notInclude(all, secret)
    }))

  test("is what every command tells of, when a server wants a login", (at) =>
    Effect.gen(function*() {
      const advice = "Log in with `mcp-runtime auth login notes`."
      const call = yield* run(at, ["call", "notes/read"])
      assert.strictEqual(call.code, 5)
      for (const argv of [["list"], ["tools"]]) {
        assert.include((yield* run(at, [...argv, "--server", "notes", "--server", "shown"])).err, advice, argv[0])
      }
      assert.include(call.err, advice)
    }))

  test("forgets who it was registered as too, when a login is over already", (at) =>
    Effect.gen(function*() {
      const logins = join(at.home, ".local/state/mcp-runtime/logins")
      yield* run(at, ["auth", "login", "notes"], { onWrite: reading() })
      desk.revoke()
      assert.strictEqual((yield* run(at, ["call", "notes/read"])).code, 5)
      assert.lengthOf(readdirSync(logins), 1)
      const logout = yield* run(at, ["auth", "logout", "notes"])
      assert.deepStrictEqual([logout.code, logout.err], [0, "notes: not logged in\n"])
      assert.deepStrictEqual(readdirSync(logins), [])
    }))

  test("gets the rights that a call was refused for, beside those that it has", (at) =>
    Effect.gen(function*() {
      yield* run(at, ["auth", "login", "notes"], { onWrite: reading() })
      const refused = yield* run(at, ["call", "notes/write"])
      assert.strictEqual(refused.code, 5)
      assert.include(refused.err, "Log in with `mcp-runtime auth login notes --scope notes:write`.")
      const login = yield* run(at, ["auth", "login", "notes", "--scope", "notes:write", "--json"], {
        onWrite: reading()
      })
      assert.strictEqual(login.code, 0, login.err)
      assert.sameMembers([...decode(login.out).servers[0]!.scopes], ["notes:read", "notes:write"])
      for (const tool of ["write", "read"]) assert.strictEqual((yield* run(at, ["call", `notes/${tool}`])).code, 0)
    }))

  test("tells a login from a server that cannot be connected to", (at) =>
    Effect.gen(function*() {
      desk.settings.broken = true
      const login = yield* run(at, ["auth", "login", "notes"], { onWrite: reading() })
      assert.strictEqual(login.code, 4, login.err)
      assert.include(login.err, "You are logged in to notes, but the connection failed.\nerror: ")
      assert.deepStrictEqual(states((yield* run(at, ["auth", "--json"])).out)[0], ["notes", "logged-in"])
    }))

  test("takes a line at a terminal, where the browser does not come back by itself", (at) =>
    Effect.gen(function*() {
      const login = yield* run(at, ["auth", "login", "notes", "--no-browser"], { onWrite: reading(), answers: [] })
      assert.strictEqual(login.code, 0, login.err)
      assert.deepStrictEqual(login.asked, ["Log in, then paste the address that the browser was redirected to: "])
    }))

  test("ends with 5 when nobody logs in, or says no, and with nothing left when it is interrupted", (at) =>
    Effect.gen(function*() {
      const late = yield* run(at, ["auth", "login", "notes", "--timeout", "1s", "--json"])
      assert.strictEqual(late.code, 5)
      assert.include(late.err, "no login within 1s")
      desk.settings.agrees = false
      const refused = yield* run(at, ["auth", "login", "notes"], { onWrite: reading() })
      assert.strictEqual(refused.code, 5)
      assert.include(refused.err, "access_denied")

      let text = ""
      const waiting = yield* Effect.fork(run(at, ["auth", "login", "notes"], {
        onWrite: (more) => {
          text += more
        }
      }))
      yield* eventually(() => shown.test(text), () => text)
      const exit = yield* Fiber.interrupt(waiting)
      assert.isTrue(Exit.isInterrupted(exit))
      const { searchParams } = new URL(shown.exec(text)![1]!)
      const back = yield* Effect.exit(Effect.tryPromise(() => fetch(searchParams.get("redirect_uri")!)))
      assert.isTrue(Exit.isFailure(back))
      assert.deepStrictEqual(states((yield* run(at, ["auth", "--json"])).out)[0], ["notes", "logged-out"])
    }))

  test("refuses what nobody can log in to", (at) =>
    Effect.gen(function*() {
      const table = [
        [["auth", "login"], "missing argument SERVER"],
        [["auth", "login", "files"], "the server \"files\" is local"],
        [["auth", "login", "shown"], "the configuration of \"shown\" contains credentials"],
        [["auth", "logout", "note"], "did you mean \"notes\"?"],
        [["auth", "logn", "notes"], "Did you mean \"login\"?"]
      ] as const
      for (const [argv, text] of table) {
        const { code, err } = yield* run(at, argv)
        assert.strictEqual(code, 2, err)
        assert.include(err, text)
      }
      assert.deepStrictEqual(desk.journal.registrations, [])
    }))
})
