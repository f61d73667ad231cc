/** `--stdio` and `--url`: a server that is typed in place of a configuration. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import { fileURLToPath } from "node:url"
import { own, type Place, place, run, server } from "./inProcess.ts"

const adder = fileURLToPath(new URL("../fixtures/cli/adder.mjs", import.meta.url))
const line = `${process.execPath} ${adder}`

/** The address of the same server over HTTP. */
const overHttp = Effect.gen(function*() {
  // not compiled, because it also runs as a program
  const { listener }: { readonly listener: RequestListener } = yield* Effect.promise(() => import(adder))
  const server = createServer(listener)
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`
})

/** A user with a server of another name, which is not to be started. */
const configured = Effect.tap(
  place,
  (at) => Effect.sync(() => at.write(own, { mcpServers: { other: { command: "no-such" } } }))
)

const names = (at: Place, argv: ReadonlyArray<string>) =>
  Effect.map(run(at, ["list", "--json", ...argv]), ({ err, out }): ReadonlyArray<string> => {
    const { servers } = JSON.parse(out)
    assert.deepStrictEqual(servers?.map(({ tools }: { tools: unknown }) => tools), servers?.map(() => 4), out + err)
    return servers.map(({ name }: { name: string }) => name)
  })

describe("--stdio", () => {
  it.scopedLive("calls a tool of a command, with no other server", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const { code, err, out } = yield* run(at, ["call", "--stdio", line, "add", "a=1", "b=2"])
      assert.deepStrictEqual([code, out, err], [0, "3\n", ""])
      const behind = yield* run(at, ["call", "add", "a=1", "b=2", "--stdio", line])
      assert.deepStrictEqual([behind.code, behind.out], [code, out])
      const named = yield* run(at, ["call", "--stdio", line, "adder/add", "a=1"])
      assert.deepStrictEqual([named.code, named.out], [0, "42\n"])
    }))

  it.scopedLive("is there for every command that starts servers", () =>
    Effect.gen(function*() {
      const at = yield* configured
      for (const argv of [["tools"], ["show", "add"], ["doctor"], ["status"]]) {
        const { code, err, out } = yield* run(at, [...argv, "--stdio", line])
        assert.strictEqual(code, 0, out + err)
        assert.notInclude(out + err, "no-such")
      }
      assert.deepStrictEqual(yield* names(at, ["--stdio", line]), ["adder"])
    }))

  it.scopedLive("is an argument of the tool where it stands behind the name of one", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const { out } = yield* run(at, ["call", "--stdio", line, "variable", "--name", "HOME"])
      assert.strictEqual(out, `${at.home}\n`)
      const { code, err } = yield* run(at, ["call", "--stdio", line, "add", "a=1", "--url", "https://a.example"])
      assert.strictEqual(code, 2)
      assert.match(err, /has no argument "url".*\nPut the option --url before the tool/)
    }))

  it.scopedLive("reads words as a shell does, and starts none", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const { out } = yield* run(at, ["call", "--stdio", `${line} 'a b' "c d" '$HOME;' ~`, "arguments"])
      assert.deepStrictEqual(JSON.parse(out), ["a b", "c d", "$HOME;", at.home])
      const { code, err } = yield* run(at, ["call", "--stdio", `${line} --token s3cret | tee log`, "arguments"])
      assert.strictEqual(code, 2)
      assert.match(err, /needs a shell, but the command runs without one/)
      assert.notInclude(err, "s3cret")
    }))

  it.scopedLive("has the name of its package, script or program, or that of --name", () =>
    Effect.gen(function*() {
      const at = yield* configured
      assert.deepStrictEqual(yield* names(at, ["--stdio", line, "--name", "mine"]), ["mine"])
      assert.deepStrictEqual(yield* names(at, ["--stdio", line, "--stdio", `${line} x`]), ["adder", "adder-2"])
      const table = [
        ["npx -y @modelcontextprotocol/server-everything@2026.1.1 --x", "server-everything"],
        ["uvx mcp-server-git==1.0.0", "mcp-server-git"],
        ["/opt/tools/my-server", "my-server"],
        ["python3 -u tools/weather.py", "weather"]
      ] as const
      for (const [line, name] of table) {
        const { out } = yield* run(at, ["config", "--json", "--stdio", line])
        assert.deepStrictEqual(JSON.parse(out).servers.map((one: { name: string }) => one.name), [name])
      }
      const { code, err } = yield* run(at, ["list", "--stdio", line, "--stdio", line, "--name", "both"])
      assert.strictEqual(code, 2)
      assert.match(err, /--name needs exactly one/)
    }))

  it.scopedLive("gets variables by --env, from a file of --env-file or the environment if only their names are typed", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const file = at.write("work/some.env", "A_VALUE='from the file'\nBOTH=file\n")
      const variables = { BOTH: "environment" }
      const ask = (name: string, ...argv: ReadonlyArray<string>) =>
        Effect.map(
          run(at, ["call", "--stdio", line, ...argv, "variable", `name=${name}`], { variables }),
          ({ err, out }) => `${out}${err}`
        )
      assert.strictEqual(yield* ask("X", "--env", "X=a=b"), "a=b\n")
      assert.strictEqual(yield* ask("BOTH"), "undefined\n")
      assert.strictEqual(yield* ask("BOTH", "--env", "BOTH", "--env-file", file), "environment\n")
      assert.strictEqual(yield* ask("A_VALUE", "--env", "A_VALUE", "--env-file", file), "from the file\n")
      assert.match(yield* ask("A_VALUE", "--env", "A_VALUE"), /A_VALUE.* is not set/)
      const { code, err } = yield* run(at, ["list", "--env-file", "none.env"])
      assert.strictEqual(code, 2)
      assert.match(err, /cannot read the file.*none\.env/)
    }))
})

describe("--url", () => {
  it.scopedLive("calls a tool at an address, with headers, and is named after its host", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const url = yield* overHttp
      assert.deepStrictEqual(yield* names(at, ["--url", url]), ["127.0.0.1"])
      const { err, out } = yield* run(
        at,
        ["call", "--url", url, "--header", "X-Team: ${env:TEAM}", "header", "name=x-team"],
        { variables: { TEAM: "blue" } }
      )
      assert.deepStrictEqual([out, err], ["blue\n", ""])
    }))

  it.scopedLive("refuses what is no address, and options of the other kind", () =>
    Effect.gen(function*() {
      const at = yield* configured
      const table = [
        [["--url", "nowhere"], /invalid server ".*": url/],
        [["--url", "https://a.example", "--env", "A=1"], /--env cannot be used with a URL/],
        [["--stdio", "a", "--header", "A: 1"], /--header cannot be used with a command/],
        [["--header", "A: 1"], /--env and --header need/],
        [["--url", "https://a.example", "--header", "A"], /invalid --header "A"/],
        [["--stdio", "a", "--env", "=1"], /invalid --env/],
        [
          ["--url", "https://a.example", "--header", "AuthorizationBearer sk-1"],
          /invalid --header "AuthorizationBearer"/
        ],
        [["--url", "https://a.example", "--header", "Authorization=sk-1"], /invalid --header "Authorization"/]
      ] as const
      for (const [argv, words] of table) {
        const { code, err } = yield* run(at, ["list", ...argv])
        assert.strictEqual(code, 2, err)
        assert.match(err, words)
        assert.notMatch(err, /sk-1|=1/)
      }
    }))
})

describe("with other options", () => {
  it.scopedLive("stands beside the files of --config", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write("work/extra.json", { mcpServers: { extra: server("cli/adder.mjs") } })
      assert.sameMembers([...yield* names(at, ["--stdio", line, "--config", file])], ["adder", "extra"])
    }))
})
