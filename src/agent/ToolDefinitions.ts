/**
 * Tool definitions in the formats of the OpenAI and Anthropic APIs, the tool calls in their answers, and the outputs for
 * the next request. Pure functions over plain data, without a package of theirs.
 */
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import { isObject, type JsonObject } from "../json/Json.ts"
import { entriesOf, textsOf } from "../json/schema.ts"
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

/** The attachments that are shown to a model. The others are named in the text. */
export interface ResultOptions extends Media.Options {}

export const defaults: OpenAiOptions & ResultOptions = { ...Media.defaults, strict: false, inline: false }

interface OpenAiFunction {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
  readonly strict: boolean
}

/** A tool of OpenAI's chat completions. */
export interface OpenAiChatTool {
  readonly type: "function"
  readonly function: OpenAiFunction
}

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

export type OpenAiChatMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | {
    role: "user"
    content: Array<{ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } }>
  }

/** A tool of OpenAI's Responses. */
export interface OpenAiResponsesTool extends OpenAiFunction {
  readonly type: "function"
}

/** The `output` of OpenAI's Responses. */
export type OpenAiResponsesAnswer = ReadonlyArray<{
  readonly type: string
  readonly call_id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}>

export interface OpenAiResponsesItem {
  type: "function_call_output"
  call_id: string
  output:
    | string
    | Array<{ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" }>
}

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

export type AnthropicImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp"

export type AnthropicPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImageType; data: string } }

export interface AnthropicMessage {
  role: "user"
  content: Array<
    | AnthropicPart
    | { type: "tool_result"; tool_use_id: string; is_error: boolean; content: Array<AnthropicPart> }
  >
}

/** A schema has one converted form, however many turns a model takes. */
const once = <A>(convert: (schema: JsonObject) => A): (schema: JsonObject) => A => {
  const converted = new WeakMap<JsonObject, { readonly value: A }>()
  return (schema) => {
    const known = converted.get(schema)
    if (known !== undefined) return known.value
    const value = convert(schema)
    converted.set(schema, { value })
    return value
  }
}

const referring = once((schema) => ModelSchema.make(schema, { inline: false }))
const inlined = once((schema) => ModelSchema.make(schema, { inline: true }))
const strictOf = once((schema) => StrictSchema.make(inlined(schema)))

/** The tools by the names that an API takes. A name that it does not take is replaced by one that every API takes. */
const named = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  pattern: RegExp
): ReadonlyMap<string, ToolHandler.Definition> => {
  const byName = new Map(definitions.filter(({ name }) => pattern.test(name)).map((each) => [each.name, each]))
  for (const definition of definitions.filter(({ name }) => !pattern.test(name))) {
    const server = definition.server ?? "tool"
    let name = ToolName.qualify(server, definition.name, "double")
    for (let at = 2; byName.has(name); at++) name = ToolName.qualify(server, `${definition.name} ${at}`, "double")
    byName.set(name, definition)
  }
  return byName
}

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
  const byName = named(definitions, names)
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
const withoutAbsent = (plan: StrictSchema.Plan) => (args: unknown): unknown => {
  const value = typeof args === "string" ? Either.getOrUndefined(parse(args)) : args
  return isObject(value) ? StrictSchema.without(value, plan) : args
}

const openAi = <Tool>(toolOf: (called: OpenAiFunction) => Tool): Format<Tool> => ({
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  convert: ({ description, inputSchema, name }, { inline, strict }) => {
    const made = strict ? strictOf(inputSchema) : undefined
    const parameters = { ...made?.schema ?? (inline ? inlined : referring)(inputSchema) }
    return {
      tool: toolOf({ name, description, parameters, strict: made !== undefined }),
      argumentsOf: made && withoutAbsent(made.plan)
    }
  }
})

const imagesOf = ({ attachments }: ToolHandler.Output, options: Partial<ResultOptions> | undefined) =>
  Media.shown(attachments, { ...defaults, ...options }).filter(Media.isImage)

