import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Config, Console, Context, Data, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { ToolDefinitions } from "effect-mcp-runtime"

const Answer = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.optional(Schema.NullOr(Schema.String)),
  tool_calls: Schema.optional(Schema.Array(Schema.Struct({
    id: Schema.String,
    type: Schema.Literal("function"),
    function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
  })))
})
type Answer = typeof Answer.Type

export type Message = { readonly role: "user"; readonly content: string } | Answer | ToolDefinitions.OpenAiChatMessage

export class ModelError extends Data.TaggedError("ModelError")<{ readonly cause: Error }> {
  override get message(): string {
    return `The model did not answer: ${this.cause.message}`
  }
}

export class Model extends Context.Tag("terminal-agent/Model")<Model, {
  readonly answer: (
    messages: ReadonlyArray<Message>,
    tools: ReadonlyArray<ToolDefinitions.OpenAiChatTool>
  ) => Effect.Effect<Answer, ModelError>
}>() {}

/** Any API with OpenAI's chat completions. */
const openAi = (apiKey: Redacted.Redacted) =>
  Effect.gen(function*() {
    const url = yield* Config.string("OPENAI_BASE_URL").pipe(Config.withDefault("https://api.openai.com/v1"))
    const model = yield* Config.string("OPENAI_MODEL").pipe(Config.withDefault("gpt-4o-mini"))
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const Response = Schema.Struct({ choices: Schema.NonEmptyArray(Schema.Struct({ message: Answer })) })
    yield* Console.log(`Model: ${model} at ${url}`)
    return Model.of({
      answer: (messages, tools) =>
        HttpClientRequest.post(`${url}/chat/completions`).pipe(
          HttpClientRequest.bearerToken(apiKey),
          HttpClientRequest.bodyUnsafeJson({ model, messages, tools }),
          client.execute,
          Effect.flatMap(HttpClientResponse.schemaBodyJson(Response)),
          Effect.timeout("2 minutes"),
          Effect.map(({ choices }) => choices[0].message),
          Effect.mapError((cause) => new ModelError({ cause }))
        )
    })
  })

const call = (name: string, args: object): Answer => ({
  role: "assistant",
  tool_calls: [{ id: name, type: "function", function: { name, arguments: JSON.stringify(args) } }]
})

/** Calls two tools, then repeats their output. */
const scripted = Console.log("Model: a script, because OPENAI_API_KEY is not set").pipe(
  Effect.as(Model.of({
    answer: (messages) => {
      const outputs = messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
      const script = [call("mcp__demo__add", { a: 2, b: 40 }), call("mcp__demo__crash", {})]
      return Effect.succeed(script[outputs.length] ?? { role: "assistant", content: outputs.join("\n") })
    }
  }))
)

export const ModelLive = Layer.effect(
  Model,
  Effect.flatMap(
    Config.option(Config.nonEmptyString("OPENAI_API_KEY")),
    Option.match({ onNone: () => scripted, onSome: (apiKey) => openAi(Redacted.make(apiKey)) })
  )
).pipe(Layer.provide(FetchHttpClient.layer))
