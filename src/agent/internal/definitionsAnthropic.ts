/**
 * Tools as Anthropic's Messages take them, and the way back.
 *
 * @internal
 */
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Media from "../media.ts"
import type * as ToolDefinitions from "../ToolDefinitions.ts"
import type * as ToolHandler from "../ToolHandler.ts"
import * as Made from "./definitionsMade.ts"
import * as Names from "./definitionsNames.ts"

const names = /^[a-zA-Z0-9_-]{1,128}$/

/** @internal */
export const offer = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  { inline }: ToolDefinitions.AnthropicOptions
): ToolDefinitions.Offer<ToolDefinitions.AnthropicTool, ToolDefinitions.AnthropicAnswer> => {
  const named = Names.tools(definitions, names)
  const before = new Map<string, ReadonlyMap<string, string>>()
  const tools = Array.from(named, ([name, { description, inputSchema }]): ToolDefinitions.AnthropicTool => {
    const properties = Names.properties(Made.plain(inputSchema, { inline }))
    before.set(name, properties.before)
    return { name, description, input_schema: { ...properties.schema, type: "object" } }
  })

  const argumentsOf = (name: string, input: unknown): unknown => {
    const renamed = before.get(name)
    if (renamed === undefined || renamed.size === 0 || !JsonRpc.isObject(input)) return input
    return Object.fromEntries(Object.entries(input).map(([key, value]) => [renamed.get(key) ?? key, value]))
  }

  return {
    tools,
    calls: ({ content }, session) =>
      content.flatMap(({ id, input, name, type }) =>
        type === "tool_use" && typeof id === "string" && typeof name === "string"
          ? [{ id, name: named.get(name)?.name ?? name, arguments: argumentsOf(name, input), session }]
          : []
      )
  }
}

const types: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])

const isImageType = (type: string): type is ToolDefinitions.AnthropicImageType => types.has(type)

const images = (
  { attachments }: ToolHandler.Output,
  options: ToolDefinitions.ResultOptions
): ReadonlyArray<ToolDefinitions.AnthropicPart> =>
  Media.shown(attachments, options).flatMap(({ data, mimeType }) =>
    isImageType(mimeType) ? [{ type: "image", source: { type: "base64", media_type: mimeType, data } }] : []
  )

/** Empty texts are refused. */
const textOf = ({ text }: ToolHandler.Output): ToolDefinitions.AnthropicPart => ({
  type: "text",
  text: text.trim() === "" ? "(nothing)" : text
})

/** @internal */
export const results = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options: ToolDefinitions.ResultOptions
): ToolDefinitions.AnthropicMessage => ({
  role: "user",
  content: [
    ...outputs.map((output) => ({
      type: "tool_result" as const,
      tool_use_id: output.callId,
      is_error: output.isError,
      content: [textOf(output), ...(output.isError ? [] : images(output, options))]
    })),
    // a result that is an error must be only text, and results come before anything else
    ...outputs.flatMap((output) => output.isError ? images(output, options) : [])
  ]
})
