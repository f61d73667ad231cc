import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Cli from "../../src/cli/Cli.ts"
import type * as Screen from "../../src/cli/Screen.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Device from "../cli/device.ts"
import { ofWorkspace, own, type Place, place } from "../cli/inProcess.ts"
import { canaries, entries, leaksIn, script } from "../fixtures/leaking/canaries.ts"
import * as Leaking from "../fixtures/leaking/remote.ts"

const run = ({ home, root }: Place, argv: ReadonlyArray<string>, more: Partial<Screen.Device> = {}) =>
  Effect.gen(function*() {
    const device = Device.make(more)
    const code = yield* Cli.run({ argv: [...argv, "--root", root], version: "0.0.0", device })
    return { code, out: device.out(), err: device.err() }
  }).pipe(Effect.provide(HostEnvironment.layer({ ...canaries, HOME: home, PATH: process.env["PATH"] ?? "" })))

const terminal: Partial<Screen.Device> = { isTerminal: { out: true, err: true } }

/** For people at a terminal, with all that is told of it, and for programs. */
const both = (at: Place, argv: ReadonlyArray<string>, more: Partial<Screen.Device> = {}) =>
  Effect.all([run(at, [...argv, "-v"], { ...terminal, ...more }), run(at, [...argv, "-v", "--json"], more)])

/** Runs it both ways; each ends with `code`, has said something, and no secret. */
const hides = (at: Place, code: number, argv: ReadonlyArray<string>, more: Partial<Screen.Device> = {}) =>
  Effect.map(both(at, argv, more), (ran) => {
    for (const { code: ended, err, out } of ran) {
      assert.deepStrictEqual(leaksIn(`${out}\n${err}`), [], argv.join(" "))
      assert.strictEqual(ended, code, `${argv.join(" ")}: ${err}`)
      assert.isAbove(out.length + err.length, 16, argv.join(" "))
    }
  })

const patient = 180_000

