import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Redacted } from "effect"
import * as Reporting from "../../src/client/reporting.ts"
import * as Secrets from "../../src/config/secrets.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as Configs from "../support/configs.ts"

const hiding = () => {
  const redaction = Redaction.make()
  return {
    hide: Reporting.make({ server: "s", redaction, publish: () => undefined }),
    know: (secret: string) => redaction.unsafeKnow(Redacted.make(secret))
  }
}

describe("an error that leaves a connection", () => {
  it("is the same where it holds no secret", () => {
    const error = new McpError.RequestTimeout({
      server: "s",
      kind: "idle",
      operation: "tools/call",
      limit: Duration.seconds(1),
      outcome: "unknown"
    })
    assert.strictEqual(hiding().hide.error(error), error)
  })

  it("has no secret in its fields, its message and its stack, and keeps its tag", () => {
    const { hide, know } = hiding()
    know("walnut-harbour")
    const told = hide.error(
      new McpError.RemoteError({ server: "s", code: -1, detail: "no walnut-harbour", data: { a: ["walnut-harbour"] } })
    )
    assert.instanceOf(told, McpError.RemoteError)
    assert.deepInclude(told, { server: "s", code: -1, detail: "no [redacted]", data: { a: ["[redacted]"] } })
    const texts = [String(told), told.stack, JSON.stringify(told), Cause.pretty(Cause.fail(told))]
    for (const text of texts) assert.notInclude(text, "walnut-harbour")
  })

  it("keeps the fields that decide, even where a secret is the same word", () => {
    const { hide, know } = hiding()
    for (const word of ["stalled-server", "stalled", "unknown"]) know(word)
    const told = hide.error(
      new McpError.ConnectionLost({
        server: "stalled-server",
        reason: "stalled",
        detail: "stalled-server is stalled",
        outcome: "unknown"
      })
    )
    assert.deepInclude(told, { server: "stalled-server", reason: "stalled", outcome: "unknown" })
    assert.strictEqual(told.detail, "[redacted] is [redacted]")
  })

  it("has no reason in the words of a server", () => {
    const { hide, know } = hiding()
    know("walnut-harbour")
    const error = new McpError.Cancelled({
      server: "s",
      operation: "tools/call",
      detail: "walnut-harbour",
      outcome: "unknown"
    })
    assert.strictEqual(hide.error(error).detail, "[redacted]")
  })
})

const secretsOf = (written: ServerConfig.ServerConfig, used: ServerConfig.ServerConfig) =>
  Secrets.of(written, used).map(Redacted.value)

const expansion = { origin: "home", grants: [], places: {}, directory: "/" } as const

describe("the secrets of a configuration", () => {
  it("are the values with the name of a secret and those from a source of secrets", () => {
    const written = Configs.stdio({
      name: "s",
      command: "x",
      args: ["--mode", "fast", "--token", "abcd1", "--header=X: ${input:key}", "-e", "API_KEY=efgh2", "${env:HOME}"],
      env: { API_TOKEN: "${env:A}-${file:/b}", REGION: "${env:REGION_X}", LEVEL: "${env:LOG_LEVEL}", PLAIN: "plain" },
      expansion
    })
    const used = Configs.stdio({
      name: "s",
      command: "x",
      args: ["--mode", "fast", "--token", "abcd1", "--header=X: typed", "-e", "API_KEY=efgh2", "/home/me"],
      env: {
        API_TOKEN: "first-second",
        REGION: "walnut harbour 7",
        LEVEL: "debug",
        PLAIN: "plain",
        EXTRA: "from a file"
      }
    })
    assert.sameMembers(secretsOf(written, used), [
      "abcd1",
      "typed",
      "efgh2",
      "first-second",
      "second",
      "walnut harbour 7",
      "from a file"
    ])
  })

  it("are in addresses and logins", () => {
    const login = { clientId: "me", clientSecret: Redacted.make("login-secret"), issuer: "https://login.test" }
    const written = Configs.http({ name: "s", url: "https://h.test/${secret:path}/mcp", expansion })
    const used = Configs.http({
      name: "s",
      url: "https://h.test/part/mcp?page=2&access_token=query-secret",
      oauth: login
    })
    assert.sameMembers(secretsOf(written, used), ["query-secret", "login-secret"])
    const plain = Configs.http({ name: "s", url: "https://h.test/part/mcp" })
    assert.sameMembers(secretsOf(written, plain), ["part"])
  })

  it("are none where everything is plain", () => {
    const config = Configs.stdio({ name: "s", command: "x", args: ["a", "--verbose"], env: { HOME: "/home/me" } })
    assert.deepStrictEqual(secretsOf(config, config), [])
  })
})
