/** The tools of MCP as tools of Vercel's AI SDK (`ai`). The only module that needs that package. */
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
  /** Lets the SDK ask for approval too, where a rule asks. The runtime decides in any case, and asks `Approval`. */
  readonly needsApproval: boolean
}

const defaults: Options = { ...Media.defaults, needsApproval: false }

/** The output of a tool, as messages keep it. The model gets the text, and the attachments that it can see. */
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
  /** Tools of the application. They win where a name is taken twice. */
  readonly own?: ToolSet | undefined
}

/** Tools for one run of a model over many steps. */
export interface Live {
  /** For `tools`. Pass this object itself, because it grows with the tools that servers add during the run. */
  readonly tools: ToolSet
  /** For `prepareStep`: limits each step to the tools that exist before it. */
  readonly prepareStep: () => Promise<{ readonly activeTools: Array<string> }>
}

export class AiSdk extends Context.Tag("effect-mcp-runtime/agent/AiSdk")<AiSdk, {
  /** The tools at this moment. */
  readonly toolSet: (options?: ToolHandler.DefinitionsOptions) => Effect.Effect<ToolSet>
  /** The tools at this moment, and in each step those of that step. */
  readonly live: (options?: LiveOptions) => Effect.Effect<Live>
}>() {}

const decode = Schema.decodeUnknownOption(Output)

type ToModelOutput = NonNullable<Parameters<typeof dynamicTool>[0]["toModelOutput"]>

const toModelOutput = (options: Media.Options): ToModelOutput => ({ output }) =>
  Option.match(decode(output), {
    onNone: () => ({ type: "error-text", value: "This is not what the tool has given." }),
    onSome: ({ attachments, isError, text }) => {
      const shown = Media.shown(attachments, options)
      // an error result of this SDK holds only text, so with attachments the text alone reports the error
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

/** Without a prototype, because the keys are names of servers' tools. */
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
        // no validation here: the server judges its arguments, and what it says of them goes to the model
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
        // removed tools stay, because results of earlier steps refer to them, but they are not active
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
