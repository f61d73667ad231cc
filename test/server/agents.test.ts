/** An agent that is served, as clients use it that nobody here wrote. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import * as NodeHttpListener from "../../src/node/NodeHttpListener.ts"
import * as AgentServer from "../../src/server/AgentServer.ts"
import { type Caller, connect, type Kind } from "./callers.ts"

const kinds: ReadonlyArray<Kind> = [
  "SDK 1.x",
  "SDK 2.x",
  "SDK 2.x, which looks for itself",
  "SDK 2.x, stateless",
  "AI SDK"
]

const interrupted = Deferred.unsafeMake<void>(Effect.runSync(Effect.fiberId))

/** Does what it is told: `count`, `ask` and `wait` are orders, and anything else is said again. */
const agent = AgentServer.Agent.of({
  start: ({ text }) => Effect.succeed(`begun with ${text}`),
  reply: ({ ask, progress, tell, text }) => {
    switch (text) {
      case "count":
        return Effect.sync(() => {
          for (const step of [1, 2]) progress({ progress: step, total: 2 })
          return "counted"
        })
      case "ask":
        return Effect.matchEffect(
          ask("elicitation/create", {
            message: "Really?",
            requestedSchema: { type: "object", properties: { answer: { type: "string" } } }
          }),
          {
            onFailure: ({ message }) => Effect.fail(new AgentServer.AgentFailed({ reason: message })),
            onSuccess: (given) => Effect.succeed(JSON.stringify(given))
          }
        )
      case "wait":
        return Effect.onInterrupt(
          Effect.zipRight(Effect.sync(() => progress({ progress: 1 })), Effect.never),
          () => Deferred.succeed(interrupted, undefined)
        )
      default:
        return Effect.sync(() => {
          tell({ heard: text })
          return `again ${text}`
        })
    }
  }
})

const scope = Effect.runSync(Scope.make())
let url: string

beforeAll(async () => {
  const listening = Layer.buildWithScope(
    NodeHttpListener.layer(AgentServer.make({ name: "cocode" })).pipe(
      Layer.provide(Layer.succeed(AgentServer.Agent, agent))
    ),
    scope
  )
  const context = await Effect.runPromise(listening)
  url = Effect.runSync(Effect.provide(NodeHttpListener.NodeHttpListener, context)).url
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

for (const kind of kinds) {
  describe(`an agent for the ${kind}`, () => {
    let caller: Caller
    let sessionId: string
    beforeAll(async () => {
      caller = await connect[kind]({ url, headers: {} })
      const { structuredContent } = await caller.call("cocode", { prompt: "one" })
      sessionId = String(structuredContent?.["session_id"])
    })
    afterAll(() => caller.close())

    const reply = (message: string, options = {}) =>
      caller.call("cocode-reply", { session_id: sessionId, message }, options)

    it("has two tools", async () => {
      assert.deepStrictEqual(await caller.tools(), ["cocode", "cocode-reply"])
    })

    it("goes on with a conversation", async () => {
      assert.strictEqual((await reply("two")).content[0]?.text, "again two")
    })

    it("says that a conversation is not there as a result", async () => {
      const { isError } = await caller.call("cocode-reply", { session_id: "none", message: "two" })
      assert.isTrue(isError)
    })

    it("asks the caller's person", async () => {
      assert.include((await reply("ask")).content[0]?.text, "to Really?")
    })

    it("has neither prompts nor resources", async () => {
      assert.deepStrictEqual([await caller.prompts(), await caller.resources()], [[], []])
    })

    if (kind !== "AI SDK") {
      it("tells how far it is", async () => {
        const steps: Array<number> = []
        await reply("count", { onprogress: ({ progress }: { readonly progress: number }) => steps.push(progress) })
        assert.deepStrictEqual(steps, [1, 2])
      })
    }

    if (kind !== "AI SDK") {
      it("tells what happens beside the response", async () => {
        await reply("three", { meta: caller.isStateless ? { "io.modelcontextprotocol/logLevel": "info" } : {} })
        const isIt = (data: unknown) =>
          JSON.stringify(data) === JSON.stringify({ session_id: sessionId, event: { heard: "three" } })
        await caller.heard(({ method, params }) => method === "notifications/message" && isIt(params["data"]))
      })
    }

    if (kind === "SDK 1.x") {
      it("stops when the caller gives up", async () => {
        const stop = new AbortController()
        const call = reply("wait", { signal: stop.signal, onprogress: () => stop.abort() })
        assert.strictEqual(await call.then(() => "answered", () => "given up"), "given up")
        await Effect.runPromise(Deferred.await(interrupted))
      })
    }
  })
}
