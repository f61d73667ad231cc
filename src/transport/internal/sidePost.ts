/** @internal */
import type * as McpError from "../../McpError.ts"
import type * as HttpClient from "./httpClient.ts"
import * as Lingering from "./lingering.ts"
import * as Refusal from "./refusal.ts"
import type * as Remote from "./remote.ts"
import * as ResponseBody from "./responseBody.ts"

/** @internal */
export interface SidePosts {
  /**
   * POSTs what is owed no answer of its own; `accepted` at the head of a success, whose body is of no interest.
   * Throws only if it cannot be sent at all.
   */
  readonly send: (call: HttpClient.Call, about: Refusal.About, on: Handlers) => HttpClient.Exchange
  /** Called once, when none is waiting. */
  readonly whenIdle: (idle: () => void) => void
}

/** @internal */
export interface Handlers {
  readonly accepted: () => void
  readonly failed: (error: McpError.CallError) => void
}

/** @internal */
export const make = (remote: Remote.Remote): SidePosts => {
  const waiting = new Set<HttpClient.Exchange>()
  const draining = Lingering.make()
  let onIdle: (() => void) | undefined

  const settled = (exchange: HttpClient.Exchange) => {
    waiting.delete(exchange)
    if (waiting.size > 0 || onIdle === undefined) return
    onIdle()
    onIdle = undefined
  }

  const send = (call: HttpClient.Call, about: Refusal.About, on: Handlers): HttpClient.Exchange => {
    const exchange = remote.client.exchange(call, {
      response: (response) => {
        const status = response.statusCode ?? 0
        if (status < 200 || status >= 300) {
          return Refusal.read(remote, response, exchange, about, (error) => {
            settled(exchange)
            on.failed(error)
          })
        }
        draining.add(exchange)
        ResponseBody.text(response, remote.limits.errorBodyBytes, (end) => {
          draining.delete(exchange)
          if (end !== "ended") exchange.destroy()
        })
        settled(exchange)
        on.accepted()
      },
      failed: (error) => {
        settled(exchange)
        on.failed(error)
      }
    })
    waiting.add(exchange)
    return {
      destroy: () => {
        exchange.destroy()
        settled(exchange)
      }
    }
  }

  return {
    send,
    whenIdle: (idle) => {
      if (waiting.size === 0) idle()
      else onIdle = idle
    }
  }
}
