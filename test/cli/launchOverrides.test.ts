/** Consent begins with the values outside the command line that decide which program runs or which hosts it talks to. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { chmodSync, existsSync, rmSync } from "node:fs"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Trust from "../../src/config/Trust.ts"
import { ofWorkspace, type Place, place, run } from "./inProcess.ts"

interface Line {
  readonly label: string
  readonly text: string
  readonly level: "plain" | "warning"
}

interface Waiting {
  readonly server: string
  readonly fingerprint: string
  readonly why: string
  readonly consent: ReadonlyArray<Line>
}

const waiting = (at: Place) =>
  Effect.map(run(at, ["approve", "--json"]), ({ out }) => JSON.parse(out).servers as ReadonlyArray<Waiting>)

const entry = (more: object) => ({ mcpServers: { tool: { command: "npx", args: ["-y", "tool@1.0.0"], ...more } } })

/** The warnings above the first plain line. */
const first = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  lines.slice(0, lines.findIndex(({ level }) => level === "plain")).map(({ text }) => text)

describe("the consent lines of an entry of the workspace", () => {
  const table = [
    ["PATH", "./bin:${PATH}"],
    ["HOME", "./home"],
    ["https_proxy", "http://127.0.0.1:9"],
    ["HTTP_PROXY", "http://127.0.0.1:9"],
    ["ALL_PROXY", "socks5://127.0.0.1:9"],
    ["SSL_CERT_FILE", "./ca.pem"],
    ["REQUESTS_CA_BUNDLE", "./ca.pem"],
    ["UV_INDEX_URL", "https://packages.example/simple"],
    ["PIP_INDEX_URL", "https://packages.example/simple"],
    ["DOCKER_HOST", "tcp://127.0.0.1:9"],
    ["KUBECONFIG", "./kube.yaml"],
    ["XDG_CONFIG_HOME", "./config"],
    ["SHELL", "./sh"]
  ] as const

  it.scopedLive("begin with each variable that decides which program runs or which hosts it talks to", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, entry({ env: { LEVEL: "debug", ...Object.fromEntries(table) } }))
      const [one] = yield* waiting(at)
      const above = first(one!.consent)
      for (const [name] of table) assert.include(above.join("\n"), JSON.stringify(name), name)
      assert.lengthOf(above, table.length)
      assert.notInclude(above.join("\n"), "LEVEL")
      assert.include(one!.consent.map(({ text }) => text), "\"LEVEL\" = \"debug\"")
      // the value is shown whole, and no line repeats it
      assert.lengthOf(one!.consent.filter(({ text }) => text.includes("./bin:")), 1)
      const { out } = yield* run(at, ["approve"], { columns: 200 })
      assert.match(out.split("\n")[1] ?? "", /^ {2}variable: +"PATH" = "\.\/bin:/)
    }))

  it.scopedLive("hide a password in an address that they show", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, entry({ env: { HTTPS_PROXY: "http://someone:canary@proxy.example:8080" } }))
      const [one] = yield* waiting(at)
      const [line = ""] = first(one!.consent)
      assert.include(line, "@proxy.example:8080")
      assert.notInclude(JSON.stringify(one), "canary")
    }))

  it.scopedLive("name variables among the arguments, and a folder in which the program is looked up", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, {
        mcpServers: {
          words: { command: "env", args: ["PATH=./bin", "NODE_OPTIONS=--require ./x.js", "node", "server.js"] },
          folder: { command: "npx", args: ["-y", "tool@1.0.0"], cwd: "./sub" },
          relative: { command: "./server", cwd: "./sub" },
          plain: { command: "node", args: ["server.js"], cwd: "./sub" }
        }
      })
      const lines = new Map((yield* waiting(at)).map(({ consent, server }) => [server, first(consent)]))
      assert.deepStrictEqual(lines.get("words")?.map((text) => text.slice(0, 8)), ["\"args.0\"", "\"args.1\""])
      for (const name of ["folder", "relative"]) assert.match(lines.get(name)?.[0] ?? "", /^"\.\/sub"/, name)
      assert.deepStrictEqual(lines.get("plain"), [])
    }))

  it.scopedLive("do not warn of a variable that is passed on unchanged", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, entry({ env: { PATH: "${PATH}", HOME: "${HOME:-/tmp}" } }))
      const [one] = yield* waiting(at)
      assert.lengthOf(first(one!.consent), 1)
      assert.include(first(one!.consent)[0], "\"HOME\"")
    }))
})

