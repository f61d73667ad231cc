import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as McpClient from "../../src/client/McpClient.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Fake from "../support/fakeConnection.ts"

const opened = (options: Fake.Options) =>
  Effect.gen(function*() {
    const connection = yield* Fake.make(options)
    return { connection, session: yield* McpClient.make(connection) }
  })

const tagOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("McpClient.readResource", () => {
  it.effect("returns texts and blobs, part by part", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: {
          "resources/read": {
            contents: [{ uri: "a:1", mimeType: "text/plain", text: "x" }, { blob: "AA==" }, { uri: "a:3" }, null]
          }
        }
      })
      assert.deepStrictEqual(yield* session.readResource("a:b"), [
        { _tag: "Text", uri: "a:1", mimeType: "text/plain", text: "x" },
        { _tag: "Blob", uri: "a:b", mimeType: undefined, blob: "AA==" }
      ])
      assert.deepStrictEqual(connection.asked[0]?.params, { uri: "a:b" })
    }))

  it.effect("recognizes an unknown resource by its error code", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "resources/read": () => Effect.fail(Fake.remoteError(-32002)) } })
      const error = yield* Effect.flip(session.readResource("a:b"))
      assert(error._tag === "NotFound")
      assert.deepStrictEqual([error.kind, error.name], ["resource", "a:b"])
    }))

  it.effect("refuses contents that are not an array, and reads absent contents as empty", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: { "resources/read": (_, nth) => Effect.succeed(nth === 0 ? { contents: "x" } : {}) }
      })
      assert.strictEqual(yield* tagOf(session.readResource("a:b")), "ProtocolViolation")
      assert.deepStrictEqual(yield* session.readResource("a:b"), [])
    }))
})

describe("McpClient.getPrompt", () => {
  it.effect("returns messages with one content part or several, of any kind", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: {
          "prompts/get": {
            description: "d",
            messages: [
              { role: "assistant", content: { type: "text", text: "hi" } },
              { role: "user", content: [{ type: "text", text: "a" }, { type: "new" }] },
              7
            ]
          }
        }
      })
      const { description, messages } = yield* session.getPrompt("p", { x: "1" })
      assert.strictEqual(description, "d")
      assert.deepStrictEqual(messages.map(({ content, role }) => [role, content._tag]), [
        ["assistant", "Text"],
        ["user", "Text"],
        ["user", "Unknown"],
        ["user", "Unknown"]
      ])
      assert.deepStrictEqual(connection.asked[0]?.params, { name: "p", arguments: { x: "1" } })
    }))

  it.effect("refuses messages that are not an array", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "prompts/get": { messages: {} } } })
      assert.strictEqual(yield* tagOf(session.getPrompt("p")), "ProtocolViolation")
    }))
})

describe("McpClient.complete", () => {
  it.effect("completes for a prompt or a template, with the arguments so far", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "completion/complete": {} } })
      yield* session.complete({ prompt: "p", argument: "a", value: "v" }, { b: "w" })
      yield* session.complete({ template: "t:{a}", argument: "a", value: "" })
      assert.deepStrictEqual(connection.asked.map(({ params }) => params), [
        {
          ref: { type: "ref/prompt", name: "p" },
          argument: { name: "a", value: "v" },
          context: { arguments: { b: "w" } }
        },
        { ref: { type: "ref/resource", uri: "t:{a}" }, argument: { name: "a", value: "" } }
      ])
    }))

  it.effect("returns at most a hundred values and whether there are more", () =>
    Effect.gen(function*() {
      const completions: ReadonlyArray<readonly [JsonRpc.JsonObject, number, boolean]> = [
        [{ completion: { values: ["a", 1, "b"] } }, 2, false],
        [{ completion: { values: Array.from({ length: 150 }, (_, i) => `${i}`) } }, 100, true],
        [{ completion: { values: ["a"], hasMore: true } }, 1, true],
        [{ completion: { values: ["a"], total: 5 } }, 1, true],
        [{ completion: "odd" }, 0, false],
        [{}, 0, false]
      ]
      const { session } = yield* opened({
        answers: { "completion/complete": (_, nth) => Effect.succeed(completions[nth]![0]) }
      })
      for (const [, count, more] of completions) {
        const { hasMore, values } = yield* session.complete({ prompt: "p", argument: "a", value: "" })
        assert.deepStrictEqual([values.length, hasMore], [count, more])
      }
    }))
})

describe("McpClient requests and notifications", () => {
  it.effect("notifies the server of changed roots in the session era only", () =>
    Effect.gen(function*() {
      const inSession = yield* opened({})
      yield* inSession.session.rootsChanged
      assert.deepStrictEqual(inSession.connection.notified.map(({ method }) => method), [
        "notifications/roots/list_changed"
      ])
      const stateless = yield* opened({ era: "stateless" })
      yield* stateless.session.rootsChanged
      assert.deepStrictEqual(stateless.connection.notified, [])
    }))

  it.effect("knows experimental capabilities, and only those that the server declares", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        capabilities: { experimental: { "codex/sandbox-state": { version: "1" } } }
      })
      assert.deepStrictEqual(session.experimental("codex/sandbox-state"), { version: "1" })
      assert.isUndefined(session.experimental("toString"))
      assert.isUndefined((yield* opened({ capabilities: { experimental: null } })).session.experimental("x"))
    }))

  it.effect("sends any notification and any request that is JSON", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "x/y": { ok: true } } })
      yield* session.notify("codex/sandbox-state/update", { sandbox: "on" })
      assert.deepStrictEqual(connection.notified, [{ method: "codex/sandbox-state/update", params: { sandbox: "on" } }])
      assert.deepStrictEqual(yield* session.request("x/y", { a: 1 }), { ok: true })
      // the cast: what a program without types may pass
      const odd = { a: 1n } as unknown as JsonRpc.JsonObject
      assert.strictEqual(yield* tagOf(session.notify("n", odd)), "InvalidArguments")
      assert.strictEqual(yield* tagOf(session.request("x/y", odd)), "InvalidArguments")
      assert.strictEqual(connection.asked.length, 1)
    }))

  it.scoped("publishes changes and oddities on the event bus, if there is one", () =>
    Effect.gen(function*() {
      const heard: Array<McpEvent.McpEvent> = []
      const events: McpEvent.McpEvents["Type"] = { ...(yield* McpEvent.make()), publish: (event) => heard.push(event) }
      const connection = yield* Fake.make({
        answers: { "tools/list": { tools: [{ name: "\u001b" }], nextCursor: "" } }
      })
      const session = yield* Effect.provideService(McpClient.make(connection), McpEvent.McpEvents, events)
      for (let i = 0; i < 1000; i++) connection.say("notifications/tools/list_changed")
      connection.say("notifications/resources/list_changed")
      connection.say("notifications/prompts/list_changed")
      yield* session.tools
      assert.deepStrictEqual(heard.map(({ _tag }) => _tag), [
        "ToolsChanged",
        "ResourcesChanged",
        "PromptsChanged",
        "Diagnostic",
        "Diagnostic"
      ])
      assert.notInclude(
        heard.map((event) => event._tag === "Diagnostic" ? event.diagnostic.detail : "").join(),
        "\u001b"
      )
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(McpEvent.McpEvents)))
    }))
})
