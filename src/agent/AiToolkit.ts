/**
 * MCP tools as a toolkit of `@effect/ai`, read for each request to a model because servers change their tools. The only
 * module that needs that package. If a model calls a tool that is not in the toolkit, `@effect/ai` fails with
 * `MalformedOutput`. With `@effect/ai-openai`, configure the model with `strict: false`, because schemas of MCP tools
 * are not strict.
 */
import * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as AgentTools from "./AgentTools.ts"
import * as Media from "./media.ts"
import * as ToolHandler from "./ToolHandler.ts"

/** The output of a call: the whole of it for the application, its text for the model. */
export const Output: Schema.Schema<ToolHandler.Output, string> = Schema.transform(
  Schema.String,
  Schema.declare((value): value is ToolHandler.Output =>
    Predicate.hasProperty(value, "attachments") && Array.isArray(value.attachments) &&
    Predicate.hasProperty(value, "text") && typeof value.text === "string"
  ),
  {
    strict: true,
    decode: (text) => ({ callId: "", name: "", ...AgentTools.answer(text) }),
    encode: ({ text }) => text
  }
)

/** The arguments of an MCP tool. */
export interface AnyArguments extends Tool.AnyStructSchema {
  readonly Type: unknown
  readonly Encoded: unknown
  readonly Context: never
}

/** An MCP tool. Its server validates the arguments, so any are accepted here. */
export type McpTool = Tool.Tool<string, {
  readonly parameters: AnyArguments
  readonly success: typeof Output
  readonly failure: typeof Output
  readonly failureMode: "return"
}>

/** The tools by their names for a model. */
export type McpTools = Record<string, McpTool>

const parameters = (schema: JsonRpc.JsonObject): AnyArguments =>
  // the cast: `@effect/ai` has no type for a tool whose parameters are a JSON Schema
  Schema.Unknown.annotations({ jsonSchema: { ...schema, type: "object" } }) as unknown as AnyArguments

const toolOf = ({ annotations, description, inputSchema, name, title }: ToolHandler.Definition): McpTool => {
  const tool = Tool.make(name, { description, success: Output, failure: Output, failureMode: "return" })
    .setParameters(parameters(inputSchema))
    .annotate(Tool.Readonly, annotations.readOnlyHint ?? false)
    .annotate(Tool.Destructive, annotations.destructiveHint ?? true)
    .annotate(Tool.Idempotent, annotations.idempotentHint ?? false)
    .annotate(Tool.OpenWorld, annotations.openWorldHint ?? true)
  return title === undefined ? tool : tool.annotate(Tool.Title, title)
}

const byName = <A extends Tool.Any>(tools: ReadonlyArray<readonly [string, A]>): Record<string, A> =>
  // without a prototype, because the keys are names of servers' tools
  Object.assign(Object.create(null), Object.fromEntries(tools))

/**
 * The toolkit for `LanguageModel.generateText` and its siblings, which run this effect for each request. A failed call is
 * a result with `isFailure` that the model sees.
 */
export const make = (
  options?: ToolHandler.DefinitionsOptions
): Effect.Effect<Toolkit.WithHandler<McpTools>, never, ToolHandler.ToolHandler> =>
  Effect.gen(function*() {
    const handler = yield* ToolHandler.ToolHandler
    const { tools } = yield* handler.definitions(options)
    return {
      tools: byName(tools.map((definition) => [definition.name, toolOf(definition)])),
      handle: (name, args) =>
        Effect.gen(function*() {
          // `@effect/ai` does not pass the id of the model
          const id = `${name}-${(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)}`
          const output = yield* handler.handle({ id, name, arguments: args, session: options?.session })
          return { isFailure: output.isError, result: output, encodedResult: output.text }
        })
    }
  })

/** Tools of an application and of MCP. */
export type Merged<Own extends Record<string, Tool.Any>> = Record<string, Own[keyof Own] | McpTool>

const joined = (
  own: Toolkit.WithHandler<McpTools>,
  mcp: Toolkit.WithHandler<McpTools>
): Toolkit.WithHandler<McpTools> => ({
  tools: byName([...Object.entries(mcp.tools), ...Object.entries(own.tools)]),
  handle: (name, args) => Object.hasOwn(own.tools, name) ? own.handle(name, args) : mcp.handle(name, args)
})

/** The toolkit of an application together with that of MCP. The application's tools win where a name is taken twice. */
export const merge = <Own extends Record<string, Tool.Any>, E, R>(
  own: Effect.Effect<Toolkit.WithHandler<Own>, E, R>,
  options?: ToolHandler.DefinitionsOptions
): Effect.Effect<Toolkit.WithHandler<Merged<Own>>, E, R | ToolHandler.ToolHandler> =>
  Effect.zipWith(
    own,
    make(options),
    // the cast: a toolkit looks tools up by name, whatever their types are
    joined as unknown as (
      own: Toolkit.WithHandler<Own>,
      mcp: Toolkit.WithHandler<McpTools>
    ) => Toolkit.WithHandler<Merged<Own>>
  )

/**
 * The attachments of tool results as a message for the next request, because the results in a prompt of `@effect/ai` are
 * text only. Empty without attachments.
 */
export const attachments = (
  parts: ReadonlyArray<Response.AnyPart>,
  options?: Partial<Media.Options>
): Prompt.Prompt => {
  const is = Schema.is(Output)
  const files = parts.flatMap((part) => {
    if (part.type !== "tool-result" || !is(part.result)) return []
    return Media.shown(part.result.attachments, { ...Media.defaults, ...options }).flatMap((
      { data, mimeType, reference }
    ) => [
      Prompt.textPart({ text: `${reference}, from the tool ${part.name}:` }),
      Prompt.filePart({ mediaType: mimeType, data })
    ])
  })
  return files.length === 0 ? Prompt.empty : Prompt.fromMessages([Prompt.userMessage({ content: files })])
}
