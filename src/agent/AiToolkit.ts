/**
 * The tools of MCP as a toolkit of `@effect/ai`: read anew for every request to a model, so that it follows what the
 * servers offer. The only module that needs that package.
 *
 * A model that calls a tool nobody has told it of makes `@effect/ai` itself fail with `MalformedOutput`, after the call
 * was answered. With `@effect/ai-openai`, configure the model with `strict: false`: schemas of MCP tools are not strict.
 *
 * @since 0.1.0
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
import * as Media from "./media.ts"
import * as ToolHandler from "./ToolHandler.ts"

/**
 * What has become of a call: for the application all of it, for the model its text.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Output: Schema.Schema<ToolHandler.Output, string> = Schema.transform(
  Schema.String,
  Schema.declare((value): value is ToolHandler.Output =>
    Predicate.hasProperty(value, "attachments") && Array.isArray(value.attachments) &&
    Predicate.hasProperty(value, "text") && typeof value.text === "string"
  ),
  {
    strict: true,
    decode: (text) => ({
      callId: "",
      name: "",
      text,
      attachments: [],
      isError: false,
      error: undefined,
      result: undefined
    }),
    encode: ({ text }) => text
  }
)

/**
 * The arguments of a tool of MCP, whatever they are.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyArguments extends Tool.AnyStructSchema {
  readonly Type: unknown
  readonly Encoded: unknown
  readonly Context: never
}

/**
 * A tool of MCP. Its arguments are judged by its server, so here they may be anything.
 *
 * @since 0.1.0
 * @category models
 */
export type McpTool = Tool.Tool<string, {
  readonly parameters: AnyArguments
  readonly success: typeof Output
  readonly failure: typeof Output
  readonly failureMode: "return"
}>

/**
 * The tools by the names that a model calls them by.
 *
 * @since 0.1.0
 * @category models
 */
export type McpTools = Record<string, McpTool>

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends ToolHandler.DefinitionsOptions {
  /** What goes for every call. */
  readonly handling?: ToolHandler.HandleOptions | undefined
}

/**
 * The types that most models can see, and how many bytes one attachment may have.
 *
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Media.Options = Media.defaults

const parameters = (schema: JsonRpc.JsonObject): AnyArguments =>
  // `@effect/ai` has no type for a tool whose parameters are known as JSON Schema only
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
  // names come from servers, and a record of them has nothing but them
  Object.assign(Object.create(null), Object.fromEntries(tools))

/**
 * The toolkit to give to `LanguageModel.generateText` and the like as it is: it is made again for each of them. What goes
 * wrong in a call is a result that the model sees, with `isFailure`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Options
): Effect.Effect<Toolkit.WithHandler<McpTools>, never, ToolHandler.ToolHandler> =>
  Effect.gen(function*() {
    const handler = yield* ToolHandler.ToolHandler
    const { tools } = yield* handler.definitions(options)
    return {
      tools: byName(tools.map((definition) => [definition.name, toolOf(definition)])),
      handle: (name, args) =>
        Effect.gen(function*() {
          // the id that the model has given is not handed on
          const id = `${name}-${(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)}`
          const output = yield* handler.handle(
            { id, name, arguments: args, session: options?.session },
            options?.handling
          )
          return { isFailure: output.isError, result: output, encodedResult: output.text }
        })
    }
  })

/**
 * Tools of an application and of MCP.
 *
 * @since 0.1.0
 * @category models
 */
export type Merged<Own extends Record<string, Tool.Any>> = Record<string, Own[keyof Own] | McpTool>

const joined = (
  own: Toolkit.WithHandler<McpTools>,
  mcp: Toolkit.WithHandler<McpTools>
): Toolkit.WithHandler<McpTools> => ({
  tools: byName([...Object.entries(mcp.tools), ...Object.entries(own.tools)]),
  handle: (name, args) => Object.hasOwn(own.tools, name) ? own.handle(name, args) : mcp.handle(name, args)
})

/**
 * An application's own toolkit together with that of MCP. Where both have a name, the application's own tool is called.
 *
 * @since 0.1.0
 * @category constructors
 */
export const merge = <Own extends Record<string, Tool.Any>, E, R>(
  own: Effect.Effect<Toolkit.WithHandler<Own>, E, R>,
  options?: Options
): Effect.Effect<Toolkit.WithHandler<Merged<Own>>, E, R | ToolHandler.ToolHandler> =>
  Effect.zipWith(
    own,
    make(options),
    // what a toolkit does with names does not depend on the types of its tools, of which the compiler cannot be told
    joined as unknown as (
      own: Toolkit.WithHandler<Own>,
      mcp: Toolkit.WithHandler<McpTools>
    ) => Toolkit.WithHandler<Merged<Own>>
  )

/**
 * What of the results of tools is no text and can be shown to a model, as a message for the next request: the results of
 * tools in a prompt of `@effect/ai` carry nothing but text. Empty if there is nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const attachments = (
  parts: ReadonlyArray<Response.AnyPart>,
  options?: Partial<Media.Options>
): Prompt.Prompt => {
  const is = Schema.is(Output)
  const files = parts.flatMap((part) => {
    if (part.type !== "tool-result" || !is(part.result)) return []
    return Media.shown(part.result.attachments, { ...defaults, ...options }).flatMap((
      { data, mimeType, reference }
    ) => [
      Prompt.textPart({ text: `${reference}, from the tool ${part.name}:` }),
      Prompt.filePart({ mediaType: mimeType, data })
    ])
  })
  return files.length === 0 ? Prompt.empty : Prompt.fromMessages([Prompt.userMessage({ content: files })])
}
