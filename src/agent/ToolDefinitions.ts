/**
 * Tool definitions in the formats of the OpenAI and Anthropic APIs, the tool calls in their answers, and the outputs for
 * the next request. Pure functions over plain data, without a package of theirs.
 */
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import { isObject, type JsonObject } from "../json/Json.ts"
import { entriesOf, textsOf } from "../json/schema.ts"
import { once } from "../tools/once.ts"
import * as ToolName from "../tools/ToolName.ts"
import * as Media from "./media.ts"
import * as ModelSchema from "./modelSchema.ts"
import * as StrictSchema from "./strictSchema.ts"
import type * as ToolHandler from "./ToolHandler.ts"

/** The tools of a request, and the way back from its answer. */
export interface Offer<Tool, Answer> {
  /** For the request as it is. */
  readonly tools: Array<Tool>
  /** All calls in an answer, calls of other tools too; `ToolHandler.canHandle` tells them apart. */
  readonly calls: (answer: Answer, session?: string) => ReadonlyArray<ToolHandler.Call>
}

export interface OpenAiOptions {
  /** Makes schemas strict where that is possible, so that the API enforces them. Other tools stay as they are. */
  readonly strict: boolean
  /** Replaces each `$ref` by its target. Strict schemas have none in any case. */
  readonly inline: boolean
}

export interface AnthropicOptions extends Pick<OpenAiOptions, "inline"> {}

const defaults: OpenAiOptions & Media.Options = { ...Media.defaults, strict: false, inline: false }

interface OpenAiFunction {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
  readonly strict: boolean
}

/** A tool of OpenAI's chat completions. */
export type OpenAiChatTool = ReturnType<typeof openAiChat>["tools"][number]

/** The message of a choice of OpenAI's chat completions. */
export interface OpenAiChatAnswer {
  readonly tool_calls?:
    | ReadonlyArray<{
      readonly id: string
      readonly function?: { readonly name: string; readonly arguments: string }
    }>
    | null
    | undefined
}

export type OpenAiChatMessage = ReturnType<typeof openAiChatResults>[number]

/** A tool of OpenAI's Responses. */
export type OpenAiResponsesTool = ReturnType<typeof openAiResponses>["tools"][number]

/** The `output` of OpenAI's Responses. */
export type OpenAiResponsesAnswer = ReadonlyArray<{
  readonly type: string
  readonly call_id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}>

export type OpenAiResponsesItem = ReturnType<typeof openAiResponsesResults>[number]

/** A tool of Anthropic's Messages. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: "object"; [key: string]: unknown }
}

/** A message of Anthropic's Messages. */
export interface AnthropicAnswer {
  readonly content: ReadonlyArray<{
    readonly type: string
    readonly id?: unknown
    readonly name?: unknown
    readonly input?: unknown
  }>
}

export type AnthropicMessage = ReturnType<typeof anthropicResults>

// once for all turns of a model
const referring = once((schema: JsonObject) => ModelSchema.make(schema, false))
const inlined = once((schema: JsonObject) => ModelSchema.make(schema, true))
const strictOf = once((schema: JsonObject) => StrictSchema.make(inlined(schema)))

/** The items by the names that an API takes: those that match stay, and `fresh` makes numbered ones for the others. */
const named = <A extends { readonly name: string }>(
  items: ReadonlyArray<A>,
  pattern: RegExp,
  fresh: (item: A, at: number) => string
): ReadonlyMap<string, A> => {
  const byName = new Map(items.filter(({ name }) => pattern.test(name)).map((item) => [item.name, item]))
  for (const item of items.filter(({ name }) => !pattern.test(name))) {
    let at = 1
    while (byName.has(fresh(item, at))) at++
    byName.set(fresh(item, at), item)
  }
  return byName
}

/** A name that every API takes. */
const qualified = ({ name, server = "tool" }: ToolHandler.Definition, at: number): string =>
  ToolName.qualify(server, at === 1 ? name : `${name} ${at}`, "double")

