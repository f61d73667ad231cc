/**
 * An agent with a real model where there is a key, over any API that speaks OpenAI's chat completions:
 * `OPENAI_API_KEY=… npm run example agent-real-model "What is 2 + 40?"`. `OPENAI_BASE_URL` and `OPENAI_MODEL` name
 * another API and model. Without a key nothing is sent: a script answers in the place of the model, and the program says so.
 */
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Context, Effect, Layer, Redacted, Schema } from "effect"
import { ServerConfig, ToolDefinitions, ToolHandler } from "effect-mcp-runtime"
import * as NodeAgent from "effect-mcp-runtime/node/NodeAgent"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import { fileURLToPath } from "node:url"

const demo = ServerConfig.stdio({
  name: "demo",
  command: "node",
  args: [fileURLToPath(import.meta.resolve("effect-mcp-runtime/demo/DemoServer"))]
})

const Answer = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.optional(Schema.NullOr(Schema.String)),
  tool_calls: Schema.optional(Schema.Array(Schema.Struct({
    id: Schema.String,
    type: Schema.Literal("function"),
    function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
  })))
})

type Message = { role: "user"; content: string } | typeof Answer.Type | ToolDefinitions.OpenAiChatMessage

class Model extends Context.Tag("app/Model")<Model, {
  readonly answer: (
    messages: ReadonlyArray<Message>,
    tools: ReadonlyArray<ToolDefinitions.OpenAiChatTool>
  ) => Effect.Effect<typeof Answer.Type>
}>() {}

const real = (key: Redacted.Redacted) =>
  Effect.gen(function*() {
    const url = yield* Config.string("OPENAI_BASE_URL").pipe(Config.withDefault("https://api.openai.com/v1"))
    const model = yield* Config.string("OPENAI_MODEL").pipe(Config.withDefault("gpt-4o-mini"))
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    yield* Console.log(`${model} of ${url} answers`)
    const Response = Schema.Struct({ choices: Schema.NonEmptyArray(Schema.Struct({ message: Answer })) })
    return Model.of({
      answer: (messages, tools) =>
        HttpClientRequest.post(`${url}/chat/completions`).pipe(
          HttpClientRequest.bearerToken(key),
          HttpClientRequest.bodyJson({ model, messages, tools }),
          Effect.flatMap(client.execute),
          Effect.flatMap(HttpClientResponse.schemaBodyJson(Response)),
          Effect.timeout("2 minutes"),
          Effect.map(({ choices }) => choices[0].message),
          Effect.orDie
        )
    })
  })

const scripted = Effect.as(
  Console.log("no OPENAI_API_KEY: a script answers in the place of a model"),
  Model.of({
    answer: (messages) => {
      const last = messages.at(-1)
      const call = { name: "mcp__demo__add", arguments: `{"a":2,"b":40}` }
      return Effect.succeed(
        last?.role === "tool"
          ? { role: "assistant", content: `I was told:\n${last.content}` }
          : { role: "assistant", tool_calls: [{ id: "1", type: "function", function: call }] }
      )
    }
  })
)

const model = Layer.effect(
  Model,
  Config.redacted("OPENAI_API_KEY").pipe(
    Config.withDefault(Redacted.make("")),
    Effect.flatMap((key) => Redacted.value(key) === "" ? scripted : real(key))
  )
).pipe(Layer.provide(FetchHttpClient.layer))

const program = Effect.gen(function*() {
  const handler = yield* ToolHandler.ToolHandler
  const { answer } = yield* Model
  const messages: Array<Message> = [{ role: "user", content: process.argv[2] ?? "What is 2 + 40?" }]
  // a model that goes on asking for tools is stopped
  for (let turn = 0; turn < 8; turn++) {
    const offer = ToolDefinitions.openAiChat((yield* handler.definitions()).tools)
    const message = yield* answer(messages, offer.tools)
    const calls = offer.calls(message)
    messages.push(message)
    if (calls.length === 0) return yield* Console.log(message.content ?? "")
    for (const { arguments: args, name } of calls) yield* Console.log(`it calls ${name} ${String(args)}`)
    const outputs = yield* Effect.forEach(calls, (call) => handler.handle(call), { concurrency: 4 })
    messages.push(...ToolDefinitions.openAiChatResults(outputs))
  }
  yield* Console.error("it has not come to an end")
})

// the model may add; whatever else it wants is refused, because nobody is there to be asked
const mcp = NodeAgent.layer().pipe(Layer.provide(NodeMcpRuntime.layer({
  servers: [demo],
  permissions: { rules: [{ decision: "allow", tool: "demo/add" }] },
  cacheDirectory: "memory",
  logs: false
})))

program.pipe(Effect.provide(Layer.merge(mcp, model)), NodeRuntime.runMain)
