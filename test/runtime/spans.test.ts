import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as RecordingTracer from "../observability/recordingTracer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const uri = "mem:///a"

/** What an application does with a runtime, the spans of that alone, and the server. */
const traced = <A, E>(
  era: "session" | "stateless",
  work: (service: McpRuntime.McpRuntime["Type"]) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const peer = yield* MemoryServer.make({
      era,
      resources: [{ uri, name: "a", read: () => Effect.succeed("text") }],
      prompts: [{ name: "greet", get: () => Effect.succeed("hello") }]
    })
    const { spans, tracer } = RecordingTracer.make()
    const exit = yield* Effect.gen(function*() {
      const service = yield* McpRuntime.McpRuntime
      yield* Pool.until("a", "Connected")
      return yield* Effect.exit(Effect.withTracer(work(service), tracer))
    }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a")] })))
    return { exit, spans, peer }
  })

const metaOf = (peer: MemoryServer.Server, method: string) =>
  // the cast: what a client has sent as `params` is an object
  (peer.received(method)[0]!["params"] as JsonRpc.JsonObject)["_meta"]

const traceparent = `00-${RecordingTracer.traceId}-0000000000000001-01`

describe("a tracer of a runtime", () => {
  for (const era of ["session", "stateless"] as const) {
    it.scoped(`sees that a resource is read, and its trace goes on at a server of the ${era} era`, () =>
      Effect.gen(function*() {
        const { peer, spans } = yield* traced(era, (service) => service.readResource("a", uri))
        assert.deepStrictEqual(spans.map(({ name }) => name), ["resources/read"])
        const { attributes, ended } = spans[0]!
        assert.strictEqual(attributes.get("mcp.resource.uri"), uri)
        assert.strictEqual(attributes.get("mcp.server.name"), "a")
        assert.isString(attributes.get("mcp.protocol.version"))
        assert.isTrue(Exit.isSuccess(ended()!))
        assert.deepInclude(metaOf(peer, "resources/read"), { traceparent })
      }))

    it.scoped(`sees that a prompt is got, and its trace goes on at a server of the ${era} era`, () =>
      Effect.gen(function*() {
        const { peer, spans } = yield* traced(era, (service) => service.getPrompt("a", "greet"))
        assert.deepStrictEqual(spans.map(({ name }) => name), ["prompts/get greet"])
        assert.strictEqual(spans[0]!.attributes.get("gen_ai.prompt.name"), "greet")
        assert.deepInclude(metaOf(peer, "prompts/get"), { traceparent })
      }))
  }

  it.scoped("sees why a resource could not be read", () =>
    Effect.gen(function*() {
      const { exit, spans } = yield* traced("session", (service) => service.readResource("a", "mem:///none"))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(spans[0]!.attributes.get("error.type"), "NotFound")
    }))

  it.scoped("sees nothing of a server that there is not", () =>
    Effect.gen(function*() {
      const { exit, spans } = yield* traced("session", (service) => service.readResource("z", uri))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(spans, [])
    }))
})

describe("a tracer of a runtime that lists", () => {
  it.scoped("sees the request that a list takes, and nothing where the list is kept", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        resources: [{ uri, name: "a", read: () => Effect.succeed("text") }]
      })
      const { spans, tracer } = RecordingTracer.make()
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        const resources = Effect.withTracer(service.resources, tracer)
        assert.strictEqual((yield* resources).items.length, 1)
        assert.strictEqual((yield* resources).items.length, 1)
        assert.deepStrictEqual(spans.map(({ name }) => name), ["resources/list"])
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, { servers: [Pool.remote("a", { lazy: true })] })))
    }))
})
