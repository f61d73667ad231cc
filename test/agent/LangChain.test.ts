import { assert, describe, it } from "@effect/vitest"
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { fakeModel } from "@langchain/core/testing"
import { convertToOpenAITool } from "@langchain/core/utils/function_calling"
import { Cause, Effect, Exit, Scope } from "effect"
import * as LangChain from "../../src/agent/LangChain.ts"
import * as Adapters from "../support/adapters.ts"

type Calls = ReadonlyArray<readonly [name: string, args: unknown]>

/** One turn of a model that makes these calls, and what it is told of them. */
const ask = (...calls: Calls) =>
  Effect.gen(function*() {
    const tools = yield* (yield* LangChain.make()).tools()
    const messages = yield* Effect.promise(async () => {
      const message = new AIMessage({
        content: "",
        tool_calls: calls.map(([name, args], at) => ({
          type: "tool_call",
          id: `call-${at}`,
          name,
          args: args as never
        }))
      })
      const model = fakeModel().respond(message).bindTools(tools)
      const response = await model.invoke([new HumanMessage("go")])
      const toolCalls = response instanceof AIMessage ? response.tool_calls ?? [] : []
      return Promise.all(
        toolCalls.map((call) =>
          tools.find(({ name }) => name === call.name)!.invoke({ ...call, type: "tool_call" }) as Promise<unknown>
        )
      )
    })
    return messages.map((message) => {
      assert.instanceOf(message, ToolMessage)
      return message as ToolMessage
    })
  })

describe("LangChain", () => {
  it.scoped("offers tools with the schemas of their servers", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const tools = yield* (yield* LangChain.make()).tools()
        const echo = tools.find(({ name }) => name === "mcp__one__echo")!
        assert.deepStrictEqual(convertToOpenAITool(echo), {
          type: "function",
          function: { name: "mcp__one__echo", description: "Says it again", parameters: Adapters.echoSchema }
        } as never)
      })
    ))

  it.scoped("returns the text for the model and the artifact for the application, for any patterns in the schemas", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const [message] = yield* ask(["mcp__one__echo", { text: Adapters.catastrophic }])
        assert.strictEqual(message!.status, "success")
        assert.strictEqual(message!.tool_call_id, "call-0")
        assert.strictEqual(message!.name, "mcp__one__echo")
        assert.include(message!.content, Adapters.catastrophic)
        const artifact: LangChain.Artifact = message!.artifact
        assert.deepStrictEqual(artifact.structuredContent, { said: Adapters.catastrophic })
        assert.isFalse(artifact.isError)
      })
    ))

  it.scoped("shows supported images to the model, and all attachments to the application", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const [drawn, bad] = yield* ask(["mcp__one__draw", {}], ["mcp__one__bad_picture", {}])
        assert.deepStrictEqual(Array.isArray(drawn!.content) && drawn!.content.slice(1), [
          { type: "image_url", image_url: { url: `data:image/png;base64,${Adapters.png}` } }
        ])
        assert.strictEqual(drawn!.artifact.attachments[0].data, Adapters.png)
        assert.isString(bad!.content)
        assert.strictEqual(bad!.artifact.attachments.length, 2)
      })
    ))

  it.scoped("returns failures as error messages, and never throws", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const messages = yield* ask(
          ["mcp__one__fail", {}],
          ["mcp__one__refuse", {}],
          ["mcp__one__echo", ["no object"]]
        )
        assert.deepStrictEqual(messages.map(({ status }) => status), ["error", "error", "error"])
        assert.include(messages[0]!.content, "out of paper")
        assert.include(messages[1]!.content, "no such city")
        assert.strictEqual(messages[1]!.artifact.error._tag, "RemoteError")
        assert.strictEqual(messages[2]!.artifact.error._tag, "InvalidArguments")
      })
    ))

  it.scoped("returns only the content for a call without an id", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const tools = yield* (yield* LangChain.make()).tools()
        const invoke = (name: string) =>
          Effect.promise((): Promise<unknown> => tools.find((tool) => tool.name === name)!.invoke({}))
        assert.include(yield* invoke("mcp__one__same"), "of one")
        assert.include(yield* invoke("mcp__one__fail"), "out of paper")
      })
    ))

  it.scoped("lists the current tools each time", () =>
    Adapters.run(({ change }) =>
      Effect.gen(function*() {
        const { tools } = yield* LangChain.make()
        const names = Effect.map(tools(), (all) => all.map(({ name }) => name))
        const echo = (yield* tools()).find(({ name }) => name === "mcp__one__echo")!
        yield* change([Adapters.tool("fresh")])
        const now = yield* names
        assert.include(now, "mcp__one__fresh")
        assert.notInclude(now, "mcp__one__echo")
        const gone: unknown = yield* Effect.promise(() =>
          echo.invoke({ type: "tool_call", id: "call", name: echo.name, args: {} })
        )
        assert.isTrue(gone instanceof ToolMessage && gone.artifact.error._tag === "NotFound")
      })
    ))

  it.scoped("shortens a tool name of 80 characters", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const tools = yield* (yield* LangChain.make()).tools()
        const { name } = tools.find(({ name }) => name.includes("a_long_name"))!
        assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
        assert.include((yield* ask([name, {}]))[0]!.content, "a long way")
      })
    ))

  it.scoped("distinguishes equal names of two servers", () =>
    Adapters.run(() =>
      Effect.gen(function*() {
        const [one, two] = yield* ask(["mcp__one__same", {}], ["mcp__two__same", {}])
        assert.include(one!.content, "of one")
        assert.include(two!.content, "of two")
      })
    ))

  it.scoped("cancels a call at its server when its signal aborts", () =>
    Adapters.run(({ cancelled, hanging }) =>
      Effect.gen(function*() {
        const tools = yield* (yield* LangChain.make()).tools()
        const stop = new AbortController()
        const why = new Error("enough")
        const asked: Promise<unknown> = tools.find(({ name }) => name === "mcp__one__hang")!.invoke({}, {
          signal: stop.signal
        })
        yield* hanging
        stop.abort(why)
        const reason = yield* Effect.promise(() => asked.then(() => undefined, (error: unknown) => error))
        assert.strictEqual(reason, why)
        yield* cancelled
      })
    ))

  it.scoped("ends calls with its scope", () =>
    Adapters.run(({ cancelled, hanging }) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const tools = yield* (yield* Scope.extend(LangChain.make(), scope)).tools()
        const asked: Promise<unknown> = tools.find(({ name }) => name === "mcp__one__hang")!.invoke({})
        const reason = asked.then(() => undefined, (error: unknown) => error)
        yield* hanging
        yield* Scope.close(scope, Exit.void)
        yield* cancelled
        assert.isTrue(Cause.isInterruptedException(yield* Effect.promise(() => reason)))
      })
    ))
})
