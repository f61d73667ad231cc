/** The tools of MCP as tools of LangChain (`@langchain/core`). The only module that needs that package. */
import { type ContentBlock, ToolMessage } from "@langchain/core/messages"
import { StructuredTool, type ToolRunnableConfig } from "@langchain/core/tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as McpError from "../McpError.ts"
import type * as OutputGuard from "../safety/OutputGuard.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Media from "./media.ts"
import * as Promised from "./promised.ts"
import * as ToolHandler from "./ToolHandler.ts"

/** For the application. The model gets only the content. */
export interface Artifact {
  /** As the server sent it. */
  readonly structuredContent: JsonRpc.Json | undefined
  readonly attachments: ReadonlyArray<OutputGuard.Attachment>
  readonly isError: boolean
  /** The error, if there is no result. */
  readonly error: McpError.RuntimeError | undefined
}

/** A message for a call with an id, and otherwise only its content. */
type Answer = string | Array<ContentBlock> | ToolMessage

type Call = (input: unknown, config: ToolRunnableConfig | undefined) => Promise<[Answer, Artifact]>

/** A tool of MCP. */
export class McpTool extends StructuredTool<JsonRpc.JsonObject, unknown, unknown, Answer> {
  override readonly name: string
  override readonly description: string
  override readonly schema: JsonRpc.JsonObject
  private readonly run: Call

  static override lc_name(): string {
    return "McpTool"
  }

  constructor({ description, inputSchema, name }: ToolHandler.Definition, run: Call) {
    super({ responseFormat: "content_and_artifact" })
    this.name = name
    this.description = description
    this.schema = inputSchema
    this.run = run
    // Skips the validation of LangChain, which runs regular expressions of the server without a time limit, and throws. The
    // server validates the arguments, and its error goes to the model.
    const open: McpTool = Object.create(this, { schema: { value: {} } })
    this.call = super.call.bind(open)
  }

  protected override _call(input: unknown, _: unknown, config?: ToolRunnableConfig): Promise<Answer> {
    // the cast: LangChain splits the pair, which its types do not express
    return this.run(input, config) as Promise<unknown> as Promise<Answer>
  }
}

export class LangChain extends Context.Tag("effect-mcp-runtime/agent/LangChain")<LangChain, {
  /** The current tools. */
  readonly tools: (options?: ToolHandler.DefinitionsOptions) => Effect.Effect<Array<McpTool>>
}>() {}

const contentOf = ({ attachments, text }: ToolHandler.Output, options: Media.Options): Exclude<Answer, ToolMessage> => {
  const shown = Media.shown(attachments, options).filter(Media.isImage)
  if (shown.length === 0) return text
  return [
    { type: "text", text },
    ...shown.map((image) => ({ type: "image_url", image_url: { url: Media.dataUrl(image) } }))
  ]
}

/**
 * Calls are interrupted by the signal of their configuration, and when the scope closes. Leave `mediaTypes` empty for an API
 * that takes only text as the output of a tool.
 */
export const make = (
  options?: Partial<Media.Options>
): Effect.Effect<LangChain["Type"], never, ToolHandler.ToolHandler | Scope.Scope> =>
  Effect.gen(function*() {
    const all = { ...Media.defaults, ...options }
    const handler = yield* ToolHandler.ToolHandler
    const run = yield* Promised.make

    const answer = (output: ToolHandler.Output, callId: string | undefined): [Answer, Artifact] => {
      const { attachments, error, isError, name, result } = output
      const artifact: Artifact = { structuredContent: result?.structuredContent, attachments, isError, error }
      const content = contentOf(output, all)
      // LangChain gives messages that it creates itself the status "success"
      return isError && callId !== undefined
        ? [new ToolMessage({ status: "error", content, artifact, tool_call_id: callId, name }), artifact]
        : [content, artifact]
    }

    return {
      tools: (asked) =>
        Effect.map(handler.definitions(asked), ({ tools }) =>
          tools.map((definition) =>
            new McpTool(definition, (input, config) => {
              const callId = config?.toolCall?.id
              const { name } = definition
              const call = { id: callId ?? "", name, arguments: input, session: asked?.session }
              return run(handler.handle(call), config?.signal).then((output) =>
                answer(output, callId)
              )
            })
          ))
    }
  })

export const layer = (options?: Partial<Media.Options>): Layer.Layer<LangChain, never, ToolHandler.ToolHandler> =>
  Layer.scoped(LangChain, make(options))
