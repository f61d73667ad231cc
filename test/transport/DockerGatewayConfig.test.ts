import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Redacted } from "effect"
import * as EraMemory from "../../src/client/EraMemory.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as DockerCommand from "../../src/transport/internal/dockerCommand.ts"
import type * as DockerRun from "../../src/transport/internal/dockerRun.ts"
import * as DockerVerdict from "../../src/transport/internal/dockerVerdict.ts"

const decode = (input: object) => Effect.runSync(Effect.either(ServerConfig.decode({ transport: "docker", ...input })))

describe("the configuration of Docker's gateway", () => {
  it("is lazy, and idles after five minutes, unless it says otherwise", () => {
    const plain = ServerConfig.docker({ name: "d" })
    assert.deepInclude(plain, { command: "docker", lazy: true, idleTimeout: Duration.minutes(5) })
    assert.deepStrictEqual(Either.getOrThrow(decode({ name: "d" })), plain)
    const other = ServerConfig.docker({ name: "d", lazy: false, idleTimeout: "1 hour", command: "/opt/docker" })
    assert.deepInclude(other, { command: "/opt/docker", lazy: false, idleTimeout: Duration.hours(1) })
  })

  it("keeps its secrets to itself", () => {
    const { env } = ServerConfig.docker({ name: "d", env: { TOKEN: "hush-hush" } })
    assert.strictEqual(Redacted.value(env!.get("TOKEN")!), "hush-hush")
  })

  const wrong: ReadonlyArray<readonly [string, object, string]> = [
    ["no servers, where some are to be listed", { servers: [] }, "servers"],
    ["a server whose name would be two", { servers: ["a,b"] }, "servers.0"],
    ["an empty profile", { profile: "" }, "profile"],
    ["an empty command", { command: "" }, "command"],
    ["an idle time of nothing", { idleTimeout: 0 }, "idleTimeout"]
  ]
  for (const [what, input, path] of wrong) {
    it(`is refused with ${what}`, () => {
      const decoded = decode({ name: "d", ...input })
      assert.isTrue(Either.isLeft(decoded))
      assert.strictEqual(Option.getOrThrow(Either.getLeft(decoded)).path, path)
    })
  }

  it("becomes a stdio server with the same limits", () => {
    const config = ServerConfig.docker({ name: "d", maxMessageBytes: 10, requestTimeout: "1 second", env: { A: "b" } })
    const stdio = DockerCommand.gateway(config)
    assert.deepInclude(stdio, { name: "d", transport: "stdio", command: "docker", args: ["mcp", "gateway", "run"] })
    assert.deepStrictEqual(ServerConfig.limits(stdio), ServerConfig.limits(config))
    assert.strictEqual(stdio.env, config.env)
    assert.isTrue(DockerCommand.gateway({ ...config, inheritEnv: true }).inheritEnv)
  })

  it("is another server with another profile, or other servers", () => {
    const identities = [{}, { profile: "a" }, { profile: "b" }, { servers: ["a"] }, { args: ["a"] }, { command: "a" }]
      .map((more) => EraMemory.identity(ServerConfig.docker({ name: "d", ...more })))
    assert.strictEqual(new Set(identities).size, identities.length)
  })
})

describe("the verdict on Docker", () => {
  const ran = (code: number | null, stdout: string, stderr = "") =>
    Option.some<DockerRun.Ran>({ exit: { code, signal: code === null ? "SIGKILL" : null }, stdout, stderr })
  const limit = Duration.seconds(3)
  const none = Option.none<DockerRun.Ran>()
  const helps = {
    plugin: ran(0, "Docker MCP Toolkit's CLI\n\nUsage: docker mcp [OPTIONS]\n"),
    missing: ran(0, "Usage:  docker [OPTIONS] COMMAND\n\nInvalid Plugins:\n  mcp   failed to fetch metadata\n"),
    silent: none,
    killed: ran(null, "")
  }
  const infos = { up: ran(0, "28.2.2\n"), down: ran(1, "\n", "oh"), silent: none, killed: ran(null, "28.2.2\n") }
  const verdict = (help: keyof typeof helps, info: keyof typeof infos) =>
    Either.match(DockerVerdict.of("d", limit, helps[help], infos[info]), {
      onLeft: ({ reason }) => reason,
      onRight: (version) => version
    })

  it("names what no retry can mend before what one may, and an answer before a silence", () => {
    for (const info of ["up", "down", "silent", "killed"] as const) {
      assert.strictEqual(verdict("missing", info), "no-mcp-plugin")
    }
    for (const help of ["plugin", "silent", "killed"] as const) assert.strictEqual(verdict(help, "down"), "daemon-down")
    for (const help of ["plugin", "silent", "killed"] as const) assert.strictEqual(verdict(help, "silent"), "timeout")
    for (const help of ["plugin", "silent", "killed"] as const) assert.strictEqual(verdict(help, "killed"), "timeout")
    assert.strictEqual(verdict("silent", "up"), "timeout")
    assert.strictEqual(verdict("killed", "up"), "timeout")
    assert.strictEqual(verdict("plugin", "up"), "28.2.2")
  })

  it("knows the help of the plugin, whatever the program is called and however the help is laid out", () => {
    for (
      const text of [
        "Usage: podman mcp [OPTIONS]",
        "USAGE:\n  docker mcp [command]\n",
        "x\n\nUsage:  docker mcp COMMAND"
      ]
    ) {
      assert.isTrue(Either.isRight(DockerVerdict.of("d", limit, ran(0, text), infos.up)), text)
    }
  })

  it("is an error that says what to do, in one line", () => {
    for (const reason of ["not-installed", "no-mcp-plugin", "daemon-down", "timeout"] as const) {
      const error = new McpError.DockerUnavailable({ server: "d", reason, detail: "a\nb\u202e".repeat(1_000) })
      assert.isTrue(McpError.isMcpError(error))
      assert.match(error.message, /install|start/)
      assert.notMatch(error.message, /[\n\u202e]/)
      assert.isBelow(error.message.length, 3_000)
      assert.isTrue(error.countsForBreaker)
      assert.strictEqual(error.isRetryable, reason === "daemon-down" || reason === "timeout")
    }
  })
})