/** A tool in the format of an API, and the arguments for its server from those of a call, if they differ. */
interface Converted<Tool> {
  readonly tool: Tool
  readonly argumentsOf: ((args: unknown) => unknown) | undefined
}

/** The names that an API takes, and a tool under such a name in its format. */
interface Format<Tool> {
  readonly names: RegExp
  readonly convert: (tool: ToolHandler.Definition, options: OpenAiOptions) => Converted<Tool>
}

type Called = Omit<ToolHandler.Call, "session">

const offering = <Tool, Answer>(
  { convert, names }: Format<Tool>,
  calledIn: (answer: Answer) => ReadonlyArray<Called>
) =>
(definitions: ReadonlyArray<ToolHandler.Definition>, options?: Partial<OpenAiOptions>): Offer<Tool, Answer> => {
  const all = { ...defaults, ...options }
  const byName = named(definitions, names, qualified)
  const converted = new Map(Array.from(byName, ([name, tool]) => [name, convert({ ...tool, name }, all)]))
  return {
    tools: Array.from(converted.values(), ({ tool }) => tool),
    calls: (answer, session) =>
      calledIn(answer).map(({ arguments: args, id, name }) => {
        const { argumentsOf = identity } = converted.get(name) ?? {}
        return { id, name: byName.get(name)?.name ?? name, arguments: argumentsOf(args), session }
      })
  }
}

const callOf = (id: unknown, name: unknown, args: unknown): ReadonlyArray<Called> =>
  typeof id === "string" && typeof name === "string" ? [{ id, name, arguments: args }] : []

const parse = Schema.decodeUnknownEither(Schema.parseJson())

/** Without the `null`s of strict mode. Arguments that are not JSON are left to the handler, which tells the model. */
const withoutAbsent = (schema: JsonObject) => (args: unknown): unknown => {
  const value = typeof args === "string" ? Either.getOrUndefined(parse(args)) : args
  return isObject(value) ? StrictSchema.withoutAbsent(value, schema) : args
}

const openAi = <Tool>(toolOf: (called: OpenAiFunction) => Tool): Format<Tool> => ({
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  convert: ({ description, inputSchema, name }, { inline, strict }) => {
    const made = strict ? strictOf(inputSchema) : undefined
    const parameters = { ...made ?? (inline ? inlined : referring)(inputSchema) }
    return {
      tool: toolOf({ name, description, parameters, strict: made !== undefined }),
      argumentsOf: made && withoutAbsent(inlined(inputSchema))
    }
  }
})

const imagesOf = ({ attachments }: ToolHandler.Output, options: Partial<Media.Options> | undefined) =>
  Media.shown(attachments, { ...defaults, ...options }).filter(Media.isImage)

/** For `tools` of OpenAI's chat completions, and the calls in a message. */
export const openAiChat = offering(
  openAi((called) => ({ type: "function" as const, function: called })),
  ({ tool_calls }: OpenAiChatAnswer) =>
    (tool_calls ?? []).flatMap(({ function: called, id }) => called === undefined ? [] : [{ id, ...called }])
)

/**
 * The messages that follow the message with the calls: one for each call, and one of the user with the images, because the
 * output of a tool is text only.
 */
export const openAiChatResults = (outputs: ReadonlyArray<ToolHandler.Output>, options?: Partial<Media.Options>) => {
  const messages = outputs.map((output) => {
    const notes = imagesOf(output, options).map(({ reference }) =>
      `(${reference} is shown in the message that follows.)`
    )
    return { role: "tool" as const, tool_call_id: output.callId, content: [output.text, ...notes].join("\n") }
  })
  const content = outputs.flatMap((output) =>
    imagesOf(output, options).flatMap((image) => [
      { type: "text" as const, text: `${image.reference} of the tool call ${output.callId}:` },
      { type: "image_url" as const, image_url: { url: Media.dataUrl(image) } }
    ])
  )
  return content.length === 0 ? messages : [...messages, { role: "user" as const, content }]
}

