/** Completes an argument of a prompt or of a template, at the server whose it is. */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServer from "../../McpServer.ts"
import * as Exchange from "../exchange.ts"
import type * as Failures from "./failures.ts"
import type * as Place from "./place.ts"
import type * as Prompts from "./prompts.ts"
import type * as Resources from "./resources.ts"
import * as Tools from "./tools.ts"

/** @internal */
export interface Options {
  readonly place: Place.Place
  readonly prompts: Prompts.Prompts
  readonly resources: Resources.Resources
  readonly failures: Failures.Failures
}

const nothing: JsonRpc.JsonObject = { completion: { values: [], total: 0, hasMore: false } }

/** @internal */
export const make = ({ failures, place, prompts, resources }: Options): McpServer.Handler => {
  /** What it is called at its server. */
  const meant = (ref: JsonRpc.JsonObject) => {
    const { name, type, uri } = ref
    if (type === "ref/prompt" && typeof name === "string") {
      return Effect.map(prompts.find(name), (found) => ({ server: found.server, ref: { ...ref, name: found.name } }))
    }
    if (type === "ref/resource" && typeof uri === "string") {
      return Effect.map(resources.template(uri), (found) => ({ server: found.server, ref: { ...ref, uri: found.uri } }))
    }
    return Effect.fail(Exchange.invalidParams("Invalid params: ref must name a prompt or a resource"))
  }
  return (exchange) =>
    Effect.scoped(Effect.gen(function*() {
      const { argument, context, ref: given } = exchange.params
      const { ref, server } = yield* meant(Exchange.objectOf(given))
      const { seat } = yield* place.seatFor(exchange, server, () => false)
      const params: JsonRpc.JsonObject = {
        ref,
        argument: argument ?? null,
        ...(context === undefined ? {} : { context })
      }
      const completed = seat.runtime.withClient(
        server,
        // a server that completes nothing has no completions for this
        ({ capabilities, request }) =>
          capabilities["completions"] === undefined
            ? Effect.succeed(nothing)
            : request("completion/complete", params),
        { origin: "model" }
      )
      return Tools.resultFor(yield* Effect.mapError(seat.during(server, exchange)(completed), failures.refusal))
    }))
}
