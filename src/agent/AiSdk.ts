/**
 * The tools of MCP as tools of Vercel's AI SDK (`ai`). The only module that needs that package.
 *
 * @since 0.1.0
 */
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

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Media.Options {
  /**
   * Whether the SDK asks for approval too, where somebody has to agree. The runtime decides in any case, and asks
   * whomever `Approval` says.
   */
  readonly needsApproval: boolean
  /** What goes for every call. */
  readonly handling: ToolHandler.HandleOptions | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { ...Media.defaults, needsApproval: false, handling: undefined }

/**
 * What a tool gives, as it is kept in messages. The model gets the text, and of the attachments what it can see.
 *
 * @since 0.1.0
 * @category schemas
 */
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

/**
 * @since 0.1.0
 * @category models
 */
export interface LiveOptions extends ToolHandler.DefinitionsOptions {
  /** Tools of the application. Where both have a name, this one is called. */
  readonly own?: ToolSet | undefined
}

/**
 * Tools for one run of a model over many steps.
 *
 * @since 0.1.0
 * @category models
 */
export interface Live {
  /** For `tools`. It grows with what the servers offer during the run, so hand on this very object. */
  readonly tools: ToolSet
  /** For `prepareStep`: what is there before each step is what the model may call in it. */
  readonly prepareStep: () => Promise<{ readonly activeTools: Array<string> }>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class AiSdk extends Context.Tag("effect-mcp-runtime/agent/AiSdk")<AiSdk, {
  /** The tools that there are now. */
  readonly toolSet: (options?: ToolHandler.DefinitionsOptions) => Effect.Effect<ToolSet>
  /** The tools that there are now, and in each step those that there are then. */
  readonly live: (options?: LiveOptions) => Effect.Effect<Live>
}>() {}

const decode = Schema.decodeUnknownOption(Output)

type ToModelOutput = NonNullable<Parameters<typeof dynamicTool>[0]["toModelOutput"]>

const toModelOutput = (options: Media.Options): ToModelOutput => ({ output }) =>
  Option.match(decode(output), {
    onNone: () => ({ type: "error-text", value: "This is not what the tool has given." }),
    onSome: ({ attachments, isError, text }) => {
      const shown = Media.shown(attachments, options)
      // an error of this SDK has nothing but text; that it is one stands in the text too
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

/** Names come from servers, and a set of tools has nothing but them. */
const empty = (): ToolSet => Object.create(null)

/**
 * Calls are interrupted with the signal of the SDK, and when the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
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
          run(
            Effect.map(
              handler.handle({ id: toolCallId, name, arguments: input, session }, all.handling),
              ({ attachments, isError, text }): typeof Output.Type => ({ text, attachments, isError })
            ),
            abortSignal
          ),
        toModelOutput: toModelOutput(all)
      })

    const toolSet: AiSdk["Type"]["toolSet"] = (asked) =>
      Effect.map(handler.definitions(asked), ({ tools }) => {
        const set = empty()
        for (const definition of tools) set[definition.name] = toolOf(definition, asked?.session)
        return set
      })

    return {
      toolSet,
      live: (asked) => {
        const own = asked?.own ?? {}
        const tools = empty()
        // tools that are gone stay, for what they have given in earlier steps; they are only not offered
        const refreshed = Effect.map(toolSet(asked), (now) => {
          Object.assign(tools, now, own)
          return { activeTools: Object.keys({ ...now, ...own }) }
        })
        return Effect.as(refreshed, { tools, prepareStep: () => run(refreshed) })
      }
    }
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<AiSdk, never, ToolHandler.ToolHandler> =>
  Layer.scoped(AiSdk, make(options))
