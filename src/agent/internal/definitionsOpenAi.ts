/**
 * Tools as OpenAI's two APIs take them, and the way back.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Media from "../media.ts"
import type * as ToolDefinitions from "../ToolDefinitions.ts"
import type * as ToolHandler from "../ToolHandler.ts"
import * as Made from "./definitionsMade.ts"
import * as Names from "./definitionsNames.ts"
import * as Strict from "./definitionsStrict.ts"

const names = /^[a-zA-Z0-9_-]{1,64}$/

interface Prepared {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
  readonly strict: boolean
}

interface All {
  readonly tools: ReadonlyArray<Prepared>
  readonly call: (id: string, name: string, args: unknown, session: string | undefined) => ToolHandler.Call
}

const parse = Schema.decodeUnknownEither(Schema.parseJson())

/** What is no JSON is left to the handler, which says so to the model. */
const withoutAbsent = (args: unknown, plan: Strict.Plan): unknown => {
  const value = typeof args === "string" ? Either.getOrUndefined(parse(args)) : args
  return JsonRpc.isObject(value) ? Strict.without(value, plan) : args
}

const prepare = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  { inline, strict }: ToolDefinitions.OpenAiOptions
): All => {
  const named = Names.tools(definitions, names)
  const plans = new Map<string, Strict.Plan>()
  const tools = Array.from(named, ([name, { description, inputSchema }]): Prepared => {
    const made = strict ? Made.strict(inputSchema) : undefined
    if (made !== undefined) plans.set(name, made.plan)
    const parameters = made?.schema ?? Made.plain(inputSchema, { inline })
    return { name, description, parameters: { ...parameters }, strict: made !== undefined }
  })
  return {
    tools,
    call: (id, name, args, session) => {
      const plan = plans.get(name)
      return {
        id,
        name: named.get(name)?.name ?? name,
        arguments: plan === undefined ? args : withoutAbsent(args, plan),
        session
      }
    }
  }
}

/** @internal */
export const chat = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options: ToolDefinitions.OpenAiOptions
): ToolDefinitions.Offer<ToolDefinitions.OpenAiChatTool, ToolDefinitions.OpenAiChatAnswer> => {
  const { call, tools } = prepare(definitions, options)
  return {
    tools: tools.map((tool) => ({ type: "function", function: tool })),
    calls: (answer, session) =>
      (answer.tool_calls ?? []).flatMap(({ function: called, id }) =>
        called === undefined ? [] : [call(id, called.name, called.arguments, session)]
      )
  }
}

/** @internal */
export const responses = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options: ToolDefinitions.OpenAiOptions
): ToolDefinitions.Offer<ToolDefinitions.OpenAiResponsesTool, ToolDefinitions.OpenAiResponsesAnswer> => {
  const { call, tools } = prepare(definitions, options)
  return {
    tools: tools.map(({ description, name, parameters, strict }) => ({
      type: "function",
      name,
      description,
      parameters,
      strict
    })),
    calls: (answer, session) =>
      answer.flatMap(({ arguments: args, call_id: id, name, type }) =>
        type === "function_call" && typeof id === "string" && typeof name === "string"
          ? [call(id, name, args, session)]
          : []
      )
  }
}

/** @internal */
export const chatResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options: ToolDefinitions.ResultOptions
): Array<ToolDefinitions.OpenAiChatMessage> => {
  const images = outputs.flatMap(({ attachments, callId }) =>
    Media.shown(attachments, options).filter(Media.isImage).flatMap((image) => [
      { type: "text" as const, text: `${image.reference} of the tool call ${callId}:` },
      { type: "image_url" as const, image_url: { url: Media.dataUrl(image) } }
    ])
  )
  const messages: Array<ToolDefinitions.OpenAiChatMessage> = outputs.map((output) => {
    const shown = Media.shown(output.attachments, options).filter(Media.isImage)
    const note = shown.map(({ reference }) => `(${reference} is shown in the message that follows.)`)
    return { role: "tool", tool_call_id: output.callId, content: [output.text, ...note].join("\n") }
  })
  if (images.length > 0) messages.push({ role: "user", content: images })
  return messages
}

/** @internal */
export const responsesResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options: ToolDefinitions.ResultOptions
): Array<ToolDefinitions.OpenAiResponsesItem> =>
  outputs.map(({ attachments, callId, text }) => {
    const images = Media.shown(attachments, options).filter(Media.isImage)
    return {
      type: "function_call_output",
      call_id: callId,
      output: images.length === 0 ? text : [
        { type: "input_text", text },
        ...images.map((image) => ({
          type: "input_image" as const,
          image_url: Media.dataUrl(image),
          detail: "auto" as const
        }))
      ]
    }
  })