describe("a secret of a configuration, on the command line,", () => {
  it.scopedLive("is in nothing that a command says of servers, whatever they do with it", () =>
    Effect.gen(function*() {
      const at = yield* place
      const origin = yield* Leaking.remote
      at.write(own, { mcpServers: entries(origin) })
      const literal = canaries.LITERAL
      at.write(ofWorkspace, {
        mcpServers: {
          workspace: { command: process.execPath, args: [script, "end"], env: { API_TOKEN: literal } },
          hosted: {
            type: "http",
            url: `https://user:${literal}@h.example/mcp?api_key=${literal}`,
            headers: { Authorization: `Bearer ${literal}` }
          }
        }
      })
      yield* hides(at, 4, ["list"])
      yield* hides(at, 0, ["config"])
      const few = ["--server", "ends", "--server", "unauthorized", "--server", "remote"]
      yield* hides(at, 0, ["status", "--watch", "--for", "50ms", ...few])
      yield* hides(at, 0, ["events", "--for", "300ms", ...few])
      yield* hides(at, 4, ["doctor"])
      yield* hides(at, 0, ["smoke", "--server", "serves"])
      yield* hides(at, 0, ["approve"])
      for (const server of ["workspace", "hosted"]) yield* hides(at, 5, ["approve", server])
      for (const server of ["refuses", "ends", "absent", "redirect", "down"]) {
        yield* hides(at, 4, ["call", `${server}/echo`])
      }
      yield* hides(at, 5, ["call", "unauthorized/echo"])
      const asked: Array<string> = []
      const ask = (question: string) => {
        asked.push(question)
        return Effect.succeed(".decline")
      }
      yield* hides(at, 0, ["call", "serves/asks"], { isInteractive: true, ask })
      assert.isNotEmpty(asked)
      assert.deepStrictEqual(asked.flatMap(leaksIn), [])
      const input = [
        "tools serves",
        "show serves/echo",
        ...["notifies", "fails", "odd", "worse", "dies", "none"].map((tool) => `call serves/${tool}`),
        ...["fails", "odd", "unknown", "broken", "markup", "streams"].map((tool) => `call remote/${tool}`),
        "reconnect serves",
        "resources remote",
        "status",
        "list"
      ].join("\n")
      yield* hides(at, 4, ["repl", "--server", "serves", "--server", "remote"], { input: () => Effect.succeed(input) })
    }), patient)

  it.scopedLive("is left as it is in what a server gives that was asked for", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: entries("http://127.0.0.1:9") })
      const given = [
        ["call", "serves/echo"],
        // a failure that a tool tells in its result
        ["call", "serves/reports"],
        ["show", "names/echo"],
        ["read", "told://all", "--server", "names"],
        ["prompt", "names/all"]
      ]
      for (const argv of given) {
        for (const { err, out } of yield* both(at, argv)) {
          assert.include(`${out}\n${err}`, canaries.LEAK_TOKEN, argv.join(" "))
        }
      }
    }), patient)

  it.scopedLive(
    "is in nothing that is said of a file in which it stands where it does not belong",
    () =>
      Effect.gen(function*() {
        const at = yield* place
        const secret = canaries.LITERAL
        const url = "https://h.example/"
        const misplaced: ReadonlyArray<unknown> = [
          secret,
          [secret],
          { command: { token: secret } },
          { command: `no-such --token ${secret}` },
          { command: "no-such", args: ["--token", secret, `--api-key=${secret}`, `Authorization: ${secret}`] },
          { command: "no-such", args: `--token ${secret}` },
          { command: "no-such", args: [{ token: secret }] },
          { command: "no-such", env: [`API_TOKEN=${secret}`] },
          { command: "no-such", env: `API_TOKEN=${secret}` },
          { command: "no-such", env: { [`API_TOKEN=${secret}`]: "" } },
          { command: "no-such", env: { API_TOKEN: { value: secret } } },
          { command: "no-such", env: { API_TOKEN: `${secret}\u0000` } },
          { command: "no-such", env: { API_TOKEN: `\${${secret}}` } },
          { command: "no-such", env: { API_TOKEN: secret }, cwd: [secret] },
          { command: "no-such", envFile: [secret] },
          { command: "no-such", [`API_TOKEN=${secret}`]: true },
          { [`API_TOKEN=${secret}`]: true },
          { command: "no-such", oauth: { clientSecret: secret } },
          { command: "no-such", enabled: secret, startupTimeoutMs: secret, protocol: secret, inheritEnv: secret },
          { url, type: secret },
          { url: secret },
          { url: `htp://user:${secret}@h.example/` },
          { url: `http://user:${secret}@h example/` },
          { url: `http://user:${secret}@127.0.0.1:9/?token=${secret}` },
          { url: `${url}?token=${secret}`, type: "ws" },
          { url: `${url}?token=${secret}\u0000` },
          { url, headers: [`Authorization: Bearer ${secret}`] },
          { url, headers: `Authorization: Bearer ${secret}` },
          { url, headers: { [`Authorization: Bearer ${secret}`]: "" } },
          { url, headers: { Authorization: [`Bearer ${secret}`] } },
          { url, headers: { Authorization: `Bearer ${secret}\n${secret}` } },
          { url, bearerToken: secret },
          { url, oauth: secret },
          { url, oauth: { clientSecret: [secret] } }
        ]
        const bad = at.write("work/bad.json", {
          mcpServers: Object.fromEntries(misplaced.map((entry, index) => [`s${index}`, entry])),
          inputs: secret,
          policy: { allow: secret, deny: [{ url: `[${secret}` }, { name: 1, url: secret }] },
          permissions: { deny: secret, rules: [{ tool: "a/b", action: secret }] },
          security: secret
        })
        yield* hides(at, 3, ["config", "validate", bad])
        yield* hides(at, 0, ["config", "--config", bad])
        yield* hides(at, 4, ["list", "--config", bad])
        yield* hides(at, 3, ["doctor", "--config", bad])
        const torn = {
          json: `{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "${secret}" "B": 1}}}}`,
          toml: `[mcp_servers.a]\ncommand = "x"\nenv = { API_TOKEN = "${secret}", = 1 }\n`,
          yaml: `mcpServers:\n  a:\n    command: x\n   env: "${secret}\n`
        }
        for (const [ending, text] of Object.entries(torn)) {
          const file = at.write(`work/torn.${ending}`, text)
          yield* hides(at, 3, ["config", "validate", file])
          yield* hides(at, 3, ["list", "--config", file])
        }
      }),
    patient
  )
})
