import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe } from "@effect/vitest"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Cause, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { inspect } from "node:util"
import * as TokenStore from "../../src/auth/TokenStore.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import * as AuthServer from "../support/authServer.ts"
import * as Node from "../support/nodeRuntime.ts"

const server = "guarded"
const ours = "a-secret-of-the-configuration"

/** Everything that can be made of a value by whoever writes it down. */
const written = (value: unknown): string => {
  if (typeof value === "string") return value
  const shown = [inspect(value, { depth: 12, maxStringLength: null }), String(value), JSON.stringify(value)]
  if (value instanceof Error) shown.push(value.message, value.stack ?? "", Cause.pretty(Cause.fail(value)))
  return shown.join("\n")
}

const formsOf = (secret: string): ReadonlyArray<string> => [
  secret,
  Buffer.from(secret).toString("base64").replaceAll("=", ""),
  Buffer.from(secret).toString("hex")
]

/** An authorization server that answers with what it was sent, as an error. */
const echo = (name: string) => ({ form, headers }: AuthServer.Heard): AuthServer.Answer => ({
  status: 400,
  body: {
    error: form.get(name) ?? "",
    error_description: `${form} ${headers.authorization}`,
    error_uri: `https://e.example/?${form}`
  }
})

interface Run {
  readonly there: AuthServer.AuthServer
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly add: (sink: string, value: unknown) => void
}

/** Every way in which a login can come about, be used, and fail. */
const used = ({ add, runtime, there }: Run) =>
  Effect.gen(function*() {
    const { script } = there
    const failing = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.tap(Effect.flip(effect), (error) => Effect.sync(() => add("error", error)))
    script.tells = true
    yield* failing(runtime.servers.connect(server))
    for (const name of ["code", "code_verifier", "client_secret"]) {
      script.answers = [echo(name)]
      yield* failing(runtime.servers.login(server))
    }
    script.back = (parameters) => {
      parameters.set("error", parameters.get("code") ?? "")
      parameters.set("error_description", parameters.get("code") ?? "")
    }
    yield* failing(runtime.servers.login(server))
    script.back = (parameters) => parameters.set("iss", parameters.get("code") ?? "")
    yield* failing(runtime.servers.login(server))
    script.back = () => undefined
    yield* runtime.servers.login(server)
    add("status", yield* runtime.servers.loginStatus(server))
    yield* failing(runtime.callTool({ server, tool: "tells" }))
    for (const answer of [echo("refresh_token"), { status: 503, body: "down" }, echo("refresh_token")]) {
      there.expire()
      script.answers = [answer]
      yield* failing(runtime.callTool({ server, tool: "read" }))
    }
    yield* runtime.callTool({ server, tool: "read" })
    there.revoke()
    yield* failing(runtime.callTool({ server, tool: "read" }))
    yield* runtime.servers.login(server)
    yield* runtime.callTool({ server, tool: "read" })
    add("status", yield* runtime.servers.list)
    yield* runtime.servers.logout(server)
    add("status", yield* runtime.servers.loginStatus(server))
  })

describe("a secret of a login", () => {
  for (const [kind, dpop] of [["a bearer's", undefined], ["bound to a key", { nonce: "n" }]] as const) {
    Node.test(
      `is in no error, event, log, span or status, whatever a server does with it: ${kind}`,
      Effect.gen(function*() {
        const told: Array<readonly [sink: string, text: string]> = []
        const add = (sink: string, value: unknown) => told.push([sink, written(value)])
        const there = yield* AuthServer.make
        there.script.dpop = dpop
        const memory = yield* TokenStore.makeMemory
        const keys = new Set<string>()
        const store: TokenStore.TokenStore["Type"] = {
          ...memory,
          set: (key, secret) => {
            const key_ = /\\"d\\":\\"([\w-]+)/.exec(Redacted.value(secret))?.[1]
            if (key_ !== undefined) keys.add(key_)
            return memory.set(key, secret)
          }
        }
        const log = Logger.make((line) => {
          add("log", line.message)
          add("log", Cause.pretty(line.cause))
          add("log", Array.from(line.annotations))
        })
        const spans = new InMemorySpanExporter()
        const sdk = NodeSdk.layer(() => ({
          resource: { serviceName: "test" },
          spanProcessor: new SimpleSpanProcessor(spans)
        }))
        const events = yield* McpEvent.make()
        events.onEvent((event) => {
          add("event", event)
          if ("error" in event) add("event", event.error)
        })
        const options = Node.options(
          [there.config({ oauth: { clientId: "us", clientSecret: Redacted.make(ours), scopes: ["a", "b"] } })],
          { logs: true, retry: { retries: 0 } }
        )
        yield* Node.using(options, (runtime) => used({ there, runtime, add })).pipe(
          Effect.provide(AuthServer.replacing(AuthServer.person(), store, events)),
          // with the SDK they are gone
          Effect.tap(() =>
            Effect.sync(() => {
              for (const { attributes, events, name, status } of spans.getFinishedSpans()) {
                add("span", { attributes, events, name, status })
              }
            })
          ),
          Effect.provide(
            Layer.mergeAll(sdk, Logger.replace(Logger.defaultLogger, log), Logger.minimumLogLevel(LogLevel.All))
          )
        )
        assert.sameMembers(Array.from(new Set(told.map(([sink]) => sink))), ["error", "event", "log", "span", "status"])
        assert.strictEqual(keys.size > 0, dpop !== undefined)
        const secrets = [...there.secrets, ...keys, ours]
        assert.isAbove(secrets.length, 10)
        const leaks = told.flatMap(([sink, text]) =>
          secrets.flatMap(formsOf).filter((form) => text.includes(form)).map((form) => {
            const at = text.indexOf(form)
            return `${sink}: ${text.slice(Math.max(0, at - 120), at + form.length)}`
          })
        )
        assert.deepStrictEqual(leaks, [])
        // when the last connection has ended, nothing is known of any of them
        const { text } = yield* Redaction.Redaction
        for (const secret of there.secrets) assert.strictEqual(text(secret), secret)
      })
    )
  }
})