/** For `tools` of OpenAI's chat completions, and the calls in a message. */
export const openAiChat = offering(
  openAi((called): OpenAiChatTool => ({ type: "function", function: called })),
  ({ tool_calls }: OpenAiChatAnswer) =>
    (tool_calls ?? []).flatMap(({ function: called, id }) => called === undefined ? [] : [{ id, ...called }])
)

/**
 * The messages that follow the message with the calls: one for each call, and one of the user with the images, because the
 * output of a tool is text only.
 */
export const openAiChatResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): Array<OpenAiChatMessage> => {
  const messages = outputs.map((output): OpenAiChatMessage => {
    const notes = imagesOf(output, options).map(({ reference }) =>
      `(${reference} is shown in the message that follows.)`
    )
    return { role: "tool", tool_call_id: output.callId, content: [output.text, ...notes].join("\n") }
  })
  const content = outputs.flatMap((output) =>
    imagesOf(output, options).flatMap((image) => [
      { type: "text" as const, text: `${image.reference} of the tool call ${output.callId}:` },
      { type: "image_url" as const, image_url: { url: Media.dataUrl(image) } }
    ])
  )
  return content.length === 0 ? messages : [...messages, { role: "user", content }]
}

/** For `tools` of OpenAI's Responses, and the calls in its `output`. */
export const openAiResponses = offering(
  openAi((called): OpenAiResponsesTool => ({ type: "function", ...called })),
  (answer: OpenAiResponsesAnswer) =>
    answer.flatMap((item) => item.type === "function_call" ? callOf(item.call_id, item.name, item.arguments) : [])
)

/** The items of the next `input`, one for each call. */
export const openAiResponsesResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): Array<OpenAiResponsesItem> =>
  outputs.map((output) => {
    const { callId, text } = output
    const images = imagesOf(output, options).map((image) => ({
      type: "input_image" as const,
      image_url: Media.dataUrl(image),
      detail: "auto" as const
    }))
    return {
      type: "function_call_output",
      call_id: callId,
      output: images.length === 0 ? text : [{ type: "input_text", text }, ...images]
    }
  })

/** The names of properties that Anthropic takes at the root. */
const property = /^[a-zA-Z0-9_.-]{1,64}$/

/** A schema with names of properties that Anthropic takes, and the arguments by the names that were replaced. */
const withNames = (schema: JsonObject): Converted<JsonObject> => {
  const all = entriesOf(schema["properties"])
  const before = new Map(all.flatMap(([name]) => property.test(name) ? [[name, name] as const] : []))
  if (before.size === all.length) return { tool: schema, argumentsOf: undefined }
  for (const [name] of all.filter(([name]) => !property.test(name))) {
    const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_"
    let fresh = base
    for (let at = 2; before.has(fresh); at++) fresh = `${base.slice(0, 58)}_${at}`
    before.set(fresh, name)
  }
  const after = new Map(Array.from(before, ([fresh, name]) => [name, fresh]))
  const required = textsOf(schema["required"]).map((name) => after.get(name) ?? name)
  return {
    tool: {
      ...schema,
      properties: Object.fromEntries(all.map(([name, each]) => [after.get(name) ?? name, each])),
      ...(required.length === 0 ? {} : { required })
    },
    argumentsOf: (args) =>
      isObject(args)
        ? Object.fromEntries(Object.entries(args).map(([name, value]) => [before.get(name) ?? name, value]))
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

const imageTypes: ReadonlyArray<AnthropicImageType> = ["image/jpeg", "image/png", "image/gif", "image/webp"]

/** The message that follows the message with the calls, with a block for each. */
export const anthropicResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): AnthropicMessage => {
  const images = (output: ToolHandler.Output): ReadonlyArray<AnthropicPart> =>
    imagesOf(output, options).flatMap(({ data, mimeType }) => {
      const type = imageTypes.find((type) => type === mimeType)
      return type === undefined ? [] : [{ type: "image", source: { type: "base64", media_type: type, data } }]
    })
  return {
    role: "user",
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
