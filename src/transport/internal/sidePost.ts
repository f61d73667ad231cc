/** @internal */
import * as McpError from "../../McpError.ts"
import type * as HttpClient from "./httpClient.ts"
import * as Lingering from "./lingering.ts"
import * as Refusal from "./refusal.ts"
import type * as Remote from "./remote.ts"
import * as ResponseBody from "./responseBody.ts"
import * as Slots from "./slots.ts"

/**
 * What is POSTed without an answer of its own.
 *
 * @internal
 */
export interface Post {
  readonly bytes: number
  /** Asked for when it is sent, because the session may change while it waits. */
  readonly call: () => HttpClient.Call
  readonly about: Refusal.About
  /** At the head of a success, whose body is of no interest. */
  readonly accepted: () => void
  readonly failed: (error: McpError.CallError) => void
}

/** @internal */
export interface SidePosts {
  /** At once; it can be ended. */
  readonly send: (post: Post) => HttpClient.Exchange
  /** In its turn, for a server that accepts slowly shall not cost a socket each. */
  readonly queue: (post: Post) => McpError.Overloaded | undefined
  /** Called once, when no acceptance is awaited. */
  readonly whenIdle: (idle: () => void) => void
}

const maxWaiting = 16

const inert: HttpClient.Exchange = { destroy: () => undefined }

/** @internal */
export const make = (remote: Remote.Remote): SidePosts => {
  const { limits, server } = remote
  const waiting = new Set<Post>()
  const draining = Lingering.make()
  let onIdle: (() => void) | undefined

  const settled = (post: Post) => {
    waiting.delete(post)
    slots.leave(post)
    if (waiting.size > 0 || onIdle === undefined) return
    onIdle()
    onIdle = undefined
  }

  const respond = (post: Post, exchange: HttpClient.Exchange): HttpClient.Reply["response"] => (response) => {
    const status = response.statusCode ?? 0
    if (status < 200 || status >= 300) {
      return Refusal.read(remote, response, exchange, post.about, (error) => {
        settled(post)
        post.failed(error)
      })
    }
    draining.add(exchange)
    ResponseBody.text(response, limits.errorBodyBytes, (end) => {
      draining.delete(exchange)
      if (end !== "ended") exchange.destroy()
    })
    settled(post)
    post.accepted()
  }

  const start = (post: Post): HttpClient.Exchange => {
    waiting.add(post)
    try {
      const exchange: HttpClient.Exchange = remote.client.exchange(post.call(), {
        response: (response) => respond(post, exchange)(response),
        failed: (error) => {
          settled(post)
          post.failed(error)
        }
      })
      return exchange
    } catch {
      settled(post)
      post.failed(new McpError.ConfigurationError({ server, path: "url", detail: "no request can be made of it" }))
      return inert
    }
  }

  const slots = Slots.make<Post>(maxWaiting, limits.writeQueueBytes, start)

  return {
    send: (post) => {
      const exchange = start(post)
      return {
        destroy: () => {
          exchange.destroy()
          settled(post)
        }
      }
    },
    queue: (post) => {
      const entered = slots.enter(post, post.bytes)
      if (entered === "full") {
        const queued = slots.waitingBytes()
        return new McpError.Overloaded({ server, queue: "write", queued, limit: limits.writeQueueBytes })
      }
      waiting.add(post)
      if (entered === "now") start(post)
      return undefined
    },
    whenIdle: (idle) => {
      if (waiting.size === 0) idle()
      else onIdle = idle
    }
  }
}
