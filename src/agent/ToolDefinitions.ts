/**
 * Tool definitions in the formats of the OpenAI and Anthropic APIs, the tool calls in their responses, and the outputs for
 * the next request. Pure functions over plain data, without the packages of these APIs.
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

/** The tools of a request, and the function that reads the calls from its response. */
export interface Offer<Tool, Answer> {
  /** Goes into the request unchanged. */
  readonly tools: Array<Tool>
  /** All calls in a response, including calls of other tools, which `ToolHandler.canHandle` distinguishes. */
  readonly calls: (answer: Answer, session?: string) => ReadonlyArray<ToolHandler.Call>
}

export interface OpenAiOptions {
  /** Makes schemas strict where possible, so that the API enforces them. Other tools are unchanged. */
  readonly strict: boolean
  /** Replaces each `$ref` by its target. Strict schemas are always inlined. */
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

// cached for all turns of a model
const referring = once((schema: JsonObject) => ModelSchema.make(schema, false))
const inlined = once((schema: JsonObject) => ModelSchema.make(schema, true))
const strictOf = once((schema: JsonObject) => StrictSchema.make(inlined(schema)))

/** The items by names that an API accepts: matching names are unchanged, and `fresh` makes numbered names for the others. */
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

/** A name that every API accepts. */
const qualified = ({ name, server = "tool" }: ToolHandler.Definition, at: number): string =>
  ToolName.qualify(server, at === 1 ? name : `${name} ${at}`, "double")

/** A tool in the format of an API, and the conversion of arguments for its server, if one is needed. */
interface Converted<Tool> {
  readonly tool: Tool
  readonly argumentsOf: ((args: unknown) => unknown) | undefined
}

/** The names that an API accepts, and the conversion of a tool with such a name. */
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

/** Removes the `null` values of strict mode. Leaves invalid JSON to the handler, which reports it to the model. */
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

/** The messages after the one with the calls: one per call, and a user message with the images, because outputs are text. */
export const openAiChatResults = (outputs: ReadonlyArray<ToolHandler.Output>, options?: Partial<Media.Options>) => {
  const messages = outputs.map((output) => {
    const notes = imagesOf(output, options).map(({ reference }) => `(${reference} is in the next message.)`)
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

/** The items for the next `input`, one per call. */
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

/** The property names that Anthropic accepts at the root. */
const property = /^[a-zA-Z0-9_.-]{1,64}$/

/** A schema with property names that Anthropic accepts, and the conversion of arguments to the original names. */
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

/** The message after the message with the calls, with a block per call. */
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
          // the API rejects an empty text
          { type: "text" as const, text: output.text.trim() === "" ? "(empty)" : output.text },
          ...(output.isError ? [] : images(output))
        ]
      })),
      // error results must be text only, and results must precede images
      ...outputs.flatMap((output) => output.isError ? images(output) : [])
    ]
  }
}