/** For `tools` of OpenAI's Responses, and the calls in its `output`. */
export const openAiResponses = offering(
  openAi((called) => ({ type: "function" as const, ...called })),
  (answer: OpenAiResponsesAnswer) =>
    answer.flatMap((item) => item.type === "function_call" ? callOf(item.call_id, item.name, item.arguments) : [])
)

/** The items of the next `input`, one for each call. */
export const openAiResponsesResults = (outputs: ReadonlyArray<ToolHandler.Output>, options?: Partial<Media.Options>) =>
  outputs.map((output) => {
    const { callId, text } = output
    const images = imagesOf(output, options).map((image) => ({
      type: "input_image" as const,
      image_url: Media.dataUrl(image),
      detail: "auto" as const
    }))
    return {
      type: "function_call_output" as const,
      call_id: callId,
      output: images.length === 0 ? text : [{ type: "input_text" as const, text }, ...images]
    }
  })

/** The names of properties that Anthropic takes at the root. */
const property = /^[a-zA-Z0-9_.-]{1,64}$/

/** A schema with names of properties that Anthropic takes, and the arguments by the names that were replaced. */
const withNames = (schema: JsonObject): Converted<JsonObject> => {
  const all = entriesOf(schema["properties"])
  if (all.every(([name]) => property.test(name))) return { tool: schema, argumentsOf: undefined }
  const before = named(all.map(([name]) => ({ name })), property, ({ name }, at) => {
    const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_")
    return at === 1 ? base.slice(0, 60) || "_" : `${base.slice(0, 58)}_${at}`
  })
  const after = new Map(Array.from(before, ([fresh, { name }]) => [name, fresh]))
  const required = textsOf(schema["required"]).map((name) => after.get(name) ?? name)
  return {
    tool: {
      ...schema,
      properties: Object.fromEntries(all.map(([name, each]) => [after.get(name) ?? name, each])),
      ...(required.length === 0 ? {} : { required })
    },
    argumentsOf: (args) =>
      isObject(args)
        ? Object.fromEntries(Object.entries(args).map(([name, value]) => [before.get(name)?.name ?? name, value]))
        : args
  }
}

/** For `tools` of Anthropic's Messages, and the calls in a message. */
export const anthropic: (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options?: Partial<AnthropicOptions>
) => Offer<AnthropicTool, AnthropicAnswer> = offering(
  {
    names: /^[a-zA-Z0-9_-]{1,128}$/,
    convert: ({ description, inputSchema, name }, { inline }): Converted<AnthropicTool> => {
      const { argumentsOf, tool } = withNames((inline ? inlined : referring)(inputSchema))
      return { tool: { name, description, input_schema: { ...tool, type: "object" } }, argumentsOf }
    }
  },
  ({ content }: AnthropicAnswer) =>
    content.flatMap(({ id, input, name, type }) => type === "tool_use" ? callOf(id, name, input) : [])
)

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

/** The message that follows the message with the calls, with a block for each. */
export const anthropicResults = (outputs: ReadonlyArray<ToolHandler.Output>, options?: Partial<Media.Options>) => {
  const images = (output: ToolHandler.Output) =>
    imagesOf(output, options).flatMap(({ data, mimeType }) => {
      const media_type = imageTypes.find((type) => type === mimeType)
      return media_type === undefined
        ? []
        : [{ type: "image" as const, source: { type: "base64" as const, media_type, data } }]
    })
  return {
    role: "user" as const,
    content: [
      ...outputs.map((output) => ({
        type: "tool_result" as const,
        tool_use_id: output.callId,
        is_error: output.isError,
        content: [
          // an empty text is refused
          { type: "text" as const, text: output.text.trim() === "" ? "(nothing)" : output.text },
          ...(output.isError ? [] : images(output))
        ]
      })),
      // a result with an error must be text only, and results must come first
      ...outputs.flatMap((output) => output.isError ? images(output) : [])
    ]
  }
}
