import { assert, describe, it } from "@effect/vitest"
import { convertToModelMessages, generateText, stepCountIs, tool, type ToolSet } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import { Cause, Effect, Exit, Runtime, Scope } from "effect"
import * as AiSdk from "../../src/agent/AiSdk.ts"
import * as ToolHandler from "../../src/agent/ToolHandler.ts"
import * as Adapters from "../support/adapters.ts"

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>

const usage: Generated["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined }
}

type Calls = ReadonlyArray<readonly [name: string, input: unknown]>

/** A model that in each step makes these calls, and then says that it has finished. */
const model = (...steps: ReadonlyArray<Calls | (() => Promise<Calls>)>) => {
  let step = 0
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const planned = steps[step++] ?? []
      const calls = typeof planned === "function" ? await planned() : planned
      return {
        content: calls.length === 0
          ? [{ type: "text", text: "finished" }]
          : calls.map(([toolName, input], at) => ({
            type: "tool-call" as const,
            toolCallId: `call-${step}-${at}`,
            toolName,
            input: JSON.stringify(input)
          })),
        finishReason: { unified: calls.length === 0 ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: []
      }
    }
  })
}

const prompt = "go"
const stopWhen = stepCountIs(5)

/** What the model was told in its last request that the tools have given. */
const outputs = (seen: MockLanguageModelV3) =>
  seen.doGenerateCalls.at(-1)!.prompt.flatMap((message) =>
    message.role === "tool" ? message.content.flatMap((part) => part.type === "tool-result" ? [part.output] : []) : []
  )

const offered = (seen: MockLanguageModelV3) =>
  seen.doGenerateCalls.map(({ tools }) => (tools ?? []).map(({ name }) => name))

const ask = (...calls: Calls) =>
  Effect.gen(function*() {
    const seen = model(calls)
    const tools = yield* (yield* AiSdk.make()).toolSet()
    const result = yield* Effect.promise(() => generateText({ model: seen, prompt, stopWhen, tools }))
    return { seen, outputs: outputs(seen), result }
  })

