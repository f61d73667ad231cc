import * as Ai from "@effect/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema, Stream } from "effect"
import * as AiToolkit from "../../src/agent/AiToolkit.ts"
import * as Adapters from "../support/adapters.ts"

type Calls = ReadonlyArray<readonly [name: string, params: unknown]>

/** A model that makes these calls, and what it was told of tools. */
const model = (...calls: Calls) => {
  const requests: Array<Ai.LanguageModel.ProviderOptions> = []
  const parts = calls.map(([name, params], at) => ({ type: "tool-call" as const, id: `call-${at}`, name, params }))
  const service = Ai.LanguageModel.make({
    generateText: (options) =>
      Effect.sync(() => {
        requests.push(options)
        return [...parts]
      }),
    streamText: (options) =>
      Stream.suspend(() => {
        requests.push(options)
        return Stream.fromIterable(parts)
      })
  })
  return { requests, service }
}

const ask = (...calls: Calls) =>
  Effect.gen(function*() {
    const { requests, service } = model(...calls)
    const response = yield* (yield* service).generateText({ prompt: "go", toolkit: AiToolkit.make() })
    return { response, tools: requests[0]!.tools, results: response.toolResults }
  })

describe("AiToolkit", () => {
  it.scoped("offers the tools with the schemas of their servers", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { tools } = yield* ask()
        const echo = tools.find(({ name }) => name === "mcp__one__echo")
        assert.isDefined(echo)
        assert.strictEqual(echo.description, "Says it again")
        assert.deepStrictEqual(
          Ai.Tool.getJsonSchemaFromSchemaAst(echo.parametersSchema.ast),
          Adapters.echoSchema as never
        )
        const draw = tools.find(({ name }) => name === "mcp__one__draw")
        assert.propertyVal(Ai.Tool.getJsonSchemaFromSchemaAst(draw!.parametersSchema.ast), "type", "object")
      })
    ))

  it.scoped("gives the text of a result to the model, and the whole result to the application", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { response, results } = yield* ask(["mcp__one__echo", { text: "hello" }])
        assert.strictEqual(results.length, 1)
        const [result] = results
        assert.isFalse(result!.isFailure)
        assert.include(String(result!.encodedResult), "hello")
        assert.deepStrictEqual(result!.result.result?.structuredContent, { said: "hello" })
        const message = Ai.Prompt.fromResponseParts(response.content).content.at(-1)
        assert.isTrue(message?.role === "tool" && message.content[0]!.result === result!.result.text)
      })
    ))

  it.scoped("passes images in a separate message, because results are text only", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { response, results } = yield* ask(["mcp__one__draw", {}], ["mcp__one__bad_picture", {}])
        assert.notInclude(String(results[0]!.encodedResult), Adapters.png)
        const prompt = AiToolkit.attachments(response.content)
        const [message] = prompt.content
        assert.isTrue(message?.role === "user")
        const files = message?.role === "user" ? message.content.filter(({ type }) => type === "file") : []
        assert.deepStrictEqual(files.map((part) => part.type === "file" ? [part.mediaType, part.data] : []), [
          ["image/png", Adapters.png]
        ])
        assert.deepStrictEqual(AiToolkit.attachments([]), Ai.Prompt.empty)
      })
    ))

  it.scoped("returns failures as results for the model", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { results } = yield* ask(
          ["mcp__one__fail", {}],
          ["mcp__one__refuse", {}],
          ["mcp__one__echo", "no object"]
        )
        assert.deepStrictEqual(results.map(({ isFailure }) => isFailure), [true, true, true])
        assert.include(String(results[0]!.encodedResult), "out of paper")
        assert.include(String(results[1]!.encodedResult), "no such city")
        assert.strictEqual(results[2]!.result.error?._tag, "InvalidArguments")
      })
    ))

  it.scoped("follows changes of the servers between requests", () =>
    Adapters.run(({ change }) =>
      Effect.gen(function*() {
        const { requests, service } = model()
        const languageModel = yield* service
        const toolkit = AiToolkit.make()
        yield* languageModel.generateText({ prompt: "go", toolkit })
        yield* change([Adapters.tool("fresh")])
        yield* languageModel.generateText({ prompt: "go", toolkit })
        const names = requests.map(({ tools }) => tools.map(({ name }) => name))
        assert.include(names[0]!, "mcp__one__echo")
        assert.notInclude(names[1]!, "mcp__one__echo")
        assert.include(names[1]!, "mcp__one__fresh")
      })
    ))

  it.scoped("shortens a tool name of 80 characters", () =>
    Adapters.run(({ handler }) =>
      Effect.gen(function*() {
        assert.strictEqual(Adapters.longName.length, 80)
        const { tools } = yield* handler.definitions()
        const { name } = tools.find(({ name }) => name.includes("a_long_name"))!
        assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
        const { results } = yield* ask([name, {}])
        assert.include(String(results[0]!.encodedResult), "a long way")
      })
    ))

  it.scoped("distinguishes two tools with the same name", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { results } = yield* ask(["mcp__one__same", {}], ["mcp__two__same", {}])
        assert.include(String(results[0]!.encodedResult), "of one")
        assert.include(String(results[1]!.encodedResult), "of two")
      })
    ))

  it.scoped("supports streaming", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const { service } = model(["mcp__one__echo", { text: "hello" }])
        const parts = yield* (yield* service).streamText({ prompt: "go", toolkit: AiToolkit.make() }).pipe(
          Stream.runCollect
        )
        const results = Array.from(parts).flatMap((part) => part.type === "tool-result" ? [part] : [])
        assert.include(String(results[0]!.encodedResult), "hello")
      })
    ))

  it.scoped("cancels the call at the server when the request is interrupted", () =>
    Adapters.run(({ cancelled, hanging }) =>
      Effect.gen(function*() {
        const asked = yield* Effect.fork(ask(["mcp__one__hang", {}]))
        yield* hanging
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(asked)))
        yield* cancelled
      })
    ))

  it.scoped("merges with the toolkit of an application, which takes precedence", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const own = Ai.Toolkit.make(
          Ai.Tool.make("Now", { success: Schema.Number, parameters: { zone: Schema.String } }),
          Ai.Tool.make("mcp__one__same", { success: Schema.String })
        )
        const { requests, service } = model(
          ["Now", { zone: "UTC" }],
          ["mcp__one__same", {}],
          ["mcp__two__same", {}]
        )
        const response = yield* (yield* service).generateText({ prompt: "go", toolkit: AiToolkit.merge(own) }).pipe(
          Effect.provide(own.toLayer({ Now: () => Effect.succeed(42), mcp__one__same: () => Effect.succeed("mine") }))
        )
        assert.deepStrictEqual(response.toolResults.slice(0, 2).map(({ result }) => result), [42, "mine"])
        assert.include(String(response.toolResults[2]!.encodedResult), "of two")
        assert.strictEqual(requests[0]!.tools.filter(({ name }) => name === "mcp__one__same").length, 1)
      })
    ))

  it("encodes an output as its text", () => {
    const output = Schema.decodeSync(AiToolkit.Output)("seen")
    assert.strictEqual(output.text, "seen")
    assert.strictEqual(Schema.encodeSync(AiToolkit.Output)(output), "seen")
  })
})
