/** What a caller is asked in the session era, and its answers. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import { objectOf } from "./exchange.ts"
import * as Outlet from "./outlet.ts"

/** @internal */
export interface Asks {
  readonly ask: (
    outlet: () => Outlet.Outlet | undefined,
    method: string,
    params: JsonRpc.JsonObject | undefined
  ) => Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
  readonly answered: (id: JsonRpc.Id, message: JsonRpc.JsonObject) => void
  /** Nobody will answer any more. */
  readonly close: () => void
}

const gone = new McpServer.Refusal({
  code: McpServer.codes.internal,
  message: "The caller is gone, or cannot be asked"
})

const silent = new McpServer.Refusal({ code: McpServer.codes.internal, message: "The caller has not answered in time" })

const refused = (error: JsonRpc.JsonObject): McpServer.Refusal => {
  const { code, data, message } = error
  return new McpServer.Refusal({
    code: typeof code === "number" ? code : McpServer.codes.internal,
    message: typeof message === "string" ? message : "The caller has refused",
    data
  })
}

/** @internal */
export const make = ({ inputTimeout }: Pick<McpServer.Limits, "inputTimeout">): Asks => {
  const waiting = new Map<JsonRpc.Id, Deferred.Deferred<JsonRpc.JsonObject, McpServer.Refusal>>()
  let ids = 0
  let isClosed = false
  return {
    ask: (outlet, method, params) =>
      Effect.suspend(() => {
        const to = outlet()
        if (isClosed || to === undefined) return Effect.fail(gone)
        const id = `ask-${++ids}`
        const answer = Deferred.unsafeMake<JsonRpc.JsonObject, McpServer.Refusal>(FiberId.none)
        waiting.set(id, answer)
        const withdraw = Effect.suspend(() => {
          outlet()?.hint(Outlet.notification("notifications/cancelled", { requestId: id, reason: "no longer needed" }))
          return Effect.void
        })
        const request: JsonRpc.Request = params === undefined
          ? { jsonrpc: "2.0", id, method }
          : { jsonrpc: "2.0", id, method, params }
        return Effect.zipRight(to.send(request), Deferred.await(answer)).pipe(
          Effect.timeoutFail({ duration: Duration.decode(inputTimeout), onTimeout: () => silent }),
          Effect.tapError((error) => error === silent ? withdraw : Effect.void),
          Effect.onInterrupt(() => withdraw),
          Effect.ensuring(Effect.sync(() => waiting.delete(id)))
        )
      }),
    answered: (id, message) => {
      const answer = waiting.get(id)
      if (answer === undefined) return
      const { error, result } = message
      Deferred.unsafeDone(
        answer,
        JsonRpc.isObject(error) ? Effect.fail(refused(objectOf(error))) : Effect.succeed(objectOf(result))
      )
    },
    close: () => {
      isClosed = true
      for (const answer of waiting.values()) Deferred.unsafeDone(answer, Effect.fail(gone))
      waiting.clear()
    }
  }
}
