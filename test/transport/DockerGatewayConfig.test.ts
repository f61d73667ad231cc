import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Redacted } from "effect"
import * as EraMemory from "../../src/client/EraMemory.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as Configs from "../support/configs.ts"

const decode = (input: object) => Effect.runSync(Effect.either(ServerConfig.decode({ transport: "docker", ...input })))

describe("the configuration of Docker's gateway", () => {
  it("is lazy and idles after five minutes by default", () => {
    const plain = Configs.docker({ name: "d" })
    assert.deepInclude(plain, { command: "docker", lazy: true, idleTimeout: Duration.minutes(5) })
    assert.deepStrictEqual(Either.getOrThrow(decode({ name: "d" })), plain)
    const other = Configs.docker({ name: "d", lazy: false, idleTimeout: "1 hour", command: "/opt/docker" })
    assert.deepInclude(other, { command: "/opt/docker", lazy: false, idleTimeout: Duration.hours(1) })
  })

  it("keeps its secrets to itself", () => {
    const { env } = Configs.docker({ name: "d", env: { TOKEN: "hush-hush" } })
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

  it("is another server with another profile, or other servers", () => {
    const identities = [{}, { profile: "a" }, { profile: "b" }, { servers: ["a"] }, { args: ["a"] }, { command: "a" }]
      .map((more) => EraMemory.identity(Configs.docker({ name: "d", ...more })))
    assert.strictEqual(new Set(identities).size, identities.length)
  })
})

describe("SpawnFailed for Docker", () => {
  it("is an error of one line with the next step", () => {
    for (
      const reason of ["docker-not-installed", "docker-no-mcp-plugin", "docker-daemon-down", "docker-timeout"] as const
    ) {
      const error = new McpError.SpawnFailed({
        server: "d",
        reason,
        detail: "a\nb\u202e".repeat(1_000)
      })
      assert.isTrue(McpError.isMcpError(error))
      assert.match(error.message, /install|start/)
      assert.notMatch(error.message, /[\n\u202e]/)
      assert.isBelow(error.message.length, 3_000)
      assert.isTrue(error.countsForBreaker)
      assert.strictEqual(error.isRetryable, reason === "docker-daemon-down" || reason === "docker-timeout")
    }
  })
})