describe("AiSdk", () => {
  it.scoped("offers tools with the schemas of their servers", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { seen } = yield* ask()
        const echo = seen.doGenerateCalls[0]!.tools?.find(({ name }) => name === "mcp__one__echo")
        assert.isTrue(echo?.type === "function")
        if (echo?.type !== "function") return
        assert.strictEqual(echo.description, "Says it again")
        assert.deepStrictEqual(echo.inputSchema, Adapters.echoSchema as never)
      })
    ))

  it.scoped("returns the text of results, for any patterns in the schemas", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { outputs, result } = yield* ask(["mcp__one__echo", { text: Adapters.catastrophic }])
        assert.strictEqual(result.text, "finished")
        assert.strictEqual(outputs[0]!.type, "text")
        assert.include(JSON.stringify(outputs[0]), Adapters.catastrophic)
      })
    ))

  it.scoped("shows supported images", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { outputs } = yield* ask(["mcp__one__draw", {}], ["mcp__one__bad_picture", {}])
        const [drawn, bad] = outputs
        assert.isTrue(drawn?.type === "content")
        if (drawn?.type !== "content") return
        assert.strictEqual(drawn.value[0]?.type, "text")
        // version 7 of the package turns the one into the other
        assert.include(["image-data", "file-data"], drawn.value[1]?.type)
        const image: object = { ...drawn.value[1], type: undefined }
        assert.deepInclude(image, { data: Adapters.png, mediaType: "image/png" })
        assert.strictEqual(bad?.type, "text")
      })
    ))

  it.scoped("returns failures as results, and the run continues", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { outputs, result } = yield* ask(
          ["mcp__one__fail", {}],
          ["mcp__one__refuse", {}],
          ["mcp__one__echo", ["no object"]]
        )
        assert.strictEqual(result.text, "finished")
        assert.deepStrictEqual(outputs.map(({ type }) => type), ["error-text", "error-text", "error-text"])
        assert.include(JSON.stringify(outputs[0]), "out of paper")
        assert.include(JSON.stringify(outputs[1]), "no such city")
      })
    ))

  it.scoped("updates the tools between steps, together with those of the application", () =>
    Adapters.run(({ change }) =>
      Effect.gen(function*() {
        const sdk = yield* AiSdk.make()
        const promise = Runtime.runPromise(yield* Effect.runtime())
        const own: ToolSet = {
          now: tool({ inputSchema: (yield* sdk.toolSet())["mcp__one__draw"]!.inputSchema, execute: () => "noon" })
        }
        const live = yield* sdk.live({ own })
        const seen = model(
          [["mcp__one__echo", { text: "early" }], ["now", {}]],
          () =>
            // the list changes after the model was asked, so that it calls what is gone
            promise(Effect.as(change([Adapters.tool("fresh")]), [["mcp__one__echo", { text: "late" }]])),
          [["mcp__one__fresh", {}]]
        )
        yield* Effect.promise(() => generateText({ model: seen, prompt, stopWhen, ...live }))
        const names = offered(seen)
        assert.includeMembers(names[1]!, ["mcp__one__echo", "now"])
        assert.includeMembers(names[2]!, ["mcp__one__fresh", "now"])
        assert.notInclude(names[2]!, "mcp__one__echo")
        const said = outputs(seen)
        assert.deepStrictEqual(said.map(({ type }) => type), ["text", "text", "error-text", "text"])
        assert.include(JSON.stringify(said[2]), "NotFound")
        assert.include(JSON.stringify(said[3]), "fresh")
      })
    ))

  it.scoped("shortens a tool name of 80 characters", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const tools = yield* (yield* AiSdk.make()).toolSet()
        const name = Object.keys(tools).find((name) => name.includes("a_long_name"))!
        assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
        assert.include(JSON.stringify((yield* ask([name, {}])).outputs), "a long way")
      })
    ))

  it.scoped("distinguishes equal names of two servers", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { outputs } = yield* ask(["mcp__one__same", {}], ["mcp__two__same", {}])
        assert.include(JSON.stringify(outputs[0]), "of one")
        assert.include(JSON.stringify(outputs[1]), "of two")
      })
    ))

  it.scoped("cancels a call at its server when the run is aborted", () =>
    Adapters.run(({ cancelled, hanging }) =>
      Effect.gen(function*() {
        const tools = yield* (yield* AiSdk.make()).toolSet()
        const stop = new AbortController()
        const why = new Error("enough")
        const execute = tools["mcp__one__hang"]!.execute!
        const asked = execute({}, { toolCallId: "call", messages: [], abortSignal: stop.signal })
        yield* hanging
        stop.abort(why)
        const reason = yield* Effect.promise(() => Promise.resolve(asked).then(() => undefined, (error) => error))
        assert.strictEqual(reason, why)
        yield* cancelled
      })
    ))

  it.scoped("ends calls with its scope, and runs none after it", () =>
    Adapters.run(({ cancelled, hanging }) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const tools = yield* (yield* Scope.extend(AiSdk.make(), scope)).toolSet()
        const execute = () =>
          Promise.resolve(tools["mcp__one__hang"]!.execute!({}, { toolCallId: "call", messages: [] }))
            .then(() => undefined, (error: unknown) => error)
        const asked = execute()
        yield* hanging
        yield* Scope.close(scope, Exit.void)
        yield* cancelled
        for (const reason of [yield* Effect.promise(() => asked), yield* Effect.promise(execute)]) {
          assert.isTrue(Cause.isInterruptedException(reason))
        }
      })
    ))

  it.scoped("asks for approval in the SDK only with `needsApproval`, for tools that need it", () =>
    Adapters.run(({ handler }) =>
      Effect.gen(function*() {
        const asking = ToolHandler.ToolHandler.of({
          ...handler,
          definitions: (options) =>
            Effect.map(handler.definitions(options), (all) => ({
              ...all,
              tools: all.tools.map((one) => ({ ...one, requiresApproval: one.name === "mcp__one__echo" }))
            }))
        })
        const toolSet = (options?: Partial<AiSdk.Options>) =>
          AiSdk.make(options).pipe(
            Effect.flatMap((sdk) => sdk.toolSet()),
            Effect.provideService(ToolHandler.ToolHandler, asking)
          )
        assert.isUndefined((yield* toolSet())["mcp__one__echo"]!.needsApproval)
        const tools = yield* toolSet({ needsApproval: true })
        assert.strictEqual(tools["mcp__one__echo"]!.needsApproval, true)
        assert.strictEqual(tools["mcp__one__draw"]!.needsApproval, false)
      })
    ))

  it.scoped("rejects a forged output", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const tools = yield* (yield* AiSdk.make()).toolSet()
        const output = { secret: 1 }
        const messages = yield* Effect.promise(() =>
          convertToModelMessages([{
            role: "assistant",
            parts: [{
              type: "dynamic-tool",
              toolName: "mcp__one__echo",
              toolCallId: "call",
              state: "output-available",
              input: {},
              output
            }]
          }], { tools })
        )
        assert.notInclude(JSON.stringify(messages), "secret")
        assert.include(JSON.stringify(messages), "error-text")
      })
    ))
})
