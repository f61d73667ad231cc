import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Either, Layer, Redacted } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as Limits from "../../src/config/Limits.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as McpError from "../../src/McpError.ts"
import * as Configs from "../support/configs.ts"

const decode = (input: unknown) => Effect.runSync(Effect.either(ServerConfig.decode(input)))

const failure = (input: unknown): McpError.ConfigurationError => {
  const decoded = decode(input)
  if (Either.isRight(decoded)) throw new Error("this should not have been accepted")
  return decoded.left
}

const stdio = { transport: "stdio", name: "s", command: "node" }
const http = { transport: "streamable-http", name: "h", url: "http://127.0.0.1:1/mcp" }

describe("the configuration of a server", () => {
  it("takes plain secrets and durations, and keeps the secrets to itself", () => {
    const config = Configs.stdio({
      name: "s",
      command: "node",
      env: { TOKEN: "hush-hush" },
      startupTimeout: "5 seconds",
      toolTimeout: 1500
    })
    assert.strictEqual(Redacted.value(config.env!.get("TOKEN")!), "hush-hush")
    assert.deepStrictEqual(config.startupTimeout, Duration.seconds(5))
    assert.deepStrictEqual(config.toolTimeout, Duration.millis(1500))
    assert.notInclude(`${JSON.stringify(Array.from(config.env!))} ${String(config.env!.get("TOKEN"))}`, "hush-hush")
  })

  it("has a name for every variable, __proto__ too, and pollutes nothing", () => {
    const env: unknown = Object.fromEntries([["__proto__", "a"], ["constructor", "b"]])
    const decoded = decode({ ...stdio, env })
    assert.isTrue(Either.isRight(decoded))
    const config = Either.getOrThrow(decoded) as ServerConfig.StdioServer
    assert.deepStrictEqual(Array.from(config.env!.keys()), ["__proto__", "constructor"])
    assert.strictEqual(Object.getPrototypeOf({}), Object.prototype)
  })

  const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no object", "node server.js", ""],
    ["an unknown transport", { ...stdio, transport: "carrier-pigeon" }, "transport"],
    ["an empty name", { ...stdio, name: "" }, "name"],
    ["a name with a control character", { ...stdio, name: "a\u001b[31m" }, "name"],
    ["a name of Object's", { ...stdio, name: "__proto__" }, "name"],
    ["an empty command", { ...stdio, command: "" }, "command"],
    ["arguments that are no texts", { ...stdio, args: ["a", 1] }, "args.1"],
    ["a variable that is no text", { ...stdio, env: { A: 1 } }, "env"],
    ["a limit of nothing", { ...stdio, maxMessageBytes: 0 }, "maxMessageBytes"],
    ["a timeout that is none", { ...stdio, startupTimeout: "soon" }, "startupTimeout"],
    ["a timeout without end", { ...stdio, toolTimeout: Infinity }, "toolTimeout"],
    ["a timeout of nothing", { ...stdio, requestTimeout: 0 }, "requestTimeout"],
    ["no URL", { ...http, url: "localhost" }, "url"],
    ["another scheme", { ...http, url: "file:///etc/passwd" }, "url"],
    ["a password in the URL", { ...http, url: "http://me:secret@127.0.0.1/" }, "url"]
  ]
  for (const [what, input, path] of wrong) {
    it(`is refused with ${what}, and the error says where`, () => {
      const error = failure(input)
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.strictEqual(error.path, path)
      assert.strictEqual(error.outcome, "not-sent")
      assert.isFalse(error.isRetryable)
      assert.notInclude(error.message, "secret")
    })
  }

  it.effect("fails with ConfigurationError when a constructor gets an invalid one, and never throws", () =>
    Effect.gen(function*() {
      const inputs: ReadonlyArray<Effect.Effect<unknown, McpError.ConfigurationError>> = [
        ServerConfig.stdio({ name: "__proto__", command: "x" }),
        ServerConfig.stdio({ name: "s", command: "" }),
        ServerConfig.docker({ name: "d", servers: ["a,b"] }),
        ServerConfig.http({ name: "h", url: "nowhere" }),
        ServerConfig.http({ name: "h", url: "https://a.example/${PATH}" }),
        ServerConfig.sse({ name: "e", url: "wss://a.example/" }),
        ServerConfig.ws({ name: "w", url: "https://a.example/", startupTimeout: Infinity })
      ]
      const errors = yield* Effect.forEach(inputs, (config) => Effect.flip(config))
      assert.deepStrictEqual(errors.map(({ _tag, path, server }) => [_tag, server, path]), [
        ["ConfigurationError", "__proto__", "name"],
        ["ConfigurationError", "s", "command"],
        ["ConfigurationError", "d", "servers.0"],
        ["ConfigurationError", "h", "url"],
        ["ConfigurationError", "h", "url"],
        ["ConfigurationError", "e", "url"],
        ["ConfigurationError", "w", "startupTimeout"]
      ])
      assert.deepStrictEqual(
        yield* ServerConfig.http({ name: "h", url: "https://a.example/" }),
        yield* ServerConfig.decode({ transport: "streamable-http", name: "h", url: "https://a.example/" })
      )
    }))

  it.prop("never throws, whatever it is given", [FastCheck.anything({ withNullPrototype: true })], ([input]) => {
    decode(input)
    if (typeof input === "object" && input !== null) decode({ ...stdio, ...input })
  })
})

describe("the limits of a server", () => {
  it("are its own where it sets one, and the defaults elsewhere", () => {
    const config = Configs.stdio({ name: "s", command: "x", startupTimeout: "1 second", maxMessageBytes: 10 })
    const limits = ServerConfig.limits(config)
    assert.deepStrictEqual(limits.startupTimeout, Duration.seconds(1))
    assert.strictEqual(limits.maxMessageBytes, 10)
    assert.deepStrictEqual(limits.listTimeout, Limits.defaults.listTimeout)
  })

  const withEnvironment = (variables: ReadonlyArray<readonly [string, string]>) =>
    Effect.provide(
      Limits.CurrentLimits,
      Layer.provide(
        Limits.layerConfig,
        Layer.setConfigProvider(ConfigProvider.fromMap(new Map(variables)))
      )
    )

  it.effect("can be set by an operator", () =>
    Effect.gen(function*() {
      const limits = yield* withEnvironment([["MCP_TIMEOUT", "1234"], ["MCP_TOOL_TIMEOUT", "5678"]])
      assert.deepStrictEqual(limits.startupTimeout, Duration.millis(1234))
      assert.deepStrictEqual(limits.toolTimeout, Duration.millis(5678))
      assert.deepStrictEqual(limits.requestTimeout, Limits.defaults.requestTimeout)
    }))

  it.effect("are refused when an operator's are none", () =>
    Effect.gen(function*() {
      for (const value of ["soon", "-1", "0"]) {
        const exit = yield* Effect.exit(withEnvironment([["MCP_TIMEOUT", value]]))
        assert.strictEqual(exit._tag, "Failure")
      }
    }))
})