describe("an entry of a plugin with a PATH of its own", () => {
  it.effect("is used, and has a warning that names the variable", () =>
    Effect.gen(function*() {
      const { issues, servers } = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
      assert.deepStrictEqual(servers.map(({ name, state }) => [name, state._tag]), [["tool", "Ready"]])
      assert.deepStrictEqual(issues.map(({ at, kind, severity }) => [kind, at, severity]), [
        ["launch-override", "env.PATH", "warning"]
      ])
    }).pipe(Effect.provide(Layer.provide(
      ConfigDiscovery.layerTest(
        new Map([[
          "/plugins/p/.mcp.json",
          JSON.stringify({ mcpServers: { tool: { command: "npx", args: ["-y", "tool"], env: { PATH: "./bin" } } } })
        ]]),
        { plugins: ["/plugins/p"] }
      ),
      Trust.layerMemory()
    ))))
})

describe("an entry of the workspace with a PATH of its own", () => {
  it.scopedLive("starts nothing before consent, and a change of that variable alone makes the consent void", () =>
    Effect.gen(function*() {
      const at = yield* place
      const marker = `${at.root}/started`
      for (const folder of ["bin", "other"]) {
        chmodSync(at.write(`work/${folder}/tool`, `#!/bin/sh\necho ${folder} >> ${marker}\n`), 0o755)
      }
      const withPath = (path: string) =>
        at.write(ofWorkspace, { mcpServers: { tool: { command: "tool", env: { PATH: path } } } })
      withPath(`${at.root}/bin:/bin:/usr/bin`)
      for (const argv of [["list"], ["tools"], ["doctor"], ["call", "tool/x"]]) yield* run(at, argv)
      assert.isFalse(existsSync(marker))
      const [before] = yield* waiting(at)
      assert.strictEqual(before?.consent[0]?.level, "warning")
      assert.include(before?.consent[0]?.text, "\"PATH\"")

      assert.strictEqual((yield* run(at, ["approve", before!.fingerprint])).code, 0)
      yield* run(at, ["list"])
      assert.isTrue(existsSync(marker))

      rmSync(marker)
      withPath(`${at.root}/other:/bin:/usr/bin`)
      yield* run(at, ["list"])
      assert.isFalse(existsSync(marker))
      const [after] = yield* waiting(at)
      assert.strictEqual(after?.why, "changed")
      assert.notStrictEqual(after?.fingerprint, before?.fingerprint)
    }))

  it.scopedLive("is a warning of that entry in every document", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, entry({ env: { PATH: "./bin" } }))
      const [list, config, doctor] = yield* Effect.forEach(["list", "config", "doctor"], (command) =>
        Effect.map(run(at, [command, "--json"]), ({ out }) => JSON.parse(out)))
      for (const issues of [list.servers[0].issues ?? [], config.issues]) {
        const issue = (issues as ReadonlyArray<{ at: string; kind: string; severity: string }>).find((one) =>
          one.at === "env.PATH"
        )
        assert.deepStrictEqual([issue?.kind, issue?.severity], ["launch-override", "warning"])
      }
      assert.include(JSON.stringify(doctor.servers[0].problems), "env.PATH")
    }))

  it.scopedLive("drops overrides of an envFile, with a warning", () =>
    Effect.gen(function*() {
      const at = yield* place
      const marker = `${at.root}/started`
      at.write("work/.env", `PATH=${at.root}/bin\nHTTPS_PROXY=http://127.0.0.1:9\nLEVEL=debug\n`)
      const script = `echo "$LEVEL $HTTPS_PROXY" > ${marker}`
      at.write("work/.vscode/mcp.json", {
        servers: { tool: { type: "stdio", command: "sh", args: ["-c", script], envFile: "${workspaceFolder}/.env" } }
      })
      const options = ["--import", "vscode"]
      const { out } = yield* run(at, ["approve", "--json", ...options])
      const one = (JSON.parse(out).servers as ReadonlyArray<Waiting>).find(({ server }) => server === "tool")!
      assert.include(JSON.stringify(one.consent.find(({ label }) => label === "env file")), "except")
      assert.strictEqual((yield* run(at, ["approve", one.fingerprint, ...options])).code, 0)
      const events = yield* run(at, ["events", "--for", "1s", ...options])
      for (const name of ["PATH", "HTTPS_PROXY"]) {
        assert.match(events.out, new RegExp(`tool configuration warning: kind env-dropped.*variable ${name}$`, "m"))
      }
      assert.isTrue(existsSync(marker))
    }))
})
