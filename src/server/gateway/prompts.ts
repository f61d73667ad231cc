/** The prompts of all servers for one peer, and completions for prompt arguments and resource templates. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpClient from "../../client/McpClient.ts"
import { objectOf } from "../../client/messages.ts"
import type * as McpRuntime from "../../McpRuntime.ts"
import * as ToolName from "../../tools/ToolName.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Names from "./names.ts"
import * as PassThrough from "./passThrough.ts"
import * as Peers from "./peers.ts"
import type * as Resources from "./resources.ts"
import * as Tools from "./tools.ts"

type Prompt = McpRuntime.FromServer<McpClient.Prompt>

const noCompletion: JsonRpc.JsonObject = { completion: { values: [], total: 0, hasMore: false } }

export const make = (parts: Peers.Parts, template: Resources.Resources["template"]) => {
  const { links, options: { gate, naming, output }, choice, texts } = parts

  const known = (caller: McpServer.Caller, wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const { permissions, runtime } = yield* choice.base(caller)
      const { items } = yield* runtime.offered(wait).prompts
      const offered = items.filter(({ name, server }) =>
        permissions.decide("model", { kind: "prompt", server, name }).decision !== "deny"
      )
      return Names.make(
        offered,
        naming,
        ({ name, server }) => ({ name, qualified: ToolName.qualify(server, name, "double") })
      )
    })

  /** Finds a known prompt without waiting for connecting servers. */
  const find = (caller: McpServer.Caller, name: string): Effect.Effect<Prompt, McpServer.Refusal> =>
    Effect.gen(function*() {
      const found = (yield* known(caller, 0)).find(name) ?? (yield* known(caller, gate)).find(name)
      return found ?? (yield* McpServer.invalidParams(`Unknown prompt: ${name.slice(0, 256)}`))
    })

  const guarded = (message: JsonRpc.Json, { name, server }: Prompt, caller: McpServer.Caller) => {
    const fields = objectOf(message)
    const { content } = fields
    if (content === undefined) return Effect.succeed(message)
    links.add(server, content)
    const source = { server, tool: name, kind: "prompt" } as const
    return Effect.map(
      texts.content(content, source, caller),
      (content): JsonRpc.Json => ({ ...fields, content })
    )
  }

  /** The reference of a completion, with the name that the server uses. */
  const reference = (caller: McpServer.Caller, ref: JsonRpc.JsonObject) =>
    Effect.gen(function*() {
      const { name, type, uri } = ref
      if (type === "ref/prompt" && typeof name === "string") {
        const prompt = yield* find(caller, name)
        return { kind: "prompt", server: prompt.server, name: prompt.name, ref: { ...ref, name: prompt.name } } as const
      }
      if (type === "ref/resource" && typeof uri === "string") {
        const found = yield* template(caller, uri)
        return { kind: "resource", server: found.server, name: found.uri, ref: { ...ref, uri: found.uri } } as const
      }
      return yield* McpServer.invalidParams("Invalid params: ref names neither a prompt nor a resource")
    })

  const list = (caller: McpServer.Caller) =>
    Effect.map(known(caller, gate), ({ items }) => ({
      prompts: items.map(({ item: { raw }, name }) => PassThrough.definitionOf(raw, output, { name }))
    }))

  const get: McpServer.Handler = (exchange) =>
    Effect.gen(function*() {
      const { caller, params } = exchange
      const { args, name: asked } = yield* Tools.callOf(params)
      const prompt = yield* find(caller, asked)
      const { name, server } = prompt
      const subject = { kind: "prompt", server, name } as const
      const result = yield* Peers.forward(parts, exchange, subject, (send) => send({ name, arguments: args }))
      const { messages } = result
      if (!Array.isArray(messages)) return result
      return { ...result, messages: yield* Effect.forEach(messages, (message) => guarded(message, prompt, caller)) }
    })

  const complete: McpServer.Handler = (exchange) =>
    Effect.gen(function*() {
      const { argument = null, context, ref: asked } = exchange.params
      const { ref, ...subject } = yield* reference(exchange.caller, objectOf(asked))
      return yield* Peers.forward(parts, exchange, { ...subject, needsPerson: false }, (send, { capabilities }) =>
        capabilities["completions"] === undefined
          ? Effect.succeed(noCompletion)
          : send({ ref, argument, ...(context === undefined ? {} : { context }) }))
    })

  return { list, get, complete }
}
