/**
 * Definitions of tools as the APIs of OpenAI and Anthropic take them, the calls in what these APIs answer, and the outputs
 * as they want them back. Pure functions over plain data; no package of theirs is needed.
 *
 * @since 0.1.0
 */
import * as anthropics from "./internal/definitionsAnthropic.ts"
import * as openAis from "./internal/definitionsOpenAi.ts"
import * as Media from "./media.ts"
import type * as ToolHandler from "./ToolHandler.ts"

/**
 * What is said to a model of tools, and what its calls of them mean.
 *
 * @since 0.1.0
 * @category models
 */
export interface Offer<Tool, Answer> {
  /** For the request as it is. */
  readonly tools: Array<Tool>
  /** All calls in an answer, those of other tools as they are; `ToolHandler.canHandle` says which are for us. */
  readonly calls: (answer: Answer, session?: string) => ReadonlyArray<ToolHandler.Call>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface OpenAiOptions {
  /**
   * Whether schemas are made strict where they can be, so that the API holds a model to them. Tools whose schemas cannot
   * be stay as they are.
   */
  readonly strict: boolean
  /** Whether each `$ref` is replaced by what it means. Strict schemas have none in any case. */
  readonly inline: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface AnthropicOptions extends Pick<OpenAiOptions, "inline"> {}

/**
 * What of the attachments is shown to a model. Others are named in the text.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResultOptions extends Media.Options {}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: OpenAiOptions & ResultOptions = { ...Media.defaults, strict: false, inline: false }

/**
 * A tool of OpenAI's chat completions.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAiChatTool {
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: Record<string, unknown>
    readonly strict: boolean
  }
}

/**
 * The message of a choice of OpenAI's chat completions, as much of it as matters.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAiChatAnswer {
  readonly tool_calls?:
    | ReadonlyArray<{
      readonly id: string
      readonly function?: { readonly name: string; readonly arguments: string }
    }>
    | null
    | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type OpenAiChatMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | {
    role: "user"
    content: Array<{ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } }>
  }

/**
 * A tool of OpenAI's Responses.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAiResponsesTool {
  readonly type: "function"
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
  readonly strict: boolean
}

/**
 * The `output` of one of OpenAI's Responses, as much of it as matters.
 *
 * @since 0.1.0
 * @category models
 */
export type OpenAiResponsesAnswer = ReadonlyArray<{
  readonly type: string
  readonly call_id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}>

/**
 * @since 0.1.0
 * @category models
 */
export interface OpenAiResponsesItem {
  type: "function_call_output"
  call_id: string
  output:
    | string
    | Array<{ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" }>
}

/**
 * A tool of Anthropic's Messages.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: "object"; [key: string]: unknown }
}

/**
 * A message of Anthropic's Messages, as much of it as matters.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnthropicAnswer {
  readonly content: ReadonlyArray<{
    readonly type: string
    readonly id?: unknown
    readonly name?: unknown
    readonly input?: unknown
  }>
}

/**
 * @since 0.1.0
 * @category models
 */
export type AnthropicImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp"

/**
 * @since 0.1.0
 * @category models
 */
export type AnthropicPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImageType; data: string } }

/**
 * @since 0.1.0
 * @category models
 */
export interface AnthropicMessage {
  role: "user"
  content: Array<
    | AnthropicPart
    | { type: "tool_result"; tool_use_id: string; is_error: boolean; content: Array<AnthropicPart> }
  >
}

/**
 * For `tools` of OpenAI's chat completions, and the calls in a message.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openAiChat = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options?: Partial<OpenAiOptions>
): Offer<OpenAiChatTool, OpenAiChatAnswer> => openAis.chat(definitions, { ...defaults, ...options })

/**
 * The messages that follow the message with the calls: one for each call, and, where there are pictures, one of the user
 * that shows them, for the output of a tool is only text there.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openAiChatResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): Array<OpenAiChatMessage> => openAis.chatResults(outputs, { ...defaults, ...options })

/**
 * For `tools` of OpenAI's Responses, and the calls in its `output`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openAiResponses = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options?: Partial<OpenAiOptions>
): Offer<OpenAiResponsesTool, OpenAiResponsesAnswer> => openAis.responses(definitions, { ...defaults, ...options })

/**
 * The items of the next `input`, one for each call.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openAiResponsesResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): Array<OpenAiResponsesItem> => openAis.responsesResults(outputs, { ...defaults, ...options })

/**
 * For `tools` of Anthropic's Messages, and the calls in a message.
 *
 * @since 0.1.0
 * @category constructors
 */
export const anthropic = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  options?: Partial<AnthropicOptions>
): Offer<AnthropicTool, AnthropicAnswer> => anthropics.offer(definitions, { ...defaults, ...options })

/**
 * The message that follows the message with the calls, with a block for each.
 *
 * @since 0.1.0
 * @category constructors
 */
export const anthropicResults = (
  outputs: ReadonlyArray<ToolHandler.Output>,
  options?: Partial<ResultOptions>
): AnthropicMessage => anthropics.results(outputs, { ...defaults, ...options })
