/** The prompts of all servers for one caller. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as McpClient from "../../../client/McpClient.ts"
import type * as McpRuntime from "../../../McpRuntime.ts"
import * as HiddenText from "../../../safety/HiddenText.ts"
import * as ToolName from "../../../tools/ToolName.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import * as Extensions from "./extensions.ts"
import * as Names from "./names.ts"
import * as Tools from "./tools.ts"

type Item = McpRuntime.Gathered<McpClient.Prompt>["items"][number]

/** @internal */
export interface Prompts {
  readonly list: Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  readonly get: McpServer.Handler
  /** Whose a name is, and what it is called there. */
  readonly find: (name: string) => Effect.Effect<Item, McpServer.Refusal>
}

/** @internal */
export const make = ({ failures, options, place, seen, texts }: Tools.Options): Prompts => {
  const definition = (name: string, { raw }: Item): JsonRpc.JsonObject => ({
    ...(options.output === "asis" ? raw : HiddenText.cleanJson(raw)),
    name
  })

  const known = (wait: Duration.DurationInput) =>
    Effect.gen(function*() {
      const { permissions, runtime } = yield* place.base
      const { items } = yield* runtime.offered(wait).prompts
      const offered = items.filter(({ name, server }) =>
        permissions.decide("model", { kind: "prompt", server, name }).decision !== "deny"
      )
      return Names.make(
        offered,
        options.naming,
        ({ name, server }) => ({ server, name, qualified: ToolName.qualify(server, name, "double") })
      )
    })

  /** What is known already keeps nobody waiting for servers that have not said what they have. */
  const find: Prompts["find"] = (name) =>
    Effect.gen(function*() {
      const found = (yield* known(0)).find(name) ?? (yield* known(options.gate)).find(name)
      return found ?? (yield* Exchange.invalidParams(`Unknown prompt: ${name.slice(0, 256)}`))
    })

  const finished = (raw: JsonRpc.JsonObject, { name, server }: Item, caller: McpServer.Caller) =>
    Effect.gen(function*() {
      const result = Tools.resultFor(raw)
      const { messages } = raw
      if (!Array.isArray(messages)) return result
      const guarded = yield* Effect.forEach(messages, (message: JsonRpc.Json) => {
        const given = Exchange.objectOf(message)
        const content = given["content"]
        if (content === undefined) return Effect.succeed(message)
        const parts = Array.isArray(content) ? content : [content]
        seen(server, parts)
        const source = { server, tool: name, kind: "prompt" } as const
        return Effect.map(
          Array.isArray(content) ? texts.content(content, source, caller) : texts.part(content, source, caller),
          (content): JsonRpc.JsonObject => ({ ...given, content })
        )
      })
      return { ...result, messages: guarded }
    })

  return {
    list: Effect.map(
      known(options.gate),
      ({ items }) => ({ prompts: items.map(({ item, name }) => definition(name, item)) })
    ),
    get: (exchange) =>
      Effect.scoped(Effect.gen(function*() {
        const { name, args } = yield* Tools.callOf(exchange.params)
        const item = yield* find(name)
        const { server } = item
        const { isHandedOver, seat } = yield* place.seatFor(
          exchange,
          server,
          ({ permissions }) =>
            permissions.decide("model", { kind: "prompt", server, name: item.name }).decision === "ask"
        )
        const got = seat.runtime.withClient(server, ({ request }) =>
          request("prompts/get", Tools.paramsFor(exchange, { name: item.name, arguments: args }, isHandedOver), {
            passInput: isHandedOver ? { capabilities: Extensions.passed(exchange.caller.capabilities) } : undefined
          }), { origin: "model" })
        const raw = yield* Effect.mapError(seat.during(server, exchange)(got), failures.refusal)
        return yield* finished(raw, item, exchange.caller)
      })),
    find
  }
}
