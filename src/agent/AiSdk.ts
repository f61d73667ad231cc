/** MCP tools for the Vercel AI SDK. The only module that imports `ai`. */
import { dynamicTool, jsonSchema, type ToolSet } from "ai"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Media from "./media.ts"
import * as Promised from "./promised.ts"
import * as ToolHandler from "./ToolHandler.ts"

export interface Options extends Media.Options {
  /** The SDK asks for approval too, if a rule does. The runtime still decides, with `Approval`. */
  readonly needsApproval: boolean
}

const defaults: Options = { ...Media.defaults, needsApproval: false }

/** The output of a tool in messages. The model gets the text and the attachments that it supports. */
export const Output = Schema.Struct({
  text: Schema.String,
  attachments: Schema.Array(Schema.Struct({
    _tag: Schema.Literal("Image", "Audio", "Blob"),
    mimeType: Schema.String,
    data: Schema.String,
    reference: Schema.String
  })),
  isError: Schema.Boolean
})

export interface LiveOptions extends ToolHandler.DefinitionsOptions {
  /** Tools of the application. They take precedence over MCP tools with the same name. */
  readonly own?: ToolSet | undefined
}

/** Tools for one run of a model with several steps. */
export interface Live {
  /** For `tools`. Pass this object itself, because servers may add tools to it during the run. */
  readonly tools: ToolSet
  /** For `prepareStep`: limits each step to the tools that exist before it. */
  readonly prepareStep: () => Promise<{ readonly activeTools: Array<string> }>
}

export class AiSdk extends Context.Tag("effect-mcp-runtime/agent/AiSdk")<AiSdk, {
  /** The current tools. */
  readonly toolSet: (options?: ToolHandler.DefinitionsOptions) => Effect.Effect<ToolSet>
  /** Tools that are updated before each step. */
  readonly live: (options?: LiveOptions) => Effect.Effect<Live>
}>() {}

const decode = Schema.decodeUnknownOption(Output)

type ToModelOutput = NonNullable<Parameters<typeof dynamicTool>[0]["toModelOutput"]>

const toModelOutput = (options: Media.Options): ToModelOutput => ({ output }) =>
  Option.match(decode(output), {
    onNone: () => ({ type: "error-text", value: "The output of the tool is not valid." }),
    onSome: ({ attachments, isError, text }) => {
      const shown = Media.shown(attachments, options)
      // error results of this SDK are text only, so with attachments only the text reports the error
      if (shown.length === 0) return { type: isError ? "error-text" : "text", value: text }
      return {
        type: "content",
        value: [
          { type: "text", text },
          ...shown.map((attachment) => ({
            type: Media.isImage(attachment) ? "image-data" as const : "file-data" as const,
            data: attachment.data,
            mediaType: attachment.mimeType
          }))
        ]
      }
    }
  })

/** Without a prototype, because the keys are untrusted names. */
const empty = (): ToolSet => Object.create(null)

/** Calls are interrupted by the signal of the SDK, and when the scope closes. */
export const make = (
  options?: Partial<Options>
): Effect.Effect<AiSdk["Type"], never, ToolHandler.ToolHandler | Scope.Scope> =>
  Effect.gen(function*() {
    const all = { ...defaults, ...options }
    const handler = yield* ToolHandler.ToolHandler
    const run = yield* Promised.make

    const toolOf = (
      { description, inputSchema, name, requiresApproval, title }: ToolHandler.Definition,
      session: string | undefined
    ): ToolSet[string] =>
      dynamicTool({
        description,
        ...(title === undefined ? {} : { title }),
        // not validated here, because the server validates its arguments, and its error goes to the model
        inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
        ...(all.needsApproval ? { needsApproval: requiresApproval } : {}),
        execute: (input, { abortSignal, toolCallId }) =>
          run(handler.handle({ id: toolCallId, name, arguments: input, session }), abortSignal).then(
            ({ attachments, isError, text }): typeof Output.Type => ({ text, attachments, isError })
          ),
        toModelOutput: toModelOutput(all)
      })

    const toolSet: AiSdk["Type"]["toolSet"] = (asked) =>
      Effect.map(handler.definitions(asked), ({ tools }) =>
        Object.assign(empty(), Object.fromEntries(tools.map((each) => [each.name, toolOf(each, asked?.session)]))))

    return {
      toolSet,
      live: (asked) => {
        const own = asked?.own ?? {}
        const tools = empty()
        // removed tools stay in the object, because results of earlier steps refer to them, but are not active
        const refreshed = Effect.map(toolSet(asked), (now) => {
          Object.assign(tools, now, own)
          return { activeTools: Object.keys({ ...now, ...own }) }
        })
        return Effect.as(refreshed, {
          tools,
          prepareStep: () =>
            run(refreshed)
        })
      }
    }
  })

export const layer = (options?: Partial<Options>): Layer.Layer<AiSdk, never, ToolHandler.ToolHandler> =>
  Layer.scoped(AiSdk, make(options))
