/** `${input:…}` of a configuration: answered by an option, at the terminal, or as it was answered before. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Keyring from "../../src/node/keyring.ts"
import { type Place, place, run as runAny, server, type Typing } from "./inProcess.ts"

/** Without a keyring, so that answers are kept in files. */
const run = (at: Place, argv: ReadonlyArray<string>, typing?: Typing) =>
  runAny(at, [...argv, "--import", "vscode"], typing).pipe(
    Effect.provideService(Keyring.KeyringLoader, Effect.fail(new Cause.UnknownException("no keyring")))
  )

const user = "home/.config/Code/User/mcp.json"

const asking = (at: Place, file = user) =>
  at.write(file, {
    inputs: [
      { id: "token", type: "promptString", description: "The token", password: true },
      { id: "stage", type: "pickString", options: ["dev", "live"], default: "dev" }
    ],
    servers: { adder: { ...server("cli/adder.mjs"), env: { TOKEN: "${input:token}", STAGE: "${input:stage}" } } }
  })

const variable = (name: string) => ["call", "adder/variable", `name=${name}`]

describe("an input that nothing answers", () => {
  it.scopedLive("is the reason of its server in every command, and the flag that answers it is the hint", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      for (const argv of [["list"], ["tools"], ["call", "adder/add", "a=1"]]) {
        const { err, out } = yield* run(at, argv, { columns: 200 })
        assert.match(out + err, /unanswered input "token"/, argv.join(" "))
        assert.match(out + err, /--input token=VALUE/, argv.join(" "))
      }
      assert.strictEqual((yield* run(at, variable("TOKEN"))).code, 3)
    }))
})

describe("--input", () => {
  it.scopedLive("answers for this run, and keeps nothing", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      const { code, err, out } = yield* run(at, [...variable("TOKEN"), "--input", "token=a=b"])
      assert.deepStrictEqual([code, out, err], [0, "a=b\n", ""])
      assert.strictEqual((yield* run(at, [...variable("STAGE"), "--input", "token=x"])).out, "dev\n")
      assert.strictEqual((yield* run(at, variable("TOKEN"))).code, 3)
      const wrong = yield* run(at, [...variable("STAGE"), "--input", "token=x", "--input", "stage=test"])
      assert.match(wrong.err, /"input:stage" has an answer that is not one of its choices/)
      const bare = yield* run(at, [...variable("TOKEN"), "--input", "token"])
      assert.deepStrictEqual([bare.code, /--input "token" needs a value/.test(bare.err)], [2, true])
      const unnamed = yield* run(at, [...variable("TOKEN"), "--input", "=s3cret"])
      assert.deepStrictEqual([unnamed.code, unnamed.err.includes("s3cret")], [2, false])
      assert.match(unnamed.err, /--input needs an id\nUsage: --input ID=VALUE/)
    }))
})

describe("a person at the terminal", () => {
  it.scopedLive("is asked once for a server that is named, and the answers are kept for the user alone", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      const first = yield* run(at, variable("TOKEN"), { answers: ["s3cret", "nowhere", "live"] })
      assert.deepStrictEqual([first.code, first.out], [0, "s3cret\n"], first.err)
      assert.deepStrictEqual(first.asked, ["token: ", "stage [dev]: ", "stage [dev]: "])
      assert.match(first.err, /adder needs token: The token/)
      assert.match(first.err, /one of: dev, live/)
      assert.match(first.err, /saved in files in .*--input token/s)
      assert.notInclude(first.err, "s3cret")
      const again = yield* run(at, variable("STAGE"), { answers: [] })
      assert.deepStrictEqual([again.out, again.asked], ["live\n", []])
      assert.strictEqual((yield* run(at, variable("TOKEN"))).out, "s3cret\n")
      const state = join(at.home, ".local/state/mcp-runtime/logins")
      for (const file of readdirSync(state)) assert.strictEqual(statSync(join(state, file)).mode & 0o077, 0)
      assert.isTrue(readdirSync(state).some((file) => readFileSync(join(state, file), "utf8").includes("s3cret")))
    }))

  it.scopedLive("is asked anew by --input with an id alone", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      yield* run(at, variable("TOKEN"), { answers: ["wrong", "dev"] })
      const { asked, out } = yield* run(at, [...variable("TOKEN"), "--input", "token"], { answers: ["right"] })
      assert.deepStrictEqual([asked, out], [["token: "], "right\n"])
      assert.strictEqual((yield* run(at, variable("TOKEN"))).out, "right\n")
    }))

  it.scopedLive("who gives no answer gets the reason", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      const { code, err } = yield* run(at, variable("TOKEN"), { answers: [""] })
      assert.strictEqual(code, 3)
      assert.match(err, /unanswered input "token"/)
    }))

  it.scopedLive("is not asked by a list of all servers", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      assert.deepStrictEqual((yield* run(at, ["list"], { answers: ["s3cret"] })).asked, [])
    }))
})

describe("a kept answer", () => {
  it.scopedLive("does not count once it is not among the choices", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      yield* run(at, variable("STAGE"), { answers: ["s3cret", "live"] })
      const file = join(at.home, ".config/Code/User/mcp.json")
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("\"live\"", "\"production\""))
      const { asked, out } = yield* run(at, variable("STAGE"), { answers: ["production"] })
      assert.deepStrictEqual([asked, out], [["stage [dev]: "], "production\n"])
    }))

  it.scopedLive("is for its file: another file that asks by the same id asks again", () =>
    Effect.gen(function*() {
      const at = yield* place
      asking(at)
      yield* run(at, variable("TOKEN"), { answers: ["s3cret", "dev"] })
      const file = at.write("work/mcp-client.json", {
        mcpServers: { other: { ...server("cli/adder.mjs"), env: { TOKEN: "${input:token}" } } }
      })
      const other = yield* run(at, ["call", "other/variable", "name=TOKEN", "--config", file])
      assert.strictEqual(other.code, 3)
      assert.match(other.err, /unanswered input "token"/)
    }))

  it.scopedLive("of a workspace is for the entry as it was approved", () =>
    Effect.gen(function*() {
      const at = yield* place
      const write = (...args: ReadonlyArray<string>) =>
        at.write("work/.vscode/mcp.json", {
          inputs: [{ id: "token", password: true }],
          servers: { adder: { ...server("cli/adder.mjs", ...args), env: { TOKEN: "${input:token}" } } }
        })
      write()
      const first = yield* run(at, variable("TOKEN"), { answers: ["y", "s3cret"] })
      assert.deepStrictEqual([first.code, first.out, first.asked.length], [0, "s3cret\n", 2], first.err)
      assert.strictEqual((yield* run(at, variable("TOKEN"))).out, "s3cret\n")
      write("--changed")
      const changed = yield* run(at, variable("TOKEN"), { answers: ["y", ""] })
      assert.deepStrictEqual([changed.code, changed.asked.at(-1)], [3, "token: "], changed.err)
    }))
})
